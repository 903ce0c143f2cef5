package pace

import (
	"errors"
	"math"
	"testing"
	"time"

	"example.com/kestrel/device"
)

// queued is a lane whose steps take a time of a clock that stands otherwise.
type queued struct {
	device.Lane
	clock   time.Time
	waiting int // steps in the queue
	each    time.Duration
	err     error
}

func (q *queued) Sync() error {
	q.clock = q.clock.Add(time.Duration(q.waiting) * q.each)
	q.waiting = 0
	return q.err
}

// Short steps are asked for many at a time, long ones singly, and what is in the
// queue never takes so long that a stop would be late, also where steps get slower.
func TestPace(t *testing.T) {
	q := &queued{clock: time.Unix(1, 0)}
	p := Pace{Now: func() time.Time { return q.clock }}
	for _, c := range []struct {
		each        time.Duration
		most, least int // steps in the queue in the end
	}{
		{10 * time.Microsecond, 32, 32}, {time.Millisecond, 25, 10}, {3 * time.Millisecond, 8, 3}, {50 * time.Millisecond, 1, 1},
		{100 * time.Microsecond, 32, 32},
	} {
		q.each = c.each
		longest := 0
		for i := range 400 {
			q.waiting++
			if n := q.waiting; i >= 200 {
				longest = max(longest, n)
			}
			if err := p.Made(q, 1); err != nil {
				t.Fatal(err)
			}
		}
		if longest > c.most || longest < c.least {
			t.Errorf("steps of %v: %d in the queue", c.each, longest)
		}
	}
	q.err = errors.New("lost")
	if err := p.Wait(q); !errors.Is(err, q.err) {
		t.Error(err)
	}
}

// Steps of 0.05 ms that a lane makes at once are soon at least 100 in an operation, evaluation by
// evaluation of 500, and a stop is never looked for late.
func TestSeveralAtOnce(t *testing.T) {
	q := &queued{clock: time.Unix(1, 0), each: 50 * time.Microsecond}
	p := SeveralAtOnce()
	p.Now = func() time.Time { return q.clock }
	const steps = 500
	for evaluation := range 10 {
		operations := 0
		for at := 0; at < steps; {
			n := p.Next(steps - at)
			at += n
			q.waiting += n
			operations++
			if took := time.Duration(q.waiting) * q.each; took > latest {
				t.Errorf("evaluation %d: a stop is looked for after %v", evaluation, took)
			}
			if err := p.Made(q, n); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Wait(q); err != nil {
			t.Fatal(err)
		}
		if evaluation > 0 && steps/operations < 100 {
			t.Errorf("evaluation %d: %d steps in %d operations", evaluation, steps, operations)
		}
	}
}

// Time at a gate counts once for all who wait there, and passing it not at all.
func TestPauses(t *testing.T) {
	var p *Pauses
	if p.Length() != 0 {
		t.Error("no pauses take time")
	}
	p = &Pauses{}
	at := func(s float64) time.Time { return time.Unix(1000, int64(s*1e9)) }
	p.add(at(0), at(0.0001))
	p.add(at(1), at(5))
	p.add(at(0.9), at(5.1)) // the same pause
	p.add(at(7), at(8))
	if got := p.Length().Seconds(); math.Abs(got-5.1) > 1e-9 {
		t.Errorf("%v s", got)
	}
}
