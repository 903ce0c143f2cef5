package bench

import (
	"context"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks"
)

// watched is a device that notes for how long a lane is worked for without anybody waiting
// for it: as long as that a stop, which is looked for where somebody waits, may go unheard.
type watched struct {
	device.Device
	lane *watchedLane
}

type watchedLane struct {
	device.Lane
	last    time.Time
	longest time.Duration
}

func (w *watched) Lane(int) device.Lane { return w.lane }

func (w *watched) Info() device.Info {
	i := w.Device.Info()
	i.Lanes = 1
	return i
}

func (l *watchedLane) Sync() error {
	err := l.Lane.Sync()
	now := time.Now()
	if !l.last.IsZero() {
		l.longest = max(l.longest, now.Sub(l.last))
	}
	l.last = now
	return err
}

// AdamSteps lets the lane make several steps at once where it can.
func (l *watchedLane) AdamSteps(sub []int, s *device.AdamRun) bool {
	small, ok := l.Lane.(device.SmallSteps)
	return ok && small.AdamSteps(sub, s)
}

// NaturalSteps does so, too.
func (l *watchedLane) NaturalSteps(sub []int, s *device.NaturalRun) bool {
	small, ok := l.Lane.(device.SmallSteps)
	return ok && small.NaturalSteps(sub, s)
}

// Repeats lets the lane find out what it has been asked for before, as it does in a run.
func (l *watchedLane) Repeats(x device.Points) (end func()) { return device.Repeats(l.Lane, x) }

// Waits is how a stop is heard in a row of steps.
type Waits struct {
	Longest time.Duration // without anybody looking for it
	Step    time.Duration // of all kernels, on average
}

// waitSteps are made, in calls of so many, after as many that bring all into motion.
const waitSteps = 128

// MeasureWaits makes steps of Adam on a device's first lane as a run does, and returns for how long
// at most a stop goes unheard. limit bounds the steps.
func MeasureWaits(ctx context.Context, dev device.Device, work, kernels string, limit time.Duration) (Waits, error) {
	w, err := findBenchWork(work)
	if err != nil {
		return Waits{}, err
	}
	exprs, err := w.kernels(kernels)
	if err != nil {
		return Waits{}, err
	}
	setup, err := w.setup(vbks.StepAdam, exprs)
	if err != nil {
		return Waits{}, err
	}
	watch := &watched{dev, &watchedLane{Lane: dev.Lane(0)}}
	b, err := vbks.NewStepBench(watch, setup)
	if err != nil {
		return Waits{}, err
	}
	defer b.Close()
	began, one := time.Now(), 0
	for one = 1; one < waitSteps && time.Since(began) < limit/4; one *= 2 {
		if ctx.Err() != nil {
			return Waits{}, context.Cause(ctx)
		}
		if err := b.Steps(one); err != nil {
			return Waits{}, err
		}
	}
	watch.lane.longest, watch.lane.last = 0, time.Now()
	began = time.Now()
	err = b.Steps(one)
	return Waits{watch.lane.longest, time.Since(began) / time.Duration(one)}, err
}
