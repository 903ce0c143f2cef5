package kernelspace

import "math"

// Scales describes the data that hyperparameters are for, in the units that
// the optimiser works in (after standardisation). Slices have an entry per
// input column; what is missing, not positive or not finite is taken as 1, or
// for Spacing as Span/100 and for RMS as Span/2.
type Scales struct {
	Span    []float64 // range of the column
	Spacing []float64 // typical distance between distinct neighbouring values
	RMS     []float64 // root mean square of the column about 0, which LIN and POLY see; may be nil
	Middle  []float64 // of the column's range; may be nil, which is 0
	YVar    float64   // variance of the targets
	Seasons []float64 // of a series in time: periods that the calendar knows, the shortest first; nil: none
	Cycle   float64   // of a series in time: a period that its values show and the calendar does not know; 0: none
}

func positive(v, otherwise float64) float64 {
	if v > 0 && !math.IsInf(v, 1) {
		return v
	}
	return otherwise
}

func at(values []float64, i int) float64 {
	if i < len(values) {
		return values[i]
	}
	return 0
}

func (s Scales) span(column int) float64 { return positive(at(s.Span, column), 1) }

func (s Scales) spacing(column int) float64 {
	span := s.span(column)
	return min(span/4, positive(at(s.Spacing, column), span/100))
}

func (s Scales) rms(column int) float64 {
	return positive(at(s.RMS, column), s.span(column)/2)
}

// reach is how far before 0 there may be values of a column: its range where it is
// centred, for then its root mean square is half of that at most.
func (s Scales) reach(column int) float64 {
	span, rms := s.span(column), s.rms(column)
	if rms <= span/2 {
		return span
	}
	return span + rms
}

// Before is where the origin of RW and IRW is as a rule: so far before 0, half as far
// again as values of the columns may be.
func (s Scales) Before(columns []int) float64 { return 1.5 * largest(columns, s.reach) }

// places returns the logarithms of raw parameters that stand for the places so many
// Spans to both sides of the middle of a column.
func (s Scales) places(column int, spans float64) (lo, hi float64) {
	middle, reach := at(s.Middle, column), spans*s.span(column)
	if math.IsNaN(middle) || math.IsInf(middle, 0) {
		middle = 0
	}
	return math.Asinh(middle - reach), math.Asinh(middle + reach)
}

// typical is the geometric mean over some columns.
func typical(columns []int, of func(int) float64) float64 {
	sum := 0.0
	for _, c := range columns {
		sum += math.Log(of(c))
	}
	return math.Exp(sum / float64(len(columns)))
}

// Bounds returns wide limits of log θ for raw parameter i, beyond which no
// kernel is of use or its arithmetic is safe:
//
//	variance                   1e±8 times what gives k(x,x) = YVar
//	lengthscale                0.05 Spacing to 1000 Span; of PER, which is
//	                           dimensionless, 1e-2 to 1e2; of a level 0.1 to 1e2; of LIN and POLY
//	                           1e±4 times what gives k(x,x) = YVar
//	period                     2 Spacing to 10 Span
//	alpha, other shapes        1e-2 to 1e4
//	offset                     1e±6 times a typical x·x′/ℓ²
//	origin                     what lies before all data, to 20 times that
//	place                      of the data, and 5 % of their range beyond
//	width                      0.05 Spacing to Span
//
// A parameter that is not free has lo = hi = 0.
func (p *Program) Bounds(i int, s Scales) (lo, hi float64) {
	p = p.Own()
	if !p.Params[i].Free {
		return 0, 0
	}
	in, columns := p.leafOf(i)
	switch p.Params[i].Name {
	case nameVariance:
		c := p.centre(i, s)
		return c - math.Log(1e8), c + math.Log(1e8)
	case nameLengthscale:
		switch in.base.info().scale {
		case scalePhase:
			return math.Log(1e-2), math.Log(1e2)
		case scaleLevel: // below, c is 0
			return math.Log(0.1), math.Log(1e2)
		case scaleAmplitude:
			c := p.centre(i, s)
			return c - math.Log(1e4), c + math.Log(1e4)
		}
		return math.Log(0.05 * smallest(columns, s.spacing)), math.Log(1000 * largest(columns, s.span))
	case namePeriod:
		return math.Log(2 * smallest(columns, s.spacing)), math.Log(10 * largest(columns, s.span))
	case nameOffset:
		c := p.centre(i, s)
		return c - math.Log(1e6), c + math.Log(1e6)
	}
	switch p.Params[i].Name {
	case namePlace:
		return s.places(columns[0], 0.55)
	case nameWidth:
		return math.Log(0.05 * s.spacing(columns[0])), math.Log(s.span(columns[0]))
	case nameOrigin:
		before := largest(columns, s.reach)
		return math.Log(before), math.Log(20 * before)
	}
	return math.Log(1e-2), math.Log(1e4) // alpha, and what shape a new base kernel has
}

