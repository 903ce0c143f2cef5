package ui

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/thorough"
)

// A flood of events: the engine's side never waits, none is lost, and what is
// drawn is bounded by the frames, not by the events.
func TestFlood(t *testing.T) {
	const flood = 100_000
	box := newMailbox()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := demoStart(t, "K12", flood)
	start := record.Event{Type: record.EventStarted, Time: demoTime, Start: s}
	a := testApp(t, 120, 36, []record.Event{start})
	a.bench.box = box
	drawnBefore := a.drawn

	// The library draws after every message; a message is a frame's events.
	frames := make(chan tea.Msg)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			m := box.next(ctx)()
			if m == nil {
				return
			}
			select {
			case frames <- m:
			case <-ctx.Done():
				return
			}
		}
	}()
	wg.Add(1)
	go func() {
		defer wg.Done()
		e := demoEvaluation(s, 1)
		for i := 1; i <= flood; i++ {
			ev := *e
			ev.Index = i
			if err := box.Record(&record.Event{Type: record.EventEvaluation, Time: demoTime, Seconds: files.Number(i),
				Evaluation: &ev}); err != nil {
				t.Error(err)
			}
		}
	}()
	messages := 0
	for a.bench.hist.Made < flood && a.crash == nil {
		a.Update(<-frames)
		a.View()
		a.View() // no new frame without news
		messages++
	}
	cancel()
	wg.Wait()
	if a.crash != nil {
		t.Fatalf("%v\n%s", a.crash, a.crash.Stack)
	}
	if a.bench.hist.Made != flood || a.bench.hist.Evaluation.Index != flood {
		t.Errorf("%d evaluations arrived, the last is %d", a.bench.hist.Made, a.bench.hist.Evaluation.Index)
	}
	if drawn := a.drawn - drawnBefore; drawn > messages {
		t.Errorf("%d frames were drawn for %d messages", drawn, messages)
	}
	if messages > flood/100 {
		t.Errorf("%d messages for %d events: they are not gathered", messages, flood)
	}
}

// Nothing is drawn for messages that change nothing.
func TestNoFrameWithoutNews(t *testing.T) {
	a := testApp(t, 80, 24, demoEvents(t, "K12", 3))
	a.View()
	drawn := a.drawn
	type unknown struct{}
	for range 100 {
		a.Update(unknown{})
		a.Update(keyMsg("§"))
		a.View()
	}
	if a.drawn != drawn {
		t.Errorf("%d frames for nothing", a.drawn-drawn)
	}
	// But what has changed before such a message is drawn after it.
	a.Update(tea.WindowSizeMsg{Width: 100, Height: 30})
	a.Update(unknown{})
	a.View()
	a.View()
	if a.drawn != drawn+1 {
		t.Errorf("%d frames for a change", a.drawn-drawn)
	}
}

// The memory of a long run: 10,000 evaluations of 144 kernels in under 100 MB.
func TestLongRunMemory(t *testing.T) {
	thorough.Unraced(t)
	if testing.Short() {
		t.Skip("makes 10,000 evaluations of 144 kernels")
	}
	before := heap()
	a := testApp(t, 120, 36, demoEvents(t, "K144", 1))
	s := a.bench.hist.Start
	for i := 2; i <= 10_000; i++ {
		e := record.Event{Type: record.EventEvaluation, Time: demoTime, Seconds: files.Number(i),
			Evaluation: demoEvaluation(s, i%50+1)}
		e.Evaluation.Index = i
		a.Update(frameMsg{a.bench.box, []record.Event{e}})
		if i%1000 == 0 {
			a.View()
		}
	}
	if used := (heap() - before) >> 20; used > 100 {
		t.Errorf("%d MB", used)
	}
	runtime.KeepAlive(a)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkView draws 144 kernels at 1,000 evaluations, everything anew.
func BenchmarkView(b *testing.B) {
	for _, size := range [][2]int{{120, 36}, {240, 60}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			a := testApp(b, size[0], size[1], demoEvents(b, "K144", 0))
			s := a.bench.hist.Start
			for i := 1; i <= 1000; i++ {
				e := record.Event{Type: record.EventEvaluation, Time: demoTime, Seconds: files.Number(i),
					Evaluation: demoEvaluation(s, i%50+1)}
				e.Evaluation.Index, e.Evaluation.Proportion = i, float64(i)/1000
				a.bench.apply(&e)
			}
			b.ReportAllocs()
			for b.Loop() {
				a.fresh = false
				if v := a.View(); len(v.Content) == 0 {
					b.Fatal("nothing drawn")
				}
			}
		})
	}
}

