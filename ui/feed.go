package ui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/record"
)

// frameTime is the least time between two drawings of new results.
const frameTime = 33 * time.Millisecond

// mailbox takes events from a run, or from the reader of an event log, without
// ever making it wait, and gives them to the screen in batches. It is a
// Recorder.
type mailbox struct {
	mu     sync.Mutex
	events []record.Event
	wake   chan struct{}
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

// Record implements record.Recorder. It does not fail.
func (m *mailbox) Record(e *record.Event) error {
	m.mu.Lock()
	m.events = append(m.events, *e)
	m.mu.Unlock()
	m.ring()
	return nil
}

// put takes events that were read from a log.
func (m *mailbox) put(events []record.Event) {
	m.mu.Lock()
	m.events = append(m.events, events...)
	m.mu.Unlock()
	m.ring()
}

func (m *mailbox) ring() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// take empties the mailbox.
func (m *mailbox) take() []record.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.events
	m.events = nil
	return out
}

// frameMsg is what has happened since the last one.
type frameMsg struct {
	from   *mailbox
	events []record.Event
}

// next waits for events and brings them, at most one batch a frame. It ends
// with ctx.
func (m *mailbox) next(ctx context.Context) tea.Cmd {
	return func() tea.Msg {
		select {
		case <-m.wake:
		case <-ctx.Done():
			return nil
		}
		// What comes in the rest of the frame goes along.
		select {
		case <-time.After(frameTime):
		case <-ctx.Done():
			return nil
		}
		return frameMsg{m, m.take()}
	}
}
