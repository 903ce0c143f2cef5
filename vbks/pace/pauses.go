package pace

import (
	"context"
	"sync"
	"time"
)

// Pauses measures for how long a gate holds those who pass it, all together.
type Pauses struct {
	mu    sync.Mutex
	total time.Duration
	until time.Time // the end of the last one
}

// shortestPause is longer than a gate that is open takes.
const shortestPause = time.Millisecond

// Watch measures a gate.
func (p *Pauses) Watch(g func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		from := time.Now()
		err := g(ctx)
		p.add(from, time.Now())
		return err
	}
}

func (p *Pauses) add(from, to time.Time) {
	if to.Sub(from) < shortestPause {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if from.Before(p.until) {
		from = p.until
	}
	if to.After(from) {
		p.total += to.Sub(from)
		p.until = to
	}
}

// Length is that of all pauses so far.
func (p *Pauses) Length() time.Duration {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total
}
