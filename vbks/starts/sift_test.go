package starts_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts"
	"example.com/kestrel/vbks/starts/startstest"
)

// drawn are inputs over 20 and what a kernel makes of them with noise, by its covariance entry by entry.
func drawn(t *testing.T, rng *rand.Rand, p *kernelspace.Program, raw []float64, n int, noise float64) (x, y []float64) {
	t.Helper()
	z := make([]float64, n)
	for i := range n {
		x, z[i] = append(x, 20*rng.Float64()-10), rng.NormFloat64()
	}
	u, err := startstest.Factor(t)(x, p, raw, noise)
	must.OK(t, err)
	var out mat.VecDense
	out.MulVec(u.T(), mat.NewVecDense(n, z))
	return x, out.RawVector().Data
}

// A period with details shorter than rows are apart, that grows, or whose cycles are alike for a short time, looks like
// noise that grows, and one of a few cycles like its harmonics: where a kernel has a place for it one of the starts has it and is
// much better as it is, also where the leaf has another period.
func TestSiftHasThePeriodOfItsPlace(t *testing.T) {
	const n, period, long, noise = 320, 0.37, 5.17, 0.02
	for _, c := range []struct {
		kernel   string
		of, with []float64 // drawn from, and a solution that has missed the period
	}{
		{"(PER+MATERN32)*LIN", []float64{0.03, 0.06, period, 0.01, 4, 1, 1}, []float64{1e-6, 1, 5, 0.03, 0.003, 1, 1}},
		{"(PER*MATERN32+SE)*LIN", []float64{0.03, 0.06, period, 1, 1.5, 0.01, 4, 1, 1}, []float64{0.03, 0.05, 0.29, 1, 0.2, 0.01, 4, 1, 1}},
		{"PER*LIN+SE", []float64{0.03, 0.02, long, 1, 1, 0.5, 4}, []float64{0.03, 0.007, 2.05, 1, 1, 0.5, 4}},
		{"PER*PER+SE", []float64{1, 0.06, period, 1, 0.4, 14, 0.5, 4}, []float64{1, 0.03, 0.6, 1, 2, 11, 0.5, 4}},
	} {
		rng := rand.New(rand.NewPCG(8, 1))
		programs, _ := compiled(t, c.kernel)
		p := programs[0]
		for trial := range 2 {
			x, y := drawn(t, rng, p, c.of, n, noise)
			w := starts.NewDrawer(x, y, 1, starts.Options{Inducing: n, Floor: 1e-6, Scales: starts.Summarise(x, y, 1), Seed: 1})
			missed := params.Free(p, c.with, noise, 1e-6)
			out, err := w.Sift(t.Context(), p, missed, 6, startstest.Factor(t), startstest.Values())
			must.OK(t, err)
			best, had := math.Inf(-1), evidence(t, p, missed, x, y, 1e-6)
			at := 0.0
			for _, s := range out {
				if v := evidence(t, p, s, x, y, 1e-6); v > best {
					raw, _ := params.Raw(p, s, 1e-6)
					if best, at = v, raw[2]; c.kernel == "PER*PER+SE" { // one of them
						at = math.Min(at, raw[5])
					}
				}
			}
			t.Logf("%s, trial %d: %d starts, %.1f with period %.4f, %.1f before", c.kernel, trial, len(out), best, at, had)
			want := period
			if c.kernel == "PER*LIN+SE" {
				want = long
			}
			if !(best > had+3) || math.Abs(at/want-1) > 0.02 {
				t.Errorf("%s, trial %d: the best of %d starts has the period %.4f and %.1f nats, %.1f before", c.kernel, trial, len(out), at, best, had)
			}
		}
	}
}

// What repeats with details of a hundredth of its period is noise, all but for rows whole periods apart, also where the term in its
// place explains something slow that is worth little: one of the starts has the period, and is much better as it is.
func TestSiftHasDetailsOfAHundredth(t *testing.T) {
	const n, period, noise = 500, 0.133, 0.02
	rng := rand.New(rand.NewPCG(8, 3))
	programs, _ := compiled(t, "PER*LIN+SE")
	p := programs[0]
	for trial := range 3 {
		x, y := drawn(t, rng, p, []float64{0.003, 0.014, period, 1, 1, 0.5, 4}, n, noise)
		w := starts.NewDrawer(x, y, 1, starts.Options{Inducing: n, Floor: 1e-6, Scales: starts.Summarise(x, y, 1), Seed: 1})
		missed := params.Free(p, []float64{0.03, 1.3, 19, 1, 1, 0.5, 4}, 6*noise, 1e-6)
		out, err := w.Sift(t.Context(), p, missed, 6, startstest.Factor(t), startstest.Values())
		must.OK(t, err)
		best, had := math.Inf(-1), evidence(t, p, missed, x, y, 1e-6)
		at, left := 0.0, 0.0
		for _, s := range out {
			if v := evidence(t, p, s, x, y, 1e-6); v > best {
				raw, noise := params.Raw(p, s, 1e-6)
				best, at, left = v, raw[2], noise
			}
		}
		t.Logf("trial %d: %d starts, %.1f with period %.5f and noise %.3f, %.1f before", trial, len(out), best, at, left, had)
		if !(best > had+20) || math.Abs(at/period-1) > 1e-4 {
			t.Errorf("trial %d: the best of %d starts has the period %.5f and %.1f nats, %.1f before", trial, len(out), at, best, had)
		}
	}
}
