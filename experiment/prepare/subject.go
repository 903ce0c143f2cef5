package prepare

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/known"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/local"
)

// Subject is what a trainer is made of. It is not changed once it is made.
type Subject struct {
	Data     *datasets.Dataset
	Scaler   *datasets.Scaler
	Columns  []string
	Space    []vbks.Candidate
	Train    vbks.Training
	Settings vbks.Settings
	Ranges   func() []ColumnInfo // of the inputs, then the target
	levels   [][]float64         // by input
}

// NewSubject is what a config and its data say of a trainer. Errors: what the config
// states of hyperparameters does not go with the data or the kernels.
func NewSubject(c *config.Config, d *datasets.Dataset, scaler *datasets.Scaler, space []vbks.Candidate) (*Subject, error) {
	s := &Subject{Data: d, Scaler: scaler, Space: space, Settings: c.Settings}
	s.Settings.TimeBudget = 0 // the Run keeps it, pauses taken off
	for _, in := range d.Inputs {
		s.Columns = append(s.Columns, in.Name)
	}
	s.Train = vbks.Training{X: scaler.X(d, d.Train), Y: scaler.Y(d, d.Train), Dim: d.Dim, Truth: d.Kernel}
	s.Train.NoiseSD, s.Train.NoiseBy = d.NoiseOf(d.Train), d.NoiseBy
	if c.Data.FirstRows > 0 {
		s.Train.First = len(d.First())
	}
	if d.Series != nil {
		for _, p := range d.Series.Seasons {
			s.Train.Seasons = append(s.Train.Seasons, p/scaler.XScale[0])
		}
		s.Train.Cycle = d.Series.Cycle / scaler.XScale[0]
	}
	s.Train.Clock, s.Train.Gap = clock(d, scaler), d.Gap()
	if d.Among() {
		for i := range d.Inputs {
			s.Train.Alike = append(s.Train.Alike, d.Inputs[i].Categorical())
		}
	}
	var err error
	if c.Mean == config.LinearMean {
		if s.Settings.Line, err = line(d, &s.Train); err != nil {
			return nil, err
		}
	}
	for i := range d.Inputs {
		s.levels = append(s.levels, s.Train.Levels(i))
	}
	if err := s.checkLevels(); err != nil {
		return nil, err
	}
	if c := d.NoiseBy - 1; c >= 0 {
		if n := s.distinct(c); n > max(leastLevels, s.Train.Rows()/leastOfLevel) {
			return nil, fmt.Errorf("data.noise_by: %s has %d different values in %d training rows, too few rows each to know their noise",
				d.Inputs[c].Name, n, s.Train.Rows())
		}
	}
	if s.Space, err = known.Apply(c, d, scaler, space, s.Options()); err != nil {
		return nil, err
	}
	s.Ranges = sync.OnceValue(func() []ColumnInfo { return columnInfos(d) })
	return s, nil
}

// leastOfLevel is how many rows a level has on average at least to have noise of its own.
const leastOfLevel = 10

// leastOfLength is how many rows a level has on average at least to have a length of its own.
const leastOfLength = 2

// leastLevels is how many levels a column may have whatever the number of rows.
const leastLevels = 20

// checkLevels refuses kernels on levels of a column that has nearly as many values as rows.
func (s *Subject) checkLevels() error {
	distinct := map[int]int{}
	for _, k := range s.Space {
		p, err := k.Program(s.Options())
		if err != nil {
			continue // which is told where hyperparameters are settled
		}
		for _, in := range p.Instrs {
			if !in.Op.ByLevel() {
				continue
			}
			for _, c := range in.Cols {
				if n := len(in.Levels); in.Op == kernelspace.OpLevels && n*leastOfLength > s.Train.Rows() {
					return fmt.Errorf("kernel %s: %s has %d levels in %d training rows, too few rows each to know their lengths; leave ;ard out",
						k.Expr.ID(), s.Columns[c], n, s.Train.Rows())
				}
				if distinct[c] == 0 {
					distinct[c] = s.distinct(c)
				}
				if n := distinct[c]; n > max(leastLevels, s.Train.Rows()/4) {
					return fmt.Errorf("kernel %s: %s has %d different values in %d training rows, which cannot be learned as levels of a category; "+
						"name the column that holds such, as in CAT[weekday], or take SE", k.Expr.ID(), s.Columns[c], n, s.Train.Rows())
				}
			}
		}
	}
	return nil
}

