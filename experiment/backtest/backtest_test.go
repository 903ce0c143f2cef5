package backtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// value is that of a series at a step: a season of 4 about a slope, and noise.
func value(series string, step int) float64 {
	rng := rand.New(rand.NewPCG(uint64(series[0]), uint64(step)))
	return 10 + 0.2*float64(step) + 3*math.Sin(math.Pi/2*float64(step)) + 0.5*rng.NormFloat64()
}

// table writes two series that are long enough, one that is too short and one that
// does not vary.
func table(t *testing.T, value func(string, int) float64) string {
	t.Helper()
	text := "id,quarter,sales\n"
	for _, s := range []struct {
		name string
		rows int
	}{{"long", 24}, {"=text", 19}, {"short", 10}, {"constant", 17}} {
		for i := range s.rows {
			v := 7.0
			if s.name != "constant" {
				v = value(s.name, i)
			}
			text += fmt.Sprintf("%s,%d,%.17g\n", s.name, i, v)
		}
	}
	path := filepath.Join(t.TempDir(), "long.csv")
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// quick is a config that takes little time.
func quick(t *testing.T, path string, set ...string) config.Config {
	t.Helper()
	var all []config.Override
	for _, s := range append([]string{"data.group=id", "data.season=4", "kernels.expressions=RW,LIN+RW", "schedule.evaluate_every=1",
		"schedule.refine=0", "device.kind=cpu"}, set...) {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		all = append(all, o)
	}
	c, err := config.ForTable(path, "", all)
	must.OK(t, err)
	return c
}

func plan() Plan { return Plan{Horizon: 3, Origins: 3} }

// backtest makes one, up to so many origins, −1: all.
func backtest(t *testing.T, c config.Config, p Plan, dir string, most int) (*Backtest, *Result, error) {
	t.Helper()
	b, err := Begin(t.Context(), c, p, dir)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	r, err := b.Run(ctx, func(*Series, int) {
		if n++; n == most {
			cancel()
		}
	})
	must.OK(t, b.Close())
	return b, r, err
}

// Series of a table are forecast each for itself, in the order of the file; what is
// too short is left out, and where kestrel has nothing to learn baselines forecast.
func TestGroups(t *testing.T) {
	b, r, err := backtest(t, quick(t, table(t, value)), plan(), filepath.Join(t.TempDir(), "d"), -1)
	must.OK(t, err)
	if len(b.LeftOut) != 1 || b.LeftOut[0] != (LeftOut{"short", "it is too short: training takes 8 rows, the horizon 3"}) {
		t.Errorf("left out %+v", b.LeftOut)
	}
	if len(b.Notices) != 0 {
		t.Errorf("notices %q", b.Notices)
	}
	var names []string
	for i, row := range r.rows {
		if i%len(Methods()) == 0 {
			names = append(names, fmt.Sprintf("%s %d/%d +%d", row.Series, row.Origin, row.Train, row.Step))
		}
		want := row.Method == Kestrel && row.Series == "constant"
		if row.forecast() == want {
			t.Errorf("%s, %s: %q", row.Series, row.Method, row.Why)
		}
		if want {
			continue
		}
		if !slices.IsSorted(row.Q[:]) || !(row.SD >= 0) || row.CRPS > math.Abs(row.Y-row.Mean)+row.SD {
			t.Errorf("%+v", row)
		}
		if at := row.Train + row.Step - 1; row.X != fmt.Sprint(at) || row.Series != "constant" && row.Y != value(row.Series, at) {
			t.Errorf("%s at %s is %v", row.Series, row.X, row.Y)
		}
	}
	want := []string{"long 3/15 +1", "long 3/15 +2", "long 3/15 +3", "long 2/18 +1", "long 2/18 +2", "long 2/18 +3", "long 1/21 +1"}
	if len(names) != 27 || !slices.Equal(names[:7], want) || names[9] != "=text 3/10 +1" || names[26] != "constant 1/14 +3" {
		t.Errorf("%q", names)
	}
	if r.Methods[0].Series != 2 || r.Methods[1].Series != 3 || !strings.HasSuffix(r.Verdict, "; 3 origins without a forecast of kestrel") {
		t.Errorf("%s\n%+v", r.Verdict, r.Methods)
	}
}

// A forecast is that of an ordinary run of the rows up to its horizon, and nothing
// that came later changes it.
func TestForecastsKnowThePastOnly(t *testing.T) {
	thorough.Unraced(t)
	path := table(t, value)
	p := Plan{Horizon: 3, Origins: 2, Step: 3}
	c := quick(t, path, "data.group_value=long")
	_, r, err := backtest(t, c, p, filepath.Join(t.TempDir(), "d"), -1)
	must.OK(t, err)
	later := table(t, func(s string, step int) float64 {
		if step >= 21 {
			return 1000
		}
		return value(s, step)
	})
	_, other, err := backtest(t, quick(t, later, "data.group_value=long"), p, filepath.Join(t.TempDir(), "d"), -1)
	must.OK(t, err)
	n, stand := p.Horizon*len(Methods()), formOf(1)
	was, is := stand.cellsOf(r.rows), stand.cellsOf(other.rows)
	if !slices.EqualFunc(was[:n], is[:n], slices.Equal) {
		t.Errorf("later rows have changed\n%v\ninto\n%v", was[:n], is[:n])
	}
	if slices.EqualFunc(was[n:], is[n:], slices.Equal) {
		t.Error("the last origin does not see the change")
	}
	text := "quarter,sales\n"
	for i := range 21 {
		text += fmt.Sprintf("%d,%.17g\n", i, value("long", i))
	}
	alone := filepath.Join(t.TempDir(), "alone.csv")
	must.OK(t, os.WriteFile(alone, []byte(text), 0o600))
	job, err := prepare.Prepare(t.Context(), quick(t, alone, "data.group=", "data.test=3", "data.split_by=x", "data.time=yes"))
	must.OK(t, err)
	defer job.Close()
	var metrics []record.Metric
	must.OK(t, experiment.Complete(t.Context(), job, record.RecorderFunc(func(e *record.Event) error {
		metrics = append(metrics, e.Metrics...)
		return nil
	})))
	last := metrics[slices.IndexFunc(metrics, func(m record.Metric) bool { return m.Method == config.MethodAverage })]
	crps, squares := 0.0, 0.0
	for i := 0; i < n; i += len(Methods()) {
		row := &r.rows[i]
		crps += row.CRPS / 3
		squares += (row.Y - row.Mean) * (row.Y - row.Mean) / 3
	}
	if math.Abs(crps-float64(last.CRPS)) > 1e-9*crps || math.Abs(math.Sqrt(squares)-float64(last.RMSE)) > 1e-9*crps {
		t.Errorf("CRPS %v and RMSE %v, of an ordinary run %v and %v", crps, math.Sqrt(squares), last.CRPS, last.RMSE)
	}
}

// contents are those of all files.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	must.OK(t, err)
	for _, e := range entries {
		if !e.IsDir() {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			must.OK(t, err)
			out[e.Name()] = string(text)
		}
	}
	return out
}

