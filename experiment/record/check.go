package record

import (
	"encoding/json"
	"errors"
	"fmt"

	"example.com/kestrel/experiment/words"
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
	if e.V > Version {
		return nil // the reader refuses it with another reason
	}
	e.fillFromText()
	if err := e.check(); err != nil {
		return fmt.Errorf("event %q: %w", words.PlainLine(string(e.Type)), err)
	}
	return nil
}

func (e *Event) check() error {
	if missing := e.Missing(); missing != "" {
		return fmt.Errorf("%s is missing", missing)
	}
	switch e.Type {
	case EventEvaluation, EventPruned, EventRestored:
		return e.Evaluation.check()
	}
	return nil
}

// Missing names what an event lacks of what its type promises, "" if nothing.
func (e *Event) Missing() string {
	switch e.Type {
	case EventStarted, EventData:
		if e.Start == nil || e.Start.Data == nil {
			return "start and its data"
		}
		if e.Type == EventData && e.Before == nil {
			return "before"
		}
	case EventState, EventFinished:
		if e.State == nil {
			return "state"
		}
	case EventEvaluation, EventPruned, EventRestored:
		if e.Evaluation == nil {
			return "evaluation"
		}
	case EventMetrics:
		if len(e.Metrics) == 0 {
			return "metrics"
		}
	case EventEffects:
		if e.Effects == nil {
			return "effects"
		}
	case EventReoptimised:
		if e.Change == nil {
			return "change"
		}
	case EventWorkerJoined, EventWorkerLost:
		if e.Worker == nil {
			return "worker"
		}
	case EventEntered:
		if len(e.Entered) == 0 {
			return "entered"
		}
	case EventLeft:
		if len(e.Kernels) == 0 {
			return "kernels"
		}
	case EventResumed:
		if e.Resumed == nil {
			return "resumed"
		}
	}
	return ""
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
