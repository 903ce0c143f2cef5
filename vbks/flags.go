package vbks

import (
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// Flag is something about a kernel's solution that its user should look at. None
// changes a rank: a period of the whole range may be a true one.
type Flag string

const (
	PeriodOnce   Flag = "period seen less than twice" // more than half of the inputs' range
	PeriodsEqual Flag = "two periods are equal"       // within samePeriods
	IdleSummand  Flag = "a summand explains nothing"  // less than idleShare of the noise
	NoiseAtFloor Flag = "noise at its floor"          // within flooredBy of it
	StillMoving  Flag = "not converged"               // by more than movingNats
	NotTheTruth  Flag = "known truth is not first"    // of drawn data, see Training.Truth
)

const (
	samePeriods = 0.01 // relative difference of periods that are one
	idleShare   = 0.01 // of the noise variance, below which a summand explains nothing
	flooredBy   = 1.5  // noise variances up to so many times the floor are held by it
	movingNats  = 0.05 // that are still expected of an ascent, which is told within a factor of some 10
	flaggedRows = 64   // on which the variance of a summand is taken
)

// gainUnknown stands for what is still expected of hyperparameters where nothing says.
const gainUnknown = -1

// flags looks at what a kernel has arrived at.
func (t *Trainer) flags(k *kernel) (out []Flag) {
	raw, noise := params.Raw(k.program, k.state.Free, t.floor)
	once, equal := false, false
	for i, p := range k.program.Params {
		if p.Name != "period" {
			continue
		}
		once = once || 2*raw[i] > t.spanOf(p.Column)
		for j, q := range k.program.Params[:i] {
			near := math.Abs(math.Log(raw[i]/raw[j])) < samePeriods
			equal = equal || q.Name == "period" && q.Column == p.Column && near && p.Free && q.Free
		}
	}
	if once {
		out = append(out, PeriodOnce)
	}
	if equal {
		out = append(out, PeriodsEqual)
	}
	if t.idle(k.program, raw, noise) {
		out = append(out, IdleSummand)
	}
	stated := k.program.Noise.How == kernelspace.Fixed || k.program.Noise.How == kernelspace.Bounded
	if noise < flooredBy*t.floor && !stated {
		out = append(out, NoiseAtFloor)
	}
	if k.gain > movingNats || k.gain == gainUnknown || k.crude {
		out = append(out, StillMoving)
	}
	return out
}

// spanOf is the range of a column, or the largest where a parameter is of all.
func (t *Trainer) spanOf(column int) (span float64) {
	for d, s := range t.scales.Span {
		if column < 0 || column == d {
			span = math.Max(span, s)
		}
	}
	return span
}

// idle reports whether one of several summands has next to no variance on the rows.
func (t *Trainer) idle(p *kernelspace.Program, raw []float64, noise float64) bool {
	parts, err := p.Own().Components()
	if err != nil || len(parts) < 2 {
		return false
	}
	n := t.data.Rows()
	for i := range parts {
		c := &parts[i]
		theta := c.Theta(raw)
		sum := 0.0
		rows := min(flaggedRows, n)
		for r := range rows {
			at := r * n / rows
			x := t.data.X[at*t.dim : (at+1)*t.dim]
			sum += c.Program.Eval(theta, x, x, true)
		}
		if sum/float64(rows) < idleShare*noise {
			return true
		}
	}
	return false
}

// conclude says what should be known of the leader at the end.
func (t *Trainer) conclude(e *Evaluation) {
	leader, truth := t.judge(e)
	if leader < 0 || e.Index < t.Planned() {
		return
	}
	// Whoever expects a period to come again should know that the data do not show it
	// twice.
	if id := e.Kernels[leader].ID; slices.Contains(e.Kernels[leader].Flags, PeriodOnce) {
		e.Notices = append(e.Notices, Notice{Text: fmt.Sprintf("%s has a %s", id, PeriodOnce), Kernel: id})
	}
	if truth >= 0 {
		e.Notices = append(e.Notices, Notice{Text: t.missed(e, leader, truth), Kernel: e.Kernels[truth].ID})
	}
}

// judge finds the leader, and flags it at the end where the kernel that the data
// were drawn from is in the space and another one; truth is −1 where that is not so.
func (t *Trainer) judge(e *Evaluation) (leader, truth int) {
	leader = e.Leader()
	truth = slices.IndexFunc(e.Kernels, func(k KernelResult) bool { return k.ID == t.data.Truth })
	if leader < 0 || truth == leader || e.Index < t.Planned() {
		return leader, -1
	}
	if truth >= 0 {
		k := &e.Kernels[leader]
		k.Flags = append(slices.Clip(k.Flags), NotTheTruth)
	}
	return leader, truth
}

// missed says where the true kernel is that does not lead.
func (t *Trainer) missed(e *Evaluation, leader, truth int) string {
	r, k := &e.Kernels[truth], t.kernels[truth]
	text := fmt.Sprintf("the data were drawn from %s, which ", r.ID)
	apart := func(gap float64) string {
		if gap < 0 {
			return fmt.Sprintf("%.1f nats ahead by its local ELBO", -gap)
		}
		return fmt.Sprintf("%.1f nats behind", gap)
	}
	switch {
	case r.Status == Live:
		text += "is " + apart(t.kernels[leader].worth()-k.worth())
		if r.Tied {
			text += ", equal within the errors"
		}
	case r.LeftOut:
		text += fmt.Sprintf("was left out at M = %d", k.left)
		own := k.ends[len(k.ends)-1]
		if was, ok := t.kernels[leader].end(own.evaluation); ok {
			text += fmt.Sprintf(", %s then", apart(was.elbo-own.elbo))
		}
	default:
		text += fmt.Sprintf("is %s: %s", r.Status, r.Reason)
	}
	return text
}