// cutWithin has a backtest end after two runs, takes so many bytes off the end of a table, which cuts a row, and begins it
// again. It returns what the table was.
func cutWithin(t *testing.T, c config.Config, p Plan, dir, table string, bytes int) (b *Backtest, text string) {
	t.Helper()
	if _, _, err := backtest(t, c, p, dir, 2); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	name := filepath.Join(dir, table)
	whole, err := os.ReadFile(name)
	must.OK(t, err)
	must.OK(t, os.WriteFile(name, whole[:len(whole)-bytes], 0o644))
	b, err = Begin(t.Context(), c, p, dir)
	must.OK(t, err)
	return b, string(whole)
}

// A backtest that was cut, in the middle of a row too, goes on and ends as one that
// never was; what is there is not made again. Another task is refused.
func TestGoesOn(t *testing.T) {
	path := table(t, value)
	c, p := quick(t, path), Plan{Horizon: 3, Origins: 2}
	whole := filepath.Join(t.TempDir(), "whole")
	_, _, err := backtest(t, c, p, whole, -1)
	must.OK(t, err)
	want := contents(t, whole)
	if len(want) != 6 {
		t.Fatalf("%d files", len(want))
	}
	dir := filepath.Join(t.TempDir(), "d")
	b, text := cutWithin(t, c, p, dir, record.ForecastsFile, 30)
	// What was under way when it was cut may have ended, too.
	if done, all := b.Done(); !b.GoesOn() || done < 1 || done >= strings.Count(text, "\n")/(3*len(Methods())) || all != 6 {
		t.Errorf("%d of %d are there", done, all)
	}
	done, made := len(b.known), 0
	_, err = b.Run(t.Context(), func(*Series, int) { made++ })
	must.OK(t, err)
	must.OK(t, b.Close())
	if done+made != 6 {
		t.Errorf("%d were there, %d made", done, made)
	}
	for range 2 { // also where all is there
		if got := contents(t, dir); !equal(got, want) {
			t.Errorf("files differ: %d and %d", len(got), len(want))
		}
		_, _, err = backtest(t, c, p, dir, -1)
		must.OK(t, err)
	}
	for _, other := range []struct {
		c    config.Config
		p    Plan
		want string
	}{
		{c, Plan{Horizon: 4, Origins: 2}, "--horizon = 3, now it is 4"},
		{c, Plan{Horizon: 3, Origins: 3}, "--origins = 2, now it is 3"},
		{c, Plan{Horizon: 3, Origins: 2, Step: 1}, "--step = nothing, now it is 1"},
		{quick(t, path, "seed=9"), p, "seed = 1, now it is 9"},
	} {
		if _, err := Begin(t.Context(), other.c, other.p, dir); err == nil || !strings.Contains(err.Error(), other.want) {
			t.Errorf("%+v: %v, want %s", other.p, err, other.want)
		}
	}
	spoilt := strings.Replace(want[record.ForecastsFile], "\nlong,2", "\nlong,7", 1)
	must.OK(t, os.WriteFile(filepath.Join(dir, record.ForecastsFile), []byte(spoilt), 0o644))
	_, err = Begin(t.Context(), c, p, dir)
	if err == nil || !strings.Contains(err.Error(), "is damaged: line 2: it is not the row that comes here") {
		t.Error(err)
	}
}

