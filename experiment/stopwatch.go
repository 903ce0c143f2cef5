package experiment

import "time"

// stopwatch measures wall time less pauses.
type stopwatch struct {
	now     func() time.Time
	before  time.Duration // of finished stretches
	since   time.Time     // start of the present one
	running bool
}

func (w *stopwatch) start() {
	if !w.running {
		w.since, w.running = w.now(), true
	}
}

func (w *stopwatch) stop() {
	if w.running {
		w.before += w.now().Sub(w.since)
		w.running = false
	}
}

func (w *stopwatch) elapsed() time.Duration {
	if w.running {
		return w.before + w.now().Sub(w.since)
	}
	return w.before
}
