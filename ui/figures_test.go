package ui

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/output"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks"
)

// changedEvents is a run of 8 evaluations of K12 that was paused after the
// fourth, pruned to 2 kernels, and has all of them back since the sixth.
func changedEvents(t *testing.T) []record.Event {
	events := demoEvents(t, "K12", 8)
	var out []record.Event
	less := func(e *record.Evaluation) *record.Evaluation {
		c := *e
		c.Kernels = slices.Clone(e.Kernels)
		for i := range c.Kernels {
			if f := c.Kernels[i].Fit; f.Rank > 2 {
				c.Kernels[i].Fit, c.Kernels[i].Status = nil, vbks.Pruned
			}
		}
		return &c
	}
	for _, e := range events {
		if e.Evaluation != nil && e.Evaluation.Index == 5 {
			e.Evaluation = less(e.Evaluation)
		}
		out = append(out, e)
		if e.Evaluation != nil && e.Evaluation.Index == 4 {
			pause, prune, resume := e, e, e
			pause.Type, pause.Evaluation, pause.State = record.EventState, nil,
				&record.StateChange{From: record.Running, To: record.Paused}
			prune.Type, prune.Evaluation, prune.Kernels = record.EventPruned, less(e.Evaluation), make([]string, 10)
			resume.Type, resume.Evaluation, resume.State = record.EventState, nil,
				&record.StateChange{From: record.Paused, To: record.Running}
			out = append(out, pause, prune, resume)
		}
	}
	return out
}

// The head of the list and the list are of the evaluation at the crosshair:
// before the pruning, after it, and now.
func TestKernelsAreThoseAtTheCrosshair(t *testing.T) {
	b := testApp(t, 120, 36, settle(changedEvents(t), record.Finished, "done")).bench
	mustShow(t, shown(b, 120, 33), "12 live", "pruned 10")
	b.main.cursor = 3
	screen := shown(b, 120, 33)
	mustShow(t, screen, "Kernels at evaluation 4, 40 %", "12 live")
	pruned := func() (n int) {
		for _, r := range b.main.table.rows {
			if r.status == vbks.Pruned {
				n++
			}
		}
		return n
	}
	if pruned() != 0 {
		t.Errorf("%d pruned before the pruning\n%s", pruned(), screen)
	}
	b.main.cursor = 4
	screen = shown(b, 120, 33)
	mustShow(t, screen, "Kernels at evaluation 4, then changed", "2 live")
	if pruned() != 10 {
		t.Errorf("%d pruned after the pruning\n%s", pruned(), screen)
	}
	mustShow(t, shown(b, 80, 21), "At evaluation 4", "2 live")
	shown(b, 120, 33)
	// Those pruned stand in the order of their last ranks.
	ranks := map[string]int{}
	for _, k := range demoEvaluation(b.hist.Start, 4).Kernels {
		ranks[k.ID] = k.Fit.Rank
	}
	for i, r := range b.main.table.rows {
		if ranks[r.id] != i+1 {
			t.Errorf("%s, once rank %d, is in row %d", r.id, ranks[r.id], i+1)
		}
	}
	// What the pause was for is named where both stand, at every size.
	for _, size := range [][2]int{{120, 33}, {80, 21}, {60, 12}} {
		if s := shown(b, size[0], size[1]); !strings.Contains(s, "pruned 10") || strings.Contains(s, "paused") || strings.Contains(s, "gaps") {
			t.Errorf("%v\n%s", size, s)
		}
	}
	b.main.cursor = -1
	b.main.big = true
	mustShow(t, shown(b, 120, 33), "10 kernels were away for a while")
}

// Every view exports what it shows, with the numbers.
func TestEveryViewExportsItself(t *testing.T) {
	thorough.Unraced(t)
	b := testApp(t, 120, 36, settle(demoEvents(t, "K12", 3), record.Finished, "done")).bench
	faked(b)
	want := map[int]string{0: "posterior", kernelPlace: "kernel-trace kernel-covariance kernel-draws kernel-components",
		fitPlace: "fit", similarPlace: "similarity-predictions", logPlace: "", growthPlace: ""}
	for b.at = range b.views {
		names, ok := want[b.at]
		if !ok {
			continue // comparing has a test of its own
		}
		askAll(t, b)
		shown(b, 120, 33)
		charts, none := b.figures()
		var got []string
		dir := t.TempDir()
		for _, f := range charts {
			got = append(got, f.Name)
			drawn, err := chartFiles([]*chart.Figure{f}, "text")
			if err != nil {
				t.Fatal(err)
			}
			if err := output.WriteFiles(dir, drawn); err != nil {
				t.Fatal(err)
			}
			if f.Name == "posterior" { // the run's own table
				if _, err := os.Stat(filepath.Join(dir, "posterior.csv")); err == nil {
					t.Error("a chart has taken the place of posterior.csv")
				}
				continue
			}
			file, err := os.Open(filepath.Join(dir, f.Name+".csv"))
			if err != nil {
				t.Fatal(err)
			}
			rows, err := csv.NewReader(file).ReadAll()
			_ = file.Close()
			if err != nil || len(rows) < 3 {
				t.Errorf("%s: %d rows, %v", f.Name, len(rows), err)
			}
		}
		if strings.Join(got, " ") != names || (names == "") != (none != "") {
			t.Errorf("view %s: %q, %q; want %q", b.views[b.at].name(), got, none, names)
		}
	}
}
