package belief

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/internal/golden"
	"example.com/kestrel/internal/thorough"
)

// beliefGolden is a file of schema vbks-qg/1.
type beliefGolden struct {
	Schema      string
	TwoBranches struct {
		K    int
		Rows []struct {
			PriorVariance float64 `json:"prior_variance"`
			From, To      float64
			Crossing      float64
			Low, High     float64
		}
	} `json:"two_branches"`
	Rows []struct {
		K             int
		PriorVariance float64 `json:"prior_variance"`
		Gap           float64
		Family        string
		Softmax       float64 `json:"softmax_of_elbo"`
		Best          struct {
			QBest         float64 `json:"q_best"`
			Objective     float64
			MeanGap       float64 `json:"mean_gap"`
			VarianceBest  float64 `json:"variance_best"`
			VarianceOther float64 `json:"variance_other"`
		}
	}
}

// oneAhead is a problem of K kernels of which number `best` leads by gap.
func oneAhead(k int, gap float64, best int) (elbo []float64, ids []string) {
	elbo, ids = make([]float64, k), make([]string, k)
	for i := range k {
		elbo[i] = -gap
		ids[i] = fmt.Sprintf("k%03d", i)
	}
	elbo[best] = 0
	return elbo, ids
}

func mustFit(t *testing.T, elbo, logPrior []float64, opts Options, last *Belief, leader string, ids []string) *Belief {
	t.Helper()
	if opts.EvidenceScale == 0 {
		opts.EvidenceScale = 1
	}
	b, err := Fit(t.Context(), elbo, logPrior, opts, last, leader, ids)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGoldenQG(t *testing.T) {
	thorough.Unraced(t)
	for _, f := range golden.Read[beliefGolden](t, "vbks-qg/1") {
		for _, r := range f.Rows {
			if r.Family != "full" {
				continue // TestGoldenQGDiagonal
			}
			if testing.Short() && r.K > 12 && r.Gap != 100 {
				continue
			}
			t.Run(fmt.Sprintf("K=%d,s=%g,gap=%g", r.K, r.PriorVariance, r.Gap), func(t *testing.T) {
				elbo, ids := oneAhead(r.K, r.Gap, 5)
				b := mustFit(t, elbo, nil, Options{PriorVariance: r.PriorVariance, Seed: 1}, nil, "", ids)
				q := b.Posterior(2000, 1)
				// What the README of the golden values grants a program with 1,000
				// antithetic samples: .03 at K = 12, .01 on the high branch of K =
				// 144, and a ratio where the belief is nearly uniform.
				tolerance := 0.03
				if r.K > 12 {
					tolerance = 0.01
				}
				if r.Best.QBest < 0.02 {
					tolerance = 0.05 * r.Best.QBest
					if r.PriorVariance == 10 {
						tolerance = 0.5 * r.Best.QBest
					}
				}
				if math.Abs(q[5]-r.Best.QBest) > tolerance {
					t.Errorf("q(best) = %.5f, want %.5f ± %.5f", q[5], r.Best.QBest, tolerance)
				}
				// J is an average over 2048 samples of a sum with rare large terms:
				// the leader loses in one sample of a hundred, at a cost of gap nats.
				if tolerance := 0.01 + 0.015*math.Abs(r.Best.Objective); math.Abs(b.Objective-r.Best.Objective) > tolerance {
					t.Errorf("J = %.4f, want %.4f ± %.4f", b.Objective, r.Best.Objective, tolerance)
				}
				if v := Bayes(elbo, nil, 1)[5]; math.Abs(v-r.Softmax) > 1e-6 {
					t.Errorf("Bayes' rule gives %.8f, want %.8f", v, r.Softmax)
				}
			})
		}
	}
}

// The objective at the published optimum of the diagonal family, no optimiser
// involved.
func TestGoldenQGDiagonal(t *testing.T) {
	for _, f := range golden.Read[beliefGolden](t, "vbks-qg/1") {
		for _, r := range f.Rows {
			if r.Family != "diagonal" {
				continue
			}
			elbo, ids := oneAhead(r.K, r.Gap, 0)
			order, _ := canonicalOrder(ids)
			p, _ := newProblem(elbo, nil, Options{PriorVariance: r.PriorVariance, EvidenceScale: 1}, ids, order)
			x := make([]float64, 2*r.K)
			for i := range r.K {
				x[i] = -r.Best.MeanGap / float64(r.K) / math.Sqrt(r.PriorVariance)
				x[r.K+i] = 0.5 * math.Log(r.Best.VarianceOther/r.PriorVariance)
			}
			x[0] += r.Best.MeanGap / math.Sqrt(r.PriorVariance)
			x[r.K] = 0.5 * math.Log(r.Best.VarianceBest/r.PriorVariance)
			got := p.diagonal(p.samples(4096, 3), x, nil)
			if math.Abs(got-r.Best.Objective) > 0.005+0.01*math.Abs(r.Best.Objective) {
				t.Errorf("K=%d s=%g gap=%g: J = %.5f, want %.5f", r.K, r.PriorVariance, r.Gap, got, r.Best.Objective)
			}
		}
	}
}

// Where both branches are local optima the higher must be found, from either
// side. A fifth of the distance to the window's end is left out: the families
// differ, and J is known to a few hundredths of a nat only.
func TestGoldenQGBranches(t *testing.T) {
	for _, f := range golden.Read[beliefGolden](t, "vbks-qg/1") {
		for _, w := range f.TwoBranches.Rows {
			k := f.TwoBranches.K
			opts := Options{PriorVariance: w.PriorVariance, Seed: 2}
			below := w.Crossing - 0.4*(w.Crossing-w.From)
			above := w.Crossing + 0.4*(w.To-w.Crossing)
			elbo, ids := oneAhead(k, below, 7)
			low := mustFit(t, elbo, nil, opts, nil, "", ids)
			if q := low.Posterior(2000, 1)[7]; q > (w.Low+w.High)/2 {
				t.Errorf("s=%g gap=%.2f below the crossing: q(best) = %.3f, on the high branch", w.PriorVariance, below, q)
			}
			elbo, _ = oneAhead(k, above, 7)
			high := mustFit(t, elbo, nil, opts, low, ids[7], ids)
			if q := high.Posterior(2000, 1)[7]; q < (w.Low+w.High)/2 {
				t.Errorf("s=%g gap=%.2f above the crossing: q(best) = %.3f, on the low branch", w.PriorVariance, above, q)
			}
			elbo, _ = oneAhead(k, below, 7)
			if q := mustFit(t, elbo, nil, opts, high, ids[7], ids).Posterior(2000, 1)[7]; q > (w.Low+w.High)/2 {
				t.Errorf("s=%g gap=%.2f back below the crossing: q(best) = %.3f, caught on the high branch", w.PriorVariance, below, q)
			}
		}
	}
}

// Two tied of twelve, the rest 200 nats below: almost all mass on one of them,
// always the same.
func TestBeliefTies(t *testing.T) {
	_, ids := oneAhead(12, 0, 0)
	elbo := make([]float64, 12)
	for i := range elbo {
		elbo[i] = -200
	}
	elbo[3], elbo[8] = 0, 0
	opts := Options{PriorVariance: 10, Seed: 1}
	var last *Belief
	for _, c := range []struct {
		leader string
		wins   int
	}{{"", 3}, {"k003", 3}, {"k008", 8}, {"k008", 8}, {"k000", 3}} {
		last = mustFit(t, elbo, nil, opts, last, c.leader, ids)
		q := last.Posterior(2000, 1)
		if q[c.wins] < 0.97 || q[11-c.wins] > 0.02 {
			t.Errorf("last leader %q: q of the tied kernels is %.3f, %.3f, want all on %d", c.leader, q[3], q[8], c.wins)
		}
	}
	// A tie is what cannot be seen, a hundredth of a nat: no tenth is, whatever was before.
	for ahead, wins := range map[float64]int{0.005: 8, 0.1: 3, 1: 3} {
		elbo[3] = ahead
		q := mustFit(t, elbo, nil, opts, last, "k008", ids).Posterior(2000, 1)
		if q[wins] < 0.9 {
			t.Errorf("of a kernel %v nats ahead of the last leader and that, q = %.3f and %.3f", ahead, q[3], q[8])
		}
	}
}

func TestBeliefPermutation(t *testing.T) {
	elbo := []float64{-3, -1, -2.5, -8, -1.2, -40, 0}
	prior := []float64{0, 0.3, -1, 0, 0, 1, -0.5}
	ids := []string{"LIN", "PER", "SE", "RQ", "PER*SE", "LIN*SE", "PER+SE"}
	opts := Options{PriorVariance: 2, Seed: 4}
	b := mustFit(t, elbo, prior, opts, nil, "", ids)
	q := b.Posterior(2000, 9)
	perm := []int{4, 2, 6, 0, 5, 1, 3}
	pick := func(v []float64) []float64 {
		out := make([]float64, len(perm))
		for i, at := range perm {
			out[i] = v[at]
		}
		return out
	}
	moved := make([]string, len(ids))
	for i, at := range perm {
		moved[i] = ids[at]
	}
	c := mustFit(t, pick(elbo), pick(prior), opts, nil, "", moved)
	if !floats.EqualApprox(c.Mean, pick(b.Mean), 1e-9) {
		t.Errorf("means %v, want %v", c.Mean, pick(b.Mean))
	}
	if got := c.Posterior(2000, 9); !floats.EqualApprox(got, pick(q), 1e-9) {
		t.Errorf("posterior %v, want %v", got, pick(q))
	}
	sb, sc := b.Covariance(), c.Covariance()
	for i, at := range perm {
		for j, bt := range perm {
			if math.Abs(sc.At(i, j)-sb.At(at, bt)) > 1e-9 {
				t.Fatalf("covariance %d, %d: %v, want %v", i, j, sc.At(i, j), sb.At(at, bt))
			}
		}
	}
}

func TestBeliefDeterministic(t *testing.T) {
	elbo, ids := oneAhead(9, 12, 2)
	opts := Options{PriorVariance: 10, Seed: 3}
	a, b := mustFit(t, elbo, nil, opts, nil, "", ids), mustFit(t, elbo, nil, opts, nil, "", ids)
	if !slices.Equal(a.Mean, b.Mean) || !slices.Equal(a.Chol, b.Chol) || a.Objective != b.Objective {
		t.Error("equal arguments gave different beliefs")
	}
	if !slices.Equal(a.Posterior(2000, 5), b.Posterior(2000, 5)) {
		t.Error("equal seeds gave different posteriors")
	}
}

// With equal local ELBOs q(g) is the prior, so q* follows the prior weights,
// and J is the common value.
func TestBeliefPrior(t *testing.T) {
	ids := []string{"a", "b", "c"}
	prior := []float64{math.Log(8), 0, 0}
	b := mustFit(t, []float64{-7, -7, -7}, prior, Options{PriorVariance: 0.01, Seed: 1}, nil, "", ids)
	if math.Abs(b.Objective+7) > 1e-3 {
		t.Errorf("J = %v, want −7", b.Objective)
	}
	for i, want := range []float64{0.8, 0.1, 0.1} {
		if q := b.Posterior(2000, 1)[i]; math.Abs(q-want) > 0.003 {
			t.Errorf("q[%d] = %.4f, want %.4f", i, q, want)
		}
	}
	// A strong prior against a small lead, and the reverse.
	for _, c := range []struct{ gap, low, high float64 }{{0.5, 0, 0.2}, {300, 0.9, 1}} {
		b := mustFit(t, []float64{0, -c.gap}, []float64{-3, 0}, Options{PriorVariance: 1, Seed: 1}, nil, "", ids[:2])
		if q := b.Posterior(2000, 1)[0]; q < c.low || q > c.high {
			t.Errorf("gap %v: q = %.4f, want %v to %v", c.gap, q, c.low, c.high)
		}
	}
}

func TestBeliefHugeGaps(t *testing.T) {
	for _, k := range []int{2, 12, 40} {
		for _, gap := range []float64{1e5, 1e9} {
			elbo, ids := oneAhead(k, gap, 1)
			floats.AddConst(-3e6, elbo)
			b := mustFit(t, elbo, nil, Options{PriorVariance: 0.5, Seed: 1}, nil, "", ids)
			q := b.Posterior(2000, 1)
			if !(q[1] > 0.999) || math.IsNaN(b.Objective) || floats.HasNaN(b.Chol) || math.Abs(floats.Sum(q)-1) > 1e-12 {
				t.Errorf("K=%d gap=%g: q = %v, J = %v", k, gap, q[1], b.Objective)
			}
			if b.Objective > -3e6 {
				t.Errorf("K=%d gap=%g: J = %v above the highest local ELBO", k, gap, b.Objective)
			}
		}
	}
}

// Starting from the last optimum must not lead to a lower J than starting
// afresh, also when the set and the leader have changed.
func TestBeliefWarmNotWorse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	opts := Options{PriorVariance: 10, Seed: 1}
	var last *Belief
	leader := ""
	for round := range 8 {
		elbo, ids := oneAhead(12-round%3, 0, 0)
		for i := range elbo {
			elbo[i] = -15 * rng.ExpFloat64()
		}
		cold := mustFit(t, elbo, nil, opts, nil, "", ids)
		warm := mustFit(t, elbo, nil, opts, last, leader, ids)
		if warm.Objective < cold.Objective-0.03 {
			t.Errorf("round %d: J = %.4f warm, %.4f cold", round, warm.Objective, cold.Objective)
		}
		last, leader = warm, ids[floats.MaxIdx(warm.Posterior(2000, 1))]
	}
}

