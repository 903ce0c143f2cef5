package ui

import (
	"kestrel/experiment"
)

// benchNoteMsg tells what came of an order to a bench; it is of no interest on
// other screens, unless it is a failure.
type benchNoteMsg struct {
	of   *bench
	note noteMsg
}

// heedOf takes a note of a bench in.
func (a *app) heedOf(msg benchNoteMsg) {
	if msg.note.level == failure {
		msg.of.restoring = false
	} else if msg.of != a.bench {
		return
	}
	a.heed(msg.note)
}

// heed takes a note in.
func (a *app) heed(msg noteMsg) {
	a.note = note{text: msg.text, level: msg.level, at: a.opts.now(), still: msg.still}
}

// noteFresh reports whether the last note is to be seen.
func (a *app) noteFresh() bool { return a.note.fresh(a.opts.now()) }

// in makes a condition of a note: the run is in this state.
func (b *bench) in(s experiment.State) func() bool {
	return func() bool { return b.state() == s }
}
