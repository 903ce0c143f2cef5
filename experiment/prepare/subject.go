package prepare

import (
	"math"
	"slices"
	"sync"

	"kestrel/datasets"
	"kestrel/experiment/config"
	"kestrel/vbks"
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
}

// NewSubject is what a config and its data say of a trainer.
func NewSubject(c *config.Config, d *datasets.Dataset, scaler *datasets.Scaler, space []vbks.Candidate) *Subject {
	s := &Subject{Data: d, Scaler: scaler, Space: space, Settings: c.Settings}
	s.Settings.TimeBudget = 0 // the Run keeps it, pauses taken off
	for _, in := range d.Inputs {
		s.Columns = append(s.Columns, in.Name)
	}
	s.Train = vbks.Training{X: scaler.X(d, d.Train), Y: scaler.Y(d, d.Train), Dim: d.Dim, Truth: d.Kernel}
	if c.Data.FirstRows > 0 {
		s.Train.First = len(d.First())
	}
	if d.Series != nil {
		for _, p := range d.Series.Seasons {
			s.Train.Seasons = append(s.Train.Seasons, p/scaler.XScale[0])
		}
	}
	s.Ranges = sync.OnceValue(func() []ColumnInfo { return columnInfos(d) })
	return s
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
	all.X, all.Y = s.Scaler.X(d, rows), s.Scaler.Y(d, rows)
	heldOut = len(rows) - len(d.Train)
	return all, heldOut, len(d.Test) - heldOut
}
