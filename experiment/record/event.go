package record

import (
	"time"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/vbks"
)

// Version is the version of the event log that this program writes.
const Version = 1

// EventType names what happened.
type EventType string

const (
	EventStarted     EventType = "run-started"    // Start
	EventState       EventType = "state"          // State
	EventNotice      EventType = "notice"         // Notice
	EventEvaluation  EventType = "evaluation"     // Evaluation
	EventMetrics     EventType = "metrics"        // Metrics
	EventEffects     EventType = "effects"        // Effects: how large what the last evaluation's leader shows is
	EventPruned      EventType = "pruned"         // Kernels, and the revised Evaluation
	EventRestored    EventType = "restored"       // Kernels, and the revised Evaluation
	EventReoptimised EventType = "reoptimised"    // Change
	EventEntered     EventType = "kernel-entered" // Entered: kernels that have come with the evaluation that is told next
	EventLeft        EventType = "kernel-left"    // Kernels: those that have gone with it
	EventFinished    EventType = "finished"       // State: how it ended
	EventData        EventType = "data"           // Start, as it is from here on, and Before: another table, moved or with rows behind
	EventResumed     EventType = "resumed"        // Resumed: another process goes on with the run

	EventWorkerJoined EventType = "worker-joined" // Worker: another process takes part
	EventWorkerLost   EventType = "worker-lost"   // Worker: it has left, or is silent
)

// Event is one line of the event log. Which of the fields after Seconds are
// there depends on the type.
type Event struct {
	V       int          `json:"v"`
	Type    EventType    `json:"type"`
	Time    time.Time    `json:"time"`    // UTC
	Seconds files.Number `json:"seconds"` // wall time since the start, less pauses

	Start      *Start       `json:"start,omitempty"`
	State      *StateChange `json:"state,omitempty"`
	Notice     string       `json:"notice,omitempty"`
	Kernel     string       `json:"kernel,omitempty"` // id, of a notice that a kernel has failed; of no other notice
	Cause      Cause        `json:"cause,omitempty"`  // of a state, of the end and of a notice
	Evaluation *Evaluation  `json:"evaluation,omitempty"`
	Metrics    []Metric     `json:"metrics,omitempty"`
	Kernels    []string     `json:"kernels,omitempty"` // kernel ids
	Change     *vbks.Change `json:"change,omitempty"`
	Inducing   int          `json:"inducing,omitempty"` // inputs after the change, which may have asked for more than there are rows
	Resumed    *Resumed     `json:"resumed,omitempty"`
	Entered    []Entered    `json:"entered,omitempty"`
	Before     *Table       `json:"before,omitempty"`
	Worker     *Worker      `json:"worker,omitempty"`
	Effects    *Effects     `json:"effects,omitempty"`
	ByItself   bool         `json:"by_itself,omitempty"` // of an order: it followed by itself, see Start.Course
}

// Worker is a process that takes part in a run, which may be the run's own.
type Worker struct {
	ID      string `json:"id"`
	Name    string `json:"name"` // host and process
	Lanes   int    `json:"lanes"`
	Units   int    `json:"units"`   // of kernels, that it has done so far
	Workers int    `json:"workers"` // that there are now
}

// Table is what a run learned from before it was given another one.
type Table struct {
	Path     string `json:"path,omitempty"`
	RowsRead int    `json:"rows_read"`
	Train    int    `json:"train"`
}

// StateChange is a transition of the run.
type StateChange struct {
	From   State  `json:"from"`
	To     State  `json:"to"`
	Reason string `json:"reason"`
}

// EventAnew says that the event log was replaced and is told again from its
// beginning: what went before no longer counts. history.Follow makes it; it is in no
// log.
const EventAnew EventType = "anew"

// Redone reports whether the event is done again if no checkpoint holds it.
func (e *Event) Redone() bool {
	return e.Evaluation != nil || e.Type == EventReoptimised || e.Type == EventData || e.Type == EventEntered || e.Type == EventLeft
}
