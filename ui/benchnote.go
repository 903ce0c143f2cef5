package ui

import (
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/note"
)

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
