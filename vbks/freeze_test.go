package vbks

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/noise"
)

// thawed is what predicts with a Frozen, on a device of its own.
func thawed(t *testing.T, f *Frozen) *Thawed {
	t.Helper()
	dev := onCPU(1)
	t.Cleanup(func() { dev.Close() })
	out, err := f.On(dev)
	must.OK(t, err)
	return out
}

// What is frozen predicts what the trainer predicts, with any weights, and its
// components: by every optimiser, at point estimates, averaged over hyperparameters,
// with q(log θ), with its factors and with the rows to find them from.
func TestFrozenPredictsTheSame(t *testing.T) {
	thorough.Unraced(t)
	data, points := trainingSeries(5, 40), []float64{-4.4, 0.3, 4.2, 5}
	for _, c := range []struct{ optimizer, theta, average string }{
		{"collapsed", "point", "mode"}, {"collapsed", "point", "laplace"}, {"collapsed", "full", "auto"},
		{"natural", "point", "auto"}, {"natural", "diagonal", "auto"}, {"adam", "point", "auto"}, {"adam", "full", "auto"},
	} {
		s := quickSettings(c.optimizer)
		s.Inducing, s.EvaluateEvery, s.Hyperparameters, s.PredictTheta = 16, 1, c.theta, c.average
		tr := trainerOn(t, 2, nil, data, s, "SE+LIN", "PER*RQ", "MATERN32+WN", "CP(SE,LIN)", "CONST")
		next(t, tr)
		for _, most := range []int{MostFactors, 0} {
			f, err := tr.Freeze(t.Context(), FreezeOptions{MostFactors: most})
			must.OK(t, err)
			if rows := f.Y != nil; rows != (most == 0 && c.optimizer == "collapsed") {
				t.Errorf("%v: rows %v with %d numbers in factors", c, rows, most)
			}
			out := thawed(t, f)
			for _, o := range []PredictOptions{{}, {Weights: "bayes"}, {Weights: "tempered", Top: 3}, {Weights: "loo"}, {IDs: []string{tr.leader}}} {
				want, err := tr.Predict(t.Context(), points, o)
				must.OK(t, err)
				got, err := out.Predict(t.Context(), points, o)
				must.OK(t, err)
				if len(got.IDs) != len(want.IDs) {
					t.Fatalf("%v %v: %v, of the trainer %v", c, o, got.IDs, want.IDs)
				}
				for j := range want.IDs {
					if got.IDs[j] != want.IDs[j] || got.Weights[j] != want.Weights[j] || far(got.Noise[j], want.Noise[j]) {
						t.Errorf("%v: %s %v %v, of the trainer %s %v %v", c, got.IDs[j], got.Weights[j], got.Noise[j],
							want.IDs[j], want.Weights[j], want.Noise[j])
					}
					for i := range points {
						if far(got.Mean[j][i], want.Mean[j][i]) || far(got.Var[j][i], want.Var[j][i]) {
							t.Errorf("%v %d, %s at %v: %v ± %v, of the trainer %v ± %v", c, most, got.IDs[j], points[i], got.Mean[j][i], got.Var[j][i],
								want.Mean[j][i], want.Var[j][i])
						}
					}
				}
			}
			want, err := tr.Components(t.Context(), tr.leader, points)
			must.OK(t, err)
			got, err := out.Components(t.Context(), tr.leader, points)
			must.OK(t, err)
			for j := range want {
				for i := range points {
					if got[j].ID != want[j].ID || far(got[j].Mean[i], want[j].Mean[i]) || far(got[j].Var[i], want[j].Var[i]) {
						t.Errorf("%v: component %s %v ± %v, of the trainer %s %v ± %v", c, got[j].ID, got[j].Mean[i], got[j].Var[i],
							want[j].ID, want[j].Mean[i], want[j].Var[i])
					}
				}
			}
		}
	}
}

func far(a, b float64) bool { return math.Abs(a-b) > 1e-13*(math.Abs(a)+math.Abs(b))+1e-14 }

