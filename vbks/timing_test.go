package vbks

import (
	"errors"
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
	p := pace{now: func() time.Time { return q.clock }}
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
			if err := p.made(q, 1); err != nil {
				t.Fatal(err)
			}
		}
		if longest > c.most || longest < c.least {
			t.Errorf("steps of %v: %d in the queue", c.each, longest)
		}
	}
	q.err = errors.New("lost")
	if err := p.wait(q); !errors.Is(err, q.err) {
		t.Error(err)
	}
}
