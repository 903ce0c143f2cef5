package experiment

import (
	"context"
	"strings"
	"time"

	"kestrel/datasets"
)

// Inputs returns the summaries of the input columns, Target that of the target;
// nil where the data have none.
func (s *Start) Inputs() []datasets.ColumnSummary {
	if s.Data == nil || len(s.Data.Columns) == 0 {
		return nil
	}
	return s.Data.Columns[:len(s.Data.Columns)-1]
}

// Target returns the summary of the target, nil if there is none.
func (s *Start) Target() *datasets.ColumnSummary {
	if s.Data == nil || len(s.Data.Columns) == 0 {
		return nil
	}
	return &s.Data.Columns[len(s.Data.Columns)-1]
}

// TimeScale returns the instant that the values of a column of time stamps
// count from, UTC, and the seconds of their unit; false for other columns.
func TimeScale(c *datasets.ColumnSummary) (origin time.Time, unit float64, ok bool) {
	first, err := time.Parse(time.RFC3339Nano, c.First)
	if err != nil {
		return time.Time{}, 0, false
	}
	column := datasets.Column{Unit: c.Unit, Origin: first}
	return column.At(-c.Min), column.Seconds(1), true
}

// InWords writes the value of a hyperparameter that is a length of time for
// people, such as "36 h"; "" for any other.
func (s *Start) InWords(p *ParamInfo, value float64) string {
	if !strings.HasSuffix(p.Name, ".lengthscale") && !strings.HasSuffix(p.Name, ".period") {
		return ""
	}
	inputs := s.Inputs()
	for i := range inputs {
		c := &inputs[i]
		if c.Unit != p.Unit || p.Column != "" && p.Column != c.Name {
			continue
		}
		if _, unit, ok := TimeScale(c); ok {
			return datasets.HumanDuration(value * unit)
		}
	}
	return ""
}

// Experiment identifies what was run but for its seed: runs of equal experiments
// are repeats of each other. What a comparison is to do besides ([compare]) does
// not concern a run; it may change while a comparison goes on.
func (s *Start) Experiment() string {
	return s.experimentBut(func(string, string) bool { return false })
}

// experimentBut is Experiment without some more keys.
func (s *Start) experimentBut(not func(section, key string) bool) string {
	var b strings.Builder
	b.WriteString(s.Name)
	err := eachSetting(s.Config, func(section, key, value string) {
		if section == "" && key == "seed" || section == "compare" || not(section, key) {
			return
		}
		b.WriteString("\n" + section + "." + key + " = " + value)
	})
	if err != nil { // no program has written that: it is equal to itself only
		return s.Name + "\n" + s.Config
	}
	return b.String()
}

// ReadHistory reads the event log of a run directory into a History with at most
// so many points of each series, event by event. Errors are those of ReadEvents.
func ReadHistory(ctx context.Context, dir string, capacity int) (*History, error) {
	h := &History{Capacity: capacity}
	if err := eachEvent(ctx, dir, h.Apply); err != nil {
		return nil, err
	}
	return h, nil
}
