package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"kestrel/experiment"
	"kestrel/ui/plot"
)

// note is a short text about what happened last.
type note struct {
	text  string
	level level
	at    time.Time
	still func() bool // whether it is true; nil: it stays true
	been  bool        // it has been
}

type level int

const (
	good level = iota
	warning
	failure
)

// noteTime is how long a note stays before the progress takes its place.
const noteTime = 8 * time.Second

// noteMsg tells the user what came of an order.
type noteMsg struct {
	text  string
	level level
	of    *bench      // it is of no interest on other screens; nil: on any
	still func() bool // as note.still; called on the screen's goroutine
}

// say makes a command of a note.
func say(l level, format string, args ...any) tea.Cmd {
	text := fmt.Sprintf(format, args...)
	return func() tea.Msg { return noteMsg{text: text, level: l} }
}

// heed takes a note in.
func (a *app) heed(msg noteMsg) {
	if msg.of != nil && msg.of != a.bench && msg.level != failure {
		return
	}
	if msg.of != nil && msg.level == failure {
		msg.of.restoring = false
	}
	a.note = note{text: msg.text, level: msg.level, at: a.opts.now(), still: msg.still}
}

// noteFresh reports whether the last note is to be seen.
func (a *app) noteFresh() bool {
	n := &a.note
	return n.text != "" && a.opts.now().Sub(n.at) < noteTime && (n.still == nil || n.still())
}

// ageNote drops a note that has been true and is not any more. What an order was
// answered with may come before the event that makes it true.
func (a *app) ageNote() {
	n := &a.note
	if n.still == nil {
		return
	}
	now := n.still()
	if n.been && !now {
		a.note = note{}
	}
	n.been = now
}

// in makes a condition of a note: the run is in this state.
func (b *bench) in(s experiment.State) func() bool {
	return func() bool { return b.state() == s }
}

// linesFor breaks a text into lines of w columns, the last of which takes what is
// left where there would be more than so many.
func linesFor(text string, w, most int) []string {
	lines := wrap(text, w)
	if most = max(1, most); len(lines) > most {
		lines = append(lines[:most-1:most-1], strings.Join(lines[most-1:], " "))
	}
	return lines
}

// noteStyle is how a note of a level is written.
func (t *theme) noteStyle(l level) plot.Style {
	return map[level]plot.Style{good: t.good, warning: t.warn, failure: t.bad}[l]
}
