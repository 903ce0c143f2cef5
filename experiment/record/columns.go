package record

import (
	"strings"
	"time"

	"example.com/kestrel/datasets"
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

// TimeColumn is a column of time stamps as its summary describes it.
func TimeColumn(c *datasets.ColumnSummary) (datasets.Column, bool) {
	origin, unit, ok := TimeScale(c)
	if !ok {
		return datasets.Column{}, false
	}
	out := datasets.Column{Name: c.Name, Time: true, Origin: origin, Unit: "s"}
	if unit != out.Seconds(1) {
		out.Unit = c.Unit
	}
	return out, true
}

// InWords writes the value of a hyperparameter that is a length of time for
// people, such as "36 h", or a place in a column of time stamps as a date; "" for any
// other.
func (s *Start) InWords(p *ParamInfo, value float64) string {
	if !strings.HasSuffix(p.Name, ".lengthscale") && !strings.HasSuffix(p.Name, ".period") && !strings.HasSuffix(p.Name, ".width") &&
		!p.Place() {
		return ""
	}
	inputs := s.Inputs()
	for i := range inputs {
		c := &inputs[i]
		if c.Unit != p.Unit || p.Column != "" && p.Column != c.Name {
			continue
		}
		if origin, unit, ok := TimeScale(c); ok && p.Place() {
			return time.UnixMicro(origin.UnixMicro() + int64(value*unit*1e6)).UTC().Format("2006-01-02 15:04")
		} else if ok {
			return datasets.HumanDuration(value * unit)
		}
	}
	return ""
}
