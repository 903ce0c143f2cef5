package belief

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

var errorOptions = Options{PriorVariance: 10, EvidenceScale: 1, Seed: 3}

// doubtful are kernels a, b, c, ... with these local ELBOs and drifts.
func doubtful(elbo, drift []float64) *Errors {
	e := &Errors{ELBO: elbo, Number: 4, Rows: 1000, Low: make([]float64, len(elbo)), High: make([]float64, len(elbo))}
	for i := range elbo {
		e.IDs = append(e.IDs, string(rune('a'+i)))
	}
	e.Drift = func(i, _ int) float64 { return drift[i] }
	return e
}

// point is q* and Bayes' rule without errors.
func point(t *testing.T, e *Errors) (q, bayes []float64) {
	t.Helper()
	b, err := Fit(t.Context(), e.ELBO, e.LogPrior, errorOptions, nil, "", e.IDs)
	if err != nil {
		t.Fatal(err)
	}
	return b.Posterior(2000, errorOptions.Seed), Bayes(e.ELBO, e.LogPrior, errorOptions.EvidenceScale)
}

func integrated(t *testing.T, e *Errors) *Integrated {
	t.Helper()
	q, bayes := point(t, e)
	in, err := e.Integrate(t.Context(), q, bayes, errorOptions)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range [][]float64{in.Posterior, in.Bayes} {
		if s := floats.Sum(v); math.Abs(s-1) > 1e-9 || floats.Min(v) < 0 {
			t.Errorf("%v sums to %v", v, s)
		}
	}
	return in
}

// Without errors, or with one kernel that they could matter to, Bayes' rule is the
// plain one, exactly, and so is q* but for kernels that come near the best.
func TestNoErrors(t *testing.T) {
	for _, c := range []struct {
		e    *Errors
		near bool
	}{
		{doubtful([]float64{0, -1, -30}, []float64{0, 0, 0}), true},
		{doubtful([]float64{0, -1, -30}, []float64{0, 0.009, 0.009}), true},
		{doubtful([]float64{-60, 0, -30}, []float64{4, 0, 4}), false},
		{doubtful([]float64{5}, []float64{0}), false},
	} {
		q, bayes := point(t, c.e)
		if in := integrated(t, c.e); !c.near && !slices.Equal(in.Posterior, q) || !slices.Equal(in.Bayes, bayes) {
			t.Errorf("%v: %v and %v, want %v and %v", c.e.ELBO, in.Posterior, in.Bayes, q, bayes)
		}
	}
}

// Kernels within a nat of each other are equal also where nothing is unsure: they share q*,
// of which without that one has nearly all, and the one ahead has more.
func TestEqualWithoutErrors(t *testing.T) {
	for _, gap := range []float64{0, 0.2, 1, 5} {
		e := doubtful([]float64{-gap, 0, -200, -200, -200, -200, -200, -200, -200, -200, -200, -200}, make([]float64, 12))
		plain, _ := point(t, e)
		q := integrated(t, e).Posterior
		// The best of two that differ by N(gap, ½) leads with Φ(√2 gap).
		lead := distuv.UnitNormal.CDF(math.Sqrt2 * gap)
		if math.Abs(q[1]/(q[0]+q[1])-lead) > 0.06 {
			t.Errorf("%g nats ahead: q* %.3f and %.3f, want %.3f of both; without errors %.3f", gap, q[1], q[0], lead, plain[:2])
		}
	}
}

// Kernels that are equal within their errors share evenly, whatever brings the
// errors, and the tie rule has no say.
func TestEqualKernelsShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	noisy := func() []float64 {
		out := make([]float64, 200)
		for i := range out {
			out[i] = rng.NormFloat64()
		}
		return out
	}
	sampled := doubtful([]float64{-3, -3}, []float64{0, 0})
	sampled.Terms = [][]float64{noisy(), noisy()}
	slack := doubtful([]float64{-3, -3}, []float64{0, 0})
	slack.High = []float64{40, 40}
	for name, e := range map[string]*Errors{"drift": doubtful([]float64{-3, -3}, []float64{30, 30}), "sampling": sampled, "slack": slack} {
		in := integrated(t, e)
		if math.Abs(in.Posterior[0]-0.5) > 0.06 || math.Abs(in.Bayes[0]-0.5) > 0.03 {
			t.Errorf("%s: %.3f of q* and %.3f by Bayes' rule of two equal kernels", name, in.Posterior[0], in.Bayes[0])
		}
	}
	// Against the best one two drift, which is ahead of both in a quarter of all draws.
	three := integrated(t, doubtful([]float64{0, -0.1, -0.2, -1000}, []float64{9, 9, 9, 9}))
	for i, q := range three.Posterior[:3] {
		want := []float64{0.25, 0.375, 0.375}[i]
		if math.Abs(q-want) > 0.1 || math.Abs(three.Bayes[i]-want) > 0.05 {
			t.Errorf("three kernels equal within their errors have %.3f, by Bayes' rule %.3f", three.Posterior, three.Bayes)
		}
	}
}

