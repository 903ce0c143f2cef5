package record

import (
	"cmp"
	"slices"
	"time"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/vbks"
)

// Standing is how a run stands, as its events say: the one place where it is
// decided what an event changes. The run applies what it records, a resumed one
// what it reads, and all who show a run what they are told. The zero value is a
// run of which nothing is known; the fields are to be read only. What events
// point to is kept and must not change any more.
type Standing struct {
	State      State        `json:"state"` // the last one written down
	Reason     string       `json:"reason"`
	Cause      Cause        `json:"-"` // of the state
	Started    time.Time    `json:"started"`
	Time       time.Time    `json:"last"`    // of the last event
	Seconds    files.Number `json:"seconds"` // wall time less pauses, at the last event
	Start      *Start       `json:"start,omitempty"`
	Inducing   []int        `json:"inducing,omitempty"`   // inputs, of the start and after changes
	Made       int          `json:"evaluations"`          // of those told
	Evaluation *Evaluation  `json:"evaluation,omitempty"` // the last one, as revised; nil before the first
	Lead       Lead         `json:"lead"`
	Metrics    []Metric     `json:"metrics,omitempty"` // the last ones
	Effects    *Effects     `json:"-"`                 // of the last evaluation's leader, nil where they are not known

	Ended  bool         `json:"-"` // the event of the state's being the last is there
	Worked files.Number `json:"-"` // Seconds at the last evaluation or its revision
	Owed   bool         `json:"-"` // the last evaluation or its revision has not been scored and may still be
	Moved  bool         `json:"-"` // the inducing inputs are not those of the last evaluation any more
	Judged bool         `json:"-"` // the verdict on the last metrics has been told
	Scored int          `json:"-"` // test rows on which the last evaluation or its revision was scored; 0: it was not
	Family Family       `json:"-"` // of the kernels
	Orders []Order      `json:"-"` // that changed what is learned, in their order

	Pending []Order `json:"-"` // given before the run was resumed, and not yet again

	front     *vbks.Front // of the last evaluation in which the space grew
	foresight foresight
	tempo     tempo
	closing   closing
}

// Order is one that changes what is learned.
type Order struct {
	What     EventType    `json:"what"`                // EventPruned, EventRestored, EventReoptimised or EventData
	Kernels  []string     `json:"kernels,omitempty"`   // of the first two
	Change   *vbks.Change `json:"change,omitempty"`    // of the third
	Start    *Start       `json:"start,omitempty"`     // of the last: as it is with another table
	ByItself bool         `json:"by_itself,omitempty"` // as Event.ByItself
	After    int          `json:"after"`               // evaluations before it
	Scored   int          `json:"scored,omitempty"`    // test rows that what was believed then had been scored on
}

// is reports whether two orders ask for the same.
func (o *Order) is(other *Order) bool {
	return o.What == other.What && o.ByItself == other.ByItself && slices.Equal(o.Kernels, other.Kernels) &&
		(o.Change == nil) == (other.Change == nil) && (o.Change == nil || *o.Change == *other.Change)
}

// Apply takes the next event in. One that lacks what its type promises changes
// the clock only.
func (s *Standing) Apply(e *Event) {
	if e.Type == EventAnew {
		*s = Standing{}
		return
	}
	if s.State == "" {
		s.Started, s.State = e.Time, Ready
	}
	s.Time, s.Seconds = e.Time, e.Seconds
	if e.Missing() != "" {
		return
	}
	scored := s.Scored
	if s.Owed {
		scored = 0
	}
	switch e.Type {
	case EventStarted:
		s.Start, s.Inducing = e.Start, []int{e.Start.Inducing}
		s.foresight, s.tempo, s.closing = foresee(e.Start), tempo{}, closing{}
	case EventData:
		s.Start, s.Ended = e.Start, false
		s.foresight = foresee(e.Start)
		s.foresight.began = slices.DeleteFunc(s.foresight.began, s.Family.came)
		s.ordered(Order{What: e.Type, Start: e.Start, After: s.Made, Scored: scored})
	case EventEntered:
		began := s.Start // before they are in it
		s.Start = s.Start.with(e.Entered)
		s.Family.enter(e.Entered, s.Made+1, func(id string) bool { return began != nil && began.Kernel(id) != nil })
	case EventLeft:
		s.Family.leave(e.Kernels, s.Made)
	case EventState:
		s.State, s.Reason, s.Cause, s.Ended = e.State.To, e.State.Reason, e.Cause, false
	case EventFinished:
		s.Ended = true
	case EventEvaluation:
		s.Made++
		s.Moved = false
		s.Inducing = appendInducing(s.Inducing, e.Evaluation.Inducing)
		if s.State == Ready { // who reads the end of a log only may not have seen it begin
			s.State = Running
		}
		s.tempo.take(float64(e.Seconds-s.Worked), s.foresight.made(e.Evaluation))
		s.closing.take(e.Evaluation)
		s.revise(e)
	case EventPruned, EventRestored:
		s.revise(e)
		s.ordered(Order{What: e.Type, Kernels: e.Kernels, ByItself: e.ByItself, After: s.Made, Scored: scored})
	case EventReoptimised:
		before := len(s.Inducing)
		s.Inducing = changedInducing(s.Inducing, e)
		s.Moved = s.Moved || len(s.Inducing) > before
		s.Ended = false // it goes on
		s.ordered(Order{What: e.Type, Change: e.Change, ByItself: e.ByItself, After: s.Made, Scored: scored})
	case EventResumed:
		s.Pending = e.Resumed.Pending
	case EventMetrics:
		s.Metrics, s.Scored, s.Owed, s.Judged = e.Metrics, e.Metrics[0].TestRows, false, false
	case EventEffects:
		s.Effects = e.Effects
	case EventNotice:
		if e.Cause == CauseUnscored {
			s.Owed = false
		}
		s.Judged = s.Judged || e.Cause == CauseVerdict
	}
}

// ordered takes an order in. One that was pending is not any more, nor are those before
// it, which could not be carried out.
func (s *Standing) ordered(o Order) {
	s.Orders = append(s.Orders, o)
	if i := slices.IndexFunc(s.Pending, func(p Order) bool { return p.is(&o) }); i >= 0 {
		s.Pending = s.Pending[i+1:]
	}
}

// revise takes over what is believed now, which has not been scored.
func (s *Standing) revise(e *Event) {
	s.Evaluation, s.Worked, s.Effects = e.Evaluation, e.Seconds, nil
	s.Owed, s.Scored = true, 0
	if f := e.Evaluation.Front; f != nil {
		s.front = f
	}
	s.Lead.Take(e.Evaluation)
	s.Family.compare(e.Evaluation)
}

// Refined reports whether the re-optimising that follows by itself has been
// ordered.
func (s *Standing) Refined() bool {
	refines := func(o Order) bool { return o.What == EventReoptimised && o.ByItself }
	return slices.ContainsFunc(s.Orders, refines) || slices.ContainsFunc(s.Pending, refines)
}

// changedInducing adds what a re-optimisation made of the number of inducing
// inputs, if it asked for another. Older logs have what was asked for only.
func changedInducing(had []int, e *Event) []int {
	if e.Change.Inducing == 0 {
		return had
	}
	return appendInducing(had, cmp.Or(e.Inducing, e.Change.Inducing))
}

// appendInducing adds a number of inducing inputs that is known and another one.
func appendInducing(had []int, now int) []int {
	if now <= 0 || len(had) > 0 && had[len(had)-1] == now {
		return had
	}
	return append(slices.Clip(had), now)
}
