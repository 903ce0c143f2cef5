package local

import "math"

// covariances are those of a kernel, kept where rows lie on a grid.
type covariances struct {
	of     *made
	origin float64
	step   float64
	kept   []float64 // by whole steps; NaN: not yet
}

// mostKept is how many steps apart rows are of which covariances are kept.
const mostKept = 1 << 15

func newCovariances(of *made, x []float64) *covariances {
	c := &covariances{of: of, origin: x[0], step: stepOf(x[:min(len(x), 2*Fewest)]), kept: make([]float64, mostKept)}
	for i := range c.kept {
		c.kept[i] = math.NaN()
	}
	return c
}

func (c *covariances) at(d float64) float64 {
	steps := math.Abs(d) / c.step
	whole := math.Round(steps)
	if !(math.Abs(steps-whole) < same) || whole >= mostKept {
		return c.of.at(d)
	}
	v := c.kept[int(whole)]
	if v != v {
		v = c.of.at(whole * c.step) // not at d, or rows that are asked for before would tell
		c.kept[int(whole)] = v
	}
	return v
}

// given conditions f at v on the rows near, whose targets less their means are rest.
func (m *Model) given(w *given, c *covariances, rest []float64, v float64, near []int32) (mean, variance float64, ok bool) {
	n := len(near)
	w.room(n)
	for i, r := range near {
		row, xi := w.l[i*n:i*n+i], m.X[r]
		for j := range row {
			row[j] = c.at(xi - m.X[near[j]])
		}
		w.k[i], w.y[i] = c.at(xi-v), rest[r]
	}
	return w.condition(c.of.variance(), c.of.noise)
}

// Prediction is what a model says of a row.
type Prediction struct {
	Mean     float64
	Variance float64 // of f
	Noise    float64 // variance of y − f
	Away     float64 // from the nearest row
}

// Predict predicts rows at x. Errors: neighbours whose covariance cannot be factorised.
func (m *Model) Predict(x []float64) ([]Prediction, error) {
	rest := m.residuals()
	made := m.Kernel.made()
	out := make([]Prediction, len(x))
	err := striped(len(x), func(_, from, to int) error {
		c := newCovariances(&made, m.X)
		var w given
		for i := from; i < to; i++ {
			v := x[i]
			w.near = m.Reach.neighbours(m.X, v, gap{}, -1, w.near[:0])
			mean, variance, ok := m.given(&w, c, rest, v, w.near)
			if !ok {
				return errSingular
			}
			away := m.Away(v)
			f := m.width(away)
			out[i] = Prediction{Mean: mean + m.Means.at(v), Variance: f * f * variance, Noise: f * f * made.noise, Away: away}
		}
		return nil
	})
	return out, err
}

// residuals are the targets less their means, found once.
func (m *Model) residuals() []float64 {
	m.found.Do(func() {
		m.rest = make([]float64, len(m.X))
		for i, v := range m.X {
			m.rest[i] = m.Y[i] - m.Means.at(v)
		}
	})
	return m.rest
}

// Away is how far the nearest row is from v.
func (m *Model) Away(v float64) float64 { return math.Abs(m.X[nearest(m.X, v)] - v) }
