package record

import (
	"slices"
	"time"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/vbks"
)

// tempo is what evaluations have taken, and what was foreseen for them.
type tempo struct{ seconds, work float64 }

// remembered is what an evaluation counts for beside the next one: a machine that has become
// slower is known to be so after a few.
const remembered = 0.8

// take takes an evaluation in.
func (t *tempo) take(seconds, work float64) {
	if !(seconds > 0) || !(work > 0) {
		return
	}
	t.seconds, t.work = remembered*t.seconds+seconds, remembered*t.work+work
}

// foresight is what a run's config says of the work of its evaluations.
type foresight struct {
	known    bool // else they count as equal
	settings vbks.Settings
	rows     int
	kernels  int // at first
	rungs    []int
}

// foresee reads what is known of a run. Of one whose config cannot be read that is nothing.
func foresee(s *Start) foresight {
	if s.Config == "" || s.Data == nil || s.Data.Train < 1 || len(s.Kernels) == 0 {
		return foresight{}
	}
	c, err := config.OfRun(s.Config, EventsFile)
	if err != nil {
		return foresight{}
	}
	f := foresight{known: true, settings: c.Settings, rows: s.Data.Train, kernels: len(s.Kernels)}
	f.rungs = f.settings.Rungs(f.rows, f.kernels)
	return f
}

// rung is the place of a number of inducing inputs among the rungs, the last one for one
// that is not among them: then nothing is known of further ones.
func (f *foresight) rung(m int) int {
	if i := slices.Index(f.rungs, m); i >= 0 {
		return i
	}
	return max(0, len(f.rungs)-1)
}

// made is the work of an evaluation that has been made.
func (f *foresight) made(e *Evaluation) float64 {
	if !f.known {
		return 1
	}
	return f.settings.Foreseen(f.rows, e.RowsSeen, e.live(), f.rung(e.Inducing), e.Inducing)
}

// ahead is the work of the evaluation that is so many behind e: those that climb come last.
func (f *foresight) ahead(e *Evaluation, by int) float64 {
	if !f.known {
		return 1
	}
	left, at := e.Planned-e.Index, f.rung(e.Inducing)
	climbs := min(left, len(f.rungs)-1-at)
	kernels, m, rung := e.live(), e.Inducing, at
	for ; rung-at < climbs-(left-by); rung++ {
		m = f.rungs[rung+1]
		kernels = f.stay(kernels, m)
	}
	seen := min(float64(f.rows), float64(e.RowsSeen)+float64(by)*f.settings.EvaluateEvery*float64(f.rows))
	return f.settings.Foreseen(f.rows, int(seen+0.5), kernels, rung, m)
}

// stay is how many of so many live kernels are likely to be compared with m inducing inputs: where
// bounds tell nothing more may stay, up to twice as many.
func (f *foresight) stay(live, m int) int {
	n := f.settings.RungKernels(f.rows, f.kernels, live, m)
	if e, err := f.settings.Effort(f.rows); err == nil && e.Exact() {
		return min(live, n+n/2)
	}
	return n
}

// live counts the kernels that are compared.
func (e *Evaluation) live() (n int) {
	for i := range e.Kernels {
		if e.Kernels[i].Status == vbks.Live {
			n++
		}
	}
	return n
}

const (
	// What follows the last evaluation, predictions and their calibration, takes this much of it.
	endShare = 0.2
	// Of more evaluations not each one is weighed.
	mostForeseen = 100
)

// Left returns the time that the evaluations left will take, and false where there is none to
// tell: before the first, and at rest. The run has worked for so long, and within is what a
// part of the present evaluation will take at its own pace, 0 where that is not known. Each is
// weighed by its rows, kernels and inducing inputs, at the pace of those that have been made; one
// that takes longer than was foreseen changes nothing for others before it is done.
func (s *Standing) Left(worked, within time.Duration) (time.Duration, bool) {
	e := s.Evaluation
	if e == nil || !(s.tempo.work > 0) || s.State.Settled() {
		return 0, false
	}
	left := e.Planned - e.Index
	if left <= 0 {
		return within, within > 0 // the last one is scored
	}
	pace := s.tempo.seconds / s.tempo.work * float64(time.Second)
	since := max(0, worked-time.Duration(float64(s.Worked)*float64(time.Second)))
	here := max(0, time.Duration(pace*s.foresight.ahead(e, 1))-since, within)
	more, stride := 0.0, 1+(left-1)/mostForeseen
	for by := left; by > 1; by -= stride {
		// From the last one on, each stands for those before it that are not weighed, but the
		// climbing ones, which differ, are.
		if len(s.foresight.rungs) > left-by {
			more += s.foresight.ahead(e, by)
			by += stride - 1
			continue
		}
		more += s.foresight.ahead(e, by) * float64(min(stride, by-1))
	}
	if s.foresight.known {
		more += endShare * s.foresight.ahead(e, left)
	}
	return here + time.Duration(pace*more), true
}
