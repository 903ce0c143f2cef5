package history

import (
	"fmt"
	"math"
	"time"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
)

// Axis is what a series is drawn against.
type Axis uint8

// The axes of a run.
const (
	AxisData       Axis = iota // proportion of the data, then refinements: Moment.Data
	AxisSeconds                // wall time less pauses
	AxisEvaluation             // index
)

// Moment is where a point of a series stands: an evaluation, or several that
// have been merged. The numbers but First are those of the last of them.
type Moment struct {
	First, Index int // evaluations, both inclusive
	Merged       int // evaluations that begin in it: 1 for a single one, 0 for one revised by an order
	Rows         int // seen
	Proportion   float64
	// Data is Proportion, or closer to 1 where rows wait, and beyond 1 one step for each refinement, and for what takes in rows
	// that came later.
	Data    float64
	Seconds float64
}

// On returns the moment's coordinate on an axis.
func (m *Moment) On(a Axis) float64 {
	switch a {
	case AxisSeconds:
		return m.Seconds
	case AxisEvaluation:
		return float64(m.Index)
	}
	return m.Data
}

// ruler places evaluations on the data axis: those that all data are used in
// already follow at the distance of the others, and so do those that take in rows that
// came after that. Those that take in no more rows for a while, before there are all, stand on the way there, closer and closer.
type ruler struct {
	step float64 // what an evaluation adds
	full int     // first evaluation at proportion 1

	at, seen float64 // place of the last evaluation, and its proportion
	last     int     // its index
	held     bool    // it has taken in no more rows
}

// heldSteps are steps to the place of all rows, of which an evaluation that takes in no more of them goes one.
const heldSteps = 10

func (r *ruler) data(e *record.Evaluation) float64 {
	if r.step == 0 {
		r.step = e.Proportion / float64(max(1, e.Index))
	}
	if e.Proportion < 1 && r.full == 0 {
		if e.Index == r.last && e.Index > 0 { // revised
			return r.at
		}
		if e.Index < r.last { // made again
			r.at = 0
		}
		r.held = r.last > 0 && e.Proportion == r.seen
		r.last, r.seen = e.Index, e.Proportion
		if r.at < e.Proportion {
			r.at = e.Proportion
		} else {
			r.at += (1 - r.at) / heldSteps
		}
		return r.at
	}
	if r.full == 0 {
		r.full = e.Index
	}
	return 1 + float64(e.Index-r.full)*r.step
}

// label writes a coordinate for the scale of an axis.
func (r *ruler) label(a Axis, x float64) string {
	switch a {
	case AxisSeconds:
		return words.ShortDuration(time.Duration(x * float64(time.Second)))
	case AxisEvaluation:
		return fmt.Sprintf("%.0f", x)
	}
	if x > 1 && r.step > 0 {
		if j := math.Round((x - 1) / r.step); j > 0 {
			return fmt.Sprintf("+%.0f", j)
		}
	}
	if r.held && x > r.seen && x < 1 {
		x = r.seen
	}
	return fmt.Sprintf("%.3g %%", 100*min(x, 1))
}
