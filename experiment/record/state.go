package record

import "errors"

// State is where a run stands.
type State string

const (
	Ready    State = "ready"
	Running  State = "running"
	Paused   State = "paused"
	Stopping State = "stopping"
	Stopped  State = "stopped"  // by an order; Reoptimize goes on
	Finished State = "finished" // as planned; Reoptimize goes on
	Failed   State = "failed"
)

// Settled reports whether the run is at rest and stays there without an order.
func (s State) Settled() bool { return s == Stopped || s == Finished || s == Failed }

// ErrNoResults is below the error of a question to a run without an evaluation.
var ErrNoResults = errors.New("there is no evaluation yet")