// The joint prediction's mean and diagonal are the mixture's moments, for one kernel with
// Z = X it is that of an exact Gaussian process, and draws have the mean, the covariance
// and the noise that it says, within what so many draws tell; stretched by a factor, too,
// and with noise of two normals, known at some of the points.
func TestJointPredictions(t *testing.T) {
	data, points := trainingSeries(5, 30), []float64{-4.4, 0.3, 0.35, 5}
	s := quickSettings("collapsed")
	s.Inducing, s.EvaluateEvery, s.PredictTheta = 30, 1, "mode"
	tr := trainerOn(t, 1, nil, data, s, "SE", "SE+LIN", "MATERN32")
	next(t, tr)
	f, err := tr.Freeze(t.Context(), FreezeOptions{MostFactors: MostFactors})
	must.OK(t, err)
	out := thawed(t, f)
	const draws = 20000
	for _, c := range []struct {
		calibration *Calibration
		noise       *noise.Model
		sds         []float64
		factors     []float64 // of σ² at the points
	}{
		{&Calibration{1.6, 5, 15}, nil, nil, []float64{1, 1, 1, 1}},
		{nil, &noise.Model{Factor: 2, Unit: 9, Tail: noise.Tail{Share: 0.25, Ratio: 5}}, []float64{3, 0, 6, 1.5}, []float64{4, 4, 16, 1}},
		{nil, nil, nil, []float64{1, 1, 1, 1}},
	} {
		f.Calibration, f.Noise = c.calibration, c.noise
		j, err := out.Joint(t.Context(), points, PredictOptions{Weights: "tempered", NoiseSD: c.sds}, draws, 1)
		must.OK(t, err)
		p, err := out.Predict(t.Context(), points, PredictOptions{Weights: "tempered"})
		must.OK(t, err)
		b := len(points)
		for i := range points {
			mean, v := p.Moments(i, false)
			if far(j.Mean[i], mean) || math.Abs(j.Covariance[i*b+i]-v) > 1e-9*v {
				t.Errorf("at %v: %v ± %v, marginally %v ± %v", points[i], j.Mean[i], j.Covariance[i*b+i], mean, v)
			}
		}
		common := 0.0
		for k, w := range p.Weights {
			common += w * p.Noise[k]
		}
		for i := range points {
			for k := range points {
				sum, product := 0.0, 0.0
				for _, d := range j.Draws {
					sum += d[i]
					product += (d[i] - j.Mean[i]) * (d[k] - j.Mean[k])
				}
				of := func(i int) float64 { return j.Covariance[i*b+i] + common*c.factors[i] }
				want, scale := j.Covariance[i*b+k], math.Sqrt(of(i)*of(k))
				if i == k {
					want = of(i)
				}
				if math.Abs(product/draws-want) > 8*scale/math.Sqrt(draws) ||
					math.Abs(sum/draws-j.Mean[i]) > 5*math.Sqrt(scale/draws) && i == k {
					t.Errorf("draws at %v and %v: covariance %v, want %v; mean %v, want %v",
						points[i], points[k], product/draws, want, sum/draws, j.Mean[i])
				}
			}
		}
	}
	one, err := out.Joint(t.Context(), points, PredictOptions{IDs: []string{"SE"}}, 0, 1)
	must.OK(t, err)
	for i := range f.Kernels {
		if k := &f.Kernels[i]; k.Program.ID == "SE" {
			cov := denseCovariance(k.Program, k.States[0].Theta, k.States[0].Noise, data.X, points)
			for a := range cov {
				if math.Abs(one.Covariance[a]-cov[a]) > 1e-6 {
					t.Errorf("covariance %d: %v, exact %v", a, one.Covariance[a], cov[a])
				}
			}
		}
	}
	if _, err := out.Joint(t.Context(), make([]float64, MostJoint+1), PredictOptions{}, 1, 1); err == nil {
		t.Error("too many points are taken")
	}
}

// denseCovariance is k(x,x′) − k(x,X)(K + σ²I)⁻¹k(X,x′).
func denseCovariance(p *kernelspace.Program, theta []float64, noise float64, rows, at []float64) []float64 {
	n, b := len(rows), len(at)
	k, cross := mat.NewDense(n, n, nil), mat.NewDense(n, b, nil)
	for i := range n {
		for j := range n {
			k.Set(i, j, p.Eval(theta, rows[i:i+1], rows[j:j+1], i == j))
		}
		k.Set(i, i, k.At(i, i)+noise)
		for j := range b {
			cross.Set(i, j, p.Eval(theta, rows[i:i+1], at[j:j+1], false))
		}
	}
	var solved, taken mat.Dense
	if err := solved.Solve(k, cross); err != nil {
		panic(err)
	}
	taken.Mul(cross.T(), &solved)
	out := make([]float64, 0, b*b)
	for i := range b {
		for j := range b {
			out = append(out, p.Eval(theta, at[i:i+1], at[j:j+1], i == j)-taken.At(i, j))
		}
	}
	return out
}

