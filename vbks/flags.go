package vbks

import (
	"fmt"
	"math"
	"slices"

	"kestrel/kernelspace"
	"kestrel/vbks/params"
)

// Flag is something about a kernel's solution that its user should look at. None
// changes a rank: a period of the whole range may be a true one.
type Flag string

const (
	PeriodOnce   Flag = "period seen less than twice"
	PeriodsEqual Flag = "two periods are equal"
	IdleSummand  Flag = "a summand explains nothing"
	NoiseAtFloor Flag = "noise at its floor"
	StillMoving  Flag = "not converged"
)

const (
	samePeriods = 0.01 // relative difference of periods that are one
	idleShare   = 0.01 // of the noise variance, below which a summand explains nothing
	flooredBy   = 1.5  // noise variances up to so many times the floor are held by it
	movingNats  = 0.5  // gained in the last evaluations of the ascent that led here
	flaggedRows = 64   // on which the variance of a summand is taken
)

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
	if noise < flooredBy*t.floor {
		out = append(out, NoiseAtFloor)
	}
	if k.gain > movingNats {
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
	parts, err := p.Components()
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

// warn says of the leader, at the end, that it rests on a period which the data do
// not show twice: whoever expects it to come again should know.
func (t *Trainer) warn(e *Evaluation) {
	i := e.Leader()
	if i < 0 || e.Index < t.Planned() || !slices.Contains(e.Kernels[i].Flags, PeriodOnce) {
		return
	}
	id := e.Kernels[i].ID
	e.Notices = append(e.Notices, Notice{Text: fmt.Sprintf("%s has a %s", id, PeriodOnce), Kernel: id})
}
