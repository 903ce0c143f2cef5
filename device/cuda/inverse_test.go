//go:build cuda

package cuda_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/device/trial"
	"example.com/kestrel/internal/must"
)

// smooth is the Cholesky factor of a squared exponential's matrix of n x n with a relative jitter
// of 1e-6, the condition number of which is some n·1e6, and a symmetric matrix between.
func smooth(r *rand.Rand, n int) (l, s []float64) {
	l, s = make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			d := float64(i-j) * 4 / float64(n)
			l[i*n+j] = math.Exp(-d * d / 2)
			s[i*n+j] = r.NormFloat64()
			s[j*n+i] = s[i*n+j]
		}
		l[i*n+i] += 1e-6
	}
	for j := range n {
		for i := j; i < n; i++ {
			for k := range j {
				l[i*n+j] -= l[i*n+k] * l[j*n+k]
			}
			if i > j {
				l[i*n+j] /= l[j*n+j]
			} else {
				l[j*n+j] = math.Sqrt(l[j*n+j])
			}
		}
	}
	return l, s
}

// solvedBoth is L⁻ᵀ s L⁻¹ with 160 bits, by substitutions.
func solvedBoth(n int, l, s []float64) []float64 {
	exact := func(a []float64) []big.Float {
		x := make([]big.Float, len(a))
		for i, v := range a {
			x[i].SetPrec(160).SetFloat64(v)
		}
		return x
	}
	lower, x, term := exact(l), exact(s), new(big.Float).SetPrec(160)
	swap := func(a, b *big.Float) {
		term.Set(a)
		a.Set(b)
		b.Set(term)
	}
	for range 2 { // L⁻ᵀ of s, of which the transpose is s L⁻¹
		for c := range n {
			for i := n - 1; i >= 0; i-- {
				for k := i + 1; k < n; k++ {
					x[i*n+c].Sub(&x[i*n+c], term.Mul(&lower[k*n+i], &x[k*n+c]))
				}
				x[i*n+c].Quo(&x[i*n+c], &lower[i*n+i])
			}
		}
		for i := range n {
			for j := range i {
				swap(&x[i*n+j], &x[j*n+i])
			}
		}
	}
	out := make([]float64, n*n)
	for i := range out {
		out[i], _ = x[i].Float64()
	}
	return out
}

// bothOn is SolveBoth of members on a lane, of which the second and the last are asked for.
func bothOn(t *testing.T, lane device.Lane, n int, members [][2][]float64) (out [][]float64) {
	t.Helper()
	count := len(members)
	l, err := lane.NewArray(count, n, n)
	must.OK(t, err)
	s, err := lane.NewArray(count, n, n)
	must.OK(t, err)
	defer lane.Free(l, s)
	for k, m := range members {
		lower := slices.Clone(m[1])
		for i := range n {
			for j := i + 1; j < n; j++ {
				lower[i*n+j] = math.NaN() // nobody may read it
			}
		}
		lane.Write(l, k, m[0])
		lane.Write(s, k, lower)
	}
	sub := []int{count - 1}
	if count > 1 {
		sub = []int{1, count - 1}
	}
	lane.SolveBoth(sub, l, s)
	for _, k := range sub {
		got := make([]float64, n*n)
		must.OK(t, lane.Read(s, k, got))
		out = append(out, got)
	}
	return out
}

// apart is how far matrices are apart, of the second's norm.
func apart(a, b []float64) float64 {
	d, size := 0.0, 0.0
	for i := range a {
		d += (a[i] - b[i]) * (a[i] - b[i])
		size += b[i] * b[i]
	}
	return math.Sqrt(d / size)
}

// TestSolveBothByInverse compares SolveBoth by the inverse, by solves and on the CPU with numbers of
// 160 bits, on matrices as badly conditioned as k(Z,Z) is: the inverse may be no less exact.
func TestSolveBothByInverse(t *testing.T) {
	pretend(t, fake.Options{})
	inverse, solves := open(t, cuda.Options{Generate: cuda.GenerateNever}).Lane(0), open(t, cuda.Options{Generate: cuda.GenerateNever}).Lane(0)
	host := cpu.New(cpu.Options{Lanes: 1}).Lane(0)
	cuda.InvertFrom(inverse, 1<<6+1)
	cuda.InvertFrom(solves, 1<<20)
	sizes := []int{65, 127, 129, 150} // one panel and a row, two, two and a row, three
	if testing.Short() {
		sizes = []int{65, 150}
	}
	for _, n := range sizes {
		l, s := smooth(rand.New(rand.NewPCG(7, uint64(n))), n)
		want := solvedBoth(n, l, s)
		members := [][2][]float64{{l, s}}
		got := bothOn(t, inverse, n, members)[0]
		a, b, c := apart(got, want), apart(bothOn(t, solves, n, members)[0], want), apart(bothOn(t, host, n, members)[0], want)
		t.Logf("n = %d: relative errors %.1e by the inverse, %.1e by solves, %.1e on the CPU", n, a, b, c)
		if !(a <= 10*max(b, c)) || !(a <= 1e-10) {
			t.Errorf("n = %d: relative error %.1e by the inverse, %.1e by solves, %.1e on the CPU", n, a, b, c)
		}
		for i := range n {
			for j := range i {
				if got[i*n+j] != got[j*n+i] {
					t.Fatalf("n = %d: not symmetric at %d, %d", n, i, j)
				}
			}
		}
	}
}

