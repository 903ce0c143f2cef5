package prepare

import (
	"strings"
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
	if s.Settings.Priors == "auto" && strings.HasPrefix(c.Kernels.Set, "series") {
		s.Settings.Priors = "series"
	}
	s.Settings.TimeBudget = 0 // the Run keeps it, pauses taken off
	for _, in := range d.Inputs {
		s.Columns = append(s.Columns, in.Name)
	}
	s.Train = vbks.Training{X: scaler.X(d, d.Train), Y: scaler.Y(d, d.Train), Dim: d.Dim, Truth: d.Kernel}
	if d.Series != nil {
		for _, p := range d.Series.Seasons {
			s.Train.Seasons = append(s.Train.Seasons, p/scaler.XScale[0])
		}
	}
	s.Ranges = sync.OnceValue(func() []ColumnInfo { return columnInfos(d) })
	return s
}
