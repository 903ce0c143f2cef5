package ui

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/ui/plot"
)

func TestMeanAndSDOfPolylines(t *testing.T) {
	nan := math.NaN()
	// Worked out by hand. Both reach from 1 to 4; their points there are 1, 2, 3
	// and 4, with values 1, 2, 3, 4 and 3, 4, 5, 10.
	x, mean, sd := meanSD([]polyline{
		{[]float64{0, 2, 4}, []float64{0, 2, 4}},
		{[]float64{1, 3, 4, 6}, []float64{3, 5, 10, 0}},
	}, 100)
	r2 := math.Sqrt2
	same(t, "x", x, []float64{1, 2, 3, 4})
	same(t, "mean", mean, []float64{2, 3, 4, 7})
	same(t, "sd", sd, []float64{r2, r2, r2, 3 * r2}) // |a − b|/√2 of two
	// Three at one place: mean 2, deviations −1, 0, 1, so sd 1 with n − 1.
	_, mean, sd = meanSD([]polyline{{[]float64{5}, []float64{1}}, {[]float64{5}, []float64{2}}, {[]float64{5}, []float64{3}}}, 100)
	same(t, "mean of three", mean, []float64{2})
	same(t, "sd of three", sd, []float64{1})
	// A gap in one is a gap of the mean, and where it touches it too.
	x, mean, _ = meanSD([]polyline{{[]float64{0, 1, 2, 3}, []float64{0, nan, 2, 3}}, {[]float64{0, 0.5, 3}, []float64{0, 0, 0}}}, 100)
	same(t, "x with a gap", x, []float64{0, 0.5, 1, 2, 3})
	same(t, "mean with a gap", mean, []float64{0, nan, nan, 1, 1.5})
	// No common range; an empty one; one alone has no sd.
	if x, _, _ := meanSD([]polyline{{[]float64{0, 1}, []float64{0, 0}}, {[]float64{2, 3}, []float64{0, 0}}}, 100); len(x) > 0 {
		t.Errorf("a mean at %v, where no two are", x)
	}
	if x, _, _ := meanSD([]polyline{{}, {[]float64{2, 3}, []float64{0, 0}}}, 100); len(x) > 0 {
		t.Errorf("a mean at %v with an empty line", x)
	}
	if _, _, sd := meanSD([]polyline{{[]float64{0}, []float64{0}}}, 100); !math.IsNaN(sd[0]) {
		t.Errorf("sd %v of one", sd[0])
	}
	// Thinned: the ends stay.
	var long polyline
	for i := range 1000 {
		long.x, long.y = append(long.x, float64(i)), append(long.y, 2*float64(i))
	}
	x, mean, _ = meanSD([]polyline{long, long}, 10)
	if len(x) != 10 || x[0] != 0 || x[9] != 999 || !slices.IsSorted(x) || mean[9] != 1998 {
		t.Errorf("thinned to %v, %v", x, mean)
	}
}

