package steer

import (
	"time"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// Run is what takes orders: a run of this process or, a Remote, that of another.
type Run interface {
	Pause() error
	Resume() error
	Stop(reason string) error
	Prune(ids []string) error
	Restore(ids []string) error
	Reoptimize(c vbks.Change) error
	// Status says how it stands now.
	Status() (Status, error)
}

// Status is how a run stands.
type Status struct {
	State    record.State
	Pruned   []string // ids of kernels that are pruned, or restored but wait for the next evaluation
	Elapsed  time.Duration
	Progress vbks.Progress // within the evaluation
	Workers  []Worker      // processes that take part; nil: the run is not served
}

// Worker is a process that takes part in a run.
type Worker struct {
	Name   string // host and process
	Lanes  int
	Units  int           // of kernels, done
	Silent time.Duration // since it was heard of
}