// Prior returns the mean and standard deviation of a broad normal prior on
// log θ for raw parameter i: variances about what gives k(x,x) = YVar, length
// scales about 0.3 Span (times √d for d columns at once), periods between
// 2 Spacing and Span, PER's length scale, a level's and alpha about 1. An origin's is narrow,
// about 1.5 Span before 0: it says no more than how far the level, or the slope, may
// be from 0 at the first row. A change point's place is about anywhere in the data and
// its width about 0.02 Span. A parameter that is not free has mean 0 and an infinite
// standard deviation, that is, no prior.
func (p *Program) Prior(i int, s Scales) (mean, sd float64) {
	p = p.Own()
	if !p.Params[i].Free {
		return 0, math.Inf(1)
	}
	in, columns := p.leafOf(i)
	mean = p.centre(i, s)
	switch p.Params[i].Name {
	case nameVariance:
		return mean, 3
	case nameLengthscale:
		switch in.base.info().scale {
		case scalePhase, scaleLevel:
			return mean, 1.5
		}
		return mean, 2.5
	case namePeriod:
		// Two standard deviations reach about from the spacing to the span.
		width := math.Log(typical(columns, s.span) / typical(columns, s.spacing))
		return mean, max(2, width/4)
	case nameOffset:
		return mean, 3
	case nameOrigin:
		return mean, 0.5
	case namePlace:
		lo, hi := s.places(columns[0], 0.5)
		return mean, 0.35 * (hi - lo)
	case nameWidth:
		return mean, 1.5
	}
	return mean, 2 // alpha
}

// leafOf returns the instruction of raw parameter i's leaf and the columns
// that the parameter stands for.
func (p *Program) leafOf(i int) (*Instr, []int) {
	in := p.leafInstrs()[p.Params[i].Leaf]
	if c := p.Params[i].Column; c >= 0 {
		return in, []int{c}
	}
	return in, in.Cols
}

func smallest(columns []int, of func(int) float64) float64 {
	least := of(columns[0])
	for _, c := range columns[1:] {
		least = min(least, of(c))
	}
	return least
}

func largest(columns []int, of func(int) float64) float64 {
	most := of(columns[0])
	for _, c := range columns[1:] {
		most = max(most, of(c))
	}
	return most
}

// centre returns the logarithm of a sensible value of raw parameter i.
func (p *Program) centre(i int, s Scales) float64 {
	in, columns := p.leafOf(i)
	leaf := p.Params[i].Leaf
	switch p.Params[i].Name {
	case nameVariance:
		return math.Log(p.targets(s)[leaf] / size(in, s))
	case nameLengthscale:
		scale := in.base.info().scale
		switch {
		case scale == scalePhase || scale == scaleLevel:
			return 0
		case scale != scaleAmplitude:
			return math.Log(0.3 * typical(columns, s.span) * math.Sqrt(float64(len(columns))))
		case !p.amplitudes()[leaf].free:
			// Against the first column, whose length scale is 1.
			return math.Log(s.rms(columns[0]) / s.rms(in.Cols[0]))
		}
		// Each column contributes alike to x·x/ℓ², which is the amplitude.
		each := inner(in, p.targets(s)[leaf]) / float64(len(in.Cols))
		return math.Log(s.rms(columns[0])) - math.Log(each)/2
	case namePeriod:
		return math.Log(2*typical(columns, s.spacing)*typical(columns, s.span)) / 2
	case nameOffset:
		if in.NumScale > 1 && p.amplitudes()[leaf].free {
			return math.Log(inner(in, p.targets(s)[leaf]))
		}
		return math.Log(square(in, s))
	case nameOrigin:
		return math.Log(s.Before(columns))
	case namePlace:
		lo, hi := s.places(columns[0], 0.5)
		return (lo + hi) / 2
	case nameWidth:
		return math.Log(0.02 * s.span(columns[0]))
	}
	return 0 // alpha
}