// A lead counts by its error.
func TestLeadAgainstError(t *testing.T) {
	sure, unsure := integrated(t, doubtful([]float64{0, -10}, []float64{0, 1})), integrated(t, doubtful([]float64{0, -10}, []float64{0, 20}))
	if sure.Posterior[0] < 0.95 || sure.Bayes[0] < 0.999 {
		t.Errorf("10 ± 1 nats ahead: q* %v, Bayes %v", sure.Posterior, sure.Bayes)
	}
	if unsure.Posterior[0] > 0.9 || unsure.Bayes[0] > 0.9 || unsure.Posterior[0] < 0.5 {
		t.Errorf("10 ± 20 nats ahead: q* %v, Bayes %v", unsure.Posterior, unsure.Bayes)
	}
	if gap, sd := unsure.Gap(1, 0); gap != 10 || sd != 20 {
		t.Errorf("gap %v ± %v, want 10 ± 20", gap, sd)
	}
}

// What two estimates have in common is no error of their difference.
func TestCommonErrorsCancel(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	a, b := make([]float64, 300), make([]float64, 300)
	for i := range a {
		a[i], b[i] = 3*rng.NormFloat64(), 3*rng.NormFloat64()
	}
	e := doubtful([]float64{0, -8}, []float64{0, 0})
	e.Terms = [][]float64{a, a}
	exact := integrated(t, doubtful(e.ELBO, []float64{0, 0}))
	if in := integrated(t, e); !floats.EqualApprox(in.Posterior, exact.Posterior, 1e-12) || !floats.EqualApprox(in.Bayes, exact.Bayes, 1e-12) {
		t.Errorf("of the same terms: %v, want %v", in.Posterior, exact.Posterior)
	}
	e.Terms[1] = b
	in := integrated(t, e)
	if in.Posterior[0] > 0.9 {
		t.Errorf("of other terms: q* %v", in.Posterior)
	}
	// The draws' errors have the standard deviation that PairedSE states; so where one
	// kernel is known exactly.
	for _, terms := range [][][]float64{{a, b}, {nil, b}, {a, nil}} {
		e.Terms = terms
		sampler := &integral{Errors: e, opts: errorOptions, order: []int{0, 1}, near: []int{0, 1}, drift: []float64{0, 0}}
		var ss float64
		draws := sampler.draws(4000)
		for _, d := range draws {
			ss += (d[0] - d[1] - 8) * (d[0] - d[1] - 8)
		}
		if got, want := math.Sqrt(ss/float64(len(draws))), PairedSE(terms[0], terms[1], e.Rows); math.Abs(got/want-1) > 0.05 {
			t.Errorf("errors of the gap have an sd of %v, want %v", got, want)
		}
	}
	if got := PairedSE(nil, nil, e.Rows); got != 0 {
		t.Errorf("two exact kernels: %v", got)
	}
}

