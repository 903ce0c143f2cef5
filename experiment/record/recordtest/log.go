package recordtest

import (
	"fmt"
	"strings"
	"sync"

	"example.com/kestrel/experiment/record"
)

// Log records events.
type Log struct {
	Mu     sync.Mutex
	Events []record.Event
	Err    error
}

// Record implements record.Recorder.
func (l *Log) Record(e *record.Event) error {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.Events = append(l.Events, *e)
	return l.Err
}

// Count counts the events of a type.
func (l *Log) Count(what record.EventType) int {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	n := 0
	for i := range l.Events {
		if l.Events[i].Type == what {
			n++
		}
	}
	return n
}

// States lists the states entered.
func (l *Log) States() []record.State {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	var out []record.State
	for i := range l.Events {
		if s := l.Events[i].State; s != nil && l.Events[i].Type == record.EventState {
			out = append(out, s.To)
		}
	}
	return out
}

// Stacks counts the notices that hold a stack with that in it.
func (l *Log) Stacks(with string) (n int) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	for i := range l.Events {
		if e := &l.Events[i]; e.Type == record.EventNotice && strings.HasPrefix(e.Notice, "the stack of the internal error is in "+
			"log.txt\ngoroutine ") && strings.Contains(e.Notice, with) {
			n++
		}
	}
	return n
}

// Course lists the evaluations, their revisions, scores and what is said of scores
// that do not come.
func (l *Log) Course() (out []string) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	for i := range l.Events {
		switch e := &l.Events[i]; {
		case e.Evaluation != nil:
			out = append(out, fmt.Sprintf("%s %d", e.Type, e.Evaluation.Index))
		case e.Type == record.EventMetrics:
			out = append(out, fmt.Sprintf("scores %d", e.Metrics[0].Evaluation))
		case e.Type == record.EventNotice && strings.Contains(e.Notice, "has no row in metrics.csv: "):
			out = append(out, strings.Fields(e.Notice)[1]+" no scores")
		}
	}
	return out
}
