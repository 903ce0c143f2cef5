package local

import (
	"errors"
	"fmt"
	"math"

	"example.com/kestrel/vbks/mixture"
)

// What Names lists.
const (
	Auto       = "auto"
	None       = "none"
	Neighbours = "neighbours"
)

// Names lists who may predict rows that lie among those known: none but the kernels,
// neighbours, or whoever is better by what is held out of the rows.
func Names() []string { return []string{Auto, None, Neighbours} }

// Clock finds the time on the clock of a row of several inputs: the first is time, and
// another one the hour of the day, from which the clock may differ by hours (summer time).
type Clock struct {
	Column int     `json:"column"` // that has the hour
	Zero   float64 `json:"zero"`   // its value at midnight
	Hours  float64 `json:"hours"`  // and how much it grows in a day
	Day    float64 `json:"day"`    // in units of the first input
	Origin float64 `json:"origin"` // the first input at some midnight
}

// at is the time on the clock, in units of the first input.
func (c *Clock) at(row []float64) float64 {
	if c == nil {
		return row[0]
	}
	days := (row[0] - c.Origin) / c.Day
	shift := (row[c.Column]-c.Zero)/c.Hours - (days - math.Floor(days))
	return row[0] + c.Day*(shift-math.Round(shift))
}

// Times are those of rows on the clock, or the first of their inputs where there is none.
func (c *Clock) Times(x []float64, dim int) []float64 {
	out := make([]float64, 0, len(x)/dim)
	for ; len(x) >= dim; x = x[dim:] {
		out = append(out, c.at(x[:dim]))
	}
	return out
}

// Part is a model, of a series or of a table, and which rows it predicts: as far as one of its own is
// not farther away than Within, of a series between the first and the last of these.
type Part struct {
	Model  *Model  `json:"model,omitempty"` // nil: of a table
	Table  *Table  `json:"table,omitempty"` // nil: of a series
	Clock  *Clock  `json:"clock,omitempty"` // of a series; nil: there is one input
	Within float64 `json:"within"`
}

// Checked is what rows showed that the model had not been fitted to.
func (p *Part) Checked() *Checked {
	if p.Table != nil {
		return &p.Table.Checked
	}
	return &p.Model.Checked
}

// Furthest is how far a row was from the nearest one known at most, of those that were looked at.
func (p *Part) Furthest() float64 {
	widths := p.Checked().Widths
	return widths[len(widths)-1].Away
}

// Predict puts what the model says of its rows into a prediction of all rows of x by
// kernels.
func (p *Part) Predict(into *mixture.Prediction, x []float64, dim int) error {
	if p.Table != nil {
		got, err := p.Table.Predict(x)
		if err != nil {
			return err
		}
		for row := range got {
			if got[row].Away <= p.Within {
				into.Replace(row, got[row].Mean, got[row].Variance, got[row].Noise)
			}
		}
		return nil
	}
	var rows []int
	var at []float64
	first, last := p.Model.X[0], p.Model.X[len(p.Model.X)-1]
	for row, v := range p.Clock.Times(x, dim) {
		if v >= first && v <= last && p.Model.Away(v) <= p.Within {
			rows, at = append(rows, row), append(at, v)
		}
	}
	got, err := p.Model.Predict(at)
	if err != nil {
		return err
	}
	for i, row := range rows {
		into.Replace(row, got[i].Mean, got[i].Variance, got[i].Noise)
	}
	return nil
}

// Check returns an error if parts do not fit together, as those of a file of rows of dim inputs may not.
func (p *Part) Check(dim int) error {
	switch {
	case p.Table != nil:
		if p.Model != nil || p.Clock != nil {
			return errors.New("neighbours of a table and of a series")
		}
		if err := p.Table.check(dim); err != nil {
			return err
		}
		return p.checkWidths()
	case p.Model == nil:
		return errors.New("neighbours of no model")
	case p.Clock == nil && dim != 1 || p.Clock != nil && p.Clock.Column >= dim:
		return errors.New("neighbours in time, but other inputs")
	}
	m := p.Model
	params := 1
	for _, t := range m.Kernel.Terms {
		params += t.params()
		if !(t.Period >= 0) {
			return fmt.Errorf("neighbours: a period of %v", t.Period)
		}
	}
	ascending := len(m.X) >= 2 && m.X[0] < m.X[len(m.X)-1]
	for i := 1; i < len(m.X); i++ {
		ascending = ascending && m.X[i] >= m.X[i-1]
	}
	r := &m.Reach
	most := max(r.Beside, r.AtLag, len(r.Lags))
	switch {
	case len(m.X) != len(m.Y) || !ascending || !finite(m.X, m.Y):
		return fmt.Errorf("neighbours: rows that are not ascending numbers")
	case len(m.Kernel.Theta) != params || !finite(m.Kernel.Theta):
		return fmt.Errorf("neighbours: hyperparameters that are not its own")
	case r.Beside < 1 || r.AtLag < 0 || most > mostReach || 2*(r.Beside+len(r.Lags)*r.AtLag) > mostNear || !finite(r.Lags):
		return fmt.Errorf("neighbours: a reach that none can be")
	case len(m.Means.Phases) == 0 || !(m.Means.Cell > 0) || !finite(m.Means.Phases, []float64{m.Means.Origin, m.Means.Cell}):
		return fmt.Errorf("neighbours: means that none can be")
	}
	for _, w := range m.Means.Waves {
		if !(w.Period > 0) || !finite([]float64{w.Cos, w.Sin}) {
			return fmt.Errorf("neighbours: a wave that none can be")
		}
	}
	if c := p.Clock; c != nil && (c.Column < 1 || c.Hours == 0 || !(c.Day > 0) || !finite([]float64{c.Zero, c.Hours, c.Day, c.Origin})) {
		return fmt.Errorf("neighbours: a clock that none can be")
	}
	return p.checkWidths()
}

func (p *Part) checkWidths() error {
	widths := p.Checked().Widths
	if len(widths) == 0 || !(p.Within > 0) {
		return errors.New("neighbours: no distance up to which they are asked")
	}
	for _, w := range widths {
		if !(w.Factor > 0 && w.Factor <= broadest) || !(w.Away >= 0) {
			return fmt.Errorf("neighbours: a factor of standard deviations that none can be")
		}
	}
	return nil
}

// Bounds for numbers of a file: no row asks more neighbours than mostNear, whose covariance
// is as many squared.
const mostReach, mostNear = 100, 1000

func finite(all ...[]float64) bool {
	for _, some := range all {
		for _, v := range some {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
		}
	}
	return true
}
