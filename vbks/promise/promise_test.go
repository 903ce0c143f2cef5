package promise_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/vbks/promise"
	"example.com/kestrel/vbks/starts"
)

func compile(e kernelspace.Expr) (*kernelspace.Program, error) {
	return kernelspace.Compile(e, kernelspace.Options{Dim: 1})
}

func program(t *testing.T, text string) *kernelspace.Program {
	t.Helper()
	e, err := kernelspace.Parse(text)
	must.OK(t, err)
	p, err := compile(e.Canonical())
	must.OK(t, err)
	return p
}

func grammar(t *testing.T) *grow.Grammar {
	t.Helper()
	var bases []kernelspace.Expr
	for _, text := range []string{"SE", "RQ", "LIN", "PER"} {
		bases = append(bases, program(t, text).Expr)
	}
	g, err := grow.New(bases, grow.Options{Leaves: 6, Ratio: .5})
	must.OK(t, err)
	return g
}

// drawn are inputs over 20 and what a kernel makes of them with noise, by its covariance entry by entry.
func drawn(t *testing.T, rng *rand.Rand, p *kernelspace.Program, raw []float64, n int, noise float64) (x, y []float64) {
	t.Helper()
	z := mat.NewVecDense(n, nil)
	for i := range n {
		x = append(x, 20*rng.Float64()-10)
		z.SetVec(i, rng.NormFloat64())
	}
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			k.SetSym(i, j, p.Eval(raw, x[i:i+1], x[j:j+1], i == j))
		}
		k.SetSym(i, i, k.At(i, i)+noise)
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		t.Fatal("not positive definite")
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	var out mat.VecDense
	out.MulVec(&lower, z)
	return x, out.RawVector().Data
}

// What data were drawn from is among the first of some forty neighbours of the kernel without one of its leaves, whichever that
// is and wherever it stands.
func TestWhatIsMissingPromisesMost(t *testing.T) {
	const n, noise = 250, 0.05
	g := grammar(t)
	var places []int
	for _, c := range []struct {
		of, without string
		raw, has    []float64
		left        float64 // what it takes for noise
	}{
		{"PER+SE", "SE", []float64{0.5, 0.8, 0.9, 1, 4}, []float64{1.3, 4}, 0.5},
		{"PER+LIN", "PER", []float64{0.5, 0.8, 0.9, 0.05, 1}, []float64{1, 0.8, 0.9}, 1.0},
		{"PER*LIN+SE", "PER+SE", []float64{0.05, 0.8, 0.9, 1, 1, 1, 4}, []float64{1, 0.8, 0.9, 1, 4}, 0.8},
		{"PER*SE+LIN", "PER+LIN", []float64{1, 0.8, 0.9, 1, 2, 0.05, 1}, []float64{1, 0.8, 0.9, 0.05, 1}, 0.7},
		{"(PER+SE)*LIN", "LIN*SE", []float64{0.04, 0.7, 0.6, 0.04, 3, 1, 1}, []float64{0.04, 1, 1, 3}, 0.8},
	} {
		rng := rand.New(rand.NewPCG(10, 1))
		for trial := range 3 {
			x, y := drawn(t, rng, program(t, c.of), c.raw, n, noise)
			r := promise.New(x, y, 1, starts.Summarise(x, y, 1), 1, promise.Most)
			p := program(t, c.without)
			to := g.Neighbours(p.Expr)
			gains := r.Gains(t.Context(), promise.Solution{Program: p, Raw: c.has, Noise: noise + c.left}, to, compile)
			want := program(t, c.of).Expr.ID()
			if _, ok := gains[want]; !ok {
				t.Fatalf("%s: nothing is said of %s", c.without, want)
			}
			above := 0
			for id, v := range gains {
				if math.IsNaN(v) || v < 0 {
					t.Errorf("%s: a gain of %g", id, v)
				}
				if v > gains[want] {
					above++
				}
			}
			places = append(places, above)
			t.Logf("%s on %s, trial %d: %.1f nats, %d of %d above", want, c.without, trial, gains[want], above, len(gains))
		}
	}
	slices.Sort(places)
	t.Logf("so many were above: %v", places)
	if places[len(places)*9/10] > 1 {
		t.Errorf("what is missing is not among the first two in nine of ten draws: %v above", places)
	}
}

