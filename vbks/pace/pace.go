// Package pace says when the host waits: for a lane that works through a queue, and how
// long for a user who has paused a run.
package pace

import (
	"cmp"
	"time"

	"example.com/kestrel/device"
)

// Pace decides after which steps the host waits for a lane that works through a
// queue: seldom enough that the lane does not run dry, often enough that a pause
// or a stop, which are looked for before each step, take effect soon after they
// are asked for. No result depends on it. The zero value is ready.
type Pace struct {
	ahead int // steps that are asked for before the host waits; 0 is 1
	most  int // of them; 0 is mostAhead
	asked int
	began time.Time
	Now   func() time.Time // time.Now where nil
}

const (
	mostAhead = 32 // steps; a queue holds about a thousand launches
	soonest   = 10 * time.Millisecond
	latest    = 25 * time.Millisecond

	// Of steps that a lane makes at once, the first number is such that a slow card is done
	// with them before a stop would be late.
	firstAtOnce = 16
	mostAtOnce  = 512
)

// SeveralAtOnce is the pace of a lane that makes several steps in one operation.
func SeveralAtOnce() Pace { return Pace{ahead: firstAtOnce, most: mostAtOnce} }

// Next is how many steps to make at once where so many are left.
func (p *Pace) Next(left int) int { return min(max(p.ahead-p.asked, 1), left) }

// Made is to be called behind every step, or several; it waits for the lane if it is
// time.
func (p *Pace) Made(ln device.Lane, steps int) error {
	if p.asked == 0 {
		p.began = p.time()
	}
	if p.asked += steps; p.asked < p.ahead {
		return nil
	}
	return p.Wait(ln)
}

// Wait waits for all steps asked for.
func (p *Pace) Wait(ln device.Lane) error {
	err := ln.Sync()
	p.ahead = max(p.ahead, 1)
	if p.asked == p.ahead {
		switch took := p.time().Sub(p.began); {
		case took < soonest:
			p.ahead = min(2*p.ahead, cmp.Or(p.most, mostAhead))
		case took > latest:
			p.ahead = max(p.ahead/2, 1)
		}
	}
	p.asked = 0
	return err
}

func (p *Pace) time() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}
