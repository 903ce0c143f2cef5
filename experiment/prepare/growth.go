package prepare

import (
	"context"
	"fmt"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/cost"
	"example.com/kestrel/vbks/front"
)

// What growth does as a rule: on twenty data sets of 500 to 600 rows that were drawn from kernels of four to six leaves it ended
// after 100 to 425 kernels, which took 1.2 to 2.3 s each where a gradient with all of them as inducing inputs took .02.
const (
	perLate      = 50.0 // gradients on all rows, or those that stand for them, for a kernel that comes late
	perLateAll   = 6.0  // and on all where some stand for them
	lateSeconds  = 0.3  // of looking for periods, of what neighbours promise and of draws, for such a kernel, whatever the rows
	growthSpread = 3.0
)

// perRest is how many gradients on all rows follow after a space has grown on some of them: of those that are left, with the
// curvatures of their modes, and of few that come then.
const perRest = 600.0

// partly is what a run of a workload takes whose space grows on some of the rows first.
func (e *Estimator) partly(ctx context.Context, dev device.Device, c config.Config, w *workload, on int) (Estimate, error) {
	out, err := e.run(ctx, c, on, w.dim)
	if err != nil {
		return Estimate{}, err
	}
	whole, err := cost.Measure(ctx, dev, w.programs, w.dim, int(c.Settings.Like(w.rows, w.rows)), probeTime)
	if err != nil {
		return Estimate{}, err
	}
	rest := overhead * perRest * whole.Gradient(w.rows)
	if c.Evaluations > 0 && c.Evaluations < plannedEvaluations(&c.Settings)+w.further() { // it may not come to all rows
		rest = 0
	}
	out.Seconds, out.Low, out.High = out.Seconds+rest, out.Low+rest/growthSpread, out.High+rest*growthSpread
	if budget := c.Settings.TimeBudget.Seconds(); budget > 0 {
		out.Seconds, out.Low, out.High = min(out.Seconds, budget), min(out.Low, budget), min(out.High, budget)
	}
	return out, nil
}

// grow estimates how many kernels come late in a growing space, and returns it with larger kernels in it.
func (w *workload) grow(space []vbks.Candidate) []vbks.Candidate {
	columns := make([]string, w.dim)
	for i := range columns {
		columns[i] = fmt.Sprintf("x%d", i+1)
	}
	exprs := make([]kernelspace.Expr, len(space))
	for i, k := range space {
		exprs[i] = k.Expr
	}
	late, larger, err := w.config.Settings.Growth.Late(exprs, columns, w.rows)
	if err != nil {
		return space // which is told where the trainer is made
	}
	out := slices.Clone(space)
	for _, e := range larger {
		out = append(out, vbks.Candidate{Expr: e})
	}
	w.late = late
	return out
}

// sharpen sets the inducing inputs that late kernels may have.
func (w *workload) sharpen(s *vbks.Settings) {
	for _, m := range w.rungs {
		if s.GrowsWith(w.rows, m) {
			w.sharp = m
		}
	}
	w.whole = s.GrowsWhole(w.rows, w.sharp)
}

// grown is how many kernels of a growing space are alive at evaluation t, of so many before.
func (w *workload) grown(alive float64, t int) float64 {
	if w.begin == 0 {
		return alive
	}
	return min(float64(w.kernels), float64(w.begin+front.Early*(t-1)))
}

// further is how many evaluations with all rows in use late kernels come in.
func (w *workload) further() int {
	if w.late == 0 {
		return 0
	}
	come := w.coming()
	return (w.late + come - 1) / come
}

// coming is how many kernels come in one of them: half of those that are compared stay.
func (w *workload) coming() int {
	return max(1, w.config.Settings.GrowLive(w.rows, w.rows, w.inducing, max(w.inducing, w.sharp))/2)
}

// growing is the time of so many evaluations in which late kernels come.
func (w *workload) growing(search, full, wide cost.Bound, planned, further int) float64 {
	if w.late == 0 {
		return 0
	}
	each, n := 0.0, w.rows
	switch part := vbks.PartRows; {
	case !w.effort.Exact():
		each = w.scouting(search, planned, n, float64(w.kernels), w.inducing)
	case w.sharp == n && n > part && w.config.Settings.Dear(n):
		each = perLate*w.between(full, wide, part).Gradient(part) + perLateAll*wide.Gradient(n)
	case w.sharp > 0:
		each = perLate * w.between(full, wide, w.sharp).Gradient(n)
	default:
		each = perLate * full.Gradient(n)
	}
	return float64(min(w.late, further*w.coming())) * (lateSeconds + overhead*each)
}
