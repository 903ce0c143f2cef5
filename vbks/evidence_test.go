package vbks

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/belief"
	"example.com/kestrel/vbks/mixture"
	"example.com/kestrel/vbks/params"
)

// The collapsed evaluation's local ELBO is Titsias' bound at the
// hyperparameters that it reports, less the soft bounds, computed by dense
// matrices.
func TestEvaluationReportsTheBound(t *testing.T) {
	data := trainingSeries(11, 90)
	s := quickSettings("collapsed")
	s.ThetaPrior = false
	tr := trainerOn(t, 2, nil, data, s, "SE", "LIN+SE", "(PER+RQ)*LIN", "LIN*SE")
	for _, e := range train(t, tr) {
		for i, res := range e.Kernels {
			k := tr.kernels[i]
			raw := make([]float64, len(res.Params))
			for j, p := range res.Params {
				raw[j] = p.Value
				if p.Param != k.program.Params[j] || p.SD != 0 {
					t.Errorf("%s: parameter %d is %+v", res.ID, j, p)
				}
			}
			n := e.RowsSeen
			want := naiveCollapsed(k.program, raw, res.Noise, data.X[:n], data.Y[:n], tr.inducing, 1, s.Jitter)
			for j, x := range params.Free(k.program, raw, res.Noise, tr.floor) {
				// A noise variance at its floor keeps too few digits to say where ρ is.
				if out := math.Max(k.prior.lo[j]-x, x-k.prior.hi[j]); out > 0 && j < len(raw) {
					want -= tr.wall * out * out / 2
				}
			}
			if math.Abs(res.ELBO-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("evaluation %d: ELBO of %s is %.9g, dense matrices give %.9g", e.Index, res.ID, res.ELBO, want)
			}
			if res.SE != 0 {
				t.Errorf("%s: standard error %g where all rows are used", res.ID, res.SE)
			}
		}
	}
}

// What an evaluation says of the kernels fits together: posteriors sum to one
// and follow the ELBOs, ranks are a permutation, Bayes is Bayes' rule.
func checkEvaluation(t *testing.T, e *Evaluation) {
	t.Helper()
	var posterior, bayes, most float64
	live := 0
	leader := e.Leader()
	if leader < 0 {
		t.Fatalf("evaluation %d has no leader", e.Index)
	}
	for _, k := range e.Kernels {
		if k.Status == Live {
			most = math.Max(most, k.ELBO-e.Kernels[leader].ELBO)
		}
	}
	ranks := map[int]bool{}
	var sum float64
	for _, k := range e.Kernels {
		if k.Status == Live {
			sum += math.Exp(k.ELBO - e.Kernels[leader].ELBO - most)
		}
	}
	for _, k := range e.Kernels {
		if k.Status != Live {
			if k.Posterior != 0 || k.Bayes != 0 || k.ELBO != 0 || k.Rank != 0 || k.Params != nil || k.Reason == "" {
				t.Errorf("evaluation %d: %s is %s and yet %+v", e.Index, k.ID, k.Status, k)
			}
			continue
		}
		live++
		ranks[k.Rank] = true
		posterior += k.Posterior
		bayes += k.Bayes
		if want := math.Exp(k.ELBO-e.Kernels[leader].ELBO-most) / sum; math.Abs(k.PointBayes-want) > 1e-9 {
			t.Errorf("evaluation %d: Bayes' posterior of %s is %g, want %g", e.Index, k.ID, k.PointBayes, want)
		}
	}
	if math.Abs(posterior-1) > 1e-9 || math.Abs(bayes-1) > 1e-9 {
		t.Errorf("evaluation %d: posteriors sum to %g and %g", e.Index, posterior, bayes)
	}
	for r := 1; r <= live; r++ {
		if !ranks[r] || len(ranks) != live {
			t.Fatalf("evaluation %d: ranks are %v", e.Index, ranks)
		}
	}
}