// Without rows, where Z was X: half as many inducing inputs, that predict nearly what
// an exact Gaussian process does at the point estimates.
func TestFrozenWithoutRows(t *testing.T) {
	data, points := trainingSeries(5, 40), []float64{-3.5, 0.3, 2.2}
	s := quickSettings("collapsed")
	s.Inducing, s.EvaluateEvery = 40, 1
	tr := trainerOn(t, 1, nil, data, s, "SE", "SE+LIN")
	next(t, tr)
	f, err := tr.Freeze(t.Context(), FreezeOptions{WithoutRows: true})
	must.OK(t, err)
	if len(f.Z) != 20 || f.X != nil || f.Y != nil {
		t.Fatalf("%d inducing inputs, %d inputs and %d targets of rows", len(f.Z), len(f.X), len(f.Y))
	}
	got, err := thawed(t, f).Predict(t.Context(), points, PredictOptions{})
	must.OK(t, err)
	for j, id := range got.IDs {
		k := f.Kernels[0]
		if k.Program.ID != id {
			k = f.Kernels[1]
		}
		mean, variance := densePrediction(k.Program, k.States[0].Theta, k.States[0].Noise, data.X, data.Y, points)
		for i := range points {
			if math.Abs(got.Mean[j][i]-mean[i]) > 0.02 || math.Abs(got.Var[j][i]-variance[i]) > 0.02 {
				t.Errorf("%s at %v: %v ± %v, exact %v ± %v", id, points[i], got.Mean[j][i], got.Var[j][i], mean[i], variance[i])
			}
		}
	}
}

// What does not fit together is refused before anything is computed.
func TestFrozenIsChecked(t *testing.T) {
	tr := trainerOn(t, 1, nil, trainingSeries(5, 20), quickSettings("collapsed"), "SE")
	next(t, tr)
	for what, spoil := range map[string]func(*Frozen){
		"no kernel":           func(f *Frozen) { f.Kernels = nil },
		"inducing inputs":     func(f *Frozen) { f.Z = f.Z[:0] },
		"rows":                func(f *Frozen) { f.X, f.Y = []float64{1}, []float64{1, 2} },
		"factors":             func(f *Frozen) { f.Kernels[0].States[0].L = nil },
		"not finite":          func(f *Frozen) { f.Kernels[0].States[0].Mean[0] = math.NaN() },
		"parameters":          func(f *Frozen) { f.Kernels[0].States[0].Theta = nil },
		"a negative one":      func(f *Frozen) { f.Kernels[0].States[0].Theta = []float64{1, -1} },
		"shares":              func(f *Frozen) { f.Kernels[0].States[len(f.Kernels[0].States)-1].Share += 1 },
		"noise":               func(f *Frozen) { f.Kernels[0].States[0].Noise = -1 },
		"a factor of widths":  func(f *Frozen) { f.Calibration = &Calibration{math.Inf(1), 5, 10} },
		"a weight":            func(f *Frozen) { f.Kernels[0].LOO = math.NaN() },
		"the jitter's factor": func(f *Frozen) { f.Kernels[0].Factor = 0 },
	} {
		f, err := tr.Freeze(t.Context(), FreezeOptions{MostFactors: MostFactors})
		must.OK(t, err)
		must.OK(t, f.Check())
		spoil(f)
		if f.Check() == nil {
			t.Errorf("%s: taken", what)
		}
	}
	f, err := tr.Freeze(t.Context(), FreezeOptions{MostFactors: MostFactors})
	must.OK(t, err)
	f.Kernels[0].LOO = 0
	if _, err := thawed(t, f).Predict(t.Context(), []float64{1}, PredictOptions{Weights: "loo"}); err == nil {
		t.Error("weights that nobody has found are taken")
	}
}

// Kernels that an average leaves out are not needed to find the weights of the others.
func TestWeightsWithoutTheNegligible(t *testing.T) {
	all := []weighed{{rank: 1, posterior: 0.7}, {rank: 2, posterior: 0.3}}
	_, want := weigh(all, PredictOptions{})
	for i := range 40 {
		all = append(all, weighed{rank: 3 + i, posterior: 9e-10})
	}
	if order, got := weigh(all, PredictOptions{}); !slices.Equal(order, []int{0, 1}) || !slices.Equal(got, want) {
		t.Errorf("%v with weights %v, alone %v", order, got, want)
	}
}
