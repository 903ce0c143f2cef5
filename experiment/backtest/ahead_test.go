package backtest

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// ofInputs writes a series of so many rows, whose inputs are as given.
func ofInputs(t *testing.T, rows int, input func(i int) string) string {
	t.Helper()
	text := "id,date,sales\n"
	for i := range rows {
		text += fmt.Sprintf("a,%s,%.17g\n", input(i), value("a", i))
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// records are those of a table in a backtest's directory.
func records(t *testing.T, dir, name string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, name))
	must.OK(t, err)
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	must.OK(t, err)
	return all
}

// monthEnd is the last day of a month, as many after January 2023.
func monthEnd(i int) string {
	return time.Date(2023, 2+time.Month(i), 0, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// What is forecast beyond the end of a series that is cut is what an origin there forecasts
// of the rows that were cut off, to the last digit, at the inputs that they have.
func TestAheadIsAnOriginAtTheEnd(t *testing.T) {
	thorough.Unraced(t)
	day := func(i int) string { return time.Date(2024, 2, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) }
	for _, c := range []struct {
		name  string
		input func(int) string
		set   []string
	}{
		{"numbers", func(i int) string { return fmt.Sprint(7 + 0.5*float64(i)) }, nil},
		{"month ends", monthEnd, nil},
		{"a calendar", day, []string{"data.calendar=weekday", "kernels.expressions=RW[date],RW[date]+SE[weekday]"}},
	} {
		name, input := c.name, c.input
		const cut, h = 20, 4
		past, ahead := filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "d")
		_, _, err := backtest(t, quick(t, ofInputs(t, cut+h, input), c.set...), Plan{Horizon: h, Origins: 1}, past, -1)
		must.OK(t, err)
		_, r, err := backtest(t, quick(t, ofInputs(t, cut, input), c.set...), Plan{Horizon: h, Ahead: true}, ahead, -1)
		must.OK(t, err)
		if r.Beyond == nil || r.Beyond.Series != 1 || len(r.Beyond.Without) != 0 || r.Beyond.File != filepath.Join(ahead, record.AheadFile) {
			t.Errorf("%s: %+v", name, r.Beyond)
		}
		got := records(t, ahead, record.AheadFile)
		want := [][]string{aheadColumns("date")}
		for i, cells := range records(t, past, record.ForecastsFile)[1:] {
			row, err := readRow(cells)
			if must.OK(t, err); row.Method == Kestrel {
				if row.X != input(cut+i/len(Methods())) || !row.forecast() {
					t.Fatalf("%s: %+v", name, row)
				}
				want = append(want, row.aheadCells())
			}
		}
		if len(want) != 1+h || !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s:\n%v\nwant\n%v", name, got, want)
		}
		if files := contents(t, ahead); len(files) != 1 {
			t.Errorf("%s: nothing is held out, and there are %d files", name, len(files))
		}
	}
}