func TestPruneAndRestore(t *testing.T) {
	thorough.AnyInstructions(t)
	data := trainingSeries(12, 120)
	for _, optimizer := range optimizers {
		tr := trainerOn(t, 2, nil, data, quickSettings(optimizer), fourKernels...)
		if _, err := tr.Prune([]string{"SE"}); err == nil {
			t.Error("pruned before the first evaluation")
		}
		last := train(t, tr)[2]
		checkEvaluation(t, &last)
		elbo := map[string]float64{}
		for _, k := range last.Kernels {
			elbo[k.ID] = k.ELBO
		}
		asked := false
		leader, second := last.Kernels[last.Leader()].ID, ""
		for _, k := range last.Kernels {
			if k.Rank == 2 {
				second = k.ID
			}
		}
		tr.SetGate(func(context.Context) error { asked = true; return nil })

		e, err := tr.Prune([]string{second, leader})
		if err != nil {
			t.Fatal(err)
		}
		checkEvaluation(t, e)
		if e.Index != 3 || e.RowsSeen != 120 || tr.Last() != e || len(tr.Belief().IDs) != 2 {
			t.Errorf("%s: after pruning: %+v, a belief over %v", optimizer, e, tr.Belief().IDs)
		}
		gone := 0
		for _, k := range e.Kernels {
			if k.Status == Pruned {
				gone++
			} else if k.ELBO != elbo[k.ID] {
				t.Errorf("%s: pruning others changed the ELBO of %s", optimizer, k.ID)
			}
		}
		if gone != 2 {
			t.Errorf("%s: %d kernels pruned, want 2", optimizer, gone)
		}

		if e, err = tr.Restore([]string{second}); err != nil {
			t.Fatal(err)
		}
		checkEvaluation(t, e)
		for _, k := range e.Kernels {
			if k.Status == Live && k.ELBO != elbo[k.ID] {
				t.Errorf("%s: ELBO of %s is %g after restoring, %g before", optimizer, k.ID, k.ELBO, elbo[k.ID])
			}
		}
		if _, err := tr.Restore([]string{leader}); err != nil {
			t.Fatal(err)
		}
		for i, k := range tr.Last().Kernels {
			if k.Status != Live || k.ELBO != last.Kernels[i].ELBO || k.Bayes != last.Kernels[i].Bayes ||
				!reflect.DeepEqual(k.Params, last.Kernels[i].Params) {
				t.Errorf("%s: %s is %+v after all was restored", optimizer, k.ID, k)
			}
		}
		if asked {
			t.Errorf("%s: pruning or restoring trained", optimizer)
		}
	}
}

func TestPruneErrorsChangeNothing(t *testing.T) {
	tr := trainerOn(t, 1, nil, trainingSeries(13, 60), quickSettings("collapsed"), fourKernels...)
	next(t, tr)
	if _, err := tr.Prune([]string{"PER"}); err != nil {
		t.Fatal(err)
	}
	before := snapshotOf(tr)
	for _, c := range []struct {
		what, want string
		change     func([]string) (*Evaluation, error)
		ids        []string
	}{
		{"an unknown kernel", "COS", tr.Prune, []string{"SE", "COS"}},
		{"a kernel pruned before", "PER", tr.Prune, []string{"SE", "PER"}},
		{"a kernel named twice", "SE", tr.Prune, []string{"SE", "SE"}},
		{"all kernels", "", tr.Prune, []string{"SE", "LIN+SE", "LIN+RQ"}},
		{"restoring a live kernel", "SE", tr.Restore, []string{"PER", "SE"}},
		{"restoring an unknown kernel", "COS", tr.Restore, []string{"COS"}},
	} {
		if _, err := c.change(c.ids); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that names %q", c.what, err, c.want)
		}
		if !reflect.DeepEqual(snapshotOf(tr), before) {
			t.Fatalf("%s: the failed request changed the trainer", c.what)
		}
	}
	// The pruned kernel is left alone by later evaluations.
	e := next(t, tr)
	checkEvaluation(t, e)
	if k := e.Kernels[3]; k.ID != "PER" || k.Status != Pruned {
		t.Errorf("%s is %s after the next evaluation", k.ID, k.Status)
	}
}

// Kernels are pruned automatically once their mass has been below the limit
// for the evaluations asked for, at most half of them at once, and never the
// highest-ranked ones.
func TestAutomaticPruning(t *testing.T) {
	s := quickSettings("collapsed")
	s.AutoPruneMass, s.AutoPruneWait, s.AutoPruneKeep = 2, 2, 1 // every mass is below 2
	tr := trainerOn(t, 1, nil, trainingSeries(14, 90), s, fourKernels...)
	for _, want := range []int{4, 2, 1, 1} {
		e := next(t, tr)
		checkEvaluation(t, e)
		if live := len(tr.Belief().IDs); live != want {
			t.Errorf("evaluation %d: %d kernels are live, want %d", e.Index, live, want)
		}
		told := func(n Notice) bool { return n.Kernel == "" && strings.Contains(n.Text, "pruned 2 kernels") }
		if pruned := slices.ContainsFunc(e.Notices, told); pruned != (e.Index == 2) {
			t.Errorf("evaluation %d: notices %+v", e.Index, e.Notices)
		}
	}
}