// Neither the order of the kernels nor one without hope matters.
func TestErrorsOfOthersDoNotMatter(t *testing.T) {
	elbo, drift := []float64{0, -4, -2, -7}, []float64{0, 3, 2, 5}
	want := integrated(t, doubtful(elbo, drift))
	close := func(name string, got, want float64, within float64) {
		t.Helper()
		if math.Abs(got-want) > within {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	turned := doubtful([]float64{-7, -2, -4, 0}, []float64{5, 2, 3, 0})
	slices.Reverse(turned.IDs)
	in := integrated(t, turned)
	for i := range elbo {
		close("turned round, q* of "+want.errors.IDs[i], in.Posterior[3-i], want.Posterior[i], 1e-9)
		close("turned round, Bayes of "+want.errors.IDs[i], in.Bayes[3-i], want.Bayes[i], 1e-9)
	}
	more := integrated(t, doubtful(append(slices.Clone(elbo), -1e4), append(slices.Clone(drift), 5)))
	// One kernel more moves q* without errors, too, where it is a property of the fit.
	plain, _ := point(t, want.errors)
	plainMore, _ := point(t, more.errors)
	for i := range elbo {
		close("with one more, q* of "+want.errors.IDs[i], more.Posterior[i], want.Posterior[i], 0.02+math.Abs(plainMore[i]-plain[i]))
		close("with one more, Bayes of "+want.errors.IDs[i], more.Bayes[i], want.Bayes[i], 1e-9)
	}
}

// Small errors change little, among many kernels as well.
func TestSmallErrorsChangeLittle(t *testing.T) {
	var elbo, drift []float64
	for i := range 24 {
		elbo, drift = append(elbo, -6-2*float64(i)), append(drift, 0.05)
	}
	elbo[0] = 0
	e := doubtful(elbo, drift)
	q, bayes := point(t, e)
	in := integrated(t, e)
	for i := range elbo {
		if math.Abs(in.Posterior[i]-q[i]) > 0.02 || math.Abs(in.Bayes[i]-bayes[i]) > 1e-3 {
			t.Errorf("kernel %d: q* %v and Bayes %v, without errors %v and %v", i, in.Posterior[i], in.Bayes[i], q[i], bayes[i])
		}
	}
}

// Where gaps are as uncertain as they are wide, the best still comes first: of a
// hundred kernels the worst must not be drawn ahead of it.
func TestManyUncertainKernels(t *testing.T) {
	e := &Errors{Number: 1, Rows: 100, Low: make([]float64, 60), High: make([]float64, 60)}
	for i := range 60 {
		e.IDs, e.ELBO = append(e.IDs, fmt.Sprintf("%02d", 59-i)), append(e.ELBO, -50*float64(i))
	}
	e.Drift = func(i, best int) float64 { return e.ELBO[best] - e.ELBO[i] }
	in := integrated(t, e)
	for i := 1; i < 60; i++ {
		if in.Posterior[i] > in.Posterior[0]/2 || in.Bayes[i] > in.Bayes[0]/2 {
			t.Fatalf("kernel %d has %.3f and %.3f, the best %.3f and %.3f", i, in.Posterior[i], in.Bayes[i], in.Posterior[0], in.Bayes[0])
		}
	}
	if in.Posterior[0] > 0.5 {
		t.Errorf("the best has %v", in.Posterior[0])
	}
}

// Bayes' rule against independent draws by brute force, of drift and slack.
func TestBayesAgainstBruteForce(t *testing.T) {
	e := doubtful([]float64{0, -2, -5, -1}, []float64{0, 4, 8, 0.5})
	e.Low, e.High = []float64{0, 1, 0, 0}, []float64{0, 3, 2, 6}
	e.LogPrior = []float64{0, -0.5, 0.2, 0}
	got := integrated(t, e).Bayes
	best, middle := 3, []float64{0, 0, -4, 2} // which the third kernel from its prior does not lead
	rng := rand.New(rand.NewPCG(5, 6))
	const draws = 100_000
	want, score := make([]float64, 4), make([]float64, 4)
	for range draws {
		for i := range score {
			score[i] = e.ELBO[i] + e.Low[i] + rng.Float64()*(e.High[i]-e.Low[i]) + e.LogPrior[i]
			sd := []float64{0, 4, 8, 0.5}[i]
			if i != best {
				score[i] += math.Min(sd*rng.NormFloat64(), math.Max(sd, middle[best]-middle[i]))
			}
		}
		top, sum := floats.Max(score), 0.0
		for _, s := range score {
			sum += math.Exp(s - top)
		}
		for i, s := range score {
			want[i] += math.Exp(s-top) / sum / draws
		}
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 0.02 {
			t.Errorf("Bayes' rule %.4f, by brute force %.4f", got, want)
			break
		}
	}
}

func BenchmarkIntegrate(b *testing.B) {
	for _, k := range []int{4, 12, 144} {
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			e := &Errors{Number: 1, Rows: 100, Low: make([]float64, k), High: make([]float64, k)}
			for i := range k {
				e.IDs, e.ELBO = append(e.IDs, fmt.Sprint(i)), append(e.ELBO, -float64(i))
			}
			e.Drift = func(i, best int) float64 { return e.ELBO[best] - e.ELBO[i] }
			q := make([]float64, k)
			floats.AddConst(1/float64(k), q)
			for b.Loop() {
				if _, err := e.Integrate(b.Context(), q, q, errorOptions); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What is above the cap goes to the others, the next best ones first; both beliefs
// stay beliefs, and what is below the cap stays what it was.
func TestCap(t *testing.T) {
	e := &Errors{
		IDs: []string{"a", "b", "c", "d"}, ELBO: []float64{0, -10, -12, -1000},
		Low: make([]float64, 4), High: make([]float64, 4), Terms: make([][]float64, 4),
	}
	in := e.Ignore([]float64{.99, .006, .004, 0}, []float64{.7, .2, .1, 0})
	in.Cap(0, .8)
	weight := math.Exp(-.2)
	want := []float64{.8, .006 + .19/(1+weight), .004 + .19*weight/(1+weight), 0}
	for i, w := range want {
		if math.Abs(in.Posterior[i]-w) > 1e-12 {
			t.Errorf("q* %v, want %v", in.Posterior, want)
			break
		}
	}
	if !slices.Equal(in.Bayes, []float64{.7, .2, .1, 0}) {
		t.Errorf("Bayes' rule below the cap: %v", in.Bayes)
	}
	alone := (&Errors{IDs: []string{"a"}, ELBO: []float64{3}, Low: []float64{0}, High: []float64{0}}).Ignore([]float64{1}, []float64{1})
	if alone.Cap(0, .5); alone.Posterior[0] != 1 {
		t.Errorf("one kernel: %v", alone.Posterior)
	}
}