// Series of a table are forecast beyond their ends besides, those too that are too short for
// an origin; one that has nothing to learn, or whose steps are uneven, says why, and the
// others go on. Origins stay what they are without, and those that are there are kept.
func TestAheadBesides(t *testing.T) {
	thorough.Unraced(t)
	path := table(t, value)
	text, err := os.ReadFile(path)
	must.OK(t, err)
	for i := range 12 {
		text = fmt.Appendf(text, "uneven,%d,%d\n", i*i, i%5)
	}
	must.OK(t, os.WriteFile(path, append(text, "tiny,1,1\n"...), 0o600))
	c, p, dir := quick(t, path), Plan{Horizon: 3, Origins: 1}, filepath.Join(t.TempDir(), "d")
	_, _, err = backtest(t, c, p, dir, -1)
	must.OK(t, err)
	without := contents(t, dir)
	if _, there := without[record.AheadFile]; there {
		t.Error("what is not asked for is made")
	}
	p.Ahead = true
	b, err := Begin(t.Context(), c, p, dir)
	must.OK(t, err)
	if done, all := b.Done(); done != 4 || all != 9 {
		t.Errorf("%d of %d are there", done, all)
	}
	var made []string
	r, err := b.Run(t.Context(), func(s *Series, origin int) { made = append(made, fmt.Sprint(s.Name, origin)) })
	must.OK(t, err)
	must.OK(t, b.Close())
	if slices.Sort(made); !slices.Equal(made, []string{"=text0", "constant0", "long0", "short0", "uneven0"}) {
		t.Errorf("made %q", made)
	}
	with := contents(t, dir)
	for name, text := range without {
		if with[name] != text {
			t.Errorf("%s is another", name)
		}
	}
	if want := []LeftOut{{"short", "it is too short: training takes 8 rows, the horizon 3; it is forecast beyond its end alone"},
		{"tiny", "it is too short: training takes 8 rows, the horizon 3"}}; !slices.Equal(r.LeftOut, want) {
		t.Errorf("left out %+v", r.LeftOut)
	}
	var names []string
	for i, cells := range records(t, dir, record.AheadFile)[1:] {
		row, err := readAhead(cells)
		if must.OK(t, err); i%3 == 0 {
			names = append(names, row.Series+" "+row.X)
		}
		fails := row.Series == "constant" || row.Series == "uneven"
		if row.Step != 1+i%3 || row.forecast() == fails || (cells[4] == "") != fails || !fails && !slices.IsSorted(row.Q[:]) {
			t.Errorf("%q", cells)
		}
	}
	if want := []string{"long 24", "=text 19", "short 10", "constant 17", "uneven "}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	w := r.Beyond.Without
	if r.Beyond.Series != 3 || len(w) != 2 || w[0].Series != "constant" || w[1] != (LeftOut{"uneven", errUneven.Error()}) {
		t.Errorf("%+v", r.Beyond)
	}
	var screen strings.Builder
	must.OK(t, r.WriteText(&screen))
	for _, line := range []string{"\n3 series forecast 3 steps beyond the end: " + filepath.Join(dir, record.AheadFile) + "\n",
		"\nnot forecast beyond the end: uneven: its steps are uneven"} {
		if !strings.Contains(screen.String(), line) {
			t.Errorf("the summary lacks %q:\n%s", line, &screen)
		}
	}
}

// Forecasts beyond the ends that were cut, in the middle of a row too, go on and end as
// those that never were, on one core as on several; what is no such row is refused.
func TestAheadGoesOn(t *testing.T) {
	c, p := quick(t, table(t, value)), Plan{Horizon: 3, Ahead: true}
	whole, dir := filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "d")
	_, _, err := backtest(t, c, p, whole, -1)
	must.OK(t, err)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	name := filepath.Join(dir, record.AheadFile)
	b, text := cutWithin(t, c, p, dir, record.AheadFile, 9)
	done, all := b.Done()
	if !b.GoesOn() || done < 1 || done >= strings.Count(text, "\n")/p.Horizon || all != 4 {
		t.Errorf("%d of %d are there", done, all)
	}
	kept := strings.Join(strings.SplitAfter(text, "\n")[:1+done*p.Horizon], "")
	if left, err := os.ReadFile(name); err != nil || string(left) != kept {
		t.Errorf("%v: what was not whole is not cut off, and nothing else:\n%s", err, left)
	}
	made := 0
	_, err = b.Run(t.Context(), func(*Series, int) { made++ })
	must.OK(t, err)
	if must.OK(t, b.Close()); made != all-done {
		t.Errorf("%d made, of %d of which %d were there", made, all, done)
	}
	want := contents(t, whole)
	if got := contents(t, dir); len(want) != 1 || !equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	without := p
	without.Origins, without.Ahead = 1, false
	if _, err := Begin(t.Context(), c, without, dir); err == nil || !strings.Contains(err.Error(), "--ahead = yes, now it is nothing") {
		t.Error(err)
	}
	must.OK(t, os.WriteFile(name, []byte(strings.Replace(want[record.AheadFile], "\nlong,2", "\nlong,3", 1)), 0o644))
	_, err = Begin(t.Context(), c, p, dir)
	if err == nil || !strings.Contains(err.Error(), "is damaged: line 3: it is not the row that comes here") {
		t.Error(err)
	}
}

// An input that is called as another column keeps its name apart, and starts no formula.
func TestAheadColumns(t *testing.T) {
	for input, want := range map[string]string{"day": "day", "mean": "mean_data", "step": "step_data", "=1+1": "'=1+1"} {
		if got := aheadColumns(input); got[2] != want || len(got) != len(aheadColumns("x")) {
			t.Errorf("%q: %q", input, got)
		}
	}
}
