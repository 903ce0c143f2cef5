package mixture

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// mixtureSamples makes predictions with different parameters at every row, and
// targets drawn from them.
func mixtureSamples(n int) (*Prediction, []float64) {
	rng := rand.New(rand.NewPCG(7, 7))
	p := &Prediction{IDs: []string{"a", "b", "c"}, Weights: []float64{0.6, 0.1, 0.3}, Noise: []float64{0.1, 2, 0.5}}
	p.Mean, p.Var = make([][]float64, 3), make([][]float64, 3)
	y := make([]float64, n)
	for row := range n {
		for k := range 3 {
			p.Mean[k] = append(p.Mean[k], 3*rng.NormFloat64())
			p.Var[k] = append(p.Var[k], rng.ExpFloat64())
		}
		k, u := 0, rng.Float64()
		for u > p.Weights[k] {
			u -= p.Weights[k]
			k++
		}
		y[row] = p.Mean[k][row] + math.Sqrt(p.Var[k][row]+p.Noise[k])*rng.NormFloat64()
	}
	return p, y
}

func TestScoreOfSamples(t *testing.T) {
	const n = 4000
	p, y := mixtureSamples(n)
	s, err := p.Score(y)
	if err != nil {
		t.Fatal(err)
	}
	// Four binomial standard errors.
	for l, c := range CoverageLevels {
		if s.Rows != n || math.Abs(s.Coverage[l]-c) > 4*math.Sqrt(c*(1-c)/n) {
			t.Errorf("coverage of %v in %d targets drawn from the prediction is %v", c, s.Rows, s.Coverage[l])
		}
	}
	var squares, absolute, nlpd, variance float64
	inside := [len(CoverageLevels)]int{}
	for row, v := range y {
		mean, vari := p.Moments(row, true)
		variance += vari / n
		squares += (v - mean) * (v - mean) / n
		absolute += math.Abs(v-mean) / n
		density := 0.0
		for k := range 3 {
			total := p.Var[k][row] + p.Noise[k]
			d := v - p.Mean[k][row]
			density += p.Weights[k] * math.Exp(-d*d/(2*total)) / math.Sqrt(2*math.Pi*total)
		}
		nlpd -= math.Log(density) / n
		for l, tail := range [...]float64{0.25, 0.1, 0.025} {
			if row < 300 && v >= p.Quantile(row, tail, true) && v <= p.Quantile(row, 1-tail, true) {
				inside[l]++
			}
		}
	}
	for name, c := range map[string][2]float64{
		"RMSE": {s.RMSE, math.Sqrt(squares)}, "MAE": {s.MAE, absolute}, "NLPD": {s.NLPD, nlpd},
	} {
		if math.Abs(c[0]-c[1]) > 1e-10 {
			t.Errorf("%s = %v, want %v", name, c[0], c[1])
		}
	}
	// The squared error of targets from the model is its variance.
	if math.Abs(squares/variance-1) > 0.1 {
		t.Errorf("mean squared error %v, variance %v", squares, variance)
	}
	// Counting by F is counting by the interval.
	q := &Prediction{IDs: p.IDs, Weights: p.Weights, Noise: p.Noise}
	for k := range 3 {
		q.Mean, q.Var = append(q.Mean, p.Mean[k][:300]), append(q.Var, p.Var[k][:300])
	}
	part, err := q.Score(y[:300])
	if err != nil {
		t.Fatal(err)
	}
	for l, n := range inside {
		if math.Abs(part.Coverage[l]*300-float64(n)) > 1e-9 {
			t.Errorf("%v of 300 by F, %d by quantiles", part.Coverage[l]*300, n)
		}
	}
}

