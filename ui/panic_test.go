package ui

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/goroutines"
	"example.com/kestrel/ui/note"
)

// A command that panics, alone or among others, becomes a message that ends the
// workbench; the others are carried out.
func TestPanicInACommand(t *testing.T) {
	broken := func() tea.Msg { panic("asking is broken") }
	fine := func() tea.Msg { return note.Msg{Text: "fine"} }
	for what, cmd := range map[string]tea.Cmd{"alone": broken, "with another": tea.Batch(fine, broken),
		"deep": tea.Batch(fine, tea.Batch(fine, tea.Batch(broken, fine)))} {
		a := testApp(t, 80, 24, demoEvents(t, "K12", 2))
		notes := 0
		var run func(tea.Cmd)
		run = func(cmd tea.Cmd) {
			switch msg := cmd().(type) {
			case tea.BatchMsg:
				for _, c := range msg {
					run(c)
				}
			case note.Msg:
				notes++
			case crashMsg:
				if _, cmd := a.Update(msg); cmd == nil || cmd() != (tea.QuitMsg{}) {
					t.Errorf("%s: the program goes on", what)
				}
			}
		}
		run(catching(cmd))
		if a.crash == nil || a.crash.Value != "asking is broken" || !strings.Contains(string(a.crash.Stack), "TestPanicInACommand") {
			t.Errorf("%s: %+v", what, a.crash)
		}
		if want := map[string]int{"with another": 1, "deep": 3}[what]; notes != want {
			t.Errorf("%s: %d of %d other commands were carried out", what, notes, want)
		}
	}
	if catching(nil) != nil {
		t.Error("no command became one")
	}
}

// A panic of the screen while a run goes on stops the run in order, with the stack
// in its log, and leaves nothing running.
func TestPanicStopsTheRun(t *testing.T) {
	t.Chdir(t.TempDir())
	out := filepath.Join(t.TempDir(), "run")
	c := leakConfig(t)
	c.Settings.EvaluateEvery, c.Settings.Refine = 0.01, 100_000
	var broken atomic.Bool
	in, typed := io.Pipe()
	o := Options{Config: c, Out: out, Input: in, Output: io.Discard, Env: func(string) string { return "" }, now: func() time.Time {
		if broken.Load() {
			panic("the clock is broken")
		}
		return time.Now()
	}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := Run(ctx, o)
		in.Close()
		ended <- err
	}()
	for { // until it has something to lose
		if s, err := history.ReadSummary(out); err == nil && s.Made > 0 {
			break
		}
		if ctx.Err() != nil {
			t.Fatal("there is no evaluation")
		}
		time.Sleep(5 * time.Millisecond)
	}
	broken.Store(true)
	var err error
	for waiting := true; waiting; {
		go typed.Write([]byte("23")) // views that ask
		select {
		case err = <-ended:
			waiting = false
		case <-time.After(50 * time.Millisecond):
		}
	}
	var crash *Crash
	if !errors.As(err, &crash) || crash.Value != "the clock is broken" {
		t.Fatal(err)
	}
	typed.Close()
	events, err := recordtest.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	stacks := 0
	for i := range events {
		if n := events[i].Notice; strings.HasPrefix(n, "the stack of the internal error is in log.txt\n") &&
			strings.Contains(n, "TestPanicStopsTheRun") {
			stacks++
		}
	}
	last := events[len(events)-1]
	if stacks != 1 || last.Type != record.EventFinished || last.State.To != record.Stopped {
		t.Errorf("%d stacks; the log ends with %s", stacks, record.Describe(&last))
	}
	goroutines.End(t, "after a panic")
}
