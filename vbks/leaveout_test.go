package vbks

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/stacking"
)

// without returns x and y but for row i.
func without(x, y []float64, i int) (ox, oy []float64) {
	return slices.Delete(slices.Clone(x), i, i+1), slices.Delete(slices.Clone(y), i, i+1)
}

// titsias is the optimal predictive density of one input with inducing inputs z, from
// dense matrices: of f*, with W = σ²k(z,z) + k(z,x)k(x,z),
//
//	mean k(*,z)W⁻¹k(z,x)y,   variance k(*,*) − k(*,z)k(z,z)⁻¹k(z,*) + σ²k(*,z)W⁻¹k(z,*)
func titsias(t *testing.T, p *kernelspace.Program, raw []float64, noise float64, z, x, y []float64, at float64) (mean, variance float64) {
	t.Helper()
	k := func(a, b []float64) *mat.Dense {
		out := mat.NewDense(len(a), len(b), nil)
		for i := range a {
			for j := range b {
				out.Set(i, j, p.Eval(raw, a[i:i+1], b[j:j+1], false))
			}
		}
		return out
	}
	kzz, kzx, ks := k(z, z), k(z, x), k(z, []float64{at})
	var w, scaled, right, solved, direct mat.Dense
	scaled.Scale(noise, kzz)
	w.Mul(kzx, kzx.T())
	w.Add(&w, &scaled)
	right.Mul(kzx, mat.NewDense(len(y), 1, slices.Clone(y)))
	must.OK(t, solved.Solve(&w, &right))
	mean = mat.Dot(ks.ColView(0), solved.ColView(0))
	var byW mat.Dense
	must.OK(t, byW.Solve(&w, ks))
	must.OK(t, direct.Solve(kzz, ks))
	one := []float64{at}
	return mean, p.Eval(raw, one, one, false) - mat.Dot(ks.ColView(0), direct.ColView(0)) + noise*mat.Dot(ks.ColView(0), byW.ColView(0))
}

// The closed form is what is predicted at each row from the others: with all rows as
// inducing inputs by exact Gaussian processes, with few by the sparse posterior of the
// other rows at the same inducing inputs. Rows that are fewer than a chunk and more.
func TestLeaveOneOutIsWhatOthersPredict(t *testing.T) {
	for _, c := range []struct{ rows, inducing int }{{30, 30}, {60, 8}, {chunkRows + 76, 6}} {
		data := trainingSeries(11, c.rows)
		s := quickSettings("collapsed")
		s.EvaluateEvery, s.Inducing, s.Jitter, s.NoiseFloor = 1, c.inducing, device.Jitter{Relative: 1e-10}, 1e-2
		tr := trainerOn(t, 2, nil, data, s, "SE", "MATERN32", "MATERN12*LIN")
		next(t, tr)
		got, err := tr.leaveOneOut(t.Context(), nil)
		must.OK(t, err)
		for _, k := range tr.kernels {
			raw, noise := params.Raw(k.program, k.state.Free, tr.floor)
			for row, y := range data.Y {
				if c.rows > 100 && row%101 != 0 {
					continue
				}
				x, ys := without(data.X, data.Y, row)
				var mean, variance float64
				if c.inducing == c.rows {
					m, v := densePrediction(k.program, raw, noise, x, ys, data.X[row:row+1])
					mean, variance = m[0], v[0]
				} else {
					mean, variance = titsias(t, k.program, raw, noise, tr.inducing, x, ys, data.X[row])
				}
				v := variance + noise
				want := -(math.Log(2*math.Pi*v) + (y-mean)*(y-mean)/v) / 2
				if g := got[k.id][row]; math.Abs(g-want) > 1e-4*(1+math.Abs(want)) {
					t.Fatalf("%s, row %d of %d, M = %d: %v, want %v", k.id, row, c.rows, c.inducing, g, want)
				}
			}
		}
	}
}

// Weights of "loo" are those that stack the kernels' densities: no other's average is
// likelier at rows left out. A refit and a twin keep them, and where rows cannot be left
// out they are the belief's, which is told.
func TestWeightsByRowsLeftOut(t *testing.T) {
	data := trainingSeries(12, 50)
	s := quickSettings("collapsed")
	s.EvaluateEvery, s.Weights, s.PredictTheta = 1, "loo", "mode"
	o := PredictOptions{Weights: "loo"}
	tr := trainerOn(t, 1, nil, data, s, fourKernels...)
	next(t, tr)
	p, err := tr.Predict(t.Context(), []float64{0.5}, o)
	must.OK(t, err)
	densities, err := tr.leaveOneOut(t.Context(), nil)
	must.OK(t, err)
	var logp [][]float64
	for _, k := range tr.kernels {
		logp = append(logp, densities[k.id])
	}
	score := func(w []float64) (sum float64) {
		for row := range data.Y {
			one := 0.0
			for k := range w {
				one += w[k] * math.Exp(logp[k][row])
			}
			sum += math.Log(one)
		}
		return sum
	}
	own := make([]float64, len(tr.kernels))
	for j, id := range p.IDs {
		own[slices.IndexFunc(tr.kernels, func(k *kernel) bool { return k.id == id })] = p.Weights[j]
	}
	if math.Abs(score(own)-score(stacking.Weights(logp))) > 1e-6 {
		t.Errorf("weights %v", own)
	}
	for _, other := range []string{"posterior", "bayes", "tempered"} {
		q, err := tr.Predict(t.Context(), []float64{0.5}, PredictOptions{Weights: other})
		must.OK(t, err)
		w := make([]float64, len(tr.kernels))
		for j, id := range q.IDs {
			w[slices.IndexFunc(tr.kernels, func(k *kernel) bool { return k.id == id })] = q.Weights[j]
		}
		if score(w) > score(own)+1e-4 {
			t.Errorf("%s is likelier at rows left out: %v, %v", other, score(w), score(own))
		}
	}
	again, err := refitLoo(t, tr, data).Predict(t.Context(), []float64{0.5}, o)
	must.OK(t, err)
	if !slices.Equal(again.IDs, p.IDs) || !slices.Equal(again.Weights, p.Weights) {
		t.Errorf("a refit has %v of %v, not %v of %v", again.Weights, again.IDs, p.Weights, p.IDs)
	}
	s.Optimizer = "natural"
	natural := trainerOn(t, 1, nil, data, s, fourKernels...)
	e := next(t, natural)
	belief, err := natural.Predict(t.Context(), []float64{0.5}, PredictOptions{})
	must.OK(t, err)
	got, err := natural.Predict(t.Context(), []float64{0.5}, o)
	must.OK(t, err)
	if !slices.Equal(got.Weights, belief.Weights) ||
		!slices.ContainsFunc(e.Notices, func(n Notice) bool { return strings.HasPrefix(n.Text, `predict.weights = "loo"`) }) {
		t.Errorf("weights %v, %+v", got.Weights, e.Notices)
	}
}

func refitLoo(t *testing.T, tr *Trainer, data Training) *Trainer {
	t.Helper()
	dev := onCPU(1)
	t.Cleanup(func() { dev.Close() })
	out, err := tr.Refit(t.Context(), dev, data, PredictOptions{Weights: "loo"})
	must.OK(t, err)
	return out
}
