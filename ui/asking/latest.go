// Package asking asks what takes its time in commands, so that the screen never
// waits for an answer that is not wanted any more.
package asking

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// Latest asks one thing at a time: what is asked meanwhile cancels it, and only
// the last of that is asked when it has ended.
type Latest struct {
	serial int                // of the newest question
	cancel context.CancelFunc // of the one under way, nil if there is none
	next   func() tea.Cmd
}

// Ask makes a command of a question. Its answer has to carry the serial number
// back to Done.
func (q *Latest) Ask(ctx context.Context, question func(ctx context.Context, serial int) tea.Msg) tea.Cmd {
	q.serial++
	serial := q.serial
	start := func() tea.Cmd {
		ctx, cancel := context.WithCancel(ctx)
		q.cancel = cancel
		return func() tea.Msg {
			defer cancel()
			return question(ctx, serial)
		}
	}
	if q.cancel != nil {
		q.cancel()
		q.next = start
		return nil
	}
	return start()
}

// Done takes note of an answer, says whether it is to the newest question, and
// asks what has been waiting.
func (q *Latest) Done(serial int) (fresh bool, next tea.Cmd) {
	q.cancel = nil
	if q.next != nil {
		start := q.next
		q.next = nil
		next = start()
	}
	return serial == q.serial, next
}

// Drop makes the answer of what is under way unwanted.
func (q *Latest) Drop() {
	q.serial++
	q.next = nil
	if q.cancel != nil {
		q.cancel()
	}
}

// Busy reports whether something is under way.
func (q *Latest) Busy() bool { return q.cancel != nil }
