package cluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks/wire"
)

// What the gate of a run says while workers are at it, and what a unit fails with, end the
// phase with that error.
func TestErrorsEndAPhase(t *testing.T) {
	tr, o := series(t, "collapsed", 8), &told{}
	options := o.options(t, true)
	options.WorkHere = false
	h, err := Serve(t.Context(), tr, options)
	must.OK(t, err)
	defer h.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	full, asked := errors.New("the disk is full"), 0
	tr.SetGate(func(context.Context) error {
		if asked++; asked == 3 {
			return full
		}
		return nil
	})
	if _, err := tr.Next(ctx); !errors.Is(err, full) {
		t.Errorf("%v, not what the gate said", err)
	}
	tr.SetGate(nil)
	c, err := connect(options.Identity.Ticket(), options.Identity.Address)
	must.OK(t, err)
	defer c.Close()
	w := newWorker(c, "unlucky", options.LostAfter)
	answer, err := w.join(ctx, 1, class)
	must.OK(t, err)
	w.run = answer.Run
	to, err := c.SubscribeSync(c.NewInbox())
	must.OK(t, err)
	go func() {
		for ctx.Err() == nil {
			if m, _ := w.pull(to, &note{}, idlePoll); m != nil {
				u, _ := wire.Decode[unit](m.Data)
				w.say(&outcome{Run: w.run, Phase: u.Phase, Number: u.Number, Worker: w.id, What: unitFailed, Why: "no paper"}, 1)
			}
		}
	}()
	if _, err := tr.Next(ctx); err == nil || err.Error() != "no paper" {
		t.Errorf("%v, not what the unit failed with", err)
	}
}

// A run whose service has ended goes on by itself.
func TestGoesOnAlone(t *testing.T) {
	tr, o := series(t, "collapsed", 8), &told{}
	options := o.options(t, true)
	options.WorkHere = false
	h, err := Serve(t.Context(), tr, options)
	must.OK(t, err)
	h.Close()
	_, err = tr.Next(t.Context())
	must.OK(t, err)
}

// Another run, the next one, says its notes again and again while a lane is still at a unit
// of one that was killed: that is given up, once.
func TestNotesOfAnotherRun(t *testing.T) {
	w := newWorker(nil, "busy", time.Second)
	w.run = "killed"
	w.take(&note{Run: "killed", Number: 1, Header: "h"})
	unit := w.ctx
	for range 3 {
		w.take(&note{Run: "next", Number: 1, Header: "h"})
	}
	if !w.gone || !errors.Is(context.Cause(unit), errAtRest) {
		t.Errorf("gone: %v, the unit: %v", w.gone, context.Cause(unit))
	}
}

// A probe is as large as a state, up to what a network is not kept busy with.
func TestProbes(t *testing.T) {
	for size, want := range map[int]int{1000: 1000, 2 * mostProbe: mostProbe} {
		if n := len(probe(size)); n != want {
			t.Errorf("%d bytes for a state of %d", n, size)
		}
	}
}