func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	ok := len(got) == len(want)
	for i := range got {
		ok = ok && (math.Abs(got[i]-want[i]) < 1e-12 || math.IsNaN(got[i]) && math.IsNaN(want[i]))
	}
	if !ok {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// writeRun writes the event log of an invented run with its seed and a number
// added to its errors.
func writeRun(t *testing.T, dir string, seed uint64, config string, more float64) {
	t.Helper()
	events := settle(demoEvents(t, "K12", 4), record.Finished, "done")
	events[0].Start.Seed, events[0].Start.Config = seed, config
	var log strings.Builder
	for i := range events {
		for m := range events[i].Metrics {
			events[i].Metrics[m].RMSE += files.Number(more)
		}
		line, err := json.Marshal(&events[i])
		if err != nil {
			t.Fatal(err)
		}
		log.Write(append(line, '\n'))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "events.jsonl"), []byte(log.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCompareView(t *testing.T) {
	root := t.TempDir()
	rep := filepath.Join(root, "rep")
	config := "seed = 1 # of everything\nname = \"demo\"\n\n[data]\nseed = 5\n"
	writeRun(t, filepath.Join(rep, "001"), 1, config, 0)
	writeRun(t, filepath.Join(rep, "002"), 2, strings.Replace(config, "seed = 1", "seed = 2", 1), 0.2)
	writeRun(t, filepath.Join(root, "other"), 1, config+"\n[sparse]\nbatch = 7\n", 0)
	if err := os.MkdirAll(filepath.Join(root, "bad"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "bad", "events.jsonl"), []byte("{\n{\n"), 0o644); err != nil {
		t.Fatal(err)
	}

	own, err := recordtest.Read(filepath.Join(rep, "001"))
	if err != nil {
		t.Fatal(err)
	}
	a := testApp(t, 120, 36, nil)
	b := newBench(a, filepath.Join(rep, "001"), nil, newMailbox())
	a.show(b)
	for i := range own {
		b.apply(&own[i])
	}
	b.at = comparePlace
	v := b.views[comparePlace].(*compareView)
	asked := 0
	ask := func() {
		t.Helper()
		for range 20 {
			cmd := b.refresh()
			if cmd == nil {
				return
			}
			asked++
			if b.refresh() != nil {
				t.Fatal("two things are read at once")
			}
			b.message(cmd())
		}
		t.Fatal("it does not stop reading")
	}
	ask()
	if len(v.runs) != 4 || v.runs[0].Path != v.own() || asked != 1 {
		t.Fatalf("%d runs after %d questions, first %v; want 4, this one first", len(v.runs), asked, v.runs)
	}
	mustShow(t, shown(b, 120, 33), "rep/001", "this run", "other", "damaged")

	viewKeys(t, b, "a") // the repeats of this run
	ask()
	if len(v.chosen) != 2 || asked != 2 {
		t.Fatalf("chosen %v after %d questions", v.chosen, asked)
	}
	v.toggle(filepath.Join(root, "other"))
	v.toggle(filepath.Join(root, "bad"))
	ask()
	groups := v.grouped()
	if len(groups) != 2 || len(groups[0].paths) != 2 || len(groups[1].paths) != 1 {
		t.Fatalf("groups %v; want the two seeds together and the other config by itself", groups)
	}
	var lines []polyline
	for _, p := range groups[0].paths {
		lines = append(lines, v.polyline(v.hist(p)))
	}
	// The fixture's errors after evaluation i are .03 + .1/i, at 3 i + .1 seconds.
	_, mean, sd := meanSD(lines, 100)
	same(t, "mean", mean, []float64{.23, .18, .03 + .1/3 + .1, .155})
	for _, s := range sd {
		if math.Abs(s-.2/math.Sqrt2) > 1e-12 {
			t.Errorf("sd %v of errors .2 apart", s)
		}
	}
	same(t, "seconds", lines[0].x, []float64{3.1, 6.1, 9.1, 12.1})
	mustShow(t, shown(b, 160, 33), "demo, 2 runs", "RMSE on held-out rows", "other")
	// The file shows the same: mean and band of the repeats, the other run's line.
	if f := v.figure(); f == nil || f.Name != "compare" || len(f.Lines) != 2 || len(f.Bands) != 1 {
		t.Errorf("figure %+v", f)
	} else {
		same(t, "mean in the file", f.Lines[0].Lo, mean)
		same(t, "lower edge in the file", f.Bands[0].Lo, []float64{mean[0] - sd[0], mean[1] - sd[1], mean[2] - sd[2], mean[3] - sd[3]})
	}
	v.cursor = filepath.Join(root, "bad")
	mustShow(t, shown(b, 160, 33), "line 1")

	viewKeys(t, b, "d")
	if n := len(v.grouped()); n != 3 {
		t.Errorf("%d groups with every run by itself, want 3", n)
	}
	if s := shown(b, 160, 33); strings.Contains(s, "2 runs") {
		t.Errorf("still a mean:\n%s", s)
	}
	// On a narrow screen the table is there, too, and whatever the colours a run's sign in
	// the list is on its curve and before its name there.
	narrow := shown(b, 80, 22)
	mustShow(t, narrow, "What they have come to", "leader", "RMSE")
	for _, g := range v.grouped() {
		sign := string(a.theme.SignOf(v.colours.Of(g.key)))
		if v.label(g.paths[0]) == "other" { // whose curve lies beneath that of rep/001
			continue
		}
		mustShow(t, narrow, sign+" "+v.label(g.paths[0]))
		if n := strings.Count(narrow, sign); n < 4 {
			t.Errorf("%s stands %d times, want it in the list, twice on the curve and at its end:\n%s", sign, n, narrow)
		}
	}
	viewKeys(t, b, "v", "v", "v", "v", "x")
	id := b.chosen()
	mustShow(t, shown(b, 160, 33), "q* of "+b.kernelName(id), "vs evaluation")
	// Of the chosen kernel the posterior as in the events.
	h := v.hist(groups[1].paths[0])
	got := v.polyline(h)
	want := demoEvaluation(demoStart(t, "K12", 12), 4).Kernels[h.Index(id)].Fit.Posterior
	if n := len(got.y); n != 4 || math.Abs(got.y[3]-float64(want)) > 1e-6 || got.x[3] != 4 {
		t.Errorf("posterior %v at %v, want %v at 4", got.y, got.x, want)
	}
	viewKeys(t, b, "backspace")
	if len(v.chosen) != 1 || v.chosen[0] != v.own() {
		t.Errorf("chosen %v, want this run only", v.chosen)
	}
}

func TestCompareViewTellsWhatCannotBeListed(t *testing.T) {
	b := testApp(t, 120, 36, demoEvents(t, "K12", 2)).bench
	b.at = comparePlace
	v := b.views[comparePlace].(*compareView)
	v.listed = true
	v.loaded(compareMsg{of: v, err: errors.New("no permission to list")})
	mustShow(t, shown(b, 120, 33), "no permission to list", "this run")
	if v.loaded(compareMsg{of: &compareView{}, err: errors.New("of another")}); v.listErr.Error() != "no permission to list" {
		t.Error("it takes in what another view asked for")
	}
}

// Runs on other data are listed and kept out of the chart; the table has of all of them
// what they have come to, and of those on the same data the settings that differ.
func TestCompareKeepsDataApart(t *testing.T) {
	root := t.TempDir()
	const settings = "seed = 1\nname = \"demo\"\n\n[data]\nseed = 5\n\n[sparse]\ninducing = 16\n"
	writeRun(t, filepath.Join(root, "one"), 1, settings, 0)
	writeRun(t, filepath.Join(root, "two"), 1, strings.Replace(settings, "inducing = 16", "inducing = 64", 1), 0.2)
	writeRun(t, filepath.Join(root, "far"), 1, strings.Replace(settings, "seed = 5", "seed = 6", 1), 7)
	a := testApp(t, 120, 36, nil)
	b := newBench(a, filepath.Join(root, "one"), nil, newMailbox())
	a.show(b)
	own, err := recordtest.Read(filepath.Join(root, "one"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range own {
		b.apply(&own[i])
	}
	b.at = comparePlace
	v := b.views[comparePlace].(*compareView)
	v.toggle(filepath.Join(root, "two"))
	v.toggle(filepath.Join(root, "far"))
	for cmd := b.refresh(); cmd != nil; cmd = b.refresh() {
		b.message(cmd())
	}
	if n := len(v.grouped()); n != 2 {
		t.Errorf("%d runs are drawn, want the two on the same data", n)
	}
	for _, size := range [][2]int{{120, 36}, {200, 55}} {
		mustShow(t, shown(b, size[0], size[1]), "on other data, not drawn: far", "other data: demo", "inducing 16", "inducing 64", "RMSE")
	}
	viewKeys(t, b, "t")
	narrow := shown(b, 80, 22)
	mustShow(t, narrow, "leader", "belief", "PER×LIN×RQ", "two", "far", "inducing 64")
	// The run under the cursor says whose data are drawn.
	v.cursor = filepath.Join(root, "far")
	if g := v.grouped(); len(g) != 1 || g[0].paths[0] != v.cursor {
		t.Errorf("groups %v with the cursor on the run on other data", g)
	}
}

// A column that no run has something in takes no room from the others.
func TestCompareColumnsWithNothing(t *testing.T) {
	rows := []comparedRun{{data: "a"}, {path: "p", cells: [compareColumns]string{"stamps", "PER + LIN + SE + CONST", ".96", "9.89",
		"31 % better than seasonal naive", ""}}}
	for _, c := range []struct {
		room int
		want [compareColumns]int
	}{
		{100, [compareColumns]int{6, 22, 6, 4, 31, 0}},
		{71, [compareColumns]int{6, 20, 6, 4, 27, 0}},
		{60, [compareColumns]int{6, 16, 6, 4, 20, 0}},
		{48, [compareColumns]int{6, 22, 6, 4, 0, 0}},
		{34, [compareColumns]int{6, 12, 6, 4, 0, 0}},
	} {
		if got := columnWidths(rows, c.room); got != c.want {
			t.Errorf("in %d: %v, want %v", c.room, got, c.want)
		}
	}
	// With something in all of them a comparison is cut before it is left out, and no room is
	// left where something is cut.
	rows = []comparedRun{{path: "p", cells: [compareColumns]string{"strength", "PER + LIN + CONST", ".92", "1.538",
		"21 % better than linear least squares", "likelihood gaussian"}}}
	for room := 40; room <= 120; room++ {
		got, used, cut := columnWidths(rows, room), -2, false
		for i, w := range got {
			if w > 0 {
				used += w + 2
			}
			cut = cut || w > 0 && w < plot.TextWidth(rows[0].cells[i])
		}
		if used > room || cut && used < room || room >= 70 && got[4] < 12 || room >= 70 && got[5] < 10 {
			t.Errorf("in %d: %v, which takes %d", room, got, used)
		}
	}
}

// What settings differ in is told whole below the runs where its column would cut it and there is
// room, by the keys that --set takes; where there is none it is cut.
func TestDifferingSettingsAreToldWhole(t *testing.T) {
	rows := []comparedRun{{data: "shop (160 rows)"},
		{path: "a", cells: [compareColumns]string{"a", "PER + LIN", ".64", "6.683", "11 % better than Theta",
			"kernels.set series, predict.weights tempered"}},
		{path: "b", cells: [compareColumns]string{"b", "LIN", ".31", "32.37", "4.19 times that of Theta",
			"kernels.set not set, predict.weights bayes"}}}
	for _, c := range []struct {
		w, h  int
		lines []int // below each row
	}{{70, 30, []int{0, 1, 1}}, {30, 30, []int{0, 2, 2}}, {70, 5, nil}, {200, 30, nil}} {
		below := differBelow(rows, columnWidths(rows, c.w), plot.Rect{W: c.w, H: c.h})
		var lines []int
		for _, b := range below {
			lines = append(lines, len(b))
		}
		if !slices.Equal(lines, c.lines) {
			t.Errorf("%d x %d: %v lines, want %v: %q", c.w, c.h, lines, c.lines, below)
		}
	}
}

// A leader is known by a name that is cut in the middle; of a baseline that is cut nobody knows which it is.
func TestTheLeaderIsCutBeforeTheBaseline(t *testing.T) {
	rows := []comparedRun{{path: "a", cells: [compareColumns]string{"first", "LIN[area_m2] + LIN[distance_km] + CAT[district]", ".64", "6.683",
		"11 % better than Theta", ""}}}
	if got := columnWidths(rows, 70); got[4] < plot.TextWidth(rows[0].cells[4]) || got[1] < 20 {
		t.Errorf("widths %v", got)
	}
}
