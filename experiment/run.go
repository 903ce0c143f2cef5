package experiment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"kestrel/internal/guard"
	"kestrel/vbks"
)

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

// Snapshot is what a run looks like from outside.
type Snapshot struct {
	State      State
	Reason     string // of the last transition
	Cause      Cause  // of it
	Start      *Start
	Planned    int
	Evaluation *Evaluation // the last one, nil before the first
	Metrics    []Metric    // of it
	Progress   vbks.Progress
	Elapsed    time.Duration // less pauses
}

// Checkpointer is a Recorder that keeps what has been learned.
type Checkpointer interface {
	Checkpoint(arrays map[string]vbks.Tensor) error
}

// Run is one goroutine that owns a trainer. All methods may be called from any
// goroutine; they wait until the order has been carried out, which is at most
// one step of the optimiser, except Wait.
type Run struct {
	start    *Start
	notices  []string
	trainer  trainer
	test     testSet
	top      int
	weights  string
	budget   time.Duration
	most     int // evaluations; 0: as planned
	recorder Recorder
	subject  *subject     // nil: it cannot be inspected
	past     *past        // of a resumed run
	stuck    func() error // nil, or says why what was recorded is still to be written

	orders chan func()
	quit   chan struct{}
	once   sync.Once // closes quit
	dead   chan struct{}
	gate   gate

	// Owned by the goroutine.
	watch    stopwatch
	flight   *flight
	standing Standing // as recorded, by a resumed run from its beginning on
	deadline time.Duration
	over     string  // why no more evaluations are made once the time is up
	holding  bool    // nothing new may be launched
	repeat   []Order // given before the run was resumed, to be carried out again

	mu      sync.Mutex
	shown   Snapshot
	learned map[string]vbks.Tensor // what shown.Evaluation rests on
	settled chan struct{}          // closed while the state is settled
}

// flight is a piece of work that another goroutine does on the trainer.
type flight struct {
	cancel context.CancelCauseFunc
	done   chan func() // what the owner does with the result
	scores bool        // it scores the test rows
}

var (
	errAborted = errors.New("abandoned")
	errClosed  = errors.New("the run has been closed")
)

// errNoResults is below the error of a question to a run without an evaluation.
var errNoResults = errors.New("there is no evaluation yet")

// NewRun makes a run of a job and starts its goroutine; Start starts the work.
// Close must be called.
func NewRun(j *Job, rec Recorder) *Run {
	c := &j.Config
	r := newRun(j.trainer, j.test, j.Start, j.Notices, c, rec)
	r.subject = j.subject
	return r
}

func newRun(t trainer, test testSet, start *Start, notices []string, c *Config, rec Recorder) *Run {
	r := &Run{
		start: start, notices: notices, trainer: t, test: test, recorder: rec,
		top: c.Settings.Top, weights: c.Settings.Weights, budget: c.Settings.TimeBudget, most: c.Evaluations,
		orders: make(chan func()), quit: make(chan struct{}), dead: make(chan struct{}),
		settled: make(chan struct{}),
	}
	r.watch.now = time.Now
	r.deadline = r.budget
	r.shown = Snapshot{State: Ready, Start: start, Planned: r.planned()}
	t.SetGate(r.gate.pass)
	t.SetProgress(func(p vbks.Progress) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.shown.Progress = p
	})
	go r.loop()
	return r
}

// loop is the goroutine that owns the run.
func (r *Run) loop() {
	defer close(r.dead)
	for {
		var landed chan func()
		var late <-chan time.Time
		var alarm *time.Timer
		if r.flight != nil {
			landed = r.flight.done
			if r.budget > 0 && r.over == "" && r.shown.State == Running {
				alarm = time.NewTimer(r.deadline - r.watch.elapsed())
				late = alarm.C
			}
		}
		select {
		case order := <-r.orders:
			order()
		case then := <-landed:
			r.flight = nil
			r.safely(then)
			r.signal()
		case <-late:
			r.safely(r.outOfTime)
			r.signal()
		case <-r.quit:
			r.safely(r.abort)
			return
		}
		if alarm != nil {
			alarm.Stop()
		}
	}
}

// do carries out an order on the goroutine.
func (r *Run) do(order func() error) error {
	result := make(chan error, 1)
	select {
	case r.orders <- func() {
		before := r.state()
		var err error
		mistake := r.safely(func() {
			err = order()
			var p *guard.PanicError
			if errors.As(err, &p) { // caught below; the order is refused
				r.tellStack(p)
			}
		})
		if err == nil && before != Failed && r.state() == Failed {
			err = r.failure()
		} else if err == nil {
			err = mistake
		}
		r.signal()
		result <- err
	}:
		return <-result
	case <-r.dead:
		return errClosed
	}
}

// launch lets another goroutine work on the trainer; then is run by the owner
// with the result.
func (r *Run) launch(work func(context.Context) error, then func(error)) {
	ctx, cancel := context.WithCancelCause(context.Background())
	f := &flight{cancel: cancel, done: make(chan func(), 1)}
	r.flight = f
	go func() {
		err := guard.Do(func() error { return work(ctx) })
		cancel(nil)
		f.done <- func() { then(err) }
	}()
}

