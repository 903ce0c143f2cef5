package historytest

import (
	"context"
	"sync"
	"testing"
	"time"

	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
)

// Told collects what Follow hands over.
type Told struct {
	mu      sync.Mutex
	Events  []record.Event
	Largest int
	News    chan struct{}
}

// Put is told events.
func (l *Told) Put(events []record.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Events = append(l.Events, events...)
	l.Largest = max(l.Largest, len(events))
	select {
	case l.News <- struct{}{}:
	default:
	}
}

// Until waits until a condition holds of what has been told.
func (l *Told) Until(t *testing.T, what string, ok func([]record.Event) bool) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		l.mu.Lock()
		yes := ok(l.Events)
		l.mu.Unlock()
		if yes {
			return
		}
		select {
		case <-l.News:
		case <-late:
			t.Fatalf("never came: %s", what)
		}
	}
}

// Follow follows a directory until the test ends, and returns its error.
func Follow(t *testing.T, dir string) (*Told, func() error) {
	t.Helper()
	l := &Told{News: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- history.Follow(ctx, dir, time.Millisecond, l.Put) }()
	return l, func() error {
		cancel()
		return <-done
	}
}
