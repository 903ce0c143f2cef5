package ui

import (
	"math"
	"slices"
	"testing"
	"time"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
)

// longRun is a workbench that shows a run of 144 kernels after so many evaluations,
// and what makes the event of another.
func longRun(t testing.TB, evaluations int) (a *app, next func() record.Event) {
	t.Helper()
	events := demoEvents(t, "K144", 1)
	events[0].Start.Planned = 1 << 20
	a = testApp(t, 120, 36, events[:2])
	s, i := events[0].Start, 0
	next = func() record.Event {
		i++
		e := record.Event{V: 1, Time: demoTime.Add(time.Duration(i) * time.Second), Seconds: files.Number(i), Type: record.EventEvaluation,
			Evaluation: demoEvaluation(s, 1+i%9)}
		e.Evaluation.Index, e.Evaluation.Proportion = i, math.Min(1, float64(i)/float64(evaluations))
		return e
	}
	for range evaluations {
		a.Update(frameMsg{a.bench.box, []record.Event{next()}})
	}
	a.View()
	return a, next
}

// BenchmarkFrameOfLongRun compares frames of 144 kernels at 2,500 evaluations with
// those at 250, each with an evaluation more, and such that show nothing new. Both are
// drawn in turn, and the least of many counts, since others use the machine, too:
//
//	go test ./ui -run '^$' -bench FrameOfLongRun -benchtime 1x
func BenchmarkFrameOfLongRun(b *testing.B) {
	var apps [2]*app
	var next [2]func() record.Event
	for i, n := range []int{250, 2500} {
		apps[i], next[i] = longRun(b, n)
	}
	least := [2][2]time.Duration{{time.Hour, time.Hour}, {time.Hour, time.Hour}}
	for b.Loop() {
		for range 400 {
			for i, a := range apps {
				for k := range 2 {
					var events []record.Event
					if k == 0 {
						events = append(events, next[i]())
					}
					begin := time.Now()
					a.Update(frameMsg{a.bench.box, events})
					a.fresh = false
					a.View()
					least[i][k] = min(least[i][k], time.Since(begin))
				}
			}
		}
	}
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	b.ReportMetric(ms(least[0][0]), "ms/250")
	b.ReportMetric(ms(least[1][0]), "ms/2500")
	b.ReportMetric(ms(least[1][0])/ms(least[0][0]), "ratio")
	b.ReportMetric(ms(least[1][1])/ms(least[0][1]), "ratio-unchanged")
}

// What a tracer keeps of a long run, and what it makes of it as evaluations come, is
// the range of the values of neighbouring points: nothing leaves it, and nothing
// depends on when it was asked.
func TestTracerKeepsExtremes(t *testing.T) {
	a, next := longRun(t, 1300)
	v := a.bench.main
	for range 20 {
		for range 7 {
			a.Update(frameMsg{a.bench.box, []record.Event{next()}})
		}
		a.fresh = false
		a.View()
	}
	grown := v.belief
	h := &a.bench.hist
	ids := h.IDs()
	var fresh tracer
	fresh.quantity, fresh.axis = grown.quantity, grown.axis
	fresh.fill(1, len(ids), func(k int) history.Series { return h.Series(k, fresh.quantity) })
	if fresh.cached.block < 2 || len(fresh.xs) > mostKept+1 {
		t.Fatalf("%d points of blocks of %d", len(fresh.xs), fresh.cached.block)
	}
	if !slices.Equal(fresh.xs, grown.xs) {
		t.Errorf("%d points kept while they came, %d at once", len(grown.xs), len(fresh.xs))
	}
	for k := range ids {
		if !slices.Equal(fresh.low[k], grown.low[k]) || !slices.Equal(fresh.high[k], grown.high[k]) {
			t.Fatalf("kernel %d: other values than at once", k)
		}
		s := h.Series(k, fresh.quantity)
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range s.Len() {
			x, y := s.At(i)
			lo, hi = min(lo, x), max(hi, y)
		}
		if slices.Min(fresh.low[k]) != float32(lo) || slices.Max(fresh.high[k]) != float32(hi) {
			t.Errorf("kernel %d: from %v to %v, kept %v to %v", k, lo, hi, slices.Min(fresh.low[k]), slices.Max(fresh.high[k]))
		}
	}
	// A part of it is drawn with all its points.
	v.belief.lo, v.belief.hi, v.belief.hold = 0.3, 0.4, true
	a.fresh = false
	a.View()
	if v.belief.cached.block != 1 || len(v.belief.xs) < 120 {
		t.Errorf("zoomed in, %d points of blocks of %d", len(v.belief.xs), v.belief.cached.block)
	}
}
