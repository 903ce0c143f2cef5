package ui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

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
	still func() bool // as note.still; called on the screen's goroutine
}

// say makes a command of a note.
func say(l level, format string, args ...any) tea.Cmd {
	text := fmt.Sprintf(format, args...)
	return func() tea.Msg { return noteMsg{text: text, level: l} }
}

// fresh reports whether the note is to be seen.
func (n *note) fresh(now time.Time) bool {
	return n.text != "" && now.Sub(n.at) < noteTime && (n.still == nil || n.still())
}

// age drops a note that has been true and is not any more. What an order was
// answered with may come before the event that makes it true.
func (n *note) age() {
	if n.still == nil {
		return
	}
	now := n.still()
	if n.been && !now {
		*n = note{}
		return
	}
	n.been = now
}

// style is how a note of a level is written.
func (l level) style(t *theme) plot.Style {
	return map[level]plot.Style{good: t.good, warning: t.warn, failure: t.bad}[l]
}
