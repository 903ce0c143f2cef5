package ui

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
	"example.com/kestrel/vbks"
)

// trendOf are the columns of the way so far in the table's line of a kernel, lowest 0.
func trendOf(t *testing.T, a *app, kernel string) (heights []int) {
	t.Helper()
	lines := strings.Split(screen(a), "\n")
	at := slices.IndexFunc(lines, func(l string) bool {
		return strings.Contains(l, "so far q*") || strings.Contains(l, "so far ") && strings.Contains(l, "Bayes")
	})
	if at < 0 {
		t.Fatalf("no column of the way so far:\n%s", strings.Join(lines, "\n"))
	}
	from := len([]rune(lines[at][:strings.Index(lines[at], "so far")]))
	for _, l := range lines[at+1:] {
		r := []rune(l)
		if len(r) < from || !strings.Contains(string(r[from-40:from]), kernel+" ") {
			continue
		}
		for _, c := range r[from : from+trendWide] {
			heights = append(heights, slices.Index([]rune(" ▁▂▃▄▅▆▇█"), c))
		}
		return heights
	}
	t.Fatalf("no line of %s:\n%s", kernel, strings.Join(lines, "\n"))
	return nil
}

// Where there is room the table has the way of q* so far, as it went; up to the
// crosshair, if there is one.
func TestWayOfBeliefSoFar(t *testing.T) {
	events := settle(demoEvents(t, "K12", 14), record.Finished, "all planned evaluations are done")
	a := testApp(t, 200, 55, events)
	leader := a.bench.kernelName(a.bench.hist.Evaluation.Leader().ID)
	way := trendOf(t, a, leader)
	if !slices.IsSorted(way) || way[0] < 1 || way[0] >= way[trendWide-1] || way[trendWide-1] != 8 {
		t.Errorf("the leader's belief grows all the way to the largest of the table; drawn is %v", way)
	}
	press(a, "left")
	for range 13 {
		press(a, "left")
	}
	if way := trendOf(t, a, leader); slices.Max(way[:trendWide-1]) > 0 || way[trendWide-1] < 1 {
		t.Errorf("at the first evaluation there is nothing before; drawn is %v", way)
	}
	if a := testApp(t, 120, 36, events); strings.Contains(screen(a), "so far q*") {
		t.Error("the way so far takes room from the gap and its range")
	}
}

// A number of a kernel's card is whole or not there.
func TestWhole(t *testing.T) {
	for w, want := range map[int]string{40: "rank 1 · gap 0 · equal", 21: "rank 1 · gap 0", 14: "rank 1 · gap 0", 13: "rank 1",
		2: "rank 1"} {
		if got := whole(w, "rank 1", "", "gap 0", "equal"); got != want {
			t.Errorf("in %d columns: %q, want %q", w, got, want)
		}
	}
}

// The mark of a kernel that something is wrong with stands apart from its name and from the
// numbers behind, however narrow the table is.
func TestMarksStandApart(t *testing.T) {
	events := settle(demoEvents(t, "K12", 6), record.Finished, "done")
	for i := range events {
		if e := events[i].Evaluation; e != nil {
			for k := range e.Kernels {
				if f := e.Kernels[k].Fit; f != nil {
					f.Flags = []vbks.Flag{vbks.StillMoving}
				}
			}
		}
	}
	marks := 0
	for _, w := range []int{80, 120, 200} {
		for l := range strings.SplitSeq(screen(testApp(t, w, 40, events)), "\n") {
			r := []rune(l)
			for i, c := range r[:max(0, len(r)-1)] {
				if c != '!' || i < w/2 || strings.Contains(l, "! ") && strings.Contains(l, "not converged") {
					continue
				}
				if marks++; r[i-1] != ' ' || r[i+1] != ' ' {
					t.Errorf("%d columns: %s", w, l)
				}
			}
		}
	}
	if marks < 20 {
		t.Errorf("%d marks", marks)
	}
}

// The chosen kernel's row is lit, and no other: beside the charts, with the table alone, and
// wherever the selection has been moved to. Golden frames are plain, and do not show it.
func TestTheChosenRowIsLit(t *testing.T) {
	a := testApp(t, 120, 36, settle(demoEvents(t, "K12", 6), record.Finished, "done"))
	v := a.bench.main
	check := func(where string) {
		t.Helper()
		screen(a)
		area, at := v.table.area, v.table.place()
		for i := range min(v.table.page, len(v.table.rows)-v.table.top) {
			for x := area.X; x < area.X+area.W; x++ {
				lit := a.canvas.At(x, area.Y+i).Style.BG == a.theme.Selected.BG
				if want := v.table.top+i == at; lit != want {
					t.Errorf("%s: column %d of row %d is lit: %v, with row %d chosen", where, x-area.X, v.table.top+i, lit, at)
					break
				}
			}
		}
	}
	check("at first")
	press(a, "j", "j", "j")
	check("three further on")
	for v.focus != tablePane {
		press(a, "tab")
	}
	press(a, "z", "j")
	check("alone")
	press(a, "home")
	check("alone, the first")
	a.theme = theme.New(colorprofile.ASCII, true, plot.ASCII) // which begins rows with a sign of two columns
	a.fresh = false
	screen(a)
	if c := a.canvas.At(v.table.area.X, v.table.area.Y+v.table.place()); c.Style.Attr&plot.Reverse == 0 {
		t.Errorf("without colours the chosen row is %+v", c)
	}
}

// A probability that is written is that one, rounded, and only none at all is written as 0.
func TestProbabilitiesAreRounded(t *testing.T) {
	for i := range 20001 {
		p := float64(i) / 20000
		text := number(p)
		if len(text) > 5 {
			t.Fatalf("%v is %q, of more than five columns", p, text)
		}
		if text == "<.001" {
			if p == 0 || p >= 0.001 {
				t.Errorf("%v is %q", p, text)
			}
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		step := 0.01
		if p < 0.01 {
			step = 0.001
		}
		if math.Abs(v-p) > step/2+1e-9 || v == 0 && p > 0 {
			t.Errorf("%v is %q", p, text)
		}
	}
	if number(math.NaN()) != "·" {
		t.Errorf("none is %q", number(math.NaN()))
	}
}
