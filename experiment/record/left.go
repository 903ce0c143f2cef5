package record

import (
	"fmt"
	"time"

	"example.com/kestrel/experiment/words"
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

// endShare of the last evaluation, what follows it takes beside the predictions: their calibration,
// the model file, how large effects are.
const endShare = 0.1

// Left returns the time that the evaluations left will take, and false where there is none to
// tell: before the first, and at rest. The run has worked for so long, and within is what a
// part of the present evaluation will take at its own pace, 0 where that is not known. Each is
// weighed by its rows, kernels and inducing inputs, at the pace of those that have been made, and by how likely
// it is to be made; one that takes longer than was foreseen changes nothing for others before it is done.
func (s *Standing) Left(worked, within time.Duration) (time.Duration, bool) {
	e := s.Evaluation
	if e == nil || !(s.tempo.work > 0) || s.State.Settled() {
		return 0, false
	}
	all, scores := s.foresight.ahead(e, s.closing.fall())
	since := max(0, worked-time.Duration(float64(s.Worked)*float64(time.Second)))
	if len(all) == 0 { // the last one is scored
		left := max(within, s.paced(scores)-since)
		return left, left > 0
	}
	here := max(0, s.paced(all[0].work*all[0].chance)-since, within)
	return here + s.paced(s.foresight.beyond(all)+scores), true
}

// paced is the time of work at the pace of the evaluations that have been made.
func (s *Standing) paced(work float64) time.Duration {
	return time.Duration(s.tempo.seconds / s.tempo.work * work * float64(time.Second))
}

// beyond is the work of all evaluations but the next one, and of what follows the last.
func (f *foresight) beyond(all []planned) (work float64) {
	last := all[0].work
	for _, p := range all[1:] {
		work += p.work * p.times * p.chance
		if p.chance == 1 {
			last = p.work
		}
	}
	if f.known {
		work += endShare * last
	}
	return work
}

// Growing says how many kernels come as a rule to a space that has just been told to grow, and how long that and what follows
// takes; "" where that is not known, or there are kernels to try anyhow.
func (s *Standing) Growing() string {
	if s.Evaluation == nil || !(s.tempo.work > 0) || !s.foresight.known || s.Evaluation.Front != nil {
		return ""
	}
	e, f := *s.Evaluation, s.foresight
	if f.late = f.comers(); f.late == 0 {
		return ""
	}
	e.Front = &vbks.Front{Tried: len(f.began)}
	f.grows(&e)
	all, scores := f.ahead(&e, s.closing.fall())
	if len(all) == 0 {
		return ""
	}
	takes := s.paced(all[0].work + f.beyond(all) + scores)
	return fmt.Sprintf("the space of kernels grows: some %d come as a rule, which with what follows takes about %s", f.late,
		words.ShortDuration(max(time.Second, takes)))
}

// quietOrigins is of how many rows forecasts from rolling origins are made without a word of what they take.
const quietOrigins = 2000

// Origins says, when the last evaluation is the next one, how long the forecasts from rolling origins will take that it ends
// with to weigh its kernels; "" where there are none, or they are of few rows.
func (s *Standing) Origins() string {
	e, f := s.Evaluation, &s.foresight
	if e == nil || !f.known || !(s.tempo.work > 0) || e.Planned-e.Index != 1 || f.rows <= quietOrigins {
		return ""
	}
	kernels, inducing := f.coming(e)
	takes := s.tempo.seconds / s.tempo.work * f.settings.ForeseenOrigins(f.rows, kernels, inducing)
	if !(takes > 0) {
		return ""
	}
	return fmt.Sprintf("evaluation %d ends with forecasts of %s from %d rolling origins, which weigh them (predict.weights): about %s",
		e.Index+1, words.Count(kernels, "kernel"), len(vbks.Origins(f.rows)),
		words.ShortDuration(max(time.Second, time.Duration(takes*float64(time.Second)))))
}
