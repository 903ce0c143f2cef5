package backtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/experiment/series/seriestest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks/wire"
)

// Forecasts that another machine makes are those of this one, byte by byte, whether all or some
// are made there.
func TestForecastsMadeElsewhere(t *testing.T) {
	c, plan := quick(t, table(t, value), "kernels.expressions=RW,LIN"), plan()
	plan.Ahead = true
	here, there := filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "d")
	_, _, err := backtest(t, c, plan, here, -1)
	must.OK(t, err)
	if _, _, err = backtest(t, c, plan, there, 2); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	b, err := Begin(t.Context(), c, plan, there)
	must.OK(t, err)
	known, all := b.Done()
	crew := seriestest.New(t, map[string]func(context.Context, *series.Order) (series.Result, error){ForecastTask: (&Forecaster{}).Do})
	b.Crew = crew
	_, err = b.Run(t.Context(), func(*Series, int) {})
	must.OK(t, err)
	must.OK(t, b.Close())
	if n := crew.Done[ForecastTask]; n != all-known || known == 0 {
		t.Errorf("%d forecast elsewhere, of %d of which %d are known", n, all, known)
	}
	for _, name := range []string{record.ForecastsFile, record.SummaryFile, record.HorizonFile, record.SeriesFile, record.AheadFile} {
		a, errA := os.ReadFile(filepath.Join(here, name))
		b, errB := os.ReadFile(filepath.Join(there, name))
		if must.OK(t, errors.Join(errA, errB)); string(a) != string(b) {
			t.Errorf("%s: another:\n%s\nwant\n%s", name, b, a)
		}
	}
}

// Rows that are not those of the task are refused, and tasks that name no origin.
func TestForecastsThatAreNone(t *testing.T) {
	c := quick(t, table(t, value))
	b, err := Begin(t.Context(), c, plan(), filepath.Join(t.TempDir(), "d"))
	must.OK(t, err)
	defer b.Close()
	for _, text := range []string{"", "a\n", "a,b\n\"", "long,1\n"} {
		for _, origin := range []int{1, BeyondEnd} {
			if rows, err := b.rowsOf([]byte(text), task{0, origin}); err == nil {
				t.Errorf("%q is %v", text, rows)
			}
		}
	}
	var f Forecaster
	read := map[string]string{}
	for _, path := range b.files {
		read[path] = path
	}
	for _, at := range []task{{-1, 1}, {0, 0}, {0, 9}, {9, 1}} {
		body := wire.Encode(&forecastOrder{b.toml, b.Plan, at.series, at.origin})
		if _, err := f.Do(t.Context(), &series.Order{Body: body, Device: "cpu", Lanes: 1, Files: read}); !errors.Is(err, wire.ErrDamaged) {
			t.Errorf("%v: %v", at, err)
		}
	}
	if _, err := f.Do(t.Context(), &series.Order{Body: []byte("x")}); !errors.Is(err, wire.ErrDamaged) {
		t.Error(err)
	}
}