// The subsample of the rows seen is the same for all kernels, without
// repetition and uniform; the estimate from it is unbiased; and the paired
// standard error is the standard deviation of the gap that it really has.
func TestSubsampleAndPairedSE(t *testing.T) {
	const n, total, rows, runs = 60, 80, 20, 4000
	rng := rand.New(rand.NewPCG(18, 1))
	// Row terms of two kernels that agree on what is hard, and of one on its own.
	a, b, c := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		shared := 3 * rng.NormFloat64()
		a[i], b[i], c[i] = shared+0.2*rng.NormFloat64(), shared-0.1+0.2*rng.NormFloat64(), 3*rng.NormFloat64()
	}
	sum := func(x []float64) (s float64) {
		for _, v := range x {
			s += v
		}
		return s
	}
	count := make([]int, n)
	var estimates, gaps, wide, se2, wideSE2 []float64
	for seed := range uint64(runs) {
		tr := &Trainer{settings: Settings{ELBORows: rows}, elboRows: permutation(total, seed)}
		sample := tr.elboSample(n)
		if len(sample.Rows) != rows || sample.N != rows {
			t.Fatalf("%d rows sampled, want %d", len(sample.Rows), rows)
		}
		var sa, sb, sc []float64
		for _, r := range sample.Rows {
			count[r]++ // panics for a row that has not been seen
			sa, sb, sc = append(sa, a[r]), append(sb, b[r]), append(sc, c[r])
		}
		estimates = append(estimates, n*sum(sa)/rows)
		gaps, wide = append(gaps, n*(sum(sa)-sum(sb))/rows), append(wide, n*(sum(sa)-sum(sc))/rows)
		se, far := belief.PairedSE(sa, sb, n), belief.PairedSE(sa, sc, n)
		se2, wideSE2 = append(se2, se*se), append(wideSE2, far*far)
	}
	for r, times := range count {
		// Binomial with mean 1333 and standard deviation 30.
		if math.Abs(float64(times)-runs*rows/n) > 150 {
			t.Errorf("row %d was sampled %d times of %d, about a third expected", r, times, runs)
		}
	}
	for _, x := range []struct {
		what    string
		got     []float64
		want    float64
		squared []float64
	}{
		{"an ELBO", estimates, sum(a), nil},
		{"the gap of alike kernels", gaps, sum(a) - sum(b), se2},
		{"the gap of unlike kernels", wide, sum(a) - sum(c), wideSE2},
	} {
		mean, sd := stat.MeanStdDev(x.got, nil)
		if math.Abs(mean-x.want) > 4*sd/math.Sqrt(runs) {
			t.Errorf("%s: %.3f on the mean of the subsamples, %.3f on all rows", x.what, mean, x.want)
		}
		// The variance of so many draws is good to about 3 %.
		if m := stat.Mean(x.squared, nil); x.squared != nil && math.Abs(m/(sd*sd)-1) > 0.1 {
			t.Errorf("%s: mean squared standard error %.4g, variance %.4g", x.what, m, sd*sd)
		}
	}
	if stat.Mean(se2, nil) > 0.05*stat.Mean(wideSE2, nil) {
		t.Error("pairing does not show: alike kernels have a gap as uncertain as unlike ones")
	}
	if se := belief.PairedSE(a, b, n); se != 0 {
		t.Errorf("standard error %g where all rows were used", se)
	}
	if se := belief.PairedSE(a[:rows], a[:rows], n); se != 0 {
		t.Errorf("standard error of a kernel's gap to itself is %g", se)
	}
	if se := belief.PairedSE(nil, nil, n); se != 0 {
		t.Errorf("standard error %g without row terms", se)
	}
	// By hand: differences 1, 3, so a standard deviation of √2 over 2 rows of 8.
	if se, want := belief.PairedSE([]float64{2, 3}, []float64{1, 0}, 8), 8*math.Sqrt2/math.Sqrt2*math.Sqrt(0.75); math.Abs(se-want) > 1e-12 {
		t.Errorf("standard error %g, by hand %g", se, want)
	}
}

