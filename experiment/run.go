package experiment

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/modelfile"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/steer"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks"
)

// Snapshot is what a run looks like from outside.
type Snapshot struct {
	State      record.State
	Reason     string       // of the last transition
	Cause      record.Cause // of it
	Start      *record.Start
	Planned    int
	Evaluation *record.Evaluation // the last one, nil before the first
	Metrics    []record.Metric    // of it
	Progress   vbks.Progress
	Elapsed    time.Duration  // less pauses
	Workers    []steer.Worker // of a run of another process, where that is known
}

// Run is one goroutine that owns a trainer. All methods may be called from any
// goroutine; they wait until the order has been carried out, which is at most
// one step of the optimiser, except Wait.
type Run struct {
	workers  func() []steer.Worker // that take part; nil: the run is not served
	start    *record.Start
	notices  []string
	trainer  prepare.Trainer
	test     prepare.TestSet
	top      int
	weights  string
	budget   time.Duration
	most     int // evaluations; 0: as planned
	recorder record.Recorder
	subject  *prepare.Subject // nil: it cannot be inspected
	info     func(vbks.Candidate) (record.KernelInfo, error)
	modelled *modelfile.Of   // what a model says beside what is learned; nil: there is none
	past     *pastRun        // of a resumed run
	marks    *datasets.Marks // of the rows of its table; nil: it has none
	first    int             // rows of the table that decide what stays where others come behind them; 0: all
	stuck    func() error    // nil, or says why what was recorded is still to be written
	remarks  func() []string // nil, or what was found out while writing

	orders chan func()
	quit   chan struct{}
	once   sync.Once // closes quit
	dead   chan struct{}
	gate   gate

	// Owned by the goroutine.
	watch    stopwatch
	flight   *flight
	standing record.Standing   // as recorded, by a resumed run from its beginning on
	mistake  *guard.PanicError // of the program, that it failed by
	deadline time.Duration
	over     string         // why no more evaluations are made once the time is up
	holding  bool           // nothing new may be launched
	repeat   []record.Order // given before the run was resumed, to be carried out again

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

// NewRun makes a run of a job and starts its goroutine; Start starts the work.
// Close must be called.
func NewRun(j *prepare.Job, rec record.Recorder) *Run {
	c := &j.Config
	r := newRun(j.Trainer, j.Test, j.Start, j.Notices, c, rec)
	r.subject, r.info, r.marks, r.first = j.Subject, j.Info, j.Marks, c.Data.FirstRows
	r.modelled = &modelfile.Of{Start: j.Start, Columns: j.Columns, Scaler: j.Scaler, Spec: c.Data, Settings: c.Settings}
	return r
}

func newRun(t prepare.Trainer, test prepare.TestSet, start *record.Start, notices []string, c *config.Config, rec record.Recorder) *Run {
	r := &Run{
		start: start, notices: notices, trainer: t, test: test, recorder: rec,
		top: c.Settings.Top, weights: c.Settings.Weights, budget: c.Settings.TimeBudget, most: c.Evaluations,
		orders: make(chan func()), quit: make(chan struct{}), dead: make(chan struct{}),
		settled: make(chan struct{}),
	}
	r.watch.now = time.Now
	r.deadline = r.budget
	r.shown = Snapshot{State: record.Ready, Start: start, Planned: r.planned()}
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
			if r.budget > 0 && r.over == "" && r.shown.State == record.Running {
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
		if err == nil && before != record.Failed && r.state() == record.Failed {
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
// done. The error is a guard.PanicError.
func (r *Run) safely(f func()) error {
	err := guard.Do(func() error { f(); return nil })
	if err == nil {
		return nil
	}
	if e := guard.Do(func() error { r.gone(err); return nil }); e != nil {
		r.watch.stop()
		r.mu.Lock()
		r.shown.State, r.shown.Reason, r.shown.Cause = record.Failed, err.Error(), record.CauseInternal
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

func (r *Run) state() record.State { return r.shown.State }

// active reports whether the run goes on by itself.
func (r *Run) active() bool {
	return !r.holding && (r.state() == record.Running || r.state() == record.Paused)
}

// enter makes a transition and records it.
func (r *Run) enter(to record.State, reason string) { r.enterFor("", to, reason) }

// enterFor is enter for a cause that code goes by.
func (r *Run) enterFor(cause record.Cause, to record.State, reason string) {
	change := &record.StateChange{From: r.shown.State, To: to, Reason: reason}
	switch {
	case to == record.Running:
		r.watch.start()
	case to == record.Paused, to.Settled():
		r.watch.stop()
	}
	switch to {
	case record.Paused:
		r.gate.shut()
	case record.Stopping: // what a pause holds is abandoned there, without another step
	default:
		r.gate.open()
	}
	r.mu.Lock()
	r.shown.State, r.shown.Reason, r.shown.Cause = to, reason, cause
	r.mu.Unlock()
	r.record(&record.Event{Type: record.EventState, State: change, Cause: cause})
	if to.Settled() && r.state() == to {
		r.record(&record.Event{Type: record.EventFinished, State: change, Cause: cause})
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
func (r *Run) record(e *record.Event) {
	if r.state() == record.Failed && e.State == nil {
		return
	}
	e.V, e.Time = record.Version, time.Now().UTC()
	e.Seconds = files.Number(r.watch.elapsed().Seconds())
	for i := range e.Metrics {
		e.Metrics[i].Seconds = e.Seconds
	}
	r.standing.Apply(e)
	r.tell(r.recorder.Record(e))
	if r.remarks != nil {
		for _, text := range r.remarks() {
			r.record(&record.Event{Type: record.EventNotice, Notice: text})
		}
	}
}

// ServedTo says whom to ask for the processes that take part.
func (r *Run) ServedTo(workers func() []steer.Worker) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workers = workers
}

// Note writes an event down that came from outside: of a worker, or a notice.
func (r *Run) Note(e *record.Event) error {
	return r.do(func() error {
		r.record(e)
		return nil
	})
}

func (r *Run) tell(err error) {
	if err != nil && r.state() != record.Failed {
		r.enterFor(record.CauseUnwritable, record.Failed, fmt.Sprintf("the results cannot be written: %v", err))
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
	case r.due() && r.repeat[0].Scored > r.standing.Scored && len(r.test.Y) > 0:
		all := r.test.Sampled() && r.repeat[0].Scored >= len(r.test.Y)
		r.repeat[0].Scored = 0 // asked for once
		r.measure(all, r.next)
	case r.due():
		r.again()
	case r.over != "":
		r.end(record.CauseTimeBudget, r.over)
	case r.most > 0 && r.standing.Made >= r.most:
		r.end("", fmt.Sprintf("the budget of %s is used up", words.Count(r.most, "evaluation")))
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
	if r.gone(err) || r.state() == record.Failed {
		return
	}
	if err := r.grown(e); r.gone(err) {
		return
	}
	r.show(e, record.Order{What: record.EventEvaluation})
	for _, n := range e.Notices {
		r.notify(n)
	}
	for _, p := range e.Broken {
		r.tellStack(p)
	}
	if r.active() {
		r.score()
	}
}

// grown tells which kernels have come and gone with an evaluation, before that is told.
func (r *Run) grown(e *vbks.Evaluation) error {
	if len(e.Left) > 0 {
		r.record(&record.Event{Type: record.EventLeft, Kernels: e.Left})
	}
	var entered []record.Entered
	for _, k := range e.Entered {
		info, err := r.info(k.Candidate)
		if err != nil {
			return err
		}
		entered = append(entered, record.Entered{Kernel: info, Parent: k.Parent, Step: k.Step, LogPrior: k.LogPrior})
	}
	if len(entered) == 0 || r.state() == record.Failed {
		return nil
	}
	r.record(&record.Event{Type: record.EventEntered, Entered: entered})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.start = r.standing.Start
	r.shown.Start = r.start
	return nil
}

// notify records a notice of an evaluation.
func (r *Run) notify(n vbks.Notice) {
	e := &record.Event{Type: record.EventNotice, Notice: n.Text}
	if n.Failed {
		e.Kernel = n.Kernel
	}
	r.record(e)
}

// Blame leaves a mistake of the program that was caught outside of the run, what
// panic was called with and the stack, in the log of a run that has begun.
func (r *Run) Blame(value any, stack []byte) error {
	p := &guard.PanicError{Value: fmt.Sprint(value), Stack: stack}
	return r.do(func() error {
		if r.state() != record.Ready {
			r.record(&record.Event{Type: record.EventNotice, Notice: fmt.Sprintf("%v, outside of the run", p)})
			r.tellStack(p)
		}
		return nil
	})
}

// tellStack leaves the stack of a mistake of the program in the log.
func (r *Run) tellStack(p *guard.PanicError) {
	r.record(&record.Event{Type: record.EventNotice, Notice: fmt.Sprintf("the stack of the internal error is in %s\n%s", record.LogFile,
		p.Stack)})
}

// gone deals with work that ended in an error, and reports whether it did.
func (r *Run) gone(err error) bool {
	if err != nil && !errors.Is(err, errAborted) && r.state() != record.Failed {
		var p *guard.PanicError
		if errors.As(err, &p) {
			r.mistake = p
			r.tellStack(p)
			r.enterFor(record.CauseInternal, record.Failed,
				fmt.Sprintf("internal error, please report it with the run's %s: %s", record.LogFile, p.Line()))
		} else {
			r.enter(record.Failed, err.Error())
		}
	}
	return err != nil
}

// measure scores the test rows.
func (r *Run) measure(all bool, then func()) {
	if r.state() == record.Failed {
		return
	}
	if r.standing.Moved { // what is known predicts nothing before the next evaluation
		if r.owes() {
			r.record(&record.Event{Type: record.EventNotice, Cause: record.CauseUnscored, Notice: fmt.Sprintf(
				"evaluation %d, as it is now, has no row in %s: the inducing inputs were changed before it was scored", r.standing.Made,
				record.MetricsFile)})
		}
		then()
		return
	}
	var ms []record.Metric
	r.launch(func(ctx context.Context) (err error) {
		ms, err = r.test.Score(ctx, r.trainer, r.top, r.weights, all)
		return err
	}, func(err error) {
		if r.gone(err) || r.state() == record.Failed {
			return
		}
		if len(ms) > 0 {
			r.record(&record.Event{Type: record.EventMetrics, Metrics: ms})
			r.mu.Lock()
			r.shown.Metrics = ms
			r.mu.Unlock()
		}
		then()
	})
	r.flight.scores = true
}

// owes reports whether test rows are to be scored with what is believed now.
func (r *Run) owes() bool { return r.standing.Owed && len(r.test.Y) > 0 }

// end finishes the run, after scoring all test rows where none or only some were.
// One that was paused in its last step finishes when it is resumed.
func (r *Run) end(cause record.Cause, reason string) {
	finish := func() {
		if r.active() && r.state() == record.Running {
			r.uncalibrated()
			r.judge()
			r.enterFor(cause, record.Finished, reason)
		}
	}
	if r.owes() || r.test.Sampled() && r.standing.Scored < len(r.test.Y) {
		r.measure(true, func() { r.keepModel(finish) })
		return
	}
	r.keepModel(finish)
}

// uncalibrated tells, where the run ends before its last planned evaluation, that its
// intervals are as they are although they were to be calibrated.
func (r *Run) uncalibrated() {
	t, ok := r.trainer.(interface{ Uncalibrated() string })
	if !ok || t.Uncalibrated() == "" || r.trainer.Done() { // what an evaluation finds it tells itself
		return
	}
	r.record(&record.Event{Type: record.EventNotice, Notice: t.Uncalibrated()})
}

// judge tells what the final scores are worth.
func (r *Run) judge() {
	if r.standing.Judged || r.standing.Owed {
		return
	}
	for _, text := range r.standing.Verdict() {
		r.record(&record.Event{Type: record.EventNotice, Cause: record.CauseVerdict, Notice: text})
	}
}

// outOfTime ends the run at the end of its time budget. The evaluation under
// way is abandoned.
func (r *Run) outOfTime() {
	r.abort()
	if r.state() != record.Running {
		return
	}
	reason := fmt.Sprintf("the time budget of %s is used up", r.budget)
	if r.standing.Made == 0 {
		r.enterFor(record.CauseTimeBudget, record.Failed, reason+" before the first evaluation; allow more time or fewer kernels")
		return
	}
	r.over = reason
	r.end(record.CauseTimeBudget, reason)
}

// show records an evaluation in the units of the data, and what it rests on; o
// is the order that revised it, or the event only.
func (r *Run) show(e *vbks.Evaluation, o record.Order) {
	out, learned := r.start.Evaluation(e, r.planned()), r.learn()
	r.mu.Lock()
	r.shown.Evaluation, r.shown.Planned, r.shown.Progress = out, out.Planned, vbks.Progress{}
	r.learned = learned
	r.mu.Unlock()
	r.record(&record.Event{Type: o.What, Evaluation: out, Kernels: o.Kernels, ByItself: o.ByItself})
	if text := r.standing.Origins(); text != "" && o.What == record.EventEvaluation {
		r.record(&record.Event{Type: record.EventNotice, Notice: text})
	}
	if c, ok := r.recorder.(record.Checkpointer); ok && r.state() != record.Failed {
		r.tell(c.Checkpoint(learned))
	}
}