// Targets on a grid, counted by the quantiles of normals from a table.
func TestCoverageByNormalQuantiles(t *testing.T) {
	// One component N(10, 4), of which 1 is noise: 10 ± 2z. Two, N(0, 1) with weight
	// .3 and N(1000, 9) with weight .7, as good as apart: what is beyond the lower end
	// is tail/.3 of the first, beyond the upper one tail/.7 of the second.
	for _, c := range []struct {
		name         string
		p            Prediction
		lower, upper [3]float64 // of the intervals of 50, 80 and 95 %
		from, to     float64
	}{
		{"one", Prediction{IDs: []string{"a"}, Weights: []float64{1}, Noise: []float64{1}, Mean: [][]float64{{10}}, Var: [][]float64{{3}}},
			[3]float64{10 - 2*0.6744897502, 10 - 2*1.2815515655, 10 - 2*1.9599639845},
			[3]float64{10 + 2*0.6744897502, 10 + 2*1.2815515655, 10 + 2*1.9599639845}, 4, 16},
		// Φ⁻¹(5/6), Φ⁻¹(1/3), Φ⁻¹(1/12); Φ⁻¹(1 − 5/14), Φ⁻¹(1 − 1/7), Φ⁻¹(1 − 1/28)
		{"two", Prediction{IDs: []string{"a", "b"}, Weights: []float64{.3, .7}, Noise: []float64{.5, 4},
			Mean: [][]float64{{0}, {1000}}, Var: [][]float64{{.5}, {5}}},
			[3]float64{0.9674215661, -0.4307272993, -1.3829941271},
			[3]float64{1000 + 3*0.3661063568, 1000 + 3*1.0675705239, 1000 + 3*1.8027430907}, -3, 1009},
	} {
		// Many on the grid, and some on both sides of each end.
		var y []float64
		for i := range 500 {
			y = append(y, c.from+(c.to-c.from)*(float64(i)+0.5)/500)
		}
		for l := range 3 {
			for _, off := range []float64{-1e-6, 1e-6} {
				y = append(y, c.lower[l]+off, c.upper[l]+off)
			}
		}
		var want [3]float64
		for _, v := range y {
			for l := range want {
				if v >= c.lower[l] && v <= c.upper[l] {
					want[l]++
				}
			}
		}
		p := Prediction{IDs: c.p.IDs, Weights: c.p.Weights, Noise: c.p.Noise}
		for k := range p.IDs {
			p.Mean = append(p.Mean, slices.Repeat(c.p.Mean[k], len(y)))
			p.Var = append(p.Var, slices.Repeat(c.p.Var[k], len(y)))
		}
		s, err := p.Score(y)
		if err != nil {
			t.Fatal(err)
		}
		for l := range want {
			if got := s.Coverage[l] * float64(len(y)); math.Abs(got-want[l]) > 1e-9 {
				t.Errorf("%s, %v: %v of %d inside, want %v", c.name, CoverageLevels[l], got, len(y), want[l])
			}
		}
	}
}

func TestScoreInUnits(t *testing.T) {
	p, y := mixtureSamples(200)
	s, err := p.Score(y)
	if err != nil {
		t.Fatal(err)
	}
	// The same in units a hundred times smaller.
	const scale = 100
	q := &Prediction{IDs: p.IDs, Weights: p.Weights}
	for k := range 3 {
		q.Noise = append(q.Noise, scale*scale*p.Noise[k])
		var mean, variance []float64
		for row := range y {
			mean = append(mean, scale*p.Mean[k][row])
			variance = append(variance, scale*scale*p.Var[k][row])
		}
		q.Mean, q.Var = append(q.Mean, mean), append(q.Var, variance)
	}
	for row := range y {
		y[row] *= scale
	}
	want, err := q.Score(y)
	if err != nil {
		t.Fatal(err)
	}
	got := s.InUnits(scale)
	if math.Abs(got.RMSE/want.RMSE-1) > 1e-12 || math.Abs(got.MAE/want.MAE-1) > 1e-12 ||
		math.Abs(got.CRPS/want.CRPS-1) > 1e-12 || math.Abs(got.Interval/want.Interval-1) > 1e-10 ||
		math.Abs(got.NLPD-want.NLPD) > 1e-10 || got.Coverage != want.Coverage || got.Rows != want.Rows {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestScoreExtremes(t *testing.T) {
	// Certain and right: covered, although F jumps from 0 to 1; and certain and
	// wrong.
	p := &Prediction{IDs: []string{"a"}, Weights: []float64{1}, Noise: []float64{0}, Mean: [][]float64{{1, 2}}, Var: [][]float64{{0, 0}}}
	s, err := p.Score([]float64{1, 3})
	if err != nil || s.Coverage != (Coverage{.5, .5, .5}) || !math.IsInf(s.NLPD, 1) || s.MAE != 0.5 {
		t.Errorf("%+v, %v", s, err)
	}
	// A miss of a thousand standard deviations has a finite NLPD.
	p.Noise[0] = 1e-6
	s, err = p.Score([]float64{1, 3})
	if want := 0.5*math.Log(2*math.Pi*1e-6) + 0.25e6; err != nil || math.Abs(s.NLPD-want) > 1e-6 {
		t.Errorf("NLPD %v, want %v (%v)", s.NLPD, want, err)
	}
	for name, y := range map[string][]float64{"length": {1}, "NaN": {1, math.NaN()}, "infinite": {math.Inf(1), 0}} {
		if _, err := p.Score(y); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	p.Mean[0], p.Var[0] = nil, nil
	if _, err := p.Score(nil); err == nil {
		t.Error("no rows: no error")
	}
}

func BenchmarkScore(b *testing.B) {
	const kernels, rows = 144, 2000
	p := &Prediction{}
	for k := range kernels {
		p.IDs = append(p.IDs, string(rune(k)))
		p.Weights = append(p.Weights, 1.0/kernels)
		p.Noise = append(p.Noise, 1)
		p.Mean = append(p.Mean, make([]float64, rows))
		p.Var = append(p.Var, make([]float64, rows))
	}
	y := make([]float64, rows)
	for b.Loop() {
		if _, err := p.Score(y); err != nil {
			b.Fatal(err)
		}
	}
}
