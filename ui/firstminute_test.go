package ui

import (
	"math"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// Before the first evaluation the data are drawn, and every kernel says whether it waits,
// is worked at, or how far it is behind the best so far, the best first; time left is
// what is still to do at the pace so far.
func TestFirstMinute(t *testing.T) {
	a := testApp(t, 120, 36, demoEvents(t, "K12", 0))
	now := demoTime
	a.opts.now = func() time.Time { return now }
	b := a.bench
	b.session = &experiment.Session{} // of this program
	points := &inspect.PointSet{}
	for i := range 40 {
		x := -10 + float64(i)/2
		points.X, points.Y = append(points.X, x), append(points.Y, math.Sin(x))
		points.Kind = append(points.Kind, map[bool]inspect.PointKind{false: inspect.PointUnseen, true: inspect.PointTest}[i > 30])
	}
	a.Update(dataMsg{b, 0, points})
	progress := func(done int) {
		p := vbks.Progress{Done: done, Total: 12, Phase: "optimise"}
		for k := range 12 {
			s := vbks.KernelProgress{Stage: vbks.Queued, Bound: math.NaN()}
			switch {
			case k < done:
				s = vbks.KernelProgress{Stage: vbks.Through, Bound: float64(-100 + 10*k)}
			case k == done:
				s.Stage = vbks.Working
			}
			p.Kernels = append(p.Kernels, s)
		}
		a.Update(snapMsg{of: b, snapshot: experiment.Snapshot{Progress: p}})
	}
	progress(0)
	now = now.Add(20 * time.Second)
	progress(4) // 5 s each, 8 to go
	frame := screen(a)
	mustShow(t, frame, "Data: y over x", "held out", "to learn from", "hyperparameters are searched",
		"Kernels through: 4, worked at: 1, queued: 7.", "0:40 more", "best so far", "−30.0 nats", "optimising", "queued")
	if first := b.main.table.rows[0]; first.index != 3 || first.gap != 0 {
		t.Errorf("the first row is kernel %d, %v behind; want the best so far, 3", first.index, first.gap)
	}
	a.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	mustShow(t, screen(a), "best so far", "−30.0", "optimising", "queued")
	mustNotShow(t, screen(a), "−30.0…", "−30.0 …", "best …", "best so …")
	a.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	// Nothing of that stays when there is an evaluation.
	b.session = nil
	a.Update(frameMsg{b.box, demoEvents(t, "K12", 1)[2:]})
	if b.early() {
		t.Error("still before the first evaluation")
	}
	mustShow(t, screen(a), "Kernel posterior")
	golden(t, "first-minute", frame+"\n")
}

// What is left is told in one place, of the run that another one would have taken by then
// too: at 9 evaluations of 12, 3 s each, until the last takes longer than it should.
func TestTimeLeftIsToldOnce(t *testing.T) {
	a := testApp(t, 120, 36, demoEvents(t, "K12", 9))
	now := demoTime
	a.opts.now = func() time.Time { return now }
	b := a.bench
	b.session = &experiment.Session{}
	at := func(worked time.Duration, done int) string {
		now = demoTime.Add(worked)
		a.Update(snapMsg{of: b, snapshot: experiment.Snapshot{Elapsed: worked, State: record.Running,
			Progress: vbks.Progress{Done: done, Total: 12, Phase: "optimise"}}})
		return screen(a)
	}
	frame := at(28*time.Second, 0) // evaluation 9 came at 27 s
	if mustShow(t, frame, "0:08 left", "optimise 0/12"); strings.Count(frame, " left") != 1 {
		t.Errorf("more than one estimate:\n%s", frame)
	}
	mustShow(t, at(60*time.Second, 1), "left")
	// Of a phase that has come to its end nothing is known but that it takes too long.
	b.hist.Evaluation.Planned = 10
	mustShow(t, at(70*time.Second, 12), "longer than expected")
	if frame := screen(a); strings.Contains(frame, " left") {
		t.Errorf("time left beside it:\n%s", frame)
	}
}
