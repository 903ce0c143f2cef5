package bench

import (
	"context"
	"errors"
	"sync"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks"
)

// Stops is how stops in the middle of an optimisation were heard: from when its context ended until all
// that was at work for it had returned and the device was at rest.
type Stops struct {
	Longest time.Duration
	During  string // the phase in which that one came
	Times   int
}

var errStop = errors.New("stopped to see how long that takes")

// stopsAfter are when a phase is stopped after it has begun, one time after the other. The first comes
// before anything has been asked for, the last while evaluations or steps are under way.
func stopsAfter() []time.Duration {
	return []time.Duration{0, 7 * time.Millisecond, 40 * time.Millisecond}
}

// optimisation begins a run on the data of a workload, by the bound on all rows or by steps on minibatches.
func (w benchWork) optimisation(ctx context.Context, dev device.Device, kernels string, bound bool) (*vbks.Trainer, error) {
	exprs, err := w.kernels(kernels)
	if err != nil {
		return nil, err
	}
	x, y, err := w.data()
	if err != nil {
		return nil, err
	}
	var space []vbks.Candidate
	for _, e := range exprs {
		space = append(space, vbks.Candidate{Expr: e, Weight: 1})
	}
	s := vbks.DefaultSettings()
	s.Optimizer, s.Inducing, s.Batch = "natural", w.m, w.b
	if bound {
		s.Optimizer = "collapsed"
	}
	// Few starts, and few steps of each, so that all phases come soon, those of parts of the rows and those of all.
	s.EvaluateEvery, s.Refine, s.Starts, s.Steps, s.Local = 0.25, 0, 1, 10, ""
	return vbks.New(ctx, dev, vbks.Training{X: x, Y: y, Dim: 1}, space, []string{"x"}, s)
}

// MeasureStops optimises the kernels of a workload as a run does and stops that by its context, again and
// again: in each phase as often as stopsAfter has it, and when the time is over, and goes on each time from where
// that has left it. The first stop does not count, for what is made once is made then and nothing cuts it
// short: kernels are compiled, periods that the data may have are found. Nor does one that comes when an evaluation
// has just ended.
func MeasureStops(ctx context.Context, dev device.Device, work, kernels string, bound bool, limit time.Duration) (Stops, error) {
	w, err := findBenchWork(work)
	if err != nil {
		return Stops{}, err
	}
	t, err := w.optimisation(ctx, dev, kernels, bound)
	if err != nil {
		return Stops{}, err
	}
	s := &stopping{dev: dev, trainer: t, over: time.Now().Add(limit / 4)}
	if err := s.once(ctx); err != nil {
		return Stops{}, err
	}
	s.found, s.over, s.tried = Stops{}, time.Now().Add(limit), map[string]int{}
	for !t.Done() && (s.found.Times == 0 || time.Now().Before(s.over)) {
		if err := s.once(ctx); err != nil {
			return s.found, err
		}
	}
	return s.found, nil
}

// stopping is an optimisation that is stopped again and again.
type stopping struct {
	dev     device.Device
	trainer *vbks.Trainer
	over    time.Time      // when there is to be a stop in any case
	tried   map[string]int // stops that were planned, by phase; nil: none is
	found   Stops
}

// once goes on until a stop, or to the end of an evaluation.
func (s *stopping) once(ctx context.Context) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu            sync.Mutex
		at            time.Time // of the stop
		phase, during string
		planned       *time.Timer
	)
	stop := func() {
		mu.Lock()
		defer mu.Unlock()
		if at.IsZero() {
			at, during = time.Now(), phase
			cancel(errStop)
		}
	}
	defer time.AfterFunc(time.Until(s.over), stop).Stop()
	s.trainer.SetProgress(func(p vbks.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if p.Phase == phase {
			return
		}
		phase = p.Phase
		if n := s.tried[phase]; s.tried != nil && n < len(stopsAfter()) && planned == nil {
			s.tried[phase]++
			planned = time.AfterFunc(stopsAfter()[n], stop)
		}
	})
	_, err := s.trainer.Next(inner)
	for i := range s.dev.Info().Lanes {
		if e := s.dev.Lane(i).Sync(); e != nil {
			return e
		}
	}
	ended := time.Now()
	mu.Lock()
	defer mu.Unlock()
	if planned != nil {
		planned.Stop()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !errors.Is(err, errStop) {
		return err
	}
	if s.found.Times++; ended.Sub(at) >= s.found.Longest {
		s.found.Longest, s.found.During = ended.Sub(at), during
	}
	return nil
}