func TestBeliefOneKernel(t *testing.T) {
	b := mustFit(t, []float64{-12}, []float64{-2}, Options{PriorVariance: 4, EvidenceScale: 3}, nil, "", []string{"SE"})
	if q := b.Posterior(10, 1); len(q) != 1 || q[0] != 1 {
		t.Errorf("posterior %v", q)
	}
	if b.Objective != -4 || b.Mean[0] != -2 || b.Covariance().At(0, 0) != 4 {
		t.Errorf("belief %+v", b)
	}
}

func TestBeliefEvidenceScale(t *testing.T) {
	elbo := []float64{-30, 0, -45, -60}
	scaled := []float64{-3, 0, -4.5, -6}
	ids := []string{"a", "b", "c", "d"}
	a := mustFit(t, elbo, nil, Options{PriorVariance: 1, EvidenceScale: 10, Seed: 1}, nil, "", ids)
	b := mustFit(t, scaled, nil, Options{PriorVariance: 1, EvidenceScale: 1, Seed: 1}, nil, "", ids)
	if !floats.EqualApprox(a.Mean, b.Mean, 1e-9) || math.Abs(a.Objective-b.Objective) > 1e-9 {
		t.Errorf("𝓛/τ: J = %v and %v", a.Objective, b.Objective)
	}
}