// Control characters in names never reach the terminal.
func TestHostileNames(t *testing.T) {
	events := demoEvents(t, "K12", 3)
	s := *events[0].Start
	s.Name = "evil\x1b]0;title\x07\x1b[2J"
	data := *s.Data
	data.Name = "a\x1b[31mb\u202e"
	s.Data = &data
	s.Kernels = append([]record.KernelInfo{}, s.Kernels...)
	for i := range s.Kernels {
		s.Kernels[i].Name += "\x1b[8m\u009b2J"
	}
	events[0].Start = &s
	notice := record.Event{Type: record.EventNotice, Time: demoTime, Notice: "look\x1b[?1049l\r\nhere"}
	a := testApp(t, 120, 36, append(events, notice))
	for _, view := range []string{"1", "2", "3", "4", "5", "6"} {
		press(a, view)
		v := a.View()
		rest := v.Content
		for _, bad := range []string{"\x1b]", "\x1b[2J", "\x1b[8m", "\u009b", "\u202e", "\x1b[?", "\r"} {
			if strings.Contains(rest, bad) {
				t.Errorf("view %s: %q reaches the terminal", view, bad)
			}
		}
		if strings.ContainsAny(v.WindowTitle, "\x1b\x07") {
			t.Errorf("window title %q", v.WindowTitle)
		}
	}
}

// What a workbench holds of a run whose kernels come and go grows little with its evaluations:
// the points of those that are there, up to as many as are kept.
func TestGrowingRunMemory(t *testing.T) {
	thorough.Unraced(t)
	const live, early, late = 24, 2400, 4800
	events := demoEvents(t, "K144", 0)
	var all []record.KernelInfo
	for k := range live + late/5 {
		one := events[0].Start.Kernels[k%144]
		one.ID += strings.Repeat("+SE", k/144)
		all = append(all, one)
	}
	events[0].Start.Kernels = all[:live:live]
	a := testApp(t, 120, 36, events)
	tell := func(e record.Event) { a.Update(frameMsg{a.bench.box, []record.Event{e}}) }
	var before int64
	for i := 1; i <= late; i++ {
		there := &record.Start{Planned: late}
		for k := range live {
			there.Kernels = append(there.Kernels, all[i/5+k])
		}
		if i%5 == 0 { // one comes, one goes
			come := there.Kernels[live-1]
			entered := []record.Entered{{Kernel: come, Parent: all[0].ID, Step: "add PER"}}
			tell(record.Event{Type: record.EventEntered, Time: demoTime, Entered: entered})
			tell(record.Event{Type: record.EventLeft, Time: demoTime, Kernels: []string{all[i/5-1].ID}})
		}
		e := record.Event{Type: record.EventEvaluation, Time: demoTime, Seconds: files.Number(i), Evaluation: demoEvaluation(there, i%50+1)}
		e.Evaluation.Index = i
		tell(e)
		if i%10 == 0 {
			press(a, string("1234567"[i/10%7]))
			screen(a)
		}
		if i == early {
			before = heap()
		}
	}
	// A kernel that came, one in five evaluations, has some kilobytes: its name, its points, how
	// these are drawn. With all points of all of them it was 38,600.
	each := (heap() - before) / (late - early)
	t.Logf("%d bytes an evaluation", each)
	if each > 2000 {
		t.Error("that is too much")
	}
	runtime.KeepAlive(a)
}
