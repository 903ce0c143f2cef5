package experiment

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// note keeps what follows by itself in the run's first event.
func (r *Run) note(d Drive) error {
	return r.do(func() error {
		if d == (Drive{}) || r.state() != Ready || r.past != nil {
			return nil
		}
		start := *r.start
		start.Course = &d
		r.mu.Lock()
		defer r.mu.Unlock()
		r.start, r.shown.Start = &start, &start
		return nil
	})
}

// takeUp gives a run that is ready its past.
func (r *Run) takeUp(p *past) error {
	return r.do(func() error {
		r.past, r.repeat, r.standing, p.now = p, p.orders(), p.stays, r.start
		if p.kept > 0 {
			r.start = p.start
		} else if p.start != nil {
			start := *r.start
			start.Course = p.start.Course
			r.start = &start
		}
		if s := p.saved; s != nil {
			r.most, r.deadline = s.most, s.deadline
		}
		r.watch.before = time.Duration(float64(p.stays.Seconds) * float64(time.Second))
		r.mu.Lock()
		defer r.mu.Unlock()
		r.shown.Start, r.shown.Planned = r.start, r.planned()
		if e := r.trainer.Last(); e != nil {
			r.shown.Evaluation, r.learned = r.start.evaluation(e, r.planned()), r.learn()
		}
		return nil
	})
}

// goOn starts a run that has a past.
func (r *Run) goOn() error {
	p := r.past
	r.watch.start()
	if p.kept == 0 {
		r.record(&Event{Type: EventStarted, Start: r.start})
	}
	now, then := p.now, r.start
	last := 0
	if e := r.trainer.Last(); e != nil {
		last = e.Index
	}
	r.record(&Event{Type: EventResumed, Resumed: &Resumed{
		Evaluation: last, Repeated: p.repeated, Orders: len(r.repeat), Build: now.Build, Device: now.Device, Lanes: now.Lanes,
	}})
	if now.Device != then.Device || now.Build != then.Build {
		p.notices = append(p.notices, fmt.Sprintf("begun with kestrel %s on %s: the last digits may differ from those of a run that was not interrupted", then.Build, then.Device))
	}
	for _, n := range p.notices {
		r.record(&Event{Type: EventNotice, Notice: n})
	}
	if p.lost && r.state() != Failed {
		r.show(r.trainer.Last(), Order{What: p.saved.rest.what, Kernels: p.saved.rest.kernels})
	}
	// What had not been said when the run was cut off.
	e, notices := r.trainer.Last(), r.notices
	if e != nil {
		notices = nil
		if p.saved.rest.what == EventEvaluation {
			notices = e.Notices
		}
	}
	for _, n := range notices {
		if !slices.Contains(p.told, n) {
			r.record(&Event{Type: EventNotice, Notice: n, Kernel: e.FailureTold(n)})
		}
	}
	if r.state() == Failed {
		return errors.New(r.shown.Reason)
	}
	r.enter(Running, "resumed")
	// A pruning given before the test rows were scored is at once followed by
	// their scoring.
	r.catchUp()
	return nil
}

// due reports whether an order of the past is to be carried out now.
func (r *Run) due() bool { return len(r.repeat) > 0 && r.repeat[0].After <= r.standing.Made }

// again carries out an order that was given before the run was resumed.
func (r *Run) again() {
	o := r.repeat[0]
	r.repeat = r.repeat[1:]
	err := r.carryOut(o)
	if err != nil {
		r.record(&Event{Type: EventNotice, Notice: fmt.Sprintf("an order of the past (%s) cannot be carried out again: %v", o.What, err)})
	}
	if err != nil || o.What == EventReoptimised {
		r.catchUp()
	} else {
		r.measure(false, r.next)
	}
}