// distinct is how many values an input has in the training rows.
func (s *Subject) distinct(c int) int {
	seen := map[float64]bool{}
	for r := range s.Train.Rows() {
		seen[s.Train.X[r*s.Train.Dim+c]] = true
	}
	return len(seen)
}

// clock is where in the rows of a series with a column of hours the time on the clock is; nil
// where there is none.
func clock(d *datasets.Dataset, scaler *datasets.Scaler) *local.Clock {
	hour := slices.IndexFunc(d.Inputs, func(in datasets.Column) bool { return in.Name == "hour" })
	if days := d.Days(0); d.Series != nil && d.Dim == 1+len(d.Calendar()) && hour > 0 && days > 0 {
		at := d.X[int(d.Train[0])*d.Dim:]
		return &local.Clock{
			Column: hour, Zero: scaler.Input(hour, 0), Hours: 24 / scaler.XScale[hour], Day: 1 / days / scaler.XScale[0],
			Origin: scaler.Input(0, at[0]-at[hour]/24/days),
		}
	}
	return nil
}

// Options are what the kernels are compiled for. They keep no rows.
func (s *Subject) Options() kernelspace.Options {
	levels := s.levels
	return kernelspace.Options{
		Columns: s.Columns, Dim: s.Train.Dim, ARD: s.Settings.ARD, SharedPeriod: s.Settings.SharedPeriod, Line: s.Settings.Line,
		Levels: func(c int) []float64 { return levels[c] },
	}
}

// vague is how many times the variance of the targets a line has of its own, in its values
// a standard deviation from the inputs' means and in its height there.
const vague = 10

// line is the prior of a linear mean function of the training rows: wide for whatever they
// may be, and the same for all kernels. It has no slope along inputs that are made of time,
// nor along those that do not vary.
func line(d *datasets.Dataset, rows *vbks.Training) (*kernelspace.Line, error) {
	n := rows.Rows()
	if rows.First > 0 { // what came later changes no prior
		n = min(n, rows.First)
	}
	moments := func(at func(r int) float64) (mean, variance float64) {
		for r := range n {
			mean += at(r) / float64(n)
		}
		for r := range n {
			variance += (at(r) - mean) * (at(r) - mean) / float64(n)
		}
		return mean, variance
	}
	height, spread := moments(func(r int) float64 { return rows.Y[r] })
	l := &kernelspace.Line{Constant: vague * (spread + height*height)}
	made := d.Calendar()
	for c := range d.Inputs {
		mean, variance := moments(func(r int) float64 { return rows.X[r*rows.Dim+c] })
		if slices.Contains(made, d.Inputs[c].Name) || !(variance > 0) {
			continue
		}
		l.Columns, l.Slopes = append(l.Columns, c), append(l.Slopes, vague*spread/variance)
		l.Constant += vague * spread / variance * mean * mean
	}
	if len(l.Columns) == 0 {
		return nil, fmt.Errorf("kernels.mean = %q: no input varies", config.LinearMean)
	}
	return l, nil
}

// Whole is what there is to learn from, held out or not: the training rows in their
// order, then the test rows, of which those are left out that the transform of the
// target does not take.
func (s *Subject) Whole() (all vbks.Training, heldOut, left int) {
	d := s.Data
	rows := slices.Clone(d.Train)
	for _, r := range d.Test {
		if !math.IsInf(s.Scaler.Target(d.Y[r]), 0) {
			rows = append(rows, r)
		}
	}
	all = s.Train
	all.X, all.Y, all.NoiseSD = s.Scaler.X(d, rows), s.Scaler.Y(d, rows), d.NoiseOf(rows)
	heldOut = len(rows) - len(d.Train)
	return all, heldOut, len(d.Test) - heldOut
}
