package experiment

import (
	"context"
	"errors"
	"fmt"

	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/steer"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/vbks"
)

// Start begins a run that is ready.
func (r *Run) Start() error {
	return r.do(func() error {
		if s := r.state(); s != record.Ready {
			return fmt.Errorf("the run is %s and cannot be started", s)
		}
		if r.past != nil {
			return r.goOn()
		}
		r.watch.start()
		r.record(&record.Event{Type: record.EventStarted, Start: r.start})
		for _, n := range r.notices {
			r.record(&record.Event{Type: record.EventNotice, Notice: n})
		}
		if r.state() == record.Failed {
			return errors.New(r.shown.Reason)
		}
		r.enter(record.Running, "started")
		r.next()
		return nil
	})
}

// Pause holds a running run within one step of the optimiser; the work under
// way is kept.
func (r *Run) Pause() error {
	return r.do(func() error {
		if s := r.state(); s != record.Running {
			return fmt.Errorf("the run is %s and cannot be paused", s)
		}
		r.enter(record.Paused, "paused by the user")
		return nil
	})
}

// Resume lets a paused run go on.
func (r *Run) Resume() error {
	return r.do(func() error {
		if s := r.state(); s != record.Paused {
			return fmt.Errorf("the run is %s and cannot be resumed", s)
		}
		r.enter(record.Running, "resumed by the user")
		r.next()
		return nil
	})
}

// Stop ends a run within one step of the optimiser. The evaluation under way
// is abandoned. A run that is at rest stays as it is.
func (r *Run) Stop(reason string) error {
	return r.do(func() error {
		if r.state().Settled() {
			return nil
		}
		r.enter(record.Stopping, reason)
		r.abort()
		if r.state() == record.Stopping {
			r.enter(record.Stopped, reason)
		}
		return nil
	})
}

// Prune takes kernels out of the space; the belief over the others is refitted
// from what is known. An evaluation under way is begun anew without them.
func (r *Run) Prune(ids []string) error { return r.prune(ids, false) }

func (r *Run) prune(ids []string, byItself bool) error {
	return r.revise(record.Order{What: record.EventPruned, Kernels: ids, ByItself: byItself})
}

// Restore takes pruned kernels back, as they were.
func (r *Run) Restore(ids []string) error {
	return r.revise(record.Order{What: record.EventRestored, Kernels: ids})
}

func (r *Run) revise(o record.Order) error {
	return r.do(func() error {
		again, err := r.interrupt()
		if err != nil {
			return err
		}
		if err := r.carryOut(o); err != nil {
			again()
			return err
		}
		r.measure(r.state().Settled(), r.next)
		return nil
	})
}

// Reoptimize lets the surviving kernels go on from where they are with what
// the change asks for, also after the run has stopped or finished.
func (r *Run) Reoptimize(c vbks.Change) error { return r.reoptimize(c, false) }

func (r *Run) reoptimize(c vbks.Change, byItself bool) error {
	return r.do(func() error {
		again, err := r.interrupt()
		if err != nil {
			return err
		}
		if err := r.carryOut(record.Order{What: record.EventReoptimised, Change: &c, ByItself: byItself}); err != nil {
			again()
			return err
		}
		if s := r.state(); s.Settled() && s != record.Failed || s == record.Paused {
			reason := "re-optimised by the user"
			if byItself {
				reason = "re-optimised, as asked for at the start"
			}
			r.enter(record.Running, reason)
		}
		r.catchUp()
		return nil
	})
}

// catchUp goes on after a re-optimisation, or where a run is taken up: what is
// known is scored first if the order or the cut came before that was done.
func (r *Run) catchUp() {
	if r.owes() && !r.due() {
		r.measure(false, r.next)
	} else {
		r.next()
	}
}

// carryOut carries an order out on a trainer at rest and records it.
func (r *Run) carryOut(o record.Order) error {
	switch o.What {
	case record.EventReoptimised:
		return r.reoptimizeNow(o)
	case record.EventData:
		return r.giveTable(o)
	}
	change := r.trainer.Prune
	if o.What == record.EventRestored {
		change = r.trainer.Restore
	}
	e, err := change(o.Kernels)
	if err != nil {
		return err
	}
	r.show(e, o)
	return nil
}