// safely runs f on the goroutine that owns the run. After a panic there the run
// may be in any condition: it has failed, which is told if that can still be
// done. The error is a PanicError.
func (r *Run) safely(f func()) error {
	err := guard.Do(func() error { f(); return nil })
	if err == nil {
		return nil
	}
	if e := guard.Do(func() error { r.gone(err); return nil }); e != nil {
		r.watch.stop()
		r.mu.Lock()
		r.shown.State, r.shown.Reason = Failed, err.Error()
		r.mu.Unlock()
	}
	if r.flight != nil {
		r.flight.cancel(errAborted)
	}
	return err
}

// abort ends the work in flight within one step. What it had completed by then
// is taken over, but nothing new is launched.
func (r *Run) abort() {
	if r.flight == nil {
		return
	}
	r.holding = true
	r.flight.cancel(errAborted)
	then := <-r.flight.done
	r.flight = nil
	then()
	r.holding = false
}

func (r *Run) state() State { return r.shown.State }

// active reports whether the run goes on by itself.
func (r *Run) active() bool {
	return !r.holding && (r.state() == Running || r.state() == Paused)
}

// enter makes a transition and records it.
func (r *Run) enter(to State, reason string) { r.enterFor("", to, reason) }

// enterFor is enter for a cause that code goes by.
func (r *Run) enterFor(cause Cause, to State, reason string) {
	change := &StateChange{From: r.shown.State, To: to, Reason: reason}
	switch {
	case to == Running:
		r.watch.start()
	case to == Paused, to.Settled():
		r.watch.stop()
	}
	switch to {
	case Paused:
		r.gate.shut()
	case Stopping: // what a pause holds is abandoned there, without another step
	default:
		r.gate.open()
	}
	r.mu.Lock()
	r.shown.State, r.shown.Reason, r.shown.Cause = to, reason, cause
	r.mu.Unlock()
	r.record(&Event{Type: EventState, State: change, Cause: cause})
	if to.Settled() && r.state() == to {
		r.record(&Event{Type: EventFinished, State: change, Cause: cause})
	}
}

// signal lets Wait return, or hold again.
func (r *Run) signal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	closed := false
	select {
	case <-r.settled:
		closed = true
	default:
	}
	if rest := r.shown.State.Settled() && r.flight == nil; rest && !closed {
		close(r.settled)
	} else if !rest && closed {
		r.settled = make(chan struct{})
	}
}

// record tells the recorder. If that fails, so does the run, and a run that has
// failed has no more to tell than that.
func (r *Run) record(e *Event) {
	if r.state() == Failed && e.State == nil {
		return
	}
	e.V, e.Time = EventVersion, time.Now().UTC()
	e.Seconds = Number(r.watch.elapsed().Seconds())
	for i := range e.Metrics {
		e.Metrics[i].Seconds = e.Seconds
	}
	r.standing.Apply(e)
	r.tell(r.recorder.Record(e))
}

func (r *Run) tell(err error) {
	if err != nil && r.state() != Failed {
		r.enterFor(CauseUnwritable, Failed, fmt.Sprintf("the results cannot be written: %v", err))
		if r.flight != nil {
			r.flight.cancel(errAborted)
		}
	}
}

// planned returns the number of evaluations in all.
func (r *Run) planned() int {
	if n := r.trainer.Planned(); r.most == 0 || n < r.most {
		return n
	}
	return r.most
}

// next decides what to do after a piece of work, while running or paused.
func (r *Run) next() {
	if !r.active() || r.flight != nil || r.stuckNow() {
		return
	}
	switch {
	case r.due():
		r.again()
	case r.over != "":
		r.end(CauseTimeBudget, r.over)
	case r.most > 0 && r.standing.Made >= r.most:
		r.end("", fmt.Sprintf("the budget of %d evaluations is used up", r.most))
	case r.trainer.Done():
		r.end("", "all planned evaluations are done")
	default:
		var e *vbks.Evaluation
		r.launch(func(ctx context.Context) (err error) {
			e, err = r.trainer.Next(ctx)
			return err
		}, func(err error) { r.evaluated(e, err) })
	}
}

// evaluated takes an evaluation over.
func (r *Run) evaluated(e *vbks.Evaluation, err error) {
	if r.gone(err) || r.state() == Failed {
		return
	}
	r.show(e, Order{What: EventEvaluation})
	for _, n := range e.Notices {
		r.record(&Event{Type: EventNotice, Notice: n, Kernel: e.FailureTold(n)})
	}
	for _, p := range e.Broken {
		r.tellStack(p)
	}
	if r.active() {
		r.measure(false, r.next)
	}
}

// Blame leaves a mistake of the program that was caught outside of the run, what
// panic was called with and the stack, in the log of a run that has begun.
func (r *Run) Blame(value any, stack []byte) error {
	p := &guard.PanicError{Value: fmt.Sprint(value), Stack: stack}
	return r.do(func() error {
		if r.state() != Ready {
			r.record(&Event{Type: EventNotice, Notice: fmt.Sprintf("%v, outside of the run", p)})
			r.tellStack(p)
		}
		return nil
	})
}

