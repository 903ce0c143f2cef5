package bench

import (
	"testing"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/internal/must"
)

// slow is a CPU whose lane does what it is asked only when somebody waits, as a card, and takes a
// time for each step of Adam.
type slow struct {
	device.Device
	lane *slowLane
}

type slowLane struct {
	device.Lane
	each     time.Duration
	queue    int
	steps    int
	repeated int // steps that were told to be like others
	within   bool
}

func (s *slow) Lane(int) device.Lane { return s.lane }

func (l *slowLane) AdamLower(sub []int, t int, rate float64, x, grad, m1, m2 device.Array) {
	l.Lane.AdamLower(sub, t, rate, x, grad, m1, m2)
	l.queue++
	if l.steps++; l.within {
		l.repeated++
	}
}

func (l *slowLane) Repeats(device.Points) (end func()) {
	l.within = true
	return func() { l.within = false }
}

func (l *slowLane) Sync() error {
	time.Sleep(time.Duration(l.queue) * l.each)
	l.queue = 0
	return l.Lane.Sync()
}

// A stop is heard as late as the queue is long, and that is never long where steps are short; a
// step that is long by itself cannot be cut. The lane is told that steps repeat, as in a run.
func TestMeasureWaits(t *testing.T) {
	for _, c := range []struct{ each, least, most time.Duration }{
		{time.Millisecond, time.Millisecond, 250 * time.Millisecond},
		{60 * time.Millisecond, 60 * time.Millisecond, 500 * time.Millisecond},
	} {
		base := cpu.New(cpu.Options{Lanes: 1})
		dev := &slow{base, &slowLane{Lane: base.Lane(0), each: c.each}}
		w, err := MeasureWaits(t.Context(), dev, "a", "SE", 100*time.Millisecond)
		must.OK(t, err)
		if w.Longest < c.least || w.Longest > c.most || w.Step < c.each {
			t.Errorf("steps of %v: %+v", c.each, w)
		}
		if l := dev.lane; l.steps == 0 || l.repeated != l.steps {
			t.Errorf("steps of %v: %d of %d are told to repeat", c.each, l.repeated, l.steps)
		}
	}
}
