package vbks

import (
	"math"
	"reflect"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks/exact"
	"example.com/kestrel/vbks/params"
)

// first is the first rows of a series.
func first(d Training, n int) Training {
	return Training{X: d.X[:n], Y: d.Y[:n], Dim: d.Dim}
}

// refitted is a trainer fitted again to other rows, on a device of its own.
func refitted(t *testing.T, tr *Trainer, lanes int, data Training) *Trainer {
	t.Helper()
	dev := onCPU(lanes)
	t.Cleanup(func() { dev.Close() })
	out, err := tr.Refit(t.Context(), dev, data, PredictOptions{})
	must.OK(t, err)
	return out
}

// With all rows as inducing inputs, what is predicted after a refit is the formula of
// exact Gaussian processes on all rows, kernel by kernel: at hyperparameters that the
// evidence of all rows, by package exact, is higher at than where the run left them, or
// just there with optimisers that do not climb. Weights stay, and so does the trainer
// that it came from.
func TestRefitIsAnExactGPOnAllRows(t *testing.T) {
	all := trainingSeries(5, 40)
	data, points := first(all, 32), []float64{-4.4, 0.3, 4.2, 5}
	for _, optimizer := range []string{"collapsed", "natural", "adam"} {
		s := quickSettings(optimizer)
		s.Inducing, s.EvaluateEvery, s.PredictTheta, s.NoiseFloor = 32, 1, "mode", 1e-3
		tr := trainerOn(t, 1, nil, data, s, "SE+LIN", "PER*RQ", "MATERN32")
		next(t, tr)
		before, err := tr.Predict(t.Context(), points, PredictOptions{})
		must.OK(t, err)
		out := refitted(t, tr, 2, all)
		got, err := out.Predict(t.Context(), points, PredictOptions{})
		must.OK(t, err)
		after, err := tr.Predict(t.Context(), points, PredictOptions{})
		must.OK(t, err)
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%s: the run's own predictions have changed", optimizer)
		}
		if !reflect.DeepEqual(got.IDs, before.IDs) || !reflect.DeepEqual(got.Weights, before.Weights) || out.Inducing() != 40 {
			t.Errorf("%s: %v of weights %v with M = %d, of the run %v and %v",
				optimizer, got.IDs, got.Weights, out.Inducing(), before.IDs, before.Weights)
		}
		rows, err := exact.New(onCPU(1), all.X, all.Y, 1, exact.Options{})
		must.OK(t, err)
		for j, id := range got.IDs {
			i, err := out.solved(id)
			must.OK(t, err)
			k, was := out.kernels[i], tr.kernels[i]
			raw, noise := params.Raw(k.program, k.state.Free, tr.floor)
			mean, variance := densePrediction(k.program, raw, noise, all.X, all.Y, points)
			for b := range points {
				if math.Abs(got.Mean[j][b]-mean[b]) > 1e-4 || math.Abs(got.Var[j][b]-variance[b]) > 1e-4 || got.Noise[j] != noise {
					t.Errorf("%s, %s at %v: %v ± %v, exact %v ± %v", optimizer, id, points[b], got.Mean[j][b], got.Var[j][b], mean[b], variance[b])
				}
			}
			if optimizer != "collapsed" {
				if !reflect.DeepEqual(k.state.Free, was.state.Free) {
					t.Errorf("%s, %s: the hyperparameters have moved", optimizer, id)
				}
				continue
			}
			x, err := rows.Kernel(k.program)
			must.OK(t, err)
			worth := func(free []float64) float64 {
				raw, noise := params.Raw(k.program, free, tr.floor)
				nats, ok, err := x.At(x.Free(raw, noise))
				if err != nil || !ok {
					t.Fatal(ok, err)
				}
				logPrior := 0.0
				for d, v := range free {
					logPrior -= k.prior.prec[d] * (v - k.prior.mean[d]) * (v - k.prior.mean[d]) / 2
				}
				return nats + logPrior
			}
			if now, then := worth(k.state.Free), worth(was.state.Free); now < then-1e-6 || reflect.DeepEqual(k.state.Free, was.state.Free) {
				t.Errorf("%s: %v nats where the run's hyperparameters have %v", id, now, then)
			}
		}
	}
}

// A refit predicts what a run on all rows predicts that has the same inducing inputs and
// hyperparameters, beliefs over them as well; inducing inputs stay as dense. No number
// depends on lanes, and a twin says the same.
func TestRefitIsARunOnAllRows(t *testing.T) {
	all := trainingSeries(6, 44)
	data, points := first(all, 33), []float64{-4.4, 0.3, 4.2, 5}
	for _, c := range []struct{ optimizer, theta string }{
		{"collapsed", "point"}, {"collapsed", "diagonal"}, {"natural", "point"}, {"natural", "full"}, {"adam", "diagonal"},
	} {
		s := quickSettings(c.optimizer)
		s.Inducing, s.Hyperparameters, s.EvaluateEvery = 9, c.theta, 1
		tr := trainerOn(t, 1, nil, data, s, "SE", "PER+LIN")
		next(t, tr)
		out := refitted(t, tr, 1, all)
		s.Inducing = 12
		whole := trainerOn(t, 1, nil, all, s, "SE", "PER+LIN")
		next(t, whole)
		whole.floor = tr.floor
		if !reflect.DeepEqual(out.inducing, whole.inducing) {
			t.Fatalf("%v: other inducing inputs: %v and %v", c, out.inducing, whole.inducing)
		}
		for i, k := range whole.kernels {
			k.state, k.prior, k.spread = out.kernels[i].state, out.kernels[i].prior, spread{}
		}
		dev := onCPU(1)
		defer dev.Close()
		twin, err := out.Twin(dev)
		must.OK(t, err)
		others := map[string]*Trainer{"a run": whole, "two lanes": refitted(t, tr, 2, all), "a twin": twin}
		for i, k := range out.kernels {
			o := PredictOptions{IDs: []string{k.id}}
			got, err := out.Predict(t.Context(), points, o)
			must.OK(t, err)
			for name, other := range others {
				want, err := other.Predict(t.Context(), points, o)
				must.OK(t, err)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%v, %s: %v ± %v, of %s %v ± %v", c, k.id, got.Mean, got.Var, name, want.Mean, want.Var)
				}
			}
			own, err := tr.Predict(t.Context(), points, o)
			must.OK(t, err)
			if reflect.DeepEqual(got.Mean, own.Mean) {
				t.Errorf("%v, %s: as before the refit", c, tr.kernels[i].id)
			}
			if _, err := out.Components(t.Context(), k.id, points); err != nil {
				t.Error(err)
			}
		}
	}
}

// Nothing is fitted again where nothing has been learned.
func TestRefitNeedsAnEvaluation(t *testing.T) {
	data := trainingSeries(7, 20)
	tr := trainerOn(t, 1, nil, first(data, 16), quickSettings("collapsed"), "SE")
	dev := onCPU(1)
	defer dev.Close()
	if _, err := tr.Refit(t.Context(), dev, data, PredictOptions{}); err == nil {
		t.Error("a refit before the first evaluation")
	}
}