// tellStack leaves the stack of a mistake of the program in the log.
func (r *Run) tellStack(p *guard.PanicError) {
	r.record(&Event{Type: EventNotice, Notice: fmt.Sprintf("the stack of the internal error is in %s\n%s", logFile, p.Stack)})
}

// gone deals with work that ended in an error, and reports whether it did.
func (r *Run) gone(err error) bool {
	if err != nil && !errors.Is(err, errAborted) && r.state() != Failed {
		var p *guard.PanicError
		if errors.As(err, &p) {
			r.tellStack(p)
			r.enterFor(CauseInternal, Failed, fmt.Sprintf("internal error, please report it with the run's %s: %s", logFile,
				strings.TrimPrefix(p.Error(), "internal error: ")))
		} else {
			r.enter(Failed, err.Error())
		}
	}
	return err != nil
}

// measure scores the test rows.
func (r *Run) measure(all bool, then func()) {
	if r.state() == Failed {
		return
	}
	if r.standing.Moved { // what is known predicts nothing before the next evaluation
		if r.owes() {
			r.record(&Event{Type: EventNotice, Cause: CauseUnscored, Notice: fmt.Sprintf(
				"evaluation %d, as it is now, has no row in %s: the inducing inputs were changed before it was scored", r.standing.Made, metricsFile)})
		}
		then()
		return
	}
	var ms []Metric
	r.launch(func(ctx context.Context) (err error) {
		ms, err = r.test.score(ctx, r.trainer, r.top, r.weights, all)
		return err
	}, func(err error) {
		if r.gone(err) || r.state() == Failed {
			return
		}
		if len(ms) > 0 {
			r.record(&Event{Type: EventMetrics, Metrics: ms})
			r.mu.Lock()
			r.shown.Metrics = ms
			r.mu.Unlock()
		}
		then()
	})
	r.flight.scores = true
}

// owes reports whether test rows are to be scored with what is believed now.
func (r *Run) owes() bool { return r.standing.Owed && len(r.test.y) > 0 }

// end finishes the run, after scoring all test rows where none or only some were.
// One that was paused in its last step finishes when it is resumed.
func (r *Run) end(cause Cause, reason string) {
	finish := func() {
		if r.active() && r.state() == Running {
			r.enterFor(cause, Finished, reason)
		}
	}
	if r.owes() || r.test.sampled() && r.standing.Scored < len(r.test.y) {
		r.measure(true, finish)
		return
	}
	finish()
}

// outOfTime ends the run at the end of its time budget. The evaluation under
// way is abandoned.
func (r *Run) outOfTime() {
	r.abort()
	if r.state() != Running {
		return
	}
	reason := fmt.Sprintf("the time budget of %s is used up", r.budget)
	if r.standing.Made == 0 {
		r.enterFor(CauseTimeBudget, Failed, reason+" before the first evaluation; allow more time or fewer kernels")
		return
	}
	r.over = reason
	r.end(CauseTimeBudget, reason)
}

// show records an evaluation in the units of the data, and what it rests on; o
// is the order that revised it, or the event only.
func (r *Run) show(e *vbks.Evaluation, o Order) {
	out, learned := r.start.evaluation(e, r.planned()), r.learn()
	r.mu.Lock()
	r.shown.Evaluation, r.shown.Planned, r.shown.Progress = out, out.Planned, vbks.Progress{}
	r.learned = learned
	r.mu.Unlock()
	r.record(&Event{Type: o.What, Evaluation: out, Kernels: o.Kernels, ByItself: o.ByItself})
	if c, ok := r.recorder.(Checkpointer); ok && r.state() != Failed {
		r.tell(c.Checkpoint(learned))
	}
}

// evaluation converts an evaluation to the units of the data.
func (s *Start) evaluation(e *vbks.Evaluation, planned int) *Evaluation {
	out := &Evaluation{
		Index: e.Index, Planned: planned, Proportion: e.Proportion, RowsSeen: e.RowsSeen, Objective: Number(e.Objective),
		Kernels: make([]Kernel, len(e.Kernels)),
	}
	for i := range e.Kernels {
		k := &e.Kernels[i]
		out.Kernels[i] = Kernel{ID: k.ID, Status: k.Status, Reason: k.Reason}
		if k.Status != vbks.Live {
			continue
		}
		f := &Fit{
			Posterior: Number(k.Posterior), Bayes: Number(k.Bayes), ELBO: Number(k.ELBO), SE: Number(k.SE),
			Rank: k.Rank, Tied: k.Tied, Source: k.Source,
		}
		layout := s.Kernels[i].Params
		uncertain := false
		for p, v := range k.Params {
			f.Params = append(f.Params, Number(v.Value*layout[p].Scale))
			f.SD = append(f.SD, Number(v.SD))
			uncertain = uncertain || v.SD != 0
		}
		f.Params = append(f.Params, Number(k.Noise*layout[len(k.Params)].Scale))
		if !uncertain {
			f.SD = nil
		}
		out.Kernels[i].Fit = f
	}
	return out
}