// TestSolveBothSizes: sizes of up to seven panels, whole and ragged, against the solves; and a
// member's bits do not depend on the batch, nor on the order in which threads run.
func TestSolveBothSizes(t *testing.T) {
	pretend(t, fake.Options{})
	inverse, solves := open(t, cuda.Options{Generate: cuda.GenerateNever}).Lane(0), open(t, cuda.Options{Generate: cuda.GenerateNever}).Lane(0)
	cuda.InvertFrom(solves, 1<<20)
	sizes := []int{cuda.LeastInverted - 1, cuda.LeastInverted, 192, 200, 256, 257, 330, 447}
	if testing.Short() {
		sizes = []int{cuda.LeastInverted - 1, cuda.LeastInverted, 192, 330}
	}
	for _, n := range sizes {
		r := rand.New(rand.NewPCG(8, uint64(n)))
		members := make([][2][]float64, 4)
		for k := range members {
			l, s := make([]float64, n*n), make([]float64, n*n)
			for i := range n {
				for j := range i + 1 {
					l[i*n+j] = r.NormFloat64() / float64(n)
					s[i*n+j] = r.NormFloat64()
					s[j*n+i] = s[i*n+j]
				}
				l[i*n+i] = 1 + r.Float64()
			}
			members[k] = [2][]float64{l, s}
		}
		before := cuda.Launches(inverse)
		got := bothOn(t, inverse, n, members)
		launches := cuda.Launches(inverse) - before
		want := 5 // mirror, solve, transpose, solve, mirror
		if n >= cuda.LeastInverted {
			want = 4 // triangles, mirror, two products
			for h := 64; h < n; h *= 2 {
				want += 2
			}
		}
		if launches != want {
			t.Errorf("n = %d: %d launches, want %d", n, launches, want)
		}
		for i, by := range bothOn(t, solves, n, members) {
			if d := apart(got[i], by); !(d <= 1e-14) {
				t.Errorf("n = %d, member %d of the batch: %.1e from the solves", n, i, d)
			}
		}
		if alone := bothOn(t, inverse, n, members[3:]); !sameBits(alone[0], got[1]) {
			t.Errorf("n = %d: other bits alone than in a batch", n)
		}
		if n != 192 {
			continue
		}
		t.Setenv("KESTREL_EMULATE_ORDER", "reverse")
		if reversed := bothOn(t, inverse, n, members); !sameBits(reversed[0], got[0]) {
			t.Error("other bits with threads in the opposite order")
		}
		t.Setenv("KESTREL_EMULATE_ORDER", "")
	}
}

// TestInverseAgreesWithCPU: with more inducing inputs than solves are taken for, objective and
// gradients of kernels of K144 are those of the CPU, within 1e-10 of the largest. At jitters of 1e-5
// and 1e-6 gradients by both ways are up to some 5e-10 and 1.5e-8 from the CPU's, from conditioning alone.
func TestInverseAgreesWithCPU(t *testing.T) {
	pretend(t, fake.Options{})
	programs, err := trial.Space("K144")
	must.OK(t, err)
	c := trial.Steps{Inducing: 150, Batch: 32, Rows: 400, Count: 1, Jitter: 1e-4}
	for _, k := range []int{0, 1, 2, 3, 50, 90, 143} {
		c.Programs = append(c.Programs, programs[k])
	}
	if testing.Short() {
		c.Programs = c.Programs[:3]
	}
	for name, from := range map[string]int{"inverse": cuda.LeastInverted, "solves": 1 << 20} {
		dev := open(t, cuda.Options{Generate: cuda.GenerateNever})
		cuda.InvertFrom(dev.Lane(0), from)
		a, err := trial.Agree(t.Context(), dev, cpu.New(cpu.Options{Lanes: 1}), c)
		if err != nil {
			t.Errorf("by %s: %v", name, err)
		}
		t.Logf("by %s: at most %.1e apart in the objective, %.1e in gradients", name, a.Objective, a.Gradient)
	}
}
