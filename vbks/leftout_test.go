package vbks

import (
	"math"
	"testing"
)

// believed returns the place of the leader and q* and Bayes' rule of all
// kernels, and fails where these do not sum to 1.
func believed(t *testing.T, e *Evaluation) (leader int, q, bayes []float64) {
	t.Helper()
	sum, sumBayes := 0.0, 0.0
	for _, k := range e.Kernels {
		q, bayes = append(q, k.Posterior), append(bayes, k.Bayes)
		sum, sumBayes = sum+k.Posterior, sumBayes+k.Bayes
	}
	if math.Abs(sum-1) > 1e-9 || math.Abs(sumBayes-1) > 1e-9 {
		t.Errorf("q* sums to %v, Bayes' rule to %v", sum, sumBayes)
	}
	return e.Leader(), q, bayes
}

// climbing makes what a climb finds of a trainer that has made one evaluation: the
// local ELBOs are given, then the worst are left out, and all others gain as much.
func climbing(t *testing.T, tr *Trainer, elbo []float64, stay int, gain float64) (before, after *Evaluation) {
	t.Helper()
	for i, k := range tr.kernels {
		k.elbo, k.bounds, k.terms = elbo[i], nil, nil
		k.past = []pastELBO{{evaluation: tr.evaluation, rows: k.rows, elbo: k.elbo}}
	}
	before, q, err := tr.evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tr.belief, tr.leader = q, before.Kernels[before.Leader()].ID
	tr.led, tr.since = tr.leader, tr.evaluation
	tr.leave()
	tr.evaluation++
	for i, k := range tr.kernels {
		if i >= stay {
			k.status, k.left, k.rows = Pruned, 128, 0
			continue
		}
		k.elbo += gain
		k.remember(tr.evaluation, tr.m)
	}
	if after, _, err = tr.evaluate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return before, after
}

// Kernels that are left out keep their share where the others keep their gaps: q*
// of the leader does not fall for want of losers.
func TestLeftOutKernelsKeepTheirShare(t *testing.T) {
	exprs := []string{"SE", "PER", "RQ", "MATERN12", "MATERN32", "LIN", "PER+SE", "LIN+SE", "RQ*SE", "PER*SE", "LIN*SE", "LIN+PER"}
	for _, how := range []string{"integrate", "ignore"} {
		s := quickSettings("collapsed")
		s.EvaluateEvery, s.Refine, s.Starts, s.Steps, s.Transplants, s.Errors = 1, 0, 1, 3, false, how
		tr := trainerOn(t, 2, nil, trainingSeries(5, 40), s, exprs...)
		next(t, tr)
		elbo := []float64{0, -3, -4, -5}
		for len(elbo) < len(exprs) {
			elbo = append(elbo, -12-float64(len(elbo)))
		}
		before, after := climbing(t, tr, elbo, 4, 7.5)
		leader, q, bayes := believed(t, before)
		same, q2, bayes2 := believed(t, after)
		if leader != 0 || same != 0 || q2[0] < q[0]-0.02 {
			t.Errorf("%s: q* of the leader was %.4f, is %.4f", how, q[0], q2[0])
		}
		for i, k := range after.Kernels {
			if k.LeftOut != (i >= 4) || k.LeftOut == (k.Rank > 0) {
				t.Errorf("%s: %+v", how, k)
			}
			if math.Abs(q2[i]-q[i]) > 0.02 || math.Abs(bayes2[i]-bayes[i]) > 1e-9 {
				t.Errorf("%s: %s had %.5f and %.3g, has %.5f and %.3g", how, k.ID, q[i], bayes[i], q2[i], bayes2[i])
			}
		}
		// Pruned by the user it is gone, and what it had is the others'.
		tr.last = after
		if _, err := tr.Restore([]string{"LIN"}); err != nil {
			t.Fatal(err)
		}
		if k := tr.Last().Kernels[5]; !k.LeftOut || k.Status != Pruned {
			t.Errorf("%s: restored, before it is compared: %+v", how, k)
		}
		e, err := tr.Prune([]string{"LIN"})
		if err != nil {
			t.Fatal(err)
		}
		if k := e.Kernels[5]; k.LeftOut || k.Posterior != 0 {
			t.Errorf("%s: pruned by request: %+v", how, k)
		}
		believed(t, e)
	}
}

// The front moves on: a kernel that was left out stays as far behind it, whoever
// leads now, also where bounds tell more than local ELBOs. It does
// not depend on kernels that are gone.
func TestLeftOutKernelsMoveWithTheFront(t *testing.T) {
	s := quickSettings("collapsed")
	s.EvaluateEvery = 1
	tr := trainerOn(t, 1, nil, trainingSeries(5, 40), s, "SE", "PER", "RQ", "LIN")
	next(t, tr)
	a, b, c, out := tr.kernels[0], tr.kernels[1], tr.kernels[2], tr.kernels[3]
	for i, k := range tr.kernels {
		k.elbo, k.bounds = []float64{-100, -103, -110, -102}[i], nil
	}
	b.bounds = &Evidence{-103, -93, true} // middle −98
	tr.leave()
	out.status, out.left, out.rows = Pruned, 128, 0
	for i, k := range []*kernel{a, b, c} {
		k.elbo, k.bounds = []float64{-95, -90, -110}[i], nil
	}
	check := func(what string, want, middle float64) {
		t.Helper()
		elbo, low, high, ok := tr.standing(out)
		if !ok || math.Abs(elbo-want) > 1e-9 || math.Abs(elbo+(low+high)/2-middle) > 1e-9 {
			t.Errorf("%s: local ELBO %v, middle %v, in the belief %v; want %v and %v", what, elbo, elbo+(low+high)/2, ok, want, middle)
		}
	}
	check("four behind the middle of PER", -94, -94)
	b.status = Pruned
	check("without PER", -97, -97)
	a.status = Pruned
	check("ahead of RQ, as it was", -102, -102)
	c.status = Failed
	if _, _, _, ok := tr.standing(out); ok {
		t.Error("it is in the belief, though none is left that it was compared with")
	}
}
