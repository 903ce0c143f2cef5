package record

import (
	"io"

	"example.com/kestrel/vbks"
)

// Recorder is told everything that happens in a run, in order, from the run's
// goroutine. An error ends the run.
type Recorder interface {
	Record(e *Event) error
}

// Recorders tells several recorders.
type Recorders []Recorder

// Record implements Recorder; the first error is returned, all are told.
func (rs Recorders) Record(e *Event) error {
	var first error
	for _, r := range rs {
		if err := r.Record(e); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Checkpoint implements Checkpointer by those that do.
func (rs Recorders) Checkpoint(arrays map[string]vbks.Tensor) error {
	for _, r := range rs {
		if c, ok := r.(Checkpointer); ok {
			if err := c.Checkpoint(arrays); err != nil {
				return err
			}
		}
	}
	return nil
}

// RecorderFunc is a function as a Recorder.
type RecorderFunc func(e *Event) error

// Record implements Recorder.
func (f RecorderFunc) Record(e *Event) error { return f(e) }

// Checkpointer is a Recorder that keeps what has been learned.
type Checkpointer interface {
	Checkpoint(arrays map[string]vbks.Tensor) error
}

// Modeller is a Recorder that keeps the model file of a run that finishes.
type Modeller interface {
	Model(write func(io.Writer) error) error
}
