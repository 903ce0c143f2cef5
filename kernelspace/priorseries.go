package kernelspace

import "math"

// lognormal is a normal prior on the logarithm of a standard deviation, a length or a
// number, relative to what the data have.
type lognormal struct{ mean, sd float64 }

// squared is that of the variance.
func (l lognormal) squared() (mean, sd float64) { return 2 * l.mean, 2 * l.sd }

// Priors of the parts of a series in time: the middle and the spread of the modes
// of 32 kernels, weighted by what they explain, over the training parts of 150 series of
// the M3 competition less a horizon at their ends, each beside broad priors about 1
// (Corani, Benavoli and Zaffalon 2021 learned theirs on other series so). Standard
// deviations are against that of the targets, lengths against the range of time.
var (
	seriesLevel    = lognormal{-0.2, 0.9} // RW: sd of the change over the range
	seriesSlope    = lognormal{0.9, 1.3}  // IRW: the same of a line's slope, times the range
	seriesTrend    = lognormal{-0.2, 0.7} // LIN: sd of the values of the line
	seriesMean     = lognormal{0, 1}      // CONST
	seriesSeason   = lognormal{-1.1, 1}   // PER: sd
	seriesShape    = lognormal{0.1, 0.8}  // PER: length scale
	seriesChange   = lognormal{0.3, 0.8}  // SE in a product with PER: length after which a season is another one
	seriesSmooth   = lognormal{-0.5, 0.8} // SE: sd
	seriesBend     = lognormal{-1.8, 1}   // SE: length
	seriesRough    = lognormal{-0.4, 0.8} // MATERN12: sd
	seriesReturn   = lognormal{-0.6, 0.9} // MATERN12: length
	seriesSwing    = lognormal{-1.4, 0.8} // MATERN32, irregular: sd
	seriesShort    = lognormal{-3.3, 0.7} // MATERN32: length
	seriesNoise    = lognormal{-1.6, 1.2} // sd of the noise
	seriesCalendar = lognormal{0, 0.01}   // period that the calendar knows
	seriesCycle    = lognormal{0, 0.05}   // period that the values show
)

// SeriesPrior is Prior for a series in time, informed by other series: short ones do
// not run off. Where the kernel has no more PER than Seasons are known each takes one,
// in their order. What it knows nothing of has the broad prior.
func (p *Program) SeriesPrior(i int, s Scales) (mean, sd float64) {
	p = p.Own()
	if !p.Params[i].Free {
		return 0, math.Inf(1)
	}
	mean, sd = p.Prior(i, s)
	in, columns := p.leafOf(i)
	if !in.onTime() {
		return mean, sd
	}
	span, leaf := math.Log(typical(columns, s.span)), p.Params[i].Leaf
	ytotal := math.Log(positive(s.YVar, 1))
	variance := func(l lognormal, unit float64) (float64, float64) {
		m, w := l.squared()
		return m + ytotal - unit, w
	}
	length := func(l lognormal) (float64, float64) { return l.mean + span, l.sd }
	inSeason, season := p.place(leaf)
	switch name := p.Params[i].Name; {
	case name == nameVariance && !p.amplitudes()[leaf].total:
		return mean, sd
	case name == nameVariance:
		switch in.Op {
		case OpRW:
			return variance(seriesLevel, span)
		case OpIRW:
			return variance(seriesSlope, 3*span)
		case OpLIN:
			return variance(seriesTrend, 2*math.Log(s.rms(columns[0])))
		case OpConst:
			return variance(seriesMean, 0)
		case OpPER:
			return variance(seriesSeason, p.wandering(leaf, s))
		case OpSE:
			return variance(seriesSmooth, 0)
		case OpMatern12:
			return variance(seriesRough, 0)
		case OpMatern32:
			return variance(seriesSwing, 0)
		}
	case name == nameLengthscale:
		switch {
		case in.Op == OpPER:
			return seriesShape.mean, seriesShape.sd
		case in.Op == OpSE && inSeason:
			return length(seriesChange)
		case in.Op == OpSE:
			return length(seriesBend)
		case in.Op == OpMatern12:
			return length(seriesReturn)
		case in.Op == OpMatern32:
			return length(seriesShort)
		}
	case name == namePeriod:
		if known := p.Seasons(s); known != nil {
			if season == 0 && s.Cycle > 0 {
				return math.Log(s.Cycle) + seriesCycle.mean, seriesCycle.sd
			}
			return math.Log(known[season]) + seriesCalendar.mean, seriesCalendar.sd
		}
	}
	return mean, sd
}

