package experiment

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/vbks"
)

// note keeps what follows by itself in the run's first event.
func (r *Run) note(d record.Course) error {
	return r.do(func() error {
		if d == (record.Course{}) || r.state() != record.Ready || r.past != nil {
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
func (r *Run) takeUp(p *pastRun) error {
	return r.do(func() error {
		r.past, r.repeat, r.standing, p.now = p, append(p.orders(), p.fresh...), p.stays, r.start
		if p.kept > 0 {
			r.start = p.stays.Start
		} else if p.start != nil {
			start := *r.start
			start.Course = p.start.Course
			if p.begin > 0 { // rows came later, which is an order
				start.Config, start.Data, start.Baselines = p.start.Config, p.start.Data, p.start.Baselines
				start.Planned = r.trainer.Planned()
			}
			r.start = &start
		}
		if s := p.saved; s != nil {
			r.most, r.deadline = s.Most, s.Deadline
		}
		r.watch.before = time.Duration(float64(p.stays.Seconds) * float64(time.Second))
		r.mu.Lock()
		defer r.mu.Unlock()
		r.shown.Start, r.shown.Planned = r.start, r.planned()
		if e := r.trainer.Last(); e != nil {
			r.shown.Evaluation, r.learned = r.start.Evaluation(e, r.planned()), r.learn()
		}
		return nil
	})
}

// goOn starts a run that has a past.
func (r *Run) goOn() error {
	p := r.past
	r.watch.start()
	if p.kept == 0 {
		r.record(&record.Event{Type: record.EventStarted, Start: r.start})
	}
	now, then := p.now, r.start
	last := 0
	if e := r.trainer.Last(); e != nil {
		last = e.Index
	}
	r.record(&record.Event{Type: record.EventResumed, Resumed: &record.Resumed{
		Evaluation: last, Repeated: p.repeated, Orders: len(p.orders()), Build: now.Build, Device: now.Device, Lanes: now.Lanes,
		Pending: slices.Clone(r.repeat),
	}})
	if now.Device != then.Device || now.Build != then.Build {
		p.notices = append(p.notices, fmt.Sprintf("begun with kestrel %s on %s: the last digits may differ from those of a run that was not "+
			"interrupted", then.Build, then.Device))
	}
	for _, n := range p.notices {
		r.record(&record.Event{Type: record.EventNotice, Notice: n})
	}
	if p.lost && r.state() != record.Failed {
		r.show(r.trainer.Last(), record.Order{What: p.saved.Rest.What, Kernels: p.saved.Rest.Kernels})
	}
	// What had not been said when the run was cut off.
	var notices []vbks.Notice
	if e := r.trainer.Last(); e == nil {
		for _, n := range r.notices {
			notices = append(notices, vbks.Notice{Text: n})
		}
	} else if p.saved.Rest.What == record.EventEvaluation {
		notices = e.Notices
	}
	for _, n := range notices {
		if !slices.Contains(p.told, n.Text) {
			r.notify(n)
		}
	}
	if r.state() == record.Failed {
		return errors.New(r.shown.Reason)
	}
	r.enter(record.Running, "resumed")
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
		r.record(&record.Event{Type: record.EventNotice, Notice: fmt.Sprintf("an order of the past (%s) cannot be carried out again: %v",
			o.What, err)})
	}
	if err != nil || o.What == record.EventReoptimised || o.What == record.EventData {
		r.catchUp()
	} else {
		r.score()
	}
}

// score scores what has come to be believed, unless an order of the past came before that.
func (r *Run) score() {
	if r.due() && r.repeat[0].Scored == 0 {
		r.next()
		return
	}
	r.measure(false, r.next)
}

// learn returns what the trainer has learned, with what the run adds.
func (r *Run) learn() map[string]vbks.Tensor {
	arrays := r.trainer.Checkpoint()
	arrays[rundir.ScheduleArray] = vbks.Tensor{Shape: []int{2}, Data: []float64{float64(r.most), r.deadline.Seconds()}}
	rundir.PutMarks(arrays, r.marks)
	return arrays
}
