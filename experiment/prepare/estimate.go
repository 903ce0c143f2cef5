package prepare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/vbks/cost"
)

// Estimate is what a run will take on this machine, as far as that can be told.
type Estimate struct {
	Seconds   float64 // of work, to the last planned evaluation
	Low, High float64 // seconds; the time is between them as a rule
	Bytes     int64   // of memory, with the most inducing inputs
}

// String is such as "about 2 min (1 to 4), 60 MB". More digits than one or two
// it does not know.
func (e Estimate) String() string {
	size, unit := 1.0, "s"
	switch {
	case e.Seconds >= 90*60:
		size, unit = 3600, "h"
	case e.Seconds >= 90:
		size, unit = 60, "min"
	}
	number := func(v float64) string {
		if v /= size; v < 9.5 {
			return fmt.Sprintf("%.1g", v)
		}
		return fmt.Sprintf("%.0f", v)
	}
	if e.High < 1 {
		return fmt.Sprintf("less than a second, %s", words.Megabytes(e.Bytes))
	}
	return fmt.Sprintf("about %s %s (%s to %s), %s", number(e.Seconds), unit, number(e.Low), number(e.High), words.Megabytes(e.Bytes))
}

// Estimator makes estimates, one at a time, and keeps the device between them: a
// card takes long to be made ready. Its zero value is ready for use.
type Estimator struct {
	mu     sync.Mutex
	choice config.DeviceChoice // of dev
	load   Load                // for which it was taken
	dev    device.Device       // nil: none yet
}

// open returns the device of a config with such a load. e.mu is held.
func (e *Estimator) open(ctx context.Context, c config.DeviceChoice, load Load) (device.Device, error) {
	if e.dev != nil && e.choice == c && (e.load == load || c.Kind == e.dev.Info().Kind) {
		return e.dev, nil
	}
	if err := e.forget(); err != nil {
		return nil, err
	}
	var err error
	e.dev, _, err = openDevice(ctx, c, load)
	e.choice, e.load = c, load
	return e.dev, err
}

func (e *Estimator) forget() error {
	dev := e.dev
	e.dev = nil
	if dev == nil {
		return nil
	}
	return dev.Close()
}

// Close gives the device back, when the estimate under way has been made; a later
// one makes it anew.
func (e *Estimator) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.forget()
}

// Run says what a run of a config will take with so many training rows and input
// columns. It takes about half a second: some kernels of the space are timed on
// made-up rows, on all lanes of the device at once; how often a run computes them
// is known from experience. Errors are those of the config.
func (e *Estimator) Run(ctx context.Context, c config.Config, rows, dim int) (Estimate, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	out, err := e.run(ctx, c, rows, dim)
	if err != nil && ctx.Err() == nil {
		err = errors.Join(err, e.forget()) // it may be the device's
	}
	return out, err
}

func (e *Estimator) run(ctx context.Context, c config.Config, rows, dim int) (Estimate, error) {
	if rows < 1 || dim < 1 {
		return Estimate{}, fmt.Errorf("an estimate needs rows and columns, not %d and %d", rows, dim)
	}
	space, err := c.Kernels.Candidates()
	if err != nil {
		return Estimate{}, err
	}
	dev, err := e.open(ctx, c.Device, loadOf(&c, len(space), rows))
	if err != nil {
		return Estimate{}, err
	}
	if c.Settings.Room, err = room(&c, space, rows, dim, dev.Info().Lanes); err != nil {
		return Estimate{}, err
	}
	w, err := newWorkload(&c, space, rows, dim)
	if err != nil {
		return Estimate{}, err
	}
	measure := func(m int) (cost.Bound, error) {
		return cost.Measure(ctx, dev, w.programs, dim, m, probeTime)
	}
	full, err := measure(w.inducing)
	if err != nil {
		return Estimate{}, err
	}
	search := full
	if w.scout != w.inducing {
		if search, err = measure(w.scout); err != nil {
			return Estimate{}, err
		}
	}
	wide := full
	if len(w.rungs) > 0 {
		if wide, err = measure(w.last()); err != nil {
			return Estimate{}, err
		}
	}
	most := w.seconds(search, full, wide)
	early := *w
	early.rungs = nil // of a run that knows enough with the first number
	if !w.whole {
		early.sharp = 0
	}
	least, spread := early.seconds(search, full, wide), estimateSpread
	if w.late > 0 {
		spread = growthSpread
	}
	if on := c.Settings.GrowRows(rows); on < rows { // where the first inducing inputs show too little
		partly, err := e.partly(ctx, dev, c, w, on)
		return Estimate{
			Seconds: math.Sqrt(least * partly.Seconds), Low: min(least/spread, partly.Low), High: max(least*spread, partly.High),
			Bytes: w.bytes(dev.Info().Lanes),
		}, err
	}
	// How many numbers of inducing inputs a run takes the data say, and how many kernels come: half of the former, in the logarithm
	// of the time.
	return Estimate{
		Seconds: math.Sqrt(least * most), Low: least / spread, High: most * spread, Bytes: w.bytes(dev.Info().Lanes),
	}, nil
}

// What a run does as a rule, counted in runs of the shipped configs and of
// series; see vbks/search.go for the steps. Numbers are of evaluations of the
// bound for one kernel, with its gradient unless stated.
const (
	perTuning      = 1.5   // gradients with all inducing inputs, for each of the steps, where the stochastic optimisers tune
	perStart       = 7.0   // on few rows, for each fresh start
	perDraft       = 16.0  // for each of those that go on
	perSearch      = 60.0  // on all rows, for the last optimum and the drafts
	perTransplant  = 2.5   // with gradient, for each value of a transplant
	perWindow      = 7.0   // gradients with the first inducing inputs, for one by windows
	perThorough    = 60.0  // more, of two further drafts and of rougher solutions
	thoroughStarts = 2.0   // times as many
	perIntegral    = 300.0 // values, of the draws of hyperparameters
	atTheEnd       = 1.35  // times as many once all data are used
	perBelief      = 30.0  // for q(log θ), for each draw
	thetaDraws     = 16.0  // from it

	overhead = 1.25 // of what is not timed: small operations, the optimisers, waiting at barriers

	probeTime      = 150 * time.Millisecond
	estimateSpread = 2.0
)

// sampledKernels is the number of kernels of a space that are timed.
const sampledKernels = 4
