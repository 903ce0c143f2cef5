package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
)

// UnmarshalJSON implements json.Unmarshaler. An event of a known type must have
// what its type promises, so that nobody who reads a log need ask; others, of
// newer versions, may hold anything.
func (e *Event) UnmarshalJSON(text []byte) error {
	type plain Event
	var p plain
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	*e = Event(p)
	if e.V > EventVersion {
		return nil // the reader refuses it with another reason
	}
	if err := e.check(); err != nil {
		return fmt.Errorf("event %q: %w", PlainLine(string(e.Type)), err)
	}
	return nil
}

func (e *Event) check() error {
	missing := ""
	switch e.Type {
	case EventStarted:
		if e.Start == nil || e.Start.Data == nil {
			missing = "start and its data"
		}
	case EventState, EventFinished:
		if e.State == nil {
			missing = "state"
		}
	case EventEvaluation, EventPruned, EventRestored:
		if e.Evaluation == nil {
			missing = "evaluation"
			break
		}
		return e.Evaluation.check()
	case EventMetrics:
		if len(e.Metrics) == 0 {
			missing = "metrics"
		}
	case EventReoptimised:
		if e.Change == nil {
			missing = "change"
		}
	case EventResumed:
		if e.Resumed == nil {
			missing = "resumed"
		}
	}
	if missing != "" {
		return fmt.Errorf("%s is missing", missing)
	}
	return nil
}

// check finds what no run writes and readers do not expect.
func (e *Evaluation) check() error {
	seen := make(map[string]bool, len(e.Kernels))
	first := false
	for i := range e.Kernels {
		k := &e.Kernels[i]
		if seen[k.ID] {
			return fmt.Errorf("kernel %q is there twice", k.ID)
		}
		seen[k.ID] = true
		if k.Fit == nil {
			continue
		}
		if k.Fit.Rank == 1 {
			if first {
				return errors.New("two kernels are ranked first")
			}
			first = true
		}
	}
	return nil
}
