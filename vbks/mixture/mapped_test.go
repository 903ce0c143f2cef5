package mixture

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/internal/must"
)

// linearUnits are y = shift + scale·z, expUnits y = exp(shift + scale·z).
type linearUnits struct{ shift, scale float64 }

func (u linearUnits) Linear() (float64, bool)    { return u.scale, true }
func (u linearUnits) Target(y float64) float64   { return (y - u.shift) / u.scale }
func (u linearUnits) Value(z float64) float64    { return u.shift + u.scale*z }
func (u linearUnits) LogSlope(y float64) float64 { return -math.Log(u.scale) }
func (u linearUnits) Moments(mean, variance float64) (m, v float64) {
	return u.Value(mean), u.scale * u.scale * variance
}

type expUnits struct{ linearUnits }

func (u expUnits) Linear() (float64, bool) { return u.scale, false }
func (u expUnits) Target(y float64) float64 {
	if y <= 0 {
		return math.Inf(-1)
	}
	return u.linearUnits.Target(math.Log(y))
}
func (u expUnits) Value(z float64) float64 { return math.Exp(u.linearUnits.Value(z)) }
func (u expUnits) LogSlope(y float64) float64 {
	if y <= 0 {
		return math.Inf(-1)
	}
	return -math.Log(y) - math.Log(u.scale)
}
func (u expUnits) Moments(mean, variance float64) (m, v float64) {
	mean, variance = u.linearUnits.Moments(mean, variance)
	m = math.Exp(mean + variance/2)
	return m, m * m * math.Expm1(variance)
}

// two is a mixture of two kernels at two rows.
func two() *Prediction {
	return &Prediction{IDs: []string{"A", "B"}, Weights: []float64{0.3, 0.7}, Noise: []float64{0.1, 0.2},
		Mean: [][]float64{{-1, 0.5}, {0.4, 0.6}}, Var: [][]float64{{0.2, 0.05}, {0.3, 0.1}}}
}

// The units that a linear map is are those that Prediction knows, by two ways.
func TestLinearUnits(t *testing.T) {
	p, u := two(), linearUnits{5, 3}
	s, err := p.Score([]float64{-0.4, 0.9})
	must.OK(t, err)
	y := []float64{u.Value(-0.4), u.Value(0.9)}
	got, err := p.In(u).Score(y)
	must.OK(t, err)
	want := s.InUnits(3)
	if math.Abs(got.RMSE-want.RMSE) > 1e-14 || math.Abs(got.MAE-want.MAE) > 1e-14 || math.Abs(got.NLPD-want.NLPD) > 1e-14 ||
		got.Coverage != want.Coverage {
		t.Errorf("%+v, want %+v", got, want)
	}
	for row := range 2 {
		mean, variance := p.Moments(row, true)
		if m, sd := p.In(u).Moments(row, true); m != u.Value(mean) || sd != 3*math.Sqrt(variance) {
			t.Errorf("moments %v, %v", m, sd)
		} else if z := p.In(u).Standardised(row, y[row]); z != (y[row]-m)/sd {
			t.Errorf("standardised %v", z)
		}
	}
}

