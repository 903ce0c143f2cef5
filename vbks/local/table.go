package local

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// Table predicts rows of a table of several inputs from those that they are most like. It is
// not changed once it is fitted.
type Table struct {
	X      []float64 `json:"-"` // rows, N x dim
	Y      []float64 `json:"-"`
	Level  float64   `json:"level"`  // the mean is Level + Slopes·x
	Slopes []float64 `json:"slopes"` // by input; 0 of a category
	Kernel Alike     `json:"kernel"`
	Near   int       `json:"near"` // rows that a row is predicted from
	Checked

	found sync.Once
	made  alike
	tree  *tree
}

const (
	learnt, asked = 40, 120 // rows that a row is predicted from while the kernel is learned, and in the end
	rounds        = 5       // in which neighbours are found anew, as lengths have become others
	climbsARound  = 12
	little        = 1e-3 // a row's part of what draws slopes to 0
)

// FitTable fits a model to rows of x, N x dim, of which levels says which columns are
// categories. Random numbers are drawn from rng. Errors: fewer rows than Fewest, rows that a plane leaves nothing of, no
// hyperparameters that can be computed, or that ctx is done.
func FitTable(ctx context.Context, x, y []float64, levels []bool, rng *rand.Rand) (*Table, error) {
	dim, n := len(levels), len(y)
	if n < Fewest {
		return nil, fmt.Errorf("%d rows are too few for neighbours; it takes %d", n, Fewest)
	}
	m := &Table{X: x, Y: y, Near: min(asked, n-1)}
	if err := m.level(levels); err != nil {
		return nil, err
	}
	variance := 0.0
	for i := range n {
		v := m.rest(i)
		variance += v * v / float64(n)
	}
	if !(variance > 0) {
		return nil, errors.New("the rows are all on a line")
	}
	m.Kernel = Alike{Levels: levels, Theta: []float64{
		math.Log(0.1 * variance), math.Log(0.6 * variance), math.Log(0.3 * variance), math.Log(2),
	}}
	for range dim {
		m.Kernel.Theta = append(m.Kernel.Theta, 0.5*math.Log(float64(dim)))
	}
	fit, check := questions(n, rng)
	for range rounds {
		made := m.Kernel.made()
		o := newTableObjective(newTree(&made, x, dim), levels, m.rest, fit, min(learnt, n-1))
		theta, err := climb(ctx, m.Kernel.Theta, o.value, climbsARound)
		if err != nil {
			return nil, err
		}
		m.Kernel.Theta = theta
	}
	if err := m.look(check); err != nil {
		return nil, err
	}
	return m, ctx.Err()
}

// questions are rows that a model is fitted to, and others that check it.
func questions(n int, rng *rand.Rand) (fit, check []int) {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	rng.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, r := range all[:min(fitted, n/2)] {
		fit = append(fit, int(r))
	}
	for _, r := range all[n-min(checked, n/2):] {
		check = append(check, int(r))
	}
	return fit, check
}

// level finds the mean, by least squares with slopes drawn a little to 0.
func (m *Table) level(levels []bool) error {
	dim, n := len(levels), len(m.Y)
	var use []int
	for d, l := range levels {
		if !l {
			use = append(use, d)
		}
	}
	k := len(use) + 1
	a, b := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
	row := mat.NewVecDense(k, nil)
	for i, y := range m.Y {
		row.SetVec(0, 1)
		for j, d := range use {
			row.SetVec(j+1, m.X[i*dim+d])
		}
		a.SymRankOne(a, 1, row)
		b.AddScaledVec(b, y, row)
	}
	for j := range k {
		a.SetSym(j, j, a.At(j, j)+little*float64(n))
	}
	var c mat.Cholesky
	if !c.Factorize(a) {
		return errSingular
	}
	if err := c.SolveVecTo(b, b); err != nil {
		return fmt.Errorf("the mean of neighbours: %w", err)
	}
	m.Level, m.Slopes = b.AtVec(0), make([]float64, dim)
	for j, d := range use {
		m.Slopes[d] = b.AtVec(j + 1)
	}
	return nil
}

// mean is that of the target at a row.
func (m *Table) mean(x []float64) float64 {
	v := m.Level
	for d, s := range m.Slopes {
		v += s * x[d]
	}
	return v
}

// rest is the target of a row less its mean.
func (m *Table) rest(i int) float64 { return m.Y[i] - m.mean(m.row(i)) }

func (m *Table) row(i int) []float64 {
	dim := len(m.Slopes)
	return m.X[i*dim : (i+1)*dim]
}

// ready makes, once, what rows are predicted with.
func (m *Table) ready() {
	m.found.Do(func() {
		m.made = m.Kernel.made()
		m.tree = newTree(&m.made, m.X, len(m.Slopes))
	})
}

// look predicts rows that the hyperparameters were not fitted to.
func (m *Table) look(rows []int) error {
	got := make([]Check, len(rows))
	m.ready()
	err := striped(len(rows), func(_, from, to int) error {
		var w given
		var of pairs
		for i := from; i < to; i++ {
			r := rows[i]
			x := m.row(r)
			p, ok := m.predict(&w, &of, x, int32(r))
			if !ok {
				return errSingular
			}
			got[i] = Check{Row: r, Away: p.Away, Y: m.Y[r], Mean: p.Mean, Variance: p.Variance + p.Noise}
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.Checked = checkedBy(got)
	return nil
}

// predict is Predict for a row, without widths, as if the row self were not known.
func (m *Table) predict(w *given, of *pairs, x []float64, self int32) (p Prediction, ok bool) {
	w.near, p.Away = m.tree.nearest(x, m.Near, self, w.near[:0])
	m.made.at(of, w, len(w.near), func(i int) []float64 { return m.tree.row(w.near[i]) }, x)
	for i, r := range w.near {
		w.y[i] = m.rest(int(r))
	}
	mean, variance, ok := w.condition(m.made.variance(), m.made.noise)
	p.Mean, p.Variance, p.Noise = mean+m.mean(x), variance, m.made.noise
	return p, ok
}

// Predict predicts rows of x, row-major. Errors: neighbours whose covariance cannot be factorised.
func (m *Table) Predict(x []float64) ([]Prediction, error) {
	m.ready()
	dim := len(m.Slopes)
	out := make([]Prediction, len(x)/dim)
	err := striped(len(out), func(_, from, to int) error {
		var w given
		var of pairs
		for i := from; i < to; i++ {
			p, ok := m.predict(&w, &of, x[i*dim:(i+1)*dim], -1)
			if !ok {
				return errSingular
			}
			f := m.width(p.Away)
			p.Variance, p.Noise = f*f*p.Variance, f*f*p.Noise
			out[i] = p
		}
		return nil
	})
	return out, err
}

// check returns an error if parts do not fit together, as those of a file may not.
func (m *Table) check(dim int) error {
	switch n := len(m.Y); {
	case dim < 1 || n < 2 || len(m.X) != n*dim || !finite(m.X, m.Y):
		return errors.New("neighbours: rows that are not numbers")
	case len(m.Slopes) != dim || !finite(m.Slopes, []float64{m.Level}):
		return errors.New("neighbours: a mean that none can be")
	case len(m.Kernel.Levels) != dim || len(m.Kernel.Theta) != shared+dim || !finite(m.Kernel.Theta):
		return errors.New("neighbours: hyperparameters that are not its own")
	case m.Near < 1 || m.Near > mostNear:
		return errors.New("neighbours: a reach that none can be")
	}
	return nil
}
