package ui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/note"
	"example.com/kestrel/vbks"
)

// order carries an order out in a command, beside the screen, so that f reads nothing of
// the bench; what it says is shown as long as it is true (still nil: always).
func (b *bench) order(still func() bool, f func() (string, error)) tea.Cmd {
	return func() tea.Msg {
		text, err := f()
		if err != nil {
			return benchNoteMsg{b, note.Msg{Text: err.Error(), Level: note.Failure}}
		}
		return benchNoteMsg{b, note.Msg{Text: text, Level: note.Good, Still: still}}
	}
}

func (b *bench) pauseWord() string {
	if b.state() == record.Paused {
		return "resume"
	}
	return "pause"
}

func (b *bench) pause() tea.Cmd {
	run := b.steered()
	if b.state() == record.Paused {
		return b.order(b.in(record.Running), func() (string, error) { return "the run goes on", run.Resume() })
	}
	return b.order(b.in(record.Paused), func() (string, error) { return "paused; space goes on", run.Pause() })
}

// growing reports whether the run's space of kernels grows, as far as its config and orders say, and the last evaluation,
// with which that may have come to its end.
func (b *bench) growing() bool {
	if e := b.hist.Evaluation; e != nil && e.Front != nil && e.Front.Over {
		return false
	}
	for _, o := range slices.Backward(b.hist.Orders) {
		if o.Change != nil && o.Change.Grow != "" {
			return o.Change.Grow == vbks.GrowOn
		}
	}
	return b.hist.Start != nil && b.hist.Start.Grows
}

// grow lets the space of kernels grow from here on, or no more.
func (b *bench) grow() tea.Cmd {
	run, change, text := b.steered(), vbks.Change{Grow: vbks.GrowOn}, "neighbours of the best kernels enter from the next evaluation on"
	if b.growing() {
		change.Grow, text = vbks.GrowOff, "no more kernels enter"
	}
	return b.order(b.in(record.Running), func() (string, error) { return text, run.Reoptimize(change) })
}

func (b *bench) stop() tea.Cmd {
	run, text := b.steered(), "stopped, with everything written"
	if b.owns() { // else its process may end now, and so may what goes on with it
		text += "; " + b.whatGoesOn()
	}
	return b.order(b.in(record.Stopped), func() (string, error) { return text, run.Stop("stopped by the user") })
}

// broken reports whether the run has ended before its plan was carried out, as far
// as is known.
func (b *bench) broken() bool {
	switch b.state() {
	case record.Stopped, record.Failed:
		return true
	}
	return b.crashed()
}

// crashed reports whether the process of a followed run is gone.
func (b *bench) crashed() bool {
	if b.session != nil || !b.snapped || b.hist.State == "" {
		return false
	}
	return rundir.Fate(&b.hist.Standing, b.owner) == rundir.Crashed
}

// whatGoesOn names the keys with which a run that was cut short can be gone on with.
func (b *bench) whatGoesOn() string {
	if b.canRevise() && !b.owns() { // its directory is that of a process that lives
		return "r goes on with it"
	}
	if b.canRevise() {
		return "R goes on with the plan, r with other settings"
	}
	return "R goes on with it"
}

// again is the key that goes on with what was planned.
func (b *bench) again(off bool) input.Binding {
	k := input.Binding{Keys: []string{"R"}, Label: "R",
		About: "go on with a run that was stopped or cut off, as planned", Off: off || !b.owns() && b.steered() != nil, Do: b.goOn}
	if b.broken() {
		k.Short = "go on"
	}
	return k
}

// goOn takes the run up from its directory, as kestrel resume does. A run of this
// program is given back first: what then follows is what would have followed, with
// what was to be pruned by itself, and no order of the user stands in its log.
func (b *bench) goOn() tea.Cmd {
	a := b.app
	if a.busy != "" { // it is under way
		return nil
	}
	if !b.owns() {
		return a.resume(b.path, "", false, nil)
	}
	b.released = true
	rest := make(chan error, 1)
	a.pending.Add(1)
	go func() { // the command may never be carried out
		defer a.pending.Done()
		_, err := guarded(func() (any, error) { return nil, b.closeSession() })
		rest <- err
	}()
	return a.resume(b.path, "", false, rest)
}