func (r *Run) reoptimizeNow(o record.Order) error {
	c := *o.Change
	before := r.trainer.Planned()
	if err := r.trainer.Reoptimize(c); err != nil {
		return err
	}
	r.allow(max(c.Rounds, r.trainer.Planned()-before))
	r.mu.Lock()
	r.shown.Planned, r.shown.Progress = r.planned(), vbks.Progress{}
	r.mu.Unlock()
	r.record(&record.Event{Type: record.EventReoptimised, Change: &c, Inducing: r.trainer.Inducing(), ByItself: o.ByItself})
	if text := r.standing.Growing(); text != "" && c.Grow == vbks.GrowOn {
		if size := prepare.Memory(r.start); size > 0 {
			text += ", " + words.Megabytes(size)
		}
		r.record(&record.Event{Type: record.EventNotice, Notice: text})
	}
	return nil
}

// allow lets an order be worth more than the budget: so many evaluations, in as much
// time as the run began with.
func (r *Run) allow(more int) {
	if r.most > 0 {
		r.most = max(r.most, r.standing.Made+more)
	}
	if r.budget > 0 {
		r.deadline, r.over = r.watch.elapsed()+r.budget, ""
	}
}

// interrupt brings the trainer to rest so that an order can change it; again
// takes the work up where the order is refused.
func (r *Run) interrupt() (again func(), err error) {
	switch s := r.state(); {
	case s == record.Failed:
		return nil, r.failure()
	case s == record.Ready || r.standing.Made == 0:
		return nil, record.ErrNoResults
	}
	made, scoring := r.standing.Made, r.flight != nil && r.flight.scores
	again = func() {
		if r.owes() && (scoring || r.standing.Made > made) {
			r.measure(r.state().Settled(), r.next)
		} else {
			r.next()
		}
	}
	r.abort()
	if r.state() == record.Failed {
		return nil, r.failure()
	}
	return again, nil
}

// failure is the answer to an order that a failed run cannot carry out, or
// failed over.
func (r *Run) failure() error { return fmt.Errorf("the run has failed: %s", r.shown.Reason) }

// Snapshot returns what the run looks like now. What it points to is not
// changed any more.
func (r *Run) Snapshot() Snapshot {
	var elapsed Snapshot
	err := r.do(func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		elapsed = r.shown
		elapsed.Elapsed = r.watch.elapsed()
		return nil
	})
	if err != nil { // closed: nothing changes any more
		r.mu.Lock()
		defer r.mu.Unlock()
		elapsed = r.shown
		elapsed.Elapsed = r.watch.elapsed()
	}
	return elapsed
}

// Status implements steer.Run.
func (r *Run) Status() (steer.Status, error) {
	now := r.Snapshot()
	s := steer.Status{State: now.State, Elapsed: now.Elapsed, Progress: now.Progress}
	r.mu.Lock()
	workers := r.workers
	r.mu.Unlock()
	if workers != nil {
		s.Workers = workers()
	}
	if now.Evaluation == nil {
		return s, nil
	}
	for i := range now.Evaluation.Kernels {
		if k := &now.Evaluation.Kernels[i]; k.Status == vbks.Pruned {
			s.Pruned = append(s.Pruned, k.ID)
		}
	}
	return s, nil
}

// Wait waits until the run is stopped, finished or failed, or ctx ends.
func (r *Run) Wait(ctx context.Context) (Snapshot, error) {
	for {
		r.mu.Lock()
		settled := r.settled
		r.mu.Unlock()
		select {
		case <-settled:
			return r.Snapshot(), nil
		case <-r.dead:
			return r.Snapshot(), errClosed
		case <-ctx.Done():
			return r.Snapshot(), context.Cause(ctx)
		}
	}
}

// Close ends the goroutine. A run that is not at rest is stopped first.
func (r *Run) Close() error {
	err := r.Stop("closed")
	if errors.Is(err, errClosed) {
		return nil
	}
	r.once.Do(func() { close(r.quit) })
	<-r.dead
	return err
}
