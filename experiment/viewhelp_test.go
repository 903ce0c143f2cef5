package experiment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kestrel/datasets"
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

func TestExperimentIsTheConfigWithoutItsSeed(t *testing.T) {
	start := func(seed string, set ...string) *Start {
		var os []Override
		for _, s := range append(set, "seed="+seed) {
			o, err := ParseOverride(s)
			if err != nil {
				t.Fatal(err)
			}
			os = append(os, o)
		}
		c, err := LoadConfig("fig1a", os)
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

func TestReadHistoryIsTheHistoryOfTheEvents(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, eventsFile))
	if err != nil {
		t.Fatal(err)
	}
	log := newEventLog(f)
	want := &History{Capacity: 4}
	for i := range 11 {
		e := &Event{V: EventVersion, Type: EventEvaluation, Time: time.Unix(int64(i), 0).UTC(), Seconds: Number(i), Evaluation: &Evaluation{
			Index: i + 1, Planned: 11, Proportion: float64(i+1) / 11, Kernels: []Kernel{{ID: "SE", Status: "live", Fit: &Fit{Posterior: 1, ELBO: Number(i * i), Rank: 1}}},
		}}
		if err := log.append(e); err != nil {
			t.Fatal(err)
		}
		want.Apply(e)
	}
	if _, err := f.WriteString(`{"v":1,"type":"eval`); err != nil { // torn
		t.Fatal(err)
	}
	f.Close()
	got, err := ReadHistory(t.Context(), dir, 4)
	if err != nil {
		t.Fatal(err)
	}
	a, b := got.Series(0, QuantityELBO), want.Series(0, QuantityELBO)
	if got.Made != 11 || a.Len() != b.Len() || a.Len() > 4 || a.Last(a.Len()-1) != 100 {
		t.Errorf("%d evaluations in %d points, the last %v; want 11 in %d, 100", got.Made, a.Len(), a.Last(a.Len()-1), b.Len())
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadHistory(ctx, dir, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := os.WriteFile(f.Name(), []byte("{\n{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadHistory(t.Context(), dir, 4); err == nil || !strings.Contains(err.Error(), "line 1 is damaged") {
		t.Errorf("damaged: %v", err)
	}
	if err := os.WriteFile(f.Name(), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadHistory(t.Context(), dir, 4); err == nil || !strings.Contains(err.Error(), "no events") {
		t.Errorf("empty: %v", err)
	}
	if _, err := ReadHistory(t.Context(), filepath.Join(dir, "none"), 4); err == nil {
		t.Error("no run, no error")
	}
}
