// Package note tells the user, for a while, what happened last.
package note

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// Note is a short text about what happened last.
type Note struct {
	Text  string
	Level Level
	At    time.Time
	Still func() bool // whether it is true; nil: it stays true
	been  bool        // it has been
}

// Level is how much a note matters.
type Level int

// Levels of notes.
const (
	Good Level = iota
	Warning
	Failure
)

// Stay is how long a note stays before the progress takes its place.
const Stay = 8 * time.Second

// Msg tells the user what came of an order.
type Msg struct {
	Text  string
	Level Level
	Still func() bool // as Note.Still; called on the screen's goroutine
}

// Say makes a command of a note.
func Say(l Level, format string, args ...any) tea.Cmd {
	text := fmt.Sprintf(format, args...)
	return func() tea.Msg { return Msg{Text: text, Level: l} }
}

// Fresh reports whether the note is to be seen.
func (n *Note) Fresh(now time.Time) bool {
	return n.Text != "" && now.Sub(n.At) < Stay && (n.Still == nil || n.Still())
}

// Age drops a note that has been true and is not any more. What an order was
// answered with may come before the event that makes it true.
func (n *Note) Age() {
	if n.Still == nil {
		return
	}
	now := n.Still()
	if n.been && !now {
		*n = Note{}
		return
	}
	n.been = now
}

// Style is how a note of a level is written.
func (l Level) Style(t *theme.Theme) plot.Style {
	return map[Level]plot.Style{Good: t.Good, Warning: t.Warn, Failure: t.Bad}[l]
}
