package vbks

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/kestrel/internal/guard"
)

// A panic in a worker's goroutine ends the round with an error, not the
// program; the other workers stop.
func TestEachRecovers(t *testing.T) {
	r := &round{Trainer: &Trainer{group: 1, workers: []*worker{{}, {}}}, outcomes: make([]outcome, 1)}
	var begun atomic.Int32
	r.perform = func(ctx context.Context, _ *unit) error {
		if begun.Add(1) == 3 {
			var none []int
			_ = none[begun.Load()]
		}
		if begun.Load() >= 3 {
			<-ctx.Done()
		}
		return nil
	}
	err := r.each(t.Context(), &order{}, make([]task, 1000))
	var p *guard.PanicError
	if !errors.As(err, &p) || !strings.Contains(string(p.Stack), "TestEachRecovers") {
		t.Fatalf("got %v", err)
	}
	if got := err.Error(); !strings.HasPrefix(got, "internal error: runtime error: index out of range [") || strings.Contains(got, "\n") {
		t.Errorf("got %q", got)
	}
	if n := begun.Load(); n > 6 {
		t.Errorf("%d of 1000 units were begun after the panic", n)
	}
}
