package record

import (
	"fmt"
	"math"
	"strings"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace"
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

// mostInputs are named where a line says what explains the target.
const mostInputs = 4

// Explains says which column is explained, and from which: "temp from date, weather"; ""
// where the data are no table with named columns.
func (s *Start) Explains() string {
	target, inputs := s.Target(), s.Inputs()
	if target == nil || len(inputs) == 0 || s.Data.Kernel != "" || target.Name == "" {
		return ""
	}
	return target.Name + " from " + InputNames(inputs)
}

// InputNames lists inputs by name, as many as a line takes.
func InputNames(inputs []datasets.ColumnSummary) string {
	var names []string
	most := mostInputs
	if len(inputs) == most+1 { // a name takes no more than the word that there is one more
		most++
	}
	for i := range inputs[:min(len(inputs), most)] {
		names = append(names, inputs[i].Name)
	}
	if more := len(inputs) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// TargetChosen reports whether the target is a table's last column because nobody has
// named another.
func (s *Start) TargetChosen() bool {
	if s.Data == nil || s.Data.Source != "csv" {
		return false
	}
	chosen := true
	_ = config.EachSetting(s.Config, func(section, key, value string) { // what cannot be read has named none
		if section == "data" && key == "target" {
			chosen = strings.TrimSpace(strings.TrimPrefix(value, "String")) == ""
		}
	})
	return chosen
}

// NotScored says what scores of held-out rows that lie between others tell nothing about:
// "the time to come", where an input is known to be time; "" where these rows lie beyond
// the others, or nobody knows.
func (s *Start) NotScored() string {
	if s.Data == nil || s.Data.Test == 0 {
		return ""
	}
	gaps := s.Baselines != nil && s.Baselines.Task == TaskGaps
	timely := s.Data.Series != nil
	for _, c := range s.Inputs() {
		_, _, stamps := TimeScale(&c)
		timely = timely || stamps
	}
	switch {
	case timely && (gaps || s.Data.SplitBy == "random" && (s.Baselines == nil || s.Baselines.Task != TaskForecast)):
		return "the time to come"
	case gaps:
		return "what lies beyond the rows"
	}
	return ""
}

// Column is what a run tells of a column of its data.
type Column = datasets.ColumnSummary

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

// LevelAt is the level next to a place along a column of levels, of which there is one at
// least.
func LevelAt(c *datasets.ColumnSummary, at float64) string {
	return c.Levels[int(max(0, min(math.Round(at), float64(len(c.Levels)-1))))].Name
}

// InWords writes the value of a hyperparameter that is a length of time for
// people, such as "36 h", "7 days" along a column of numbers that is called day, or a place
// in a column of time stamps as a date; "" for any other.
func (s *Start) InWords(p *ParamInfo, value float64) string {
	if !strings.HasSuffix(p.Name, ".lengthscale") && !strings.HasSuffix(p.Name, ".period") && !strings.HasSuffix(p.Name, ".width") &&
		!p.Place() || p.Unit == "" && kernelspace.Unitless(p.Name) {
		return ""
	}
	inputs := s.Inputs()
	for i := range inputs {
		c := &inputs[i]
		if c.Unit != p.Unit || p.Column != "" && p.Column != c.Name {
			continue
		}
		origin, unit, stamps := TimeScale(c)
		switch {
		case stamps && p.Place():
			return time.UnixMicro(origin.UnixMicro() + int64(value*unit*1e6)).UTC().Format("2006-01-02 15:04")
		case stamps:
			return datasets.HumanDuration(value * unit)
		case p.Place() || p.Column == "" && len(inputs) > 1: // of several columns
		default:
			return counted(c, value)
		}
	}
	return ""
}

// counted writes a length along a column that counts time, by its unit or by what it is
// called; "" for any other.
func counted(c *datasets.ColumnSummary, value float64) string {
	if c.Unit != "" {
		if days := datasets.DaysOf(c.Unit); days > 0 {
			return datasets.HumanDuration(value * days * 86400)
		}
		return ""
	}
	days := datasets.DaysOf(c.Name)
	if days == 0 {
		return ""
	}
	for _, unit := range []string{"year", "quarter", "month", "week", "day", "hour", "minute", "second"} {
		if datasets.DaysOf(unit) == days {
			text := words.Significant(value, 3)
			if text != "1" {
				unit += "s"
			}
			return text + " " + unit
		}
	}
	return ""
}