// What is said of a line at any place is what evidence says, with covariances written out entry by entry.
func TestGainsOfALine(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 2))
	const n, noise = 60, 0.4
	raw := []float64{0.5, 0.8, 0.9, 0.7, 4}
	per := func(a, b float64) float64 {
		s := math.Sin(math.Pi*(a-b)/0.9) / 0.8
		return 0.5 * math.Exp(-2*s*s)
	}
	se := func(a, b float64) float64 { return 0.7 * math.Exp(-(a-b)*(a-b)/(2*16)) }
	x, y := drawn(t, rng, program(t, "PER*LIN+SE"), []float64{0.05, 0.8, 0.9, 1, 1, 1, 4}, n, noise)
	logN := func(k func(a, b float64) float64, diagonal float64) float64 {
		c := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				c.SetSym(i, j, k(x[i], x[j]))
			}
			c.SetSym(i, i, c.At(i, i)+diagonal)
		}
		var chol mat.Cholesky
		if !chol.Factorize(c) {
			t.Fatal("not positive definite")
		}
		var a mat.VecDense
		must.OK(t, chol.SolveVecTo(&a, mat.NewVecDense(n, y)))
		return -(mat.Dot(&a, mat.NewVecDense(n, y)) + chol.LogDet()) / 2
	}
	both := func(a, b float64) float64 { return per(a, b) + se(a, b) }
	p := program(t, "PER+SE")
	r := promise.New(x, y, 1, starts.Summarise(x, y, 1), 1, promise.Most)
	gains := r.Gains(t.Context(), promise.Solution{Program: p, Raw: raw, Noise: noise},
		grammar(t).Neighbours(p.Expr), compile)
	for _, c := range []struct {
		id   string
		what func(a, b float64) float64 // that a line is multiplied by
	}{
		{"PER+SE+LIN", func(float64, float64) float64 { return 1 }},
		{"PER*LIN+SE", per},
		{"PER+SE*LIN", se},
		{"(PER+SE)*LIN", both},
	} {
		line := func(a, b float64) float64 { return a * b * c.what(a, b) }
		mean, function := 0.0, 0.0
		for _, v := range x {
			mean, function = mean+line(v, v)/n, function+both(v, v)/n
		}
		gain := func(of [2]float64) float64 {
			with := func(a, b float64) float64 {
				return (1-of[0])*both(a, b) + (of[0]*function+of[1]*noise)/mean*line(a, b)
			}
			return logN(with, (1-of[1])*noise) - logN(both, noise)
		}
		then := [][2]float64{{0, 0.3}, {0, 0.1}, {0, 0.6}, {0, 0.9}}
		if gain([2]float64{0.5, 0}) > gain(then[0]) {
			then = [][2]float64{{0.5, 0}, {0.1, 0}, {0.9, 0}}
		}
		want := 0.0
		for _, of := range then {
			want = math.Max(want, gain(of))
		}
		id := program(t, c.id).Expr.ID()
		// Gains are multiples of .001.
		if got, ok := gains[id]; !ok || math.Abs(got-want) > 5.01e-4 {
			t.Errorf("%s: a gain of %v, want %v", id, got, want)
		}
	}
	for id, v := range gains { // of others nothing is said
		if e, err := kernelspace.Parse(id); err != nil || e.NumLeaves() <= 2 && v != 0 {
			t.Errorf("%s: a gain of %v, %v", id, v, err)
		}
	}
}

// Beside a change point a leaf may gain; of what stands in it nothing is said.
func TestGainsBesideAChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 3))
	const n, noise = 120, 0.05
	x, y := drawn(t, rng, program(t, "PER"), []float64{1, 0.8, 0.9}, n, noise)
	for i := range y {
		if x[i] > 1 {
			y[i] += 5
		}
	}
	p := program(t, "CP(CONST,CONST)")
	raw := make([]float64, len(p.Params))
	for i, in := range p.Params {
		raw[i] = map[string]float64{"place": kernelspace.RawPlace(1), "width": 1e-3, "variance": 12}[in.Name]
		if raw[i] == 0 {
			t.Fatalf("what is %s?", in.Name)
		}
	}
	r := promise.New(x, y, 1, starts.Summarise(x, y, 1), 1, promise.Most)
	gains := r.Gains(t.Context(), promise.Solution{Program: p, Raw: raw, Noise: noise + 1},
		grammar(t).Neighbours(p.Expr), compile)
	beside, in := program(t, "CP(CONST,CONST)+PER").Expr.ID(), program(t, "CP(CONST+PER,CONST)").Expr.ID()
	if gains[beside] < 30 {
		t.Errorf("%s gains %v", beside, gains[beside])
	}
	if v := gains[in]; v != 0 {
		t.Errorf("%s gains %v", in, v)
	}
}
