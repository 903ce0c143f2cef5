package mixture

import (
	"fmt"
	"math"

	"example.com/kestrel/scoring"
)

// Units are how the targets z of a prediction stand for targets y in other units,
// those of the data: z increases with y.
type Units interface {
	// Linear returns scale, and true if y = shift + scale·z.
	Linear() (scale float64, ok bool)
	// Target returns the z of a y, −∞ or +∞ of one that no z stands for.
	Target(y float64) float64
	// Value returns the y of a z.
	Value(z float64) float64
	// LogSlope returns log dz/dy, −∞ where no z stands for y.
	LogSlope(y float64) float64
	// Moments returns mean and variance of y where z is normal with these.
	Moments(mean, variance float64) (m, v float64)
}

// Mapped is a prediction in the units of the data: at every row a mixture of what
// Units make of one normal per kernel. Of f it says what y would be without noise.
type Mapped struct {
	Prediction *Prediction // of z
	Units      Units       // y by z
}

// In returns the prediction in other units.
func (p *Prediction) In(u Units) Mapped { return Mapped{p, u} }

// Moments returns mean and standard deviation of y, or of what it would be without
// noise, at a row. The two means are equal where the units are linear only; else
//
//	m = Σ_i w_i m_i,   sd² = Σ_i w_i (v_i + (m_i − m)²)
//
// with the components' own moments m_i and v_i in these units, of normals of the same
// variance where noise has heavier tails, of which there may be none in these. Both are +∞
// where a component's are.
func (m Mapped) Moments(row int, ofY bool) (mean, sd float64) {
	p := m.Prediction
	if scale, ok := m.Units.Linear(); ok {
		mean, variance := p.Moments(row, ofY)
		return m.Units.Value(mean), math.Sqrt(variance) * scale
	}
	tail := p.tail()
	means, variances := make([]float64, len(p.Weights)), make([]float64, len(p.Weights))
	for i, w := range p.Weights {
		if w == 0 {
			continue
		}
		means[i], variances[i] = m.Units.Moments(p.Mean[i][row], p.variance(i, row, ofY, tail))
		mean += w * means[i]
	}
	if math.IsInf(mean, 0) {
		return mean, math.Inf(1)
	}
	variance := 0.0
	for i, w := range p.Weights {
		if w == 0 {
			continue
		}
		d := means[i] - mean
		variance += w * (variances[i] + d*d)
	}
	return mean, math.Sqrt(variance)
}

// Quantile is that of Prediction.Quantile in these units, exactly so: they increase
// with each other.
func (m Mapped) Quantile(row int, prob float64, ofY bool) float64 {
	return m.Units.Value(m.Prediction.Quantile(row, prob, ofY))
}

// Score compares the prediction with targets in these units, one per row. Where
// they are linear it is Prediction.Score in other units. Else
//
//	RMSE = √mean (y − E y)²   MAE = mean |y − median y|   NLPD = −mean log p̃(z) dz/dy
//
// each with the point that it is least at; coverage is of z's intervals, whose ends
// are those of y. Of a y that no z stands for the density is 0 and NLPD +∞. Errors
// are those of Prediction.Score.
func (m Mapped) Score(y []float64) (Score, error) {
	p := m.Prediction
	scale, linear := m.Units.Linear()
	z := make([]float64, len(y))
	for i, v := range y {
		z[i] = m.Units.Target(v)
	}
	if linear {
		s, err := p.Score(z)
		if err != nil {
			return Score{}, err
		}
		return s.InUnits(scale), nil
	}
	if err := p.checkTargets(y); err != nil {
		return Score{}, err
	}
	sum := tally{rows: len(y)}
	tail := (1 - scoring.IntervalLevel) / 2
	for row, v := range y {
		mean, _ := m.Moments(row, true)
		density := math.Inf(-1)
		if slope := m.Units.LogSlope(v); !math.IsInf(slope, -1) {
			density = p.LogDensity(row, z[row]) + slope
		}
		sum.add(v-mean, v-m.Quantile(row, 0.5, true), density)
		sum.spread(m.crps(row, v, z[row]), scoring.Interval(v, m.Quantile(row, tail, true), m.Quantile(row, 1-tail, true)))
		sum.cover(p.around(row, z[row]))
	}
	return sum.score(), nil
}

// crpsPieces is how many pieces each of the integrals of crps is made of.
const crpsPieces = 400

// crps is ∫ (F(t) − 1{y ≤ t})² dt of the mixture of y at a row, where y stands for z:
// by the trapezoidal rule over t, at values of z that are evenly spaced.
func (m Mapped) crps(row int, y, z float64) float64 {
	p := m.Prediction
	lo, hi, widest := math.Inf(1), math.Inf(-1), 0.0
	for _, q := range p.parts(true) {
		widest = math.Max(widest, q.Factor)
	}
	for i, w := range p.Weights {
		if w > 0 {
			reach := 9 * math.Sqrt(p.variance(i, row, true, widest))
			lo, hi = math.Min(lo, p.Mean[i][row]-reach), math.Max(hi, p.Mean[i][row]+reach)
		}
	}
	integral := func(from, to float64, of func(cdf float64) float64) float64 {
		sum, t, value := 0.0, m.Units.Value(from), of(p.CDF(row, from, true))
		for i := 1; i <= crpsPieces; i++ {
			at := from + (to-from)*float64(i)/crpsPieces
			next, nextValue := m.Units.Value(at), of(p.CDF(row, at, true))
			if next > t {
				sum += (next - t) * (value + nextValue) / 2
			}
			t, value = next, nextValue
		}
		return sum
	}
	below := func(cdf float64) float64 { return cdf * cdf }
	above := func(cdf float64) float64 { return (1 - cdf) * (1 - cdf) }
	switch {
	case z <= lo:
		return math.Max(0, m.Units.Value(lo)-y) + integral(lo, hi, above)
	case z >= hi:
		return math.Max(0, y-m.Units.Value(hi)) + integral(lo, hi, below)
	}
	return integral(lo, z, below) + integral(z, hi, above)
}

// Standardised returns how far the target y of a row lies from the mean, in standard
// deviations: of z where the units are not linear, so that it is normal if one
// kernel predicts and is right.
func (m Mapped) Standardised(row int, y float64) float64 {
	if _, ok := m.Units.Linear(); ok {
		mean, sd := m.Moments(row, true)
		return (y - mean) / sd
	}
	mean, variance := m.Prediction.Moments(row, true)
	return (m.Units.Target(y) - mean) / math.Sqrt(variance)
}

// checkTargets returns an error if a prediction cannot be compared with targets.
func (p *Prediction) checkTargets(y []float64) error {
	if err := p.Check(); err != nil {
		return err
	}
	if len(y) != p.Rows() {
		return fmt.Errorf("vbks: %d targets for %d rows of a prediction", len(y), p.Rows())
	}
	if len(y) == 0 {
		return errNoRows
	}
	for row, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("vbks: target at row %d is %v", row, v)
		}
	}
	return nil
}
