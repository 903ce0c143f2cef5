package vbks

import (
	"math"
	"slices"
	"testing"

	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks/mixture"
	"example.com/kestrel/vbks/params"
)

// Averaged over hyperparameters, predictions are those of quadrature over all of
// them, which differ from the mode's.
func TestPredictionsAreAveraged(t *testing.T) {
	thorough.Unraced(t)
	data := trainingSeries(17, 14)
	points := []float64{data.X[0], 1.5 * data.X[13], 3 * data.X[13]}
	predict := func(theta string) (mean, variance []float64, k *kernel, floor float64) {
		s := laplaceSettings(14)
		s.Evidence, s.PredictTheta = "mode", theta
		tr := trainerOn(t, 1, nil, data, s, "SE")
		next(t, tr)
		p, err := tr.Predict(t.Context(), points, PredictOptions{})
		if err != nil {
			t.Fatal(err)
		}
		again, err := tr.Predict(t.Context(), points, PredictOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range points {
			if again.Mean[0][i] != p.Mean[0][i] || again.Var[0][i] != p.Var[0][i] {
				t.Errorf("asked twice: %v ± %v and %v ± %v", p.Mean[0][i], p.Var[0][i], again.Mean[0][i], again.Var[0][i])
			}
			variance = append(variance, p.Var[0][i]+p.Noise[0])
		}
		return p.Mean[0], variance, tr.kernels[0], tr.floor
	}
	modeMean, modeVar, _, _ := predict("mode")
	gotMean, gotVar, k, floor := predict("laplace")

	const steps = 24
	width := []float64{14, 6, 8} // of the variance, length scale and ρ
	var logs []float64
	var means, squares [][]float64
	at := func(entry, place int) float64 {
		return k.state.Free[entry] + width[entry]*((float64(place)+0.5)/steps-0.5)
	}
	for b := range steps {
		joint := jointSE(k.program, k.prior, at(1, b), data.X, data.Y, floor)
		for a := range steps {
			for c := range steps {
				noise := floor + math.Exp(at(2, c))
				m, v := densePrediction(k.program, []float64{math.Exp(at(0, a)), math.Exp(at(1, b))}, noise, data.X, data.Y, points)
				for i, mu := range m {
					v[i] += noise + mu*mu
				}
				logs, means, squares = append(logs, joint(at(0, a), at(2, c))), append(means, m), append(squares, v)
			}
		}
	}
	all := logSum(logs)
	for i := range points {
		mean, square := 0.0, 0.0
		for j, l := range logs {
			w := math.Exp(l - all)
			mean += w * means[j][i]
			square += w * squares[j][i]
		}
		sd := math.Sqrt(square - mean*mean)
		gotSD, modeSD := math.Sqrt(gotVar[i]), math.Sqrt(modeVar[i])
		t.Logf(
			"at %.2f: %.4f ± %.4f, by quadrature %.4f ± %.4f, at the mode %.4f ± %.4f",
			points[i],
			gotMean[i],
			gotSD,
			mean,
			sd,
			modeMean[i],
			modeSD,
		)
		if math.Abs(gotMean[i]-mean) > 0.1*sd || math.Abs(gotSD-sd) > 0.12*sd {
			t.Errorf("at %v: %.4f ± %.4f, by quadrature %.4f ± %.4f", points[i], gotMean[i], gotSD, mean, sd)
		}
	}
	if far := math.Sqrt(modeVar[2]); math.Abs(far-math.Sqrt(gotVar[2])) < 0.02*far {
		t.Error("the mode's predictions are the same, which proves nothing")
	}
}

// Draws count by p(y|θ)p(θ)/N(θ), with all rows as inducing inputs and with fewer, and the prior
// is not lost: without it weights would be those of the likelihood alone.
func TestDrawsCountByTheirDensity(t *testing.T) {
	data := trainingSeries(17, 14)
	for _, inducing := range []int{14, 9} {
		s := laplaceSettings(inducing)
		s.Evidence, s.PredictTheta = "mode", "laplace"
		tr := trainerOn(t, 1, nil, data, s, "SE")
		next(t, tr)
		if _, err := tr.Predict(t.Context(), []float64{0}, PredictOptions{}); err != nil {
			t.Fatal(err)
		}
		k := tr.kernels[0]
		weights, chol := k.spread.of.Weights, k.spread.of.Chol
		draws := matchedDraws(s.Seed, k.id+" other draws", 3, reportPairs)
		logs, without := make([]float64, len(draws)), make([]float64, len(draws))
		for i, eta := range draws {
			free := affine(k.state.Free, chol, eta)
			raw, noise := params.Raw(k.program, free, tr.floor)
			likelihood, tight := naiveBounds(k.program, raw, noise, data.X, data.Y, tr.inducing, 1, tr.jitter)
			if tr.tight {
				likelihood = tight
			}
			prior, proposal := 0.0, 0.0
			for j, f := range free {
				d := f - k.prior.mean[j]
				prior -= 0.5 * k.prior.prec[j] * d * d
				proposal -= 0.5 * eta[j] * eta[j]
			}
			without[i] = likelihood - proposal
			logs[i] = without[i] + prior
		}
		want, other := truncated(logs), truncated(without)
		most := 0.0
		for i, w := range want {
			if math.Abs(weights[i]-w) > 1e-5*(1e-3+w) {
				t.Errorf("%d inducing inputs, draw %d: weight %g, by dense matrices %g", inducing, i, weights[i], w)
			}
			most = max(most, math.Abs(w-other[i]))
		}
		if most < 1e-3 {
			t.Error("the prior moves no weight, which proves nothing")
		}
	}
}

// A weight that stands out is cut, and weights add up to 1.
func TestTruncated(t *testing.T) {
	w := truncated([]float64{-1000, -1000 + math.Log(2), math.Inf(-1), -900})
	// Ratios 0, 0, 0, 1: the mean is 1/4, and 1/4·√4 the most.
	if w[3] != 1 {
		t.Error(w)
	}
	w = truncated([]float64{0, 0, 0, math.Log(97)})
	most := 100. / 4 * 2
	for i, want := range []float64{1, 1, 1, most} {
		if math.Abs(w[i]-want/(3+most)) > 1e-12 {
			t.Error(i, w[i])
		}
	}
}

// Tempered weights fall by a factor of e for ten nats.
func TestTemperedWeights(t *testing.T) {
	s := laplaceSettings(12)
	s.Evidence, s.PredictTheta = "mode", "mode"
	tr := trainerOn(t, 1, nil, trainingSeries(18, 60), s, "SE", "LIN", "RQ")
	e := next(t, tr)
	p, err := tr.Predict(t.Context(), []float64{0}, PredictOptions{Weights: "tempered"})
	if err != nil {
		t.Fatal(err)
	}
	elbo, sum := map[string]float64{}, 0.0
	for _, k := range e.Kernels {
		elbo[k.ID] = k.ELBO
	}
	for i, id := range p.IDs {
		sum += p.Weights[i]
		want := math.Exp((elbo[id] - elbo[p.IDs[0]]) / 10)
		if got := p.Weights[i] / p.Weights[0]; math.Abs(got-want) > 1e-9 || want > 1 {
			t.Errorf("%s: weight %v of the first, want %v", id, got, want)
		}
	}
	if len(p.IDs) != 3 || math.Abs(sum-1) > 1e-12 {
		t.Errorf("%v: %v", p.IDs, p.Weights)
	}
}

// In passing only kernels of some weight are averaged over their hyperparameters: others predict as at their mode.
func TestBriefPredictions(t *testing.T) {
	thorough.Unraced(t)
	data := trainingSeries(17, 14)
	points := []float64{data.X[0], 1.5 * data.X[13]}
	predict := func(theta string, brief bool) *mixture.Prediction {
		s := laplaceSettings(14)
		s.Evidence, s.PredictTheta = "mode", theta
		tr := trainerOn(t, 1, nil, data, s, "SE", "LIN", "PER", "LIN*LIN", "SE+LIN")
		next(t, tr)
		p, err := tr.Predict(t.Context(), points, PredictOptions{Brief: brief})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	mode, full, brief := predict("mode", false), predict("laplace", false), predict("laplace", true)
	heavy, light := 0, 0
	for k, w := range full.Weights {
		if slices.Equal(full.Var[k], mode.Var[k]) {
			continue // of a weight that nothing is averaged at
		}
		want := full
		if heavy++; w < BriefWeight {
			heavy, light, want = heavy-1, light+1, mode
		}
		if !slices.Equal(brief.Mean[k], want.Mean[k]) || !slices.Equal(brief.Var[k], want.Var[k]) {
			t.Errorf("%s of weight %.3g: %v ± %v, want %v ± %v", full.IDs[k], w, brief.Mean[k], brief.Var[k], want.Mean[k], want.Var[k])
		}
	}
	if heavy == 0 || light == 0 {
		t.Errorf("%d kernels above the weight and %d below: %v", heavy, light, full.Weights)
	}
}