func equal(a, b map[string]string) bool {
	for name, text := range a {
		if b[name] != text {
			return false
		}
	}
	return len(a) == len(b)
}

// What cannot be backtested is told in a line, and leaves nothing behind.
func TestRefused(t *testing.T) {
	path := table(t, value)
	for _, c := range []struct {
		set  []string
		plan Plan
		want string
	}{
		{[]string{"data.group=nobody"}, plan(), `there is no column "nobody"`},
		{[]string{"data.time=no"}, plan(), `data.time = "no"`},
		{[]string{"data.group="}, plan(), "several of its rows have one time; if it is a table of several series"},
		{[]string{"data.group_value=short"}, plan(), `no series can be forecast; the first, "short": it is too short: training takes 8 rows`},
		{nil, Plan{Horizon: 3, Origins: 0}, "--origins 0: must be at least 1"},
		{nil, Plan{Horizon: 3, Origins: -1, Ahead: true}, "--origins -1: must be at least 0"},
		{nil, Plan{Horizon: 0, Ahead: true}, "--horizon 0: must be at least 1"},
		{nil, Plan{Horizon: 1_000_001, Ahead: true}, "--horizon 1000001: at most 1000000 are taken"},
		{[]string{"data.group_value=short", "data.season=6"}, Plan{Horizon: 3, Ahead: true},
			`the first, "short": it is too short: training takes 12 rows, 2 seasons of 6`},
		{nil, Plan{Horizon: 30, Origins: 1}, `the first, "long": it is too short`},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		_, err := Begin(t.Context(), quick(t, path, c.set...), c.plan, dir)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", c.set, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%q left a directory", c.set)
		}
	}
	wide := filepath.Join(t.TempDir(), "wide.csv")
	must.OK(t, os.WriteFile(wide, []byte("t,u,y\n1,2,3\n2,3,4\n"), 0o600))
	_, err := Begin(t.Context(), quick(t, wide, "data.group="), plan(), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "has 2 inputs") {
		t.Error(err)
	}
}

// What is known of the future is forecast with: a holiday behind the origin is expected
// to be as those before it, which no baseline knows of.
func TestHolidaysAheadAreKnown(t *testing.T) {
	text, days := "day,sales\n", "date,name\n"
	for i := range 60 {
		day := time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC).Format("2006-01-02")
		v := 10 + 0.1*rand.New(rand.NewPCG(3, uint64(i))).NormFloat64()
		if i%11 == 3 {
			v += 5
			days += day + ",feast\n"
		}
		text += fmt.Sprintf("%s,%.17g\n", day, v)
	}
	dir := t.TempDir()
	path, feasts := filepath.Join(dir, "sales.csv"), filepath.Join(dir, "feasts.csv")
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	must.OK(t, os.WriteFile(feasts, []byte(days), 0o600))
	c := quick(t, path, "data.group=", "data.season=1", "data.holidays="+feasts, "kernels.expressions=RW[day]+SE[holiday]")
	_, r, err := backtest(t, c, Plan{Horizon: 10, Origins: 1}, filepath.Join(dir, "d"), -1)
	must.OK(t, err)
	for _, row := range r.rows {
		switch {
		case row.Method == Kestrel && !(math.Abs(row.Mean-row.Y) < 1):
			t.Errorf("%s is %v, forecast as %v", row.X, row.Y, row.Mean)
		case row.Method == "naive" && row.Step == 9 && !(row.Y-row.Mean > 4): // 2024-02-28
			t.Errorf("%s is no holiday: %v, %v", row.X, row.Y, row.Mean)
		}
	}
}

// docs/format.md has the columns of the tables, in their order.
func TestFormatPageHasColumns(t *testing.T) {
	for name, want := range map[string][]string{
		record.ForecastsFile: columns(), record.SummaryFile: scoreColumns(), record.HorizonFile: append([]string{"step"}, scoreColumns()...),
		record.SeriesFile: seriesColumns(), record.AheadFile: aheadColumns("INPUT"),
	} {
		if got := recordtest.PageNames(t, "### "+name); !slices.Equal(got, want) {
			t.Errorf("docs/format.md has the columns %q of %s, it has %q", got, name, want)
		}
	}
}

// What the config leaves to the data is decided for each series, not by the first; the
// files are settled.
func TestEachSeriesDecides(t *testing.T) {
	c, err := config.ForTable(table(t, value), "", []config.Override{{Key: "data.group", Value: "id", Flag: "--group id"}})
	must.OK(t, err)
	b, err := Begin(t.Context(), c, plan(), filepath.Join(t.TempDir(), "d"))
	must.OK(t, err)
	defer func() { must.OK(t, b.Close()) }()
	if b.config.Kernels.Set != "auto" || b.config.Settings.Weights != "auto" || len(b.config.SHA256) != 64 {
		t.Errorf("kernels %q, weights %q, sha256 %q", b.config.Kernels.Set, b.config.Settings.Weights, b.config.SHA256)
	}
}