// inner returns what x·x/ℓ² should be for a leaf of variance 1, LIN or POLY,
// to give k(x,x) = target; half of a POLY's base is its offset.
func inner(in *Instr, target float64) float64 {
	if in.base.info().shape == nameOffset {
		return math.Pow(target, 1/float64(in.Degree)) / 2
	}
	return target
}

// square is the typical x·x/ℓ² of LIN and POLY with ℓ = 1, or, with a length
// scale per column of which the first is 1, with the others to match.
func square(in *Instr, s Scales) float64 {
	if in.NumScale > 1 {
		first := s.rms(in.Cols[0])
		return float64(len(in.Cols)) * first * first
	}
	sum := 0.0
	for _, c := range in.Cols {
		sum += s.rms(c) * s.rms(c)
	}
	return sum
}

// size is the typical k(x,x) of a leaf of variance 1 and scale 1.
func size(in *Instr, s Scales) float64 {
	switch info := in.base.info(); {
	case info.shape == nameOrigin:
		sum := 0.0
		for _, c := range in.Cols {
			sum += Walked(in.Op, s.Before(in.Cols)+s.rms(c))
		}
		return sum
	case info.scale != scaleAmplitude:
		return 1
	case info.shape == nameOffset:
		return math.Pow(2*square(in, s), float64(in.Degree))
	}
	return square(in, s)
}

// Walked is the variance, in units of their own, of RW and IRW at a distance from their
// origin, and how far they have gone from the level or line there on the way.
func Walked(op Op, distance float64) float64 {
	if op == OpRW {
		return distance
	}
	return distance * distance * distance / 3
}

// targets shares out YVar: the k(x,x) that each leaf's amplitude should give
// so that the whole kernel has about YVar. Normalised factors have the size
// that they have, which the keeper of the amplitude makes up for.
func (p *Program) targets(s Scales) []float64 {
	leaves := p.leafInstrs()
	targets := make([]float64, len(leaves))
	sharer{s}.share(p.Expr.root, leaves, targets, positive(s.YVar, 1))
	return targets
}

// sharer walks the tree with the leaves below a node and their targets.
type sharer struct {
	s Scales
}

func (h sharer) share(n *node, leaves []*Instr, targets []float64, target float64) {
	from := 0
	switch n.kind {
	case kindLeaf:
		targets[0] = target
	case kindSum:
		for _, t := range n.terms {
			to := from + t.size
			h.share(t, leaves[from:to], targets[from:to], target/float64(len(n.terms)))
			from = to
		}
	case kindChange: // each has it on its side
		targets[0] = target
		from = 1
		for _, t := range n.terms[1:] {
			to := from + t.size
			h.share(t, leaves[from:to], targets[from:to], target)
			from = to
		}
	case kindProduct:
		keeper, start := n.keeper(), 0
		for i, t := range n.terms {
			to := from + t.size
			if i == keeper {
				start = from
			} else {
				target /= h.normalised(t, leaves[from:to], targets[from:to])
			}
			from = to
		}
		end := start + n.terms[keeper].size
		h.share(n.terms[keeper], leaves[start:end], targets[start:end], target)
	}
}

// normalised does the same for a normalised node and returns its size.
func (h sharer) normalised(n *node, leaves []*Instr, targets []float64) float64 {
	if n.kind == kindLeaf {
		targets[0] = size(leaves[0], h.s)
		return targets[0]
	}
	size, from := 1.0, 0
	if n.kind == kindChange {
		between := 1 + n.terms[1].size
		targets[0] = h.normalised(n.terms[1], leaves[1:between], targets[1:between])
		h.share(n.terms[2], leaves[between:], targets[between:], targets[0])
		return targets[0]
	}
	for i, t := range n.terms {
		to := from + t.size
		switch {
		case n.kind == kindProduct:
			size *= h.normalised(t, leaves[from:to], targets[from:to])
		case i == 0:
			size = h.normalised(t, leaves[from:to], targets[from:to])
		default:
			h.share(t, leaves[from:to], targets[from:to], size)
		}
		from = to
	}
	if n.kind == kindSum {
		size *= float64(len(n.terms))
	}
	return size
}
