package ui

import (
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/record"
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