// How many rows the ELBOs are estimated on changes nothing that is learned; the
// estimates agree with all rows' within their standard errors, and what an exact
// pass has made known is no estimate.
func TestELBORowsOnlyEstimate(t *testing.T) {
	data := trainingSeries(19, 120)
	for _, optimizer := range []string{"natural", "adam"} {
		s := quickSettings(optimizer)
		s.ELBORows = 0
		all := trainerOn(t, 1, nil, data, s, fourKernels...)
		s.ELBORows = 60
		some := trainerOn(t, 1, nil, data, s, fourKernels...)
		for i := 1; i <= 3; i++ {
			want, got := next(t, all), next(t, some)
			checkEvaluation(t, got)
			leader := got.Leader()
			for j, k := range got.Kernels {
				if !reflect.DeepEqual(all.kernels[j].state, some.kernels[j].state) {
					t.Fatalf("%s: the number of rows changes what %s learns", optimizer, k.ID)
				}
				exact := optimizer == "natural" || i == 1
				if want.Kernels[j].SE != 0 || (k.SE == 0) != (j == leader || exact) || (k.ELBORows == got.RowsSeen) != exact {
					t.Errorf("%s, evaluation %d: standard errors of %s %g and %g", optimizer, i, k.ID, want.Kernels[j].SE, k.SE)
				}
				gap := k.ELBO - got.Kernels[leader].ELBO
				truth := want.Kernels[j].ELBO - want.Kernels[leader].ELBO
				if math.Abs(gap-truth) > 4*k.SE+1e-9 {
					t.Errorf("%s, evaluation %d: gap of %s %.3f ± %.3f, on all rows %.3f", optimizer, i, k.ID, gap, k.SE, truth)
				}
			}
		}
	}
}

// densePrediction is the exact GP's predictive mean and variance of f by dense
// matrices.
func densePrediction(p *kernelspace.Program, raw []float64, noise float64, x, y, at []float64) (mean, variance []float64) {
	n := len(y)
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			cov.SetSym(i, j, p.Eval(raw, x[i:i+1], x[j:j+1], i == j))
		}
		cov.SetSym(i, i, cov.At(i, i)+noise)
	}
	var ch mat.Cholesky
	if !ch.Factorize(cov) {
		panic("not positive definite")
	}
	for j := range at {
		k := mat.NewVecDense(n, nil)
		for i := range n {
			k.SetVec(i, p.Eval(raw, x[i:i+1], at[j:j+1], false))
		}
		var w mat.VecDense
		if err := ch.SolveVecTo(&w, k); err != nil {
			panic("ill-conditioned")
		}
		mean = append(mean, mat.Dot(&w, mat.NewVecDense(n, slices.Clone(y))))
		variance = append(variance, p.Eval(raw, at[j:j+1], at[j:j+1], true)-mat.Dot(&w, k))
	}
	return mean, variance
}

// With the training inputs as inducing inputs, every kernel predicts what the
// exact GP does.
func TestPredictsAsTheExactGP(t *testing.T) {
	data := trainingSeries(20, 40)
	at := []float64{-6, -3.3, -0.2, 0, 1.7, 3.9, 5}
	for _, optimizer := range []string{"collapsed", "natural"} {
		s := quickSettings(optimizer)
		s.PredictTheta = "mode"
		s.Inducing, s.EvaluateEvery, s.Jitter = 100, 1, device.Jitter{Relative: 1e-10}
		tr := trainerOn(t, 2, nil, data, s, fourKernels...)
		e := next(t, tr)
		if tr.Inducing() != 40 || len(e.Notices) == 0 {
			t.Errorf("%s: %d inducing inputs of 40 rows, notices %+v", optimizer, tr.Inducing(), e.Notices)
		}
		p, err := tr.Predict(context.Background(), at, PredictOptions{IDs: fourKernels})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.IDs) != 4 {
			t.Fatalf("%s: prediction by %v", optimizer, p.IDs)
		}
		for j, id := range p.IDs {
			i := slices.IndexFunc(tr.kernels, func(k *kernel) bool { return k.id == id })
			raw, noise := params.Raw(tr.kernels[i].program, tr.kernels[i].state.Free, tr.floor)
			mean, variance := densePrediction(tr.kernels[i].program, raw, noise, data.X, data.Y, at)
			near(t, optimizer+" mean of "+id, p.Mean[j], mean, 1e-4)
			near(t, optimizer+" variance of "+id, p.Var[j], variance, 1e-4)
			if p.Noise[j] != noise {
				t.Errorf("%s: noise of %s is %g, want %g", optimizer, id, p.Noise[j], noise)
			}
		}
		// Predicting leaves the trainer as it is, and a cancelled one says so.
		before := snapshotOf(tr)
		cancelled, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := tr.Predict(cancelled, at, PredictOptions{}); err == nil {
			t.Errorf("%s: a cancelled prediction gives no error", optimizer)
		}
		if !reflect.DeepEqual(snapshotOf(tr), before) {
			t.Errorf("%s: predicting changed the trainer", optimizer)
		}
	}
}