// within is how many times as long as another a season may be for one PER to stand for
// both: a week has its days.
const within = 10

// onTime reports whether a leaf acts on the first column of a series alone, which is
// time; others are made of it, and lengths along them are no parts of its range.
func (in *Instr) onTime() bool { return len(in.Cols) == 1 && in.Cols[0] == 0 }

// Seasonal reports whether a leaf is a PER of time.
func (in *Instr) Seasonal() bool { return in.Op == OpPER && in.onTime() }

// Seasons are the periods that the leaves PER of time stand for, in their order: the cycle that the values show, if
// they do, then of those of the calendar the shortest ones, of a day and a week the week where one leaf only
// is left. Nil if there are more leaves than are known.
func (p *Program) Seasons(s Scales) []float64 {
	n := 0
	for _, in := range p.Own().leafInstrs() {
		if in.Seasonal() {
			n++
		}
	}
	if s.Cycle > 0 && n > 0 {
		if n-1 > len(s.Seasons) {
			return nil
		}
		return append([]float64{s.Cycle}, s.calendar(n-1)...)
	}
	return s.calendar(n)
}

// calendar are n periods that the calendar knows, nil if they are fewer.
func (s Scales) calendar(n int) []float64 {
	switch {
	case n == 0 || n > len(s.Seasons):
		return nil
	case n == 1 && len(s.Seasons) > 1 && s.Seasons[1] <= within*s.Seasons[0]:
		return s.Seasons[1:2]
	}
	return s.Seasons[:n]
}

// NoisePrior is the prior of a series on the logarithm of the noise's variance.
func (s Scales) NoisePrior() (mean, sd float64) {
	mean, sd = seriesNoise.squared()
	return mean + math.Log(positive(s.YVar, 1)), sd
}

// place reports whether a leaf is a factor beside PER, and how many PER of time stand
// before it.
func (p *Program) place(leaf int) (inSeason bool, season int) {
	at, leaves := 0, p.leafInstrs()
	var visit func(n *node, beside bool)
	visit = func(n *node, beside bool) {
		if n.kind == kindLeaf {
			inSeason = inSeason || at == leaf && beside
			if at < leaf && leaves[at].Seasonal() {
				season++
			}
			at++
			return
		}
		for i, t := range n.terms {
			within := beside
			for j, other := range n.terms {
				within = within || n.kind == kindProduct && i != j && other.has(basePER)
			}
			visit(t, within)
		}
	}
	visit(p.Expr.root, false)
	return inSeason, season
}

// has reports whether a base kernel stands in an expression.
func (n *node) has(b base) bool {
	if n.kind == kindLeaf {
		return n.base == b
	}
	for _, t := range n.terms {
		if t.has(b) {
			return true
		}
	}
	return false
}

// wandering is the logarithm of what the other factors of a product make of the
// amplitude of its first leaf, in the middle of the range: RW has no unit variance.
func (p *Program) wandering(leaf int, s Scales) float64 {
	sum, at := 0.0, 0
	leaves := p.leafInstrs()
	var visit func(n *node)
	visit = func(n *node) {
		first := at
		if n.kind == kindLeaf {
			at++
			return
		}
		for _, t := range n.terms {
			visit(t)
		}
		if n.kind == kindProduct && first <= leaf && leaf < at {
			for i := first; i < at; i++ {
				if in := leaves[i]; i != leaf && (in.Op == OpRW || in.Op == OpIRW) {
					sum += math.Log(Walked(in.Op, s.Before(in.Cols)))
				}
			}
		}
	}
	visit(p.Expr.root)
	return sum
}
