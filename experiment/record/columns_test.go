package record

import (
	"strings"
	"testing"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
)

// timed has a time column in days from noon of 2020-01-01, of which rows from
// the second day on are kept, a number and a target.
func timed() *Start {
	return &Start{Name: "a", Data: &datasets.Summary{Columns: []datasets.ColumnSummary{
		{Name: "when", Role: "input", Unit: "d", Min: 1, Max: 9, First: "2020-01-02T12:00:00Z", Last: "2020-01-10T12:00:00Z"},
		{Name: "depth", Role: "input", Unit: "m", Min: 0, Max: 3},
		{Name: "y", Role: "target", Unit: "K"},
	}}}
}

func TestTimeScale(t *testing.T) {
	s := timed()
	origin, unit, ok := TimeScale(&s.Inputs()[0])
	if want := time.Date(2020, 1, 1, 12, 0, 0, 0, time.UTC); !ok || unit != 86400 || !origin.Equal(want) {
		t.Errorf("origin %v, unit %v, %v; want %v, 86400", origin, unit, ok, want)
	}
	if _, _, ok := TimeScale(&s.Inputs()[1]); ok {
		t.Error("a number is taken for a time")
	}
	if s.Target().Name != "y" || len(s.Inputs()) != 2 {
		t.Errorf("target %v, %d inputs", s.Target(), len(s.Inputs()))
	}
	if empty := new(Start); empty.Inputs() != nil || empty.Target() != nil {
		t.Error("columns without data")
	}
}

func TestInWords(t *testing.T) {
	for _, c := range []struct {
		p     ParamInfo
		value float64
		want  string
	}{
		{ParamInfo{Name: "PER.period", Column: "when", Unit: "d"}, 1, "24 h"},
		{ParamInfo{Name: "SE#2.lengthscale", Unit: "d"}, 365.2425 * 3, "3 years"},
		{ParamInfo{Name: "SE.lengthscale", Column: "depth", Unit: "m"}, 1, ""},
		{ParamInfo{Name: "SE.lengthscale", Unit: "standardised"}, 1, ""},
		{ParamInfo{Name: "SE.variance", Unit: "d"}, 1, ""},
	} {
		if got := timed().InWords(&c.p, c.value); got != c.want {
			t.Errorf("%s = %v: %q, want %q", c.p.Name, c.value, got, c.want)
		}
	}
}

// Lengths along columns of numbers are times where the column's unit or name is one.
func TestCountedTimes(t *testing.T) {
	for _, c := range []struct {
		name, unit, of string
		value          float64
		want           string
	}{
		{"day", "", ".period", 7.002, "7 days"}, {"Month", "", ".width", 1, "1 month"}, {"year", "", ".period", 11.04, "11 years"},
		{"run", "h", ".period", 24, "24 h"}, {"run", "s", ".period", 604800, "7 days"}, {"x", "", ".period", 7, ""},
		{"day", "m", ".period", 7, ""}, {"day", "", "#2.lengthscale", 0.472, ""}, {"day", "", ".variance", 7, ""}, {"day", "", ".place", 7, ""},
	} {
		columns := []datasets.ColumnSummary{{Name: c.name, Unit: c.unit, Role: "input"}, {Name: "y", Role: "target"}}
		s := &Start{Data: &datasets.Summary{Columns: columns}}
		if got := s.InWords(&ParamInfo{Name: "PER" + c.of, Unit: c.unit}, c.value); got != c.want {
			t.Errorf("%v of %s (%s): %q, want %q", c.value, c.name, c.unit, got, c.want)
		}
	}
	day := &Start{Data: &datasets.Summary{Columns: []datasets.ColumnSummary{{Name: "day"}, {Name: "y", Role: "target"}}}}
	if got := day.InWords(&ParamInfo{Name: "SE#2.lengthscale"}, 7); got != "7 days" {
		t.Errorf("a length scale is %q", got)
	}
	two := &Start{Data: &datasets.Summary{Columns: []datasets.ColumnSummary{{Name: "day"}, {Name: "depth"}, {Name: "y", Role: "target"}}}}
	for column, want := range map[string]string{"": "", "day": "7 days", "depth": ""} {
		if got := two.InWords(&ParamInfo{Name: "PER.period", Column: column}, 7); got != want {
			t.Errorf("of column %q among two: %q, want %q", column, got, want)
		}
	}
}

func TestExperimentIsTheConfigWithoutItsSeed(t *testing.T) {
	start := func(seed string, set ...string) *Start {
		var os []config.Override
		for _, s := range append(set, "seed="+seed) {
			o, err := config.ParseOverride(s)
			if err != nil {
				t.Fatal(err)
			}
			os = append(os, o)
		}
		c, err := config.Load("fig1a", os)
		if err != nil {
			t.Fatal(err)
		}
		return &Start{Name: c.Name, Config: c.TOML()}
	}
	a, b, c := start("1"), start("2", "compare.runs=3", "compare.methods=vbks"), start("1", "sparse.inducing=7")
	if !strings.Contains(a.Config, "seed") {
		t.Fatal("the config does not tell its seed")
	}
	if a.Config == b.Config || a.Experiment() != b.Experiment() {
		t.Error("repeats are different experiments")
	}
	if a.Experiment() == c.Experiment() {
		t.Error("different numbers of inducing inputs are the same experiment")
	}
	// What a key is about may be said in other words, and another program may
	// lay the text out differently.
	d := *b
	d.Config = strings.NewReplacer("# ", "# or rather: ", " = ", "  =  ").Replace(b.Config)
	if d.Config == b.Config || d.Experiment() != b.Experiment() {
		t.Error("comments make another experiment")
	}
	b.Name = "other"
	if a.Experiment() == b.Experiment() {
		t.Error("different names are the same experiment")
	}
}
