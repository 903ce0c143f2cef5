package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/rundir"
)

// Who opens a run whose process is gone is not told to wait for it.
func TestFoundOfACrashedRun(t *testing.T) {
	a := testApp(t, 120, 36, demoEvents(t, "K12", 3))
	b := a.bench
	if !strings.Contains(b.found().Next, "wait") {
		t.Fatal(b.found().Next)
	}
	a.Update(snapMsg{of: b, owner: rundir.Owner{PID: 1, Known: true}})
	if !b.crashed() || !strings.Contains(b.found().Next, "kestrel resume") {
		t.Errorf("crashed %v: %s", b.crashed(), b.found().Next)
	}
}

// A clipboard is not emptied by what is not there.
func TestNothingToCopy(t *testing.T) {
	a := testApp(t, 80, 24, demoEvents(t, "K12", 0))
	for _, key := range []string{"s", "t"} {
		press(a, "C")
		_, cmd := a.Update(keyMsg(key))
		for _, c := range append(batched(cmd), cmd) {
			for _, c := range append(batched(c), c) {
				if msg := c(); msg != nil && strings.Contains(fmt.Sprintf("%T", msg), "lipboard") {
					t.Errorf("%s copies %q", key, msg)
				}
			}
		}
	}
}

// A log in which no kernel is first can be looked at, with help and in every view.
func TestNoLeader(t *testing.T) {
	events := demoEvents(t, "K12", 3)
	for i := range events {
		e := events[i].Evaluation
		if e == nil {
			continue
		}
		for k := range e.Kernels {
			if f := e.Kernels[k].Fit; f != nil {
				f.Rank++
			}
		}
	}
	a := testApp(t, 120, 36, events)
	for _, key := range []string{"1", "2", "3", "4", "5", "6"} {
		press(a, key)
		screen(a)
		press(a, "?")
		screen(a)
		a.Update(tea.KeyPressMsg{Code: tea.KeyEscape})
		if a.crash != nil {
			t.Fatalf("view %s: %v", key, a.crash)
		}
	}
}