// onlyWatched says why an order is not given.
func (b *bench) onlyWatched() tea.Cmd {
	text := "this run is only watched: another process carries it out"
	switch {
	case b.broken():
		text = "this run is only watched; R goes on with it"
	case b.settled():
		text = "this run is only watched: it has ended"
	case b.why != nil:
		text = "this run is only watched: " + b.why.Error()
	}
	msg := benchNoteMsg{b, note.Msg{Text: text, Level: note.Warning, Still: b.in(b.state())}}
	return func() tea.Msg { return msg }
}

// canRevise reports whether there is a belief that orders can change.
func (b *bench) canRevise() bool {
	return b.steered() != nil && b.hist.Evaluation != nil && b.state() != record.Failed
}

// takeOrders notes what the orders in the log have made of the kernels.
func (b *bench) takeOrders(e *record.Event) {
	switch e.Type {
	case record.EventEvaluation, record.EventAnew:
		b.waiting = nil
	case record.EventPruned:
		for _, id := range e.Kernels {
			delete(b.waiting, id)
		}
		if !e.ByItself {
			b.taken = e.Kernels
		}
	case record.EventRestored:
		b.restoring = false
		for _, id := range e.Kernels {
			if k := b.kernelNow(id); k != nil && k.Status == vbks.Pruned {
				if b.waiting == nil {
					b.waiting = map[string]bool{}
				}
				b.waiting[id] = true
			}
		}
	}
}

// waitText says what restored kernels wait for.
func (b *bench) waitText() string {
	if b.settled() {
		return "restored, waiting for r"
	}
	return "restored, from the next evaluation on"
}

// pruned lists the kernels that could be restored.
func (b *bench) pruned() []string {
	var ids []string
	if e := b.hist.Evaluation; e != nil {
		for i := range e.Kernels {
			if e.Kernels[i].Status == vbks.Pruned && !b.waiting[e.Kernels[i].ID] {
				ids = append(ids, e.Kernels[i].ID)
			}
		}
	}
	return ids
}

// restore takes back the kernel under the cursor if it is pruned, else those
// pruned last, else all.
func (b *bench) restore() tea.Cmd {
	all := b.pruned()
	ids := slices.DeleteFunc(slices.Clone(b.taken), func(id string) bool { return !slices.Contains(all, id) })
	what := "the kernels pruned last"
	if slices.Contains(all, b.main.table.cursor) {
		ids, what = []string{b.main.table.cursor}, b.main.table.cursor
	} else if len(ids) == 0 {
		ids, what = all, "all pruned kernels"
	}
	b.restoring = true // until its event comes
	run := b.steered()
	wait := false
	still := func() bool {
		return wait == (len(b.waiting) > 0) && !slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(b.pruned(), id) })
	}
	return b.order(still, func() (string, error) {
		text := fmt.Sprintf("restored %s (%d)", what, len(ids))
		if err := run.Restore(ids); err != nil {
			return "", err
		}
		now, err := run.Status()
		if err != nil {
			return text, nil // that of the order has been answered
		}
		wait = slices.ContainsFunc(now.Pruned, func(id string) bool { return slices.Contains(ids, id) })
		switch {
		case wait && now.State.Settled():
			text += "; they wait for r"
		case wait:
			text += "; they take part from the next evaluation on"
		}
		return text, nil
	})
}

// benchNoteMsg tells what came of an order to a bench; it is of no interest on
// other screens, unless it is a failure.
type benchNoteMsg struct {
	of   *bench
	note note.Msg
}

// heedOf takes a note of a bench in.
func (a *app) heedOf(msg benchNoteMsg) {
	if msg.note.Level == note.Failure {
		msg.of.restoring = false
	} else if msg.of != a.bench {
		return
	}
	a.heed(msg.note)
}

// heed takes a note in.
func (a *app) heed(msg note.Msg) {
	a.note = note.Note{Text: msg.Text, Level: msg.Level, At: a.opts.now(), Still: msg.Still}
}

// noteFresh reports whether the last note is to be seen.
func (a *app) noteFresh() bool { return a.note.Fresh(a.opts.now()) }

// in makes a condition of a note: the run is in this state.
func (b *bench) in(s record.State) func() bool {
	return func() bool { return b.state() == s }
}
