package backtest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// byHand has two series: A with a season and two origins, of which the earlier has no
// scale and no seasonal naive forecast, B without a season.
func byHand() (rows []Row) {
	nan := math.NaN()
	add := func(series string, season, origin, step int, scale, y float64, own, other Row) {
		for _, name := range Methods() {
			r := Row{}
			switch {
			case name == Kestrel:
				r = own
			case name == "snaive" && season > 1 || name == "naive" && season == 1:
				r = other
			}
			if r == (Row{}) {
				r.missing("it cannot")
			}
			r.Series, r.Season, r.Origin, r.Step, r.Scale, r.Y, r.Method = series, season, origin, step, scale, y, name
			rows = append(rows, r)
		}
	}
	// of has five quantiles; no score needs the quartiles.
	of := func(mean, crps, lo95, lo80, mid, hi80, hi95 float64) Row {
		return Row{Mean: mean, CRPS: crps, Q: [quantiles]float64{lo95, lo80, (lo80 + mid) / 2, mid, (mid + hi80) / 2, hi80, hi95}}
	}
	wide := of(0, 2, -99, -9, 0, 9, 99)
	add("A", 2, 2, 1, 2, 10, of(11, 1, 7, 9, 12, 14, 15), wide)
	add("A", 2, 2, 2, 2, 20, of(18, 3, 10, 12, 16, 18, 19), of(0, 6, -99, -9, 0, 9, 99))
	add("A", 2, 1, 1, nan, 4, of(4, .5, 2, 3, 4, 5, 6), Row{})
	add("A", 2, 1, 2, nan, 8, of(9, 1.5, 7, 7.5, 8, 9, 9.5), Row{})
	for step := 1; step <= 2; step++ {
		add("B", 1, 1, step, 4, 1, of(1, 2, 0, 0.5, 1, 1.5, 2), of(1, 1, 1, 1, 1, 1, 1))
	}
	return rows
}

// Scores as they come out with pencil and paper.
func TestScoresByHand(t *testing.T) {
	all, err := Summarise(byHand(), 0)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	own, naive, snaive := all[0], all[1], all[2]
	// Of A and of B, and their mean. Scaled ones of A are of its origin 2 alone.
	near("CRPS", float64(own.CRPS), (6./4+2)/2)
	near("scaled CRPS", float64(own.Scaled), (4./2/2+2./4)/2)
	near("MASE", float64(own.MASE), ((2./2+4./2)/2+0)/2)
	near("MSIS", float64(own.MSIS), ((8./2+(9+40*1.)/2)/2+2./4)/2)
	near("sMAPE", float64(own.SMAPE), (200*(2./22+4./36)/4+0)/2)
	near("coverage 80", float64(own.Coverage80), (3./4+1)/2)
	near("coverage 95", float64(own.Coverage95), (3./4+1)/2)
	near("RMSE", float64(own.RMSE), math.Sqrt((1+4+0+1)/4.)/2)
	// At origin 2 of A half of the seasonal naive one, in B twice the naive one.
	near("relative CRPS", float64(own.Relative), 1)
	near("kestrel to snaive", float64(snaive.KestrelRelative), 0.5)
	near("kestrel to naive", float64(naive.KestrelRelative), 2)
	near("snaive to itself", float64(snaive.Relative), 1)
	near("drift", float64(all[3].CRPS), math.NaN())
	for i, want := range [][3]int{{2, 0, 2}, {1, 0, 1}, {1, 1, 1}, {0, 0, 0}} {
		if s := all[i]; s.Series != want[0] || s.KestrelBetter != want[1] || s.Compared != want[2] {
			t.Errorf("%s: %+v, want %v", s.Method, s, want)
		}
	}
	first, err := Summarise(byHand(), 1)
	if err != nil {
		t.Fatal(err)
	}
	near("CRPS of step 1", float64(first[0].CRPS), ((1+.5)/2+2)/2)
	near("relative CRPS of step 1", float64(first[0].Relative), math.Sqrt(1./2*2))
	near("RMSE of step 1", float64(first[0].RMSE), math.Sqrt((1+0)/2.)/2)
}

// The sentence says what the numbers are, good or bad.
func TestVerdict(t *testing.T) {
	r, err := newResult(Plan{Horizon: 2, Origins: 2}, byHand())
	if err != nil {
		t.Fatal(err)
	}
	if want := "kestrel: CRPS equal to that of seasonal naive (naive where no season is known), " +
		"100 % worse than the best of 2 baselines (naive); " +
		"95 % intervals hold 88 %"; r.verdict() != want {
		t.Errorf("%s\nwant %s", r.verdict(), want)
	}
	var only []Row
	for _, row := range byHand() {
		if row.Series == "A" {
			if row.Origin == 1 && row.Method == Kestrel {
				row.missing("it failed")
			}
			only = append(only, row)
		}
	}
	if r, err = newResult(Plan{Horizon: 2, Origins: 2}, only); err != nil {
		t.Fatal(err)
	}
	if want := "kestrel: CRPS 50 % better than seasonal naive; 95 % intervals hold 50 %; " +
		"1 origin without a forecast of kestrel"; r.verdict() != want {
		t.Errorf("%s\nwant %s", r.verdict(), want)
	}
	var text strings.Builder
	r.Verdict = r.verdict()
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "| drift | 0 | n/a |") ||
		!strings.Contains(text.String(), r.Verdict) || !strings.Contains(text.String(), "\n| 1 | 1 | n/a | 2 | n/a | n/a | n/a |\n") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// Of each series the table has the method that was best, and what kestrel is worth.
func TestBySeries(t *testing.T) {
	all, err := bySeries(byHand())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"A 2 kestrel CRPS 50 % better than seasonal naive", "B 1 naive CRPS 100 % worse than naive: do not forecast with this",
	}
	var got []string
	for _, s := range all {
		got = append(got, fmt.Sprintf("%s %d %s %s", s.Series, s.Origins, s.Best, s.Verdict))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	r := &Result{BySeries: all}
	if rows := r.seriesRows(); len(rows) != 3 || len(rows[0]) != len(rows[1]) || rows[1][3] != all[0].Methods[0].CRPS.Known("") {
		t.Errorf("%q", rows)
	}
}