// A mixture of lognormals by its own formulas, and by draws.
func TestMappedMixture(t *testing.T) {
	p, u := two(), expUnits{linearUnits{0.2, 0.8}}
	m := p.In(u)
	rng := rand.New(rand.NewPCG(1, 9))
	const n = 200_000
	y := []float64{0.9, 4}
	for row := range 2 {
		draws := make([]float64, n)
		sum := 0.0
		for i := range draws {
			k := 0
			if rng.Float64() > 0.3 {
				k = 1
			}
			z := p.Mean[k][row] + math.Sqrt(p.Var[k][row]+p.Noise[k])*rng.NormFloat64()
			draws[i] = math.Exp(0.2 + 0.8*z)
			sum += draws[i] / n
		}
		mean, sd := m.Moments(row, true)
		if math.Abs(sum-mean) > 4*sd/math.Sqrt(n) {
			t.Errorf("row %d: mean %v, of draws %v ± %v", row, mean, sum, sd/math.Sqrt(n))
		}
		squares := 0.0
		for _, d := range draws {
			squares += (d - mean) * (d - mean) / n
		}
		if math.Abs(math.Sqrt(squares)/sd-1) > 0.03 {
			t.Errorf("row %d: sd %v, of draws %v", row, sd, math.Sqrt(squares))
		}
		slices.Sort(draws)
		for _, prob := range []float64{0.05, 0.5, 0.95} {
			q, off := m.Quantile(row, prob, true), 4*math.Sqrt(n*prob*(1-prob))
			if q < draws[int(n*prob-off)] || q > draws[int(n*prob+off)] {
				t.Errorf("row %d: quantile %v is %v, of draws %v", row, prob, q, draws[int(n*prob)])
			}
		}
	}
	// log p(y) of lognormals: N(log y; μ, σ²)/y.
	nlpd, square, absolute := 0.0, 0.0, 0.0
	for row, v := range y {
		density := 0.0
		for k, w := range p.Weights {
			mu, variance := 0.2+0.8*p.Mean[k][row], 0.64*(p.Var[k][row]+p.Noise[k])
			d := math.Log(v) - mu
			density += w * math.Exp(-0.5*d*d/variance) / math.Sqrt(2*math.Pi*variance) / v
		}
		nlpd -= math.Log(density) / 2
		mean, _ := m.Moments(row, true)
		square += (v - mean) * (v - mean) / 2
		absolute += math.Abs(v-m.Quantile(row, 0.5, true)) / 2
	}
	s, err := m.Score(y)
	must.OK(t, err)
	if math.Abs(s.NLPD-nlpd) > 1e-12 || math.Abs(s.RMSE-math.Sqrt(square)) > 1e-12 || math.Abs(s.MAE-absolute) > 1e-12 {
		t.Errorf("%+v, want RMSE %v, MAE %v, NLPD %v", s, math.Sqrt(square), absolute, nlpd)
	}
	z, err := p.Score([]float64{u.Target(y[0]), u.Target(y[1])})
	must.OK(t, err)
	if s.Coverage != z.Coverage {
		t.Errorf("coverage %v, of z %v", s.Coverage, z.Coverage)
	}
	mean, variance := p.Moments(1, true)
	if got, want := m.Standardised(1, 4), (u.Target(4)-mean)/math.Sqrt(variance); math.Abs(got-want) > 1e-14 {
		t.Errorf("standardised %v, want %v", got, want)
	}
}

// A target beyond the domain is impossible and not covered, and the others count as
// they do.
func TestScoreOfImpossibleTargets(t *testing.T) {
	s, err := two().In(expUnits{linearUnits{0, 1}}).Score([]float64{-2, 1.7})
	must.OK(t, err)
	if !math.IsInf(s.NLPD, 1) || s.Coverage[Coverage95] != 0.5 || !(s.RMSE < 10) || !(s.MAE < 10) {
		t.Errorf("%+v", s)
	}
	for _, y := range [][]float64{{1}, {1, math.NaN()}, {1, math.Inf(1)}} {
		if _, err := two().In(expUnits{linearUnits{0, 1}}).Score(y); err == nil {
			t.Errorf("%v is scored", y)
		}
	}
	if _, err := (&Prediction{}).In(expUnits{}).Score(nil); err == nil {
		t.Error("a prediction of no kernels is scored")
	}
	// A kernel without weight that is beyond all floats does not matter.
	p := two()
	p.Weights, p.Mean[0][0] = []float64{0, 1}, 1e6
	if mean, sd := p.In(expUnits{linearUnits{0, 1}}).Moments(0, true); math.Abs(mean-math.Exp(0.65)) > 1e-14 || math.IsNaN(sd) {
		t.Errorf("%v, %v", mean, sd)
	}
	p.Weights = []float64{0.5, 0.5}
	if mean, sd := p.In(expUnits{linearUnits{0, 1}}).Moments(0, true); !math.IsInf(mean, 1) || !math.IsInf(sd, 1) {
		t.Errorf("%v, %v", mean, sd)
	}
}
