package vbks

import (
	"context"
	"sync"
	"time"

	"kestrel/device"
)

// pace decides after which steps the host waits for a lane that works through a
// queue: seldom enough that the lane does not run dry, often enough that a pause
// or a stop, which are looked for before each step, take effect soon after they
// are asked for. No result depends on it. The zero value is ready.
type pace struct {
	ahead int // steps that are asked for before the host waits; 0 is 1
	asked int // of them
	began time.Time
	now   func() time.Time // time.Now where nil
}

const (
	mostAhead = 32 // steps; a queue holds about a thousand launches
	soonest   = 10 * time.Millisecond
	latest    = 25 * time.Millisecond
)

// step is to be called behind every step; it waits for the lane if it is time.
func (p *pace) step(ln device.Lane) error {
	if p.asked == 0 {
		p.began = p.time()
	}
	if p.asked++; p.asked < p.ahead {
		return nil
	}
	return p.wait(ln)
}

// wait waits for all steps asked for.
func (p *pace) wait(ln device.Lane) error {
	err := ln.Sync()
	p.ahead = max(p.ahead, 1)
	if p.asked == p.ahead {
		switch took := p.time().Sub(p.began); {
		case took < soonest:
			p.ahead = min(2*p.ahead, mostAhead)
		case took > latest:
			p.ahead = max(p.ahead/2, 1)
		}
	}
	p.asked = 0
	return err
}

func (p *pace) time() time.Time {
	if p.now != nil {
		return p.now()
	}
	return time.Now()
}

// pauses measures for how long a gate holds those who pass it, all together.
type pauses struct {
	mu    sync.Mutex
	total time.Duration
	until time.Time // the end of the last one
}

// shortestPause is longer than a gate that is open takes.
const shortestPause = time.Millisecond

// watch measures a gate.
func (p *pauses) watch(g gate) gate {
	return func(ctx context.Context) error {
		from := time.Now()
		err := g(ctx)
		p.add(from, time.Now())
		return err
	}
}

func (p *pauses) add(from, to time.Time) {
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

// length is that of all pauses so far.
func (p *pauses) length() time.Duration {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total
}
