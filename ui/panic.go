package ui

import (
	"runtime/debug"

	tea "charm.land/bubbletea/v2"
)

// crashMsg is a panic in a command.
type crashMsg struct{ crash *Crash }

// catching makes a message of a panic in a command, or in one that it consists of.
// Bubble Tea itself would write the stack on the terminal, and it would be in no
// log.
func catching(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if p := recover(); p != nil {
				msg = crashMsg{&Crash{p, debug.Stack()}}
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			caught := make(tea.BatchMsg, len(batch))
			for i, c := range batch {
				caught[i] = catching(c)
			}
			return caught
		}
		return msg
	}
}

// caught notes a panic on the screen's goroutine.
func (a *app) caught(p any) { a.crashed(&Crash{p, debug.Stack()}) }

// crashed notes a panic; the first one ends the workbench.
func (a *app) crashed(c *Crash) {
	if a.crash == nil {
		a.crash = c
	}
}

// blame leaves the stack of what ended the workbench in the log of the run that it
// then stops, if that is its own.
func (a *app) blame() {
	if a.crash == nil || a.bench == nil || a.bench.session == nil {
		return
	}
	_ = a.bench.session.Run.Blame(a.crash.Value, a.crash.Stack) // the crash is told anyway
}