// Weights are those of the kernels averaged over, renormalised, best first.
func TestPredictionWeights(t *testing.T) {
	data := trainingSeries(21, 60)
	at := []float64{-1, 0.5, 2}
	for _, optimizer := range optimizers {
		s := quickSettings(optimizer)
		s.EvidenceScale = 50 // keeps all kernels in play
		tr := trainerOn(t, 2, nil, data, s, fourKernels...)
		if _, err := tr.Predict(context.Background(), at, PredictOptions{}); err == nil {
			t.Error("prediction before the first evaluation")
		}
		train(t, tr)
		check := func(what string, o PredictOptions, kernels int) *mixture.Prediction {
			t.Helper()
			p, err := tr.Predict(context.Background(), at, o)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			var weights []float64
			for i := range tr.last.Kernels {
				k := &tr.last.Kernels[i]
				if k.Status == Live && (o.IDs == nil || slices.Contains(o.IDs, k.ID)) {
					ids = append(ids, k.ID)
				}
			}
			of := func(id string) float64 {
				k := tr.last.Kernels[slices.IndexFunc(tr.last.Kernels, func(k KernelResult) bool { return k.ID == id })]
				if o.Weights == "bayes" {
					return k.Bayes
				}
				return k.Posterior
			}
			slices.SortStableFunc(ids, func(a, b string) int {
				if of(a) > of(b) {
					return -1
				}
				return 1
			})
			ids = ids[:kernels]
			var sum float64
			for _, id := range ids {
				sum += of(id)
			}
			for _, id := range ids {
				weights = append(weights, of(id)/sum)
			}
			if !slices.Equal(p.IDs, ids) {
				t.Errorf("%s, %s: kernels %v, want %v", optimizer, what, p.IDs, ids)
			}
			near(t, optimizer+" "+what, p.Weights, weights, 1e-12)
			score, err := p.Score([]float64{0, 0, 0})
			if err != nil || math.IsNaN(score.NLPD) || math.IsInf(score.NLPD, 0) {
				t.Errorf("%s, %s: score %+v, %v", optimizer, what, score, err)
			}
			return p
		}
		check("all", PredictOptions{}, 4)
		check("Bayes", PredictOptions{Weights: "bayes"}, 4)
		two := check("the best two", PredictOptions{Top: 2}, 2)
		check("one by name", PredictOptions{IDs: []string{"PER"}}, 1)
		if _, err := tr.Predict(context.Background(), at, PredictOptions{IDs: []string{"COS"}}); err == nil {
			t.Errorf("%s: prediction by a kernel that is not there", optimizer)
		}

		// The same two kernels, the others pruned: the same means and variances.
		var others []string
		for _, id := range fourKernels {
			if !slices.Contains(two.IDs, id) {
				others = append(others, id)
			}
		}
		if _, err := tr.Prune(others); err != nil {
			t.Fatal(err)
		}
		rest := check("after pruning", PredictOptions{}, 2)
		i := slices.Index(rest.IDs, two.IDs[0])
		if i < 0 || !reflect.DeepEqual(rest.Mean[i], two.Mean[0]) || !reflect.DeepEqual(rest.Var[i], two.Var[0]) {
			t.Errorf("%s: pruning others changed what %s predicts", optimizer, two.IDs[0])
		}
		if _, err := tr.Predict(context.Background(), at, PredictOptions{IDs: others[:1]}); err == nil {
			t.Errorf("%s: prediction by a pruned kernel", optimizer)
		}
	}
}