func TestBeliefErrors(t *testing.T) {
	ids := []string{"a", "b"}
	good := Options{PriorVariance: 1, EvidenceScale: 1}
	for name, c := range map[string]struct {
		elbo, prior []float64
		opts        Options
		ids         []string
	}{
		"no kernels":     {nil, nil, good, nil},
		"length":         {[]float64{1}, nil, good, ids},
		"prior length":   {[]float64{1, 2}, []float64{1}, good, ids},
		"NaN":            {[]float64{1, math.NaN()}, nil, good, ids},
		"infinite":       {[]float64{1, math.Inf(-1)}, nil, good, ids},
		"zero weight":    {[]float64{1, 2}, []float64{0, math.Inf(-1)}, good, ids},
		"twice":          {[]float64{1, 2}, nil, good, []string{"a", "a"}},
		"prior variance": {[]float64{1, 2}, nil, Options{EvidenceScale: 1}, ids},
		"evidence scale": {[]float64{1, 2}, nil, Options{PriorVariance: 1}, ids},
		"samples":        {[]float64{1, 2}, nil, Options{PriorVariance: 1, EvidenceScale: 1, Samples: 513}, ids},
	} {
		if _, err := Fit(t.Context(), c.elbo, c.prior, c.opts, nil, "", c.ids); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestBayes(t *testing.T) {
	got := Bayes([]float64{-1e6, -1e6 - 20*math.Log(3)}, []float64{0, math.Log(2)}, 20)
	if !floats.EqualApprox(got, []float64{0.6, 0.4}, 1e-9) {
		t.Errorf("got %v, want 3 : 2", got)
	}
	if got := Bayes([]float64{0, math.Inf(-1)}, nil, 1); got[0] != 1 || got[1] != 0 {
		t.Errorf("got %v", got)
	}
}

func BenchmarkFit(b *testing.B) {
	for _, k := range []int{12, 144} {
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			elbo, ids := oneAhead(k, 30, 5)
			opts := Options{PriorVariance: 10, EvidenceScale: 1, Seed: 1}
			var last *Belief
			for b.Loop() {
				var err error
				if last, err = Fit(b.Context(), elbo, nil, opts, last, ids[5], ids); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
