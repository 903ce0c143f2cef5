package experiment

import (
	"encoding/json"
	"math"
	"time"

	"kestrel/datasets"
	"kestrel/vbks"
)

// EventVersion is the version of the event log that this program writes.
const EventVersion = 1

// EventType names what happened.
type EventType string

const (
	EventStarted     EventType = "run-started" // Start
	EventState       EventType = "state"       // State
	EventNotice      EventType = "notice"      // Notice
	EventEvaluation  EventType = "evaluation"  // Evaluation
	EventMetrics     EventType = "metrics"     // Metrics
	EventPruned      EventType = "pruned"      // Kernels, and the revised Evaluation
	EventRestored    EventType = "restored"    // Kernels, and the revised Evaluation
	EventReoptimised EventType = "reoptimised" // Change
	EventFinished    EventType = "finished"    // State: how it ended
	EventResumed     EventType = "resumed"     // Resumed: another process goes on with the run
)

// Event is one line of the event log. Which of the fields after Seconds are
// there depends on the type.
type Event struct {
	V       int       `json:"v"`
	Type    EventType `json:"type"`
	Time    time.Time `json:"time"`    // UTC
	Seconds Number    `json:"seconds"` // wall time since the start, less pauses

	Start      *Start       `json:"start,omitempty"`
	State      *StateChange `json:"state,omitempty"`
	Notice     string       `json:"notice,omitempty"`
	Kernel     string       `json:"kernel,omitempty"` // id, of the notice that a kernel has failed
	Cause      Cause        `json:"cause,omitempty"`  // of a state, of the end and of a notice
	Evaluation *Evaluation  `json:"evaluation,omitempty"`
	Metrics    []Metric     `json:"metrics,omitempty"`
	Kernels    []string     `json:"kernels,omitempty"` // kernel ids
	Change     *vbks.Change `json:"change,omitempty"`
	Inducing   int          `json:"inducing,omitempty"` // inputs after the change, which may have asked for more than there are rows
	Resumed    *Resumed     `json:"resumed,omitempty"`
	ByItself   bool         `json:"by_itself,omitempty"` // of an order: it followed by itself, see Start.Course
}

// Start says what the run is.
type Start struct {
	Name       string            `json:"name"`
	Seed       uint64            `json:"seed"`
	Config     string            `json:"config"` // resolved, TOML
	Build      Build             `json:"build"`
	Device     string            `json:"device"`
	DeviceKind string            `json:"device_kind,omitempty"` // "cpu" or "cuda"
	Lanes      int               `json:"lanes"`
	Data       *datasets.Summary `json:"data"`
	Inducing   int               `json:"inducing"`
	Planned    int               `json:"planned"` // evaluations
	Kernels    []KernelInfo      `json:"kernels"`
	Course     *Drive            `json:"course,omitempty"` // what follows by itself, if anything
}

// KernelInfo describes a kernel of the space.
type KernelInfo struct {
	ID     string      `json:"id"`   // canonical ASCII expression
	Name   string      `json:"name"` // for reading
	Weight float64     `json:"weight"`
	Params []ParamInfo `json:"params"`
	Fixed  []Fixed     `json:"fixed,omitempty"` // places that are not optimised, such as LIN's centre
}

// ParamInfo describes a hyperparameter. The last one of a kernel is its noise
// variance.
type ParamInfo struct {
	Name   string  `json:"name"` // "PER.period", "SE#2.variance"
	Column string  `json:"column,omitempty"`
	Unit   string  `json:"unit,omitempty"`
	Scale  float64 `json:"scale"`           // standardised value to data units
	Fixed  bool    `json:"fixed,omitempty"` // another amplitude carries its scale
}

// Fixed is a parameter whose value the data decide.
type Fixed struct {
	Name   string  `json:"name"`
	Column string  `json:"column"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitempty"`
}

// StateChange is a transition of the run.
type StateChange struct {
	From   State  `json:"from"`
	To     State  `json:"to"`
	Reason string `json:"reason"`
}

// Evaluation is what was known after a round, in the space's order.
type Evaluation struct {
	Index      int      `json:"index"` // counted from 1
	Planned    int      `json:"planned"`
	Proportion float64  `json:"proportion"`
	RowsSeen   int      `json:"rows_seen"`
	Objective  Number   `json:"objective"` // total ELBO
	Kernels    []Kernel `json:"kernels"`
}

// Kernel is one kernel in an evaluation.
type Kernel struct {
	ID     string      `json:"id"`
	Status vbks.Status `json:"status"`
	Reason string      `json:"reason,omitempty"`
	Fit    *Fit        `json:"fit,omitempty"` // of live kernels
}

// Fit holds a live kernel's numbers.
type Fit struct {
	Posterior Number   `json:"posterior"`
	Bayes     Number   `json:"bayes"`
	ELBO      Number   `json:"elbo"` // nats, of the standardised targets
	SE        Number   `json:"se"`
	Rank      int      `json:"rank"`
	Tied      bool     `json:"tied,omitempty"`
	Source    string   `json:"source,omitempty"`
	Params    []Number `json:"params"`       // in data units, as KernelInfo.Params
	SD        []Number `json:"sd,omitempty"` // of their logarithms, under q(log θ)
}

// Leader returns the kernel ranked first, nil if none is live.
func (e *Evaluation) Leader() *Kernel {
	for i := range e.Kernels {
		if f := e.Kernels[i].Fit; f != nil && f.Rank == 1 {
			return &e.Kernels[i]
		}
	}
	return nil
}

// Below returns the ids of the live kernels that rank below the first k.
func (e *Evaluation) Below(k int) []string {
	var ids []string
	for i := range e.Kernels {
		if f := e.Kernels[i].Fit; f != nil && f.Rank > k {
			ids = append(ids, e.Kernels[i].ID)
		}
	}
	return ids
}

// Metric is how well a method predicts the test rows, in data units.
type Metric struct {
	Evaluation int     `json:"evaluation"`
	Proportion float64 `json:"proportion"`
	Seconds    Number  `json:"seconds"`
	Method     string  `json:"method"`  // "vbks": averaged; "vbks-s": the best kernel
	Kernels    int     `json:"kernels"` // averaged
	RMSE       Number  `json:"rmse"`
	MAE        Number  `json:"mae"`
	NLPD       Number  `json:"nlpd"`
	Coverage95 Number  `json:"coverage95"`
	TestRows   int     `json:"test_rows"`
	Coverage50 Number  `json:"coverage50"` // NaN in the logs of older versions, as Coverage80
	Coverage80 Number  `json:"coverage80"`
}

// UnmarshalJSON implements json.Unmarshaler: a share that is not there is not
// known.
func (m *Metric) UnmarshalJSON(text []byte) error {
	type plain Metric
	nan := Number(math.NaN())
	p := plain{Coverage50: nan, Coverage80: nan, Coverage95: nan}
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	*m = Metric(p)
	return nil
}

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
