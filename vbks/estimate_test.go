package vbks

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/params"
)

// At the optimal q(v), the predictions are those of the projected process by
// dense formulas, whatever chunks they are made in.
func TestPredict(t *testing.T) {
	n := passRows + 11
	x, y, z := testData(24, n, 7, 1)
	for _, optimizer := range []string{"adam", "natural"} {
		b := newBench(t, x, y, z, 1, testSettings(optimizer, "point", 20), "SE+LIN")
		if err := b.exact([]int{0}, b.rows(), sumSquares(y), nil); err != nil {
			t.Fatal(err)
		}
		mean, variance, noise, err := b.predict([]int{0}, b.rows(), nil)
		if err != nil {
			t.Fatal(err)
		}
		raw, s2 := params.Raw(b.programs[0], b.start(0), b.floor)
		near(t, "noise", noise, []float64{s2}, 1e-14)
		// Q = Kxz Kzz⁻¹ Kzx; mean = Q (Q + σ²I)⁻¹ y; variance = k(x,x) − diag(Q (Q + σ²I)⁻¹ Q).
		p, m := b.programs[0], 7
		kzz, kzx := mat.NewSymDense(m, nil), mat.NewDense(m, n, nil)
		var trace float64
		for i := range m {
			for j := i; j < m; j++ {
				kzz.SetSym(i, j, p.Eval(raw, z[i:i+1], z[j:j+1], i == j))
			}
			trace += kzz.At(i, i)
			for j := range n {
				kzx.Set(i, j, p.Eval(raw, z[i:i+1], x[j:j+1], false))
			}
		}
		for i := range m {
			kzz.SetSym(i, i, kzz.At(i, i)+1e-3*trace/float64(m))
		}
		var sol, q, w, qq mat.Dense
		if err := sol.Solve(kzz, kzx); err != nil {
			t.Fatal(err)
		}
		q.Mul(kzx.T(), &sol)
		cov := mat.DenseCopyOf(&q)
		for i := range n {
			cov.Set(i, i, cov.At(i, i)+s2)
		}
		if err := w.Solve(cov, &q); err != nil {
			t.Fatal(err)
		}
		qq.Mul(&q, &w)
		wantMean, wantVar := make([]float64, n), make([]float64, n)
		for i := range n {
			for j := range n {
				wantMean[i] += w.At(j, i) * y[j]
			}
			wantVar[i] = p.Eval(raw, x[i:i+1], x[i:i+1], true) - qq.At(i, i)
		}
		near(t, optimizer+" mean", mean[0], wantMean, 1e-7)
		near(t, optimizer+" variance", variance[0], wantVar, 1e-7)
	}
}

// Over a belief in θ the prediction is the mixture's over the fixed draws.
func TestPredictMixesOverTheta(t *testing.T) {
	x, y, z := testData(25, 50, 5, 1)
	b := newBench(t, x, y, z, 1, testSettings("natural", "full", 20), "SE")
	if err := b.exact([]int{0}, b.rows(), sumSquares(y), nil); err != nil {
		t.Fatal(err)
	}
	mean, variance, _, err := b.predict([]int{0}, b.rows(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var first, second [50]float64
	for i := range thetaDraws {
		b.take([]int{0}, i)
		err := b.pass([]int{0}, b.rows(), nil, func(device.Points) error {
			mu, v := readArray(t, b.lane, b.mu, 0), readArray(t, b.lane, b.v, 0)
			for j := range mu {
				first[j] += mu[j] / thetaDraws
				second[j] += (v[j] + mu[j]*mu[j]) / thetaDraws
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for j := range second {
		second[j] -= first[j] * first[j]
	}
	near(t, "mean", mean[0], first[:], 1e-12)
	near(t, "variance", variance[0], second[:], 1e-10)
}

// An estimate from some rows is n times their mean term less what does not
// depend on rows, and a row's term does not depend on which others are asked.
func TestEstimateFromSomeRows(t *testing.T) {
	x, y, z := testData(26, 80, 6, 1)
	for _, tr := range treatments {
		b := newBench(t, x, y, z, 1, testSettings(tr.optimizer, tr.hyper, 20), "SE+LIN")
		if err := b.train([]int{0}, drawMinibatches(1, 1, 80, 20, 5), nil); err != nil {
			t.Fatal(err)
		}
		all, err := b.estimate([]int{0}, b.rows(), 80, nil)
		if err != nil {
			t.Fatal(err)
		}
		index, err := b.lane.NewIndex([]int32{70, 3, 41})
		if err != nil {
			t.Fatal(err)
		}
		some, err := b.estimate([]int{0}, device.Points{Data: b.common.train, Index: index, To: 3}, 80, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows := []float64{all[0].Rows[70], all[0].Rows[3], all[0].Rows[41]}
		near(t, "rows", some[0].Rows, rows, 1e-10)
		want := 80*(rows[0]+rows[1]+rows[2])/3 - all[0].KL + all[0].LogPrior
		near(t, "ELBO", []float64{some[0].ELBO}, []float64{want}, 1e-10)
		if all[0].KL <= 0 {
			t.Errorf("KL %g", all[0].KL)
		}
		if tr.hyper == "point" {
			near(t, "log p(θ)", []float64{all[0].LogPrior}, []float64{logThetaPrior(readFree(t, b), b.priors[0])}, 1e-12)
			if tr.optimizer == "adam" {
				// The same number as the training's own objective.
				st, err := b.end(0)
				if err != nil {
					t.Fatal(err)
				}
				near(t, "objective", []float64{b.at(t, st, b.rows(), 80, false)}, []float64{all[0].ELBO}, 1e-10)
			}
		} else if all[0].LogPrior != 0 {
			t.Errorf("log p(θ) %g beside a KL of q(θ)", all[0].LogPrior)
		}
	}
}

func readFree(t *testing.T, b *bench) []float64 {
	t.Helper()
	st, err := b.end(0)
	if err != nil {
		t.Fatal(err)
	}
	return st.Free
}

func TestMix(t *testing.T) {
	mu, v := []float64{1, 4, -2}, []float64{0.5, 0.1, 2}
	mean, variance := []float64{0}, []float64{0}
	var first, second float64
	for i := range mu {
		mix(mean, variance, mu[i:i+1], v[i:i+1], 1/float64(i+1))
		first += mu[i] / 3
		second += (v[i] + mu[i]*mu[i]) / 3
	}
	if math.Abs(mean[0]-first) > 1e-14 || math.Abs(variance[0]-(second-first*first)) > 1e-13 {
		t.Errorf("mean %g, variance %g", mean[0], variance[0])
	}
}
