package vbks

import (
	"math"
	"testing"
)

// With θ frozen, Adam on (m, C) converges to the optimal q(v).
func TestAdamConvergesToTheBound(t *testing.T) {
	x, y, z := testData(11, 40, 5, 1)
	s := testSettings("adam", "point", 40)
	b := newBench(t, x, y, z, 1, s, "SE")
	b.frozen = true
	for round, rate := range []float64{0.05, 0.01, 0.001} {
		b.rate = rate
		if err := b.train([]int{0}, drawMinibatches(1, round, 40, 40, 800), nil); err != nil {
			t.Fatal(err)
		}
	}
	est, err := b.estimate([]int{0}, b.rows(), 40, nil)
	if err != nil {
		t.Fatal(err)
	}
	top := b.collapsedAt(0, b.start(0))
	if gap := top - est[0].ELBO; gap < -1e-8 || gap > 1e-3 {
		t.Errorf("ELBO %.8f, collapsed bound %.8f", est[0].ELBO, top)
	}
	st, err := b.end(0)
	if err != nil {
		t.Fatal(err)
	}
	// S = Λ⁻¹ and m = Λ⁻¹(Λm).
	lambda, lambdaM := b.titsias(t, 0, st.Free, 40)
	m := len(lambdaM)
	product := make([]float64, m)
	for i := range m {
		for j := range m {
			product[i] += lambda[i*m+j] * st.Mean[j]
		}
	}
	near(t, "Λm", product, lambdaM, 1e-3)
}

// Minibatch steps on everything climb, in each treatment of θ.
func TestAdamClimbs(t *testing.T) {
	x, y, z := testData(12, 200, 8, 1)
	for _, hyper := range []string{"point", "diagonal", "full"} {
		s := testSettings("adam", hyper, 40)
		s.LearningRate = 0.03
		b := newBench(t, x, y, z, 1, s, "SE")
		before, err := b.estimate([]int{0}, b.rows(), 200, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.train([]int{0}, drawMinibatches(1, 1, 200, 40, 400), nil); err != nil {
			t.Fatal(err)
		}
		after, err := b.estimate([]int{0}, b.rows(), 200, nil)
		if err != nil {
			t.Fatal(err)
		}
		if after[0].ELBO < before[0].ELBO+100 {
			t.Errorf("%s: ELBO %.3f → %.3f", hyper, before[0].ELBO, after[0].ELBO)
		}
	}
}

// The sign of C's diagonal must not matter: neither for the ELBO where a
// column's sign is turned, nor for whether a step can be made.
func TestFactorOfEitherSign(t *testing.T) {
	x, y, z := testData(13, 30, 4, 1)
	b := newBench(t, x, y, z, 1, testSettings("adam", "point", 30), "SE")
	st := &State{Free: b.start(0), Chol: orIdentity(nil, 4, 0.7)}
	st.Chol[4] = 0.3
	value := b.at(t, st, b.rows(), 30, false)
	for i := range 4 {
		st.Chol[i*4] = -st.Chol[i*4]
	}
	if turned := b.at(t, st, b.rows(), 30, true); math.Abs(turned-value) > 1e-10*math.Abs(value) {
		t.Errorf("ELBO %.12g with a column turned, %.12g without", turned, value)
	}
	if err := b.train([]int{0}, drawMinibatches(1, 1, 30, 30, 3), nil); err != nil {
		t.Fatal(err)
	}
	if err := b.err(0); err != nil {
		t.Error(err)
	}
}

func TestPartition(t *testing.T) {
	var keys []int
	var parts [][]int
	partition([]int{1, 3, 4, 8}, func(k int) int { return k % 2 }, func(same []int, key int) {
		keys, parts = append(keys, key), append(parts, same)
	})
	if len(keys) != 2 || keys[0] != 1 || len(parts[0]) != 2 || len(parts[1]) != 2 || parts[1][1] != 8 {
		t.Errorf("%v %v", keys, parts)
	}
}
