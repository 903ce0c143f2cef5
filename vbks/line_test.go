package vbks

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

// withMean is log evidence and predictions of an exact GP with the mean a + bx, var a and
// var b, by generalised least squares (Rasmussen and Williams 2006, equations 2.42 and
// 2.43): nothing of the covariance of a line is in it.
func withMean(
	p *kernelspace.Program, raw []float64, noise float64, line *kernelspace.Line, x, y, at []float64,
) (evidence float64, mean, variance []float64) {
	n := len(y)
	k := mat.NewSymDense(n, nil)
	h := mat.NewDense(2, n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			k.SetSym(i, j, p.Eval(raw, x[i:i+1], x[j:j+1], i == j))
		}
		k.SetSym(i, i, k.At(i, i)+noise)
		h.Set(0, i, 1)
		h.Set(1, i, x[i])
	}
	var inverse, hk, hkh, inner mat.Dense
	if err := inverse.Inverse(k); err != nil {
		panic(err)
	}
	precision := mat.NewDiagDense(2, []float64{1 / line.Constant, 1 / line.Slopes[0]})
	hk.Mul(h, &inverse)
	hkh.Mul(&hk, h.T())
	hkh.Add(&hkh, precision)
	if err := inner.Inverse(&hkh); err != nil {
		panic(err)
	}
	yv := mat.NewVecDense(n, append([]float64(nil), y...))
	var hky, beta, ky mat.VecDense
	hky.MulVec(&hk, yv)
	beta.MulVec(&inner, &hky)
	ky.MulVec(&inverse, yv)
	logDet := func(m mat.Matrix) float64 { d, _ := mat.LogDet(m); return d }
	evidence = -mat.Dot(yv, &ky)/2 + mat.Dot(&hky, &beta)/2 - logDet(k)/2 - logDet(&hkh)/2 -
		math.Log(line.Constant*line.Slopes[0])/2 - float64(n)/2*math.Log(2*math.Pi)
	var rest, w mat.VecDense
	rest.MulVec(h.T(), &beta)
	rest.SubVec(yv, &rest)
	w.MulVec(&inverse, &rest)
	for j := range at {
		ks := mat.NewVecDense(n, nil)
		for i := range n {
			ks.SetVec(i, p.Eval(raw, x[i:i+1], at[j:j+1], false))
		}
		hs := mat.NewVecDense(2, []float64{1, at[j]})
		var kks, r, ir mat.VecDense
		kks.MulVec(&inverse, ks)
		r.MulVec(h, &kks)
		r.SubVec(hs, &r)
		ir.MulVec(&inner, &r)
		mean = append(mean, mat.Dot(hs, &beta)+mat.Dot(ks, &w))
		variance = append(variance, p.Eval(raw, at[j:j+1], at[j:j+1], true)-mat.Dot(ks, &kks)+mat.Dot(&r, &ir))
	}
	return evidence, mean, variance
}

// With a linear mean evidences and predictions are those of generalised least squares, far
// from the data, too; transplants, rungs and checkpoints do not mind it.
func TestLinearMean(t *testing.T) {
	t.Parallel()
	data := trainingSeries(9, 40)
	for i, x := range data.X {
		data.Y[i] += 2*x + 5
	}
	at := []float64{-12, -3.3, 0, 1.7, 5, 20}
	for _, optimizer := range []string{"collapsed", "natural"} {
		s := quickSettings(optimizer)
		s.PredictTheta, s.ThetaPrior = "mode", false
		s.Inducing, s.EvaluateEvery, s.Refine, s.Jitter = 100, 0.5, 1, device.Jitter{Relative: 1e-12}
		s.Line = &kernelspace.Line{Columns: []int{0}, Slopes: []float64{9}, Constant: 30}
		tr := trainerOn(t, 1, nil, data, s, "SE", "PER+SE", "PER*SE", "LIN+RQ")
		train(t, tr)
		again := resumed(t, tr, s)
		for _, k := range again.Last().Kernels {
			p, theta, noise, err := again.Solution(k.ID)
			if err != nil {
				t.Fatal(err)
			}
			own := p.Own()
			evidence, mean, variance := withMean(own, theta[:len(own.Params)], noise, s.Line, data.X, data.Y, at)
			if math.Abs(k.ELBO-evidence) > 1e-3*(1+math.Abs(evidence)) {
				t.Errorf("%s, %s: ELBO %v, evidence %v", optimizer, k.ID, k.ELBO, evidence)
			}
			got, err := again.Predict(context.Background(), at, PredictOptions{IDs: []string{k.ID}})
			if err != nil {
				t.Fatal(err)
			}
			for i := range at {
				if math.Abs(got.Mean[0][i]-mean[i]) > 1e-4*(1+math.Abs(mean[i])) || math.Abs(got.Var[0][i]-variance[i]) > 1e-3*variance[i]+1e-6 {
					t.Errorf("%s, %s at %v: %v ± %v, want %v ± %v", optimizer, k.ID, at[i], got.Mean[0][i], got.Var[0][i], mean[i], variance[i])
				}
			}
		}
	}
}
