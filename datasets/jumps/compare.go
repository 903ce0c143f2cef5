package jumps

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

const (
	mostBlocks    = 400 // means of neighbours are compared of longer series
	fewestBlocks  = 40
	mostSteps     = 3
	mostPeaks     = 2
	neighbours    = 5                             // on either side, about whose median values are
	farthest      = 3.                            // usual distances from it
	seasonsSeen   = 3                             // at least, of a season that is taken off
	endShare      = 0.05                          // of all values at least are before the first step, and behind the last
	apartShare    = 0.1                           // and between two: what returns sooner is a peak
	fewestValues  = 6                             // there
	parts         = 4                             // of a series, of which the noise is looked at
	differs       = 2.5                           // times the smallest noise of a part is the largest where they are not the same
	ahead         = 3.                            // nats that steps must be likelier than all else, of very many values
	aheadOfFew    = 100.                          // divided by the number of values, the same of few, of which likelihoods are known less well
	mostColumns   = 2 + max(mostSteps, mostPeaks) // of a mean: a constant, a line, and what it has besides
	placeCost     = 1                             // of a step, in log n; half of it is that of any other number
	leastLeft     = 1e-6                          // of the range, below which what a mean leaves is rounding
	smallestPivot = 1e-8                          // of a column's squares, below which others have all of it
)

// compared finds steps that are smaller beside the noise than those that means beside each place show, but have
// many values on both sides. Levels with one to three steps, of values without their season and outliers, are
// compared with what else may make such a level, by the likelihood of a mean μ and a covariance σ²Σ less what
// the numbers cost that are fitted, p of them, k the places of steps,
//
//	log N(y | μ, σ²Σ) − ½ p log n − k log n.
//
// What else: a constant, a line, a parabola, a cubic, a wave, a line with a bend, a peak or two, with noise or
// with noise and a level that returns; a constant or a line with noise and a level that wanders, or whose slope does.
// Steps, with noise or with noise and a level that returns, must be three nats ahead of the best of these and
// of fewer steps, and a little more of few values, and no ramp over a tenth of all values or more may be ahead of them; over less
// it is a step to a kernel, too, which has a width.
func compared(y []float64, season int, places []int) []Jump {
	if len(y) < fewestBlocks || season < 0 {
		return nil
	}
	y = cleaned(y, season, places)
	block := (len(y) + mostBlocks - 1) / mostBlocks
	c := newContest(blocks(y, block), spread(y, block))
	if c == nil {
		return nil
	}
	return c.sized(y, block, c.winners())
}

// levels are of a series: a constant or a line, and steps.
type levels struct {
	at   []int
	line bool
}

// contest is between what a series may be.
type contest struct {
	y         []float64
	shift     float64   // of y from the values
	spread    []float64 // of the noise of each value, beside the others'; nil: it is the same
	least     float64   // sum of squares, below which it is rounding
	end       int       // values at either end that have no step
	apart     int       // values between steps, at least
	one, time []float64
}

// newContest returns nil where there is nothing to compare.
func newContest(y, spread []float64) *contest {
	n := len(y)
	if n < fewestBlocks {
		return nil
	}
	wide := leastLeft * (slices.Max(y) - slices.Min(y))
	if wide == 0 {
		return nil
	}
	y = slices.Clone(y) // about 0, so that rounding of squares is not that of the level's
	shift := stat.Mean(y, nil)
	for i := range y {
		y[i] -= shift
	}
	c := &contest{y: y, shift: shift, spread: spread, least: wide * wide * float64(n), end: max(fewestValues, int(endShare*float64(n))),
		apart: max(fewestValues, int(apartShare*float64(n)))}
	c.time = c.column(func(t float64) float64 { return t })
	c.one = c.column(func(float64) float64 { return 1 })
	return c
}

// sized are steps where values, not the blocks of them that were compared, have them, with their sizes.
func (c *contest) sized(y []float64, block int, steps levels) (found []Jump) {
	columns := c.mean(steps).columns
	sizes := solved(columns, c.y)
	for i, at := range steps.at {
		size := sizes[len(sizes)-len(steps.at)+i]
		// The level before the step is where this one is not counted.
		if block == 1 {
			found = append(found, Jump{at, size})
			continue
		}
		best, sum, place := 0., 0., (at-1)*block
		for row := (at - 1) * block; row < min(len(y), (at+1)*block); row++ {
			level := 0.
			for k, x := range columns {
				if own := len(columns) - len(steps.at) + i; k != own {
					level += sizes[k] * x[min(row/block, len(x)-1)]
				}
			}
			// What the squares lose where this value is before the step, beside behind it.
			off := y[row] - c.shift - level
			if sum += (off-size)*(off-size) - off*off; sum > best {
				best, place = sum, row+1
			}
		}
		found = append(found, Jump{place, size})
	}
	return found
}

// column is a function of time, which goes from −1 to 1.
func (c *contest) column(of func(t float64) float64) []float64 {
	x, n := make([]float64, len(c.y)), float64(len(c.y))
	for i := range x {
		x[i] = of((2*float64(i)+1)/n - 1)
	}
	return x
}

func (c *contest) step(at int) []float64 {
	x := make([]float64, len(c.y))
	for i := at; i < len(x); i++ {
		x[i] = 1
	}
	return x
}

// mean is what a series is about: columns, and what is fitted of them beside their factors, in log n.
type mean struct {
	columns [][]float64
	more    float64
}

// mean is that of levels.
func (c *contest) mean(of levels) mean {
	m := mean{columns: [][]float64{c.one}}
	if of.line {
		m.columns = append(m.columns, c.time)
	}
	for _, at := range of.at {
		m.columns, m.more = append(m.columns, c.step(at)), m.more+placeCost
	}
	return m
}

// winners are the levels that are ahead, without steps where something else is as likely.
func (c *contest) winners() (none levels) {
	var all []levels
	for _, line := range []bool{false, true} {
		of := levels{line: line}
		for range mostSteps {
			if of = c.another(of); of.at == nil {
				break
			}
			all = append(all, of)
		}
	}
	if len(all) == 0 {
		return none
	}
	ahead := ahead + aheadOfFew/float64(len(c.y))
	stays := []dynamics{white}
	returns := append(stays, returningLevels()...)
	of := func(all ...levels) (means []mean) {
		for _, l := range all {
			means = append(means, c.mean(l))
		}
		return means
	}
	plain, line := none, levels{line: true}
	// What costs least comes first: most series go no further.
	if steps, _ := c.best(of(all...), stays); steps < c.highest(of(plain, line), stays)+ahead {
		return none
	}
	score, which := c.best(of(all...), returns)
	rest := math.Inf(-1)
	for _, other := range []func() float64{
		func() float64 { return c.highest(of(plain, line), returns) },
		func() float64 { return c.highest(of(plain, line), wanderingLevels()) },
		func() float64 { return c.highest(c.peaks(), returns) },
		func() float64 { return c.highest(c.smooth(), returns) },
		func() float64 { return c.highest(c.ramps(all[0].at[0]), returns) - ahead },
	} {
		if rest = max(rest, other()); score < rest+ahead {
			return none
		}
	}
	won := all[which]
	for len(won.at) > 1 { // each of them is needed
		var fewer []levels
		for i := range won.at {
			at := slices.Delete(slices.Clone(won.at), i, i+1)
			fewer = append(fewer, levels{at, false}, levels{at, true})
		}
		without, which := c.best(of(fewer...), returns)
		if score >= without+ahead {
			break
		}
		if won, score = fewer[which], without; score < rest+ahead {
			return none
		}
	}
	return won
}

// another has one more step, where it splits the squares best, and moves all to where they do; without any
// there is no room.
func (c *contest) another(of levels) levels {
	next := c.split(of)
	if next < 0 {
		return levels{}
	}
	at := append(slices.Clone(of.at), next)
	for i := 0; len(at) > 1 && i < 2*len(at); i++ {
		k := i % len(at)
		at[k] = c.split(levels{slices.Delete(slices.Clone(at), k, k+1), of.line})
	}
	slices.Sort(at)
	return levels{at, of.line}
}

// split is where a further step takes most off the squares that levels leave; −1: nowhere.
func (c *contest) split(of levels) int {
	n := len(c.y)
	base := basis(c.mean(of).columns)
	left := slices.Clone(c.y)
	for _, q := range base {
		remove(left, q)
	}
	// Sums from the end are products with steps.
	best, place := 0., -1
	sums := make([]float64, len(base))
	sum := 0.
	for i := n - 1; i >= c.end; i-- {
		sum += left[i]
		length := float64(n - i)
		for j, q := range base {
			sums[j] += q[i]
			length -= sums[j] * sums[j]
		}
		if i > n-c.end || length < smallestPivot*float64(n) ||
			slices.ContainsFunc(of.at, func(a int) bool { return max(a-i, i-a) < c.apart }) {
			continue
		}
		if gain := sum * sum / length; gain > best {
			best, place = gain, i
		}
	}
	return place
}

// smooth are means that are no steps, but may look like some, one of them about a place.
func (c *contest) smooth() (all []mean) {
	t2, t3 := c.column(func(t float64) float64 { return t * t }), c.column(func(t float64) float64 { return t * t * t })
	all = append(all, mean{columns: [][]float64{c.one, c.time, t2}}, mean{columns: [][]float64{c.one, c.time, t2, t3}})
	for _, cycles := range []float64{0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3} {
		sin := c.column(func(t float64) float64 { return math.Sin(math.Pi * cycles * t) })
		cos := c.column(func(t float64) float64 { return math.Cos(math.Pi * cycles * t) })
		all = append(all, mean{[][]float64{c.one, cos, sin}, 0.5}, mean{[][]float64{c.one, c.time, cos, sin}, 0.5})
	}
	for bend := -0.8; bend < 0.9; bend += 0.2 {
		hinge := c.column(func(t float64) float64 { return max(0, t-bend) })
		all = append(all, mean{[][]float64{c.one, c.time, hinge}, 0.5})
	}
	return all
}

// ramps are means that change about a place, over a tenth of all values or more: what takes less is a step to a kernel.
func (c *contest) ramps(about int) (all []mean) {
	at := 2*float64(about)/float64(len(c.y)) - 1
	for _, width := range []float64{0.2, 0.4, 0.8} { // of two, the length of time
		for _, off := range []float64{-0.3, -0.15, 0, 0.15, 0.3} {
			ramp := c.column(func(t float64) float64 { return min(max((t-at)/width+off, -0.5), 0.5) })
			all = append(all, mean{[][]float64{c.one, ramp}, placeCost + 0.5})
		}
	}
	return all
}

// peaks are means with one or two stretches too short to lie between steps, where the squares are split best.
func (c *contest) peaks() (all []mean) {
	for _, m := range []mean{{columns: [][]float64{c.one}}, {columns: [][]float64{c.one, c.time}}} {
		for range mostPeaks {
			m.columns, m.more = append(slices.Clip(m.columns), c.peak(m)), m.more+placeCost+0.5
			all = append(all, m)
		}
	}
	return all
}

// peak is 1 in the stretch that takes most off the squares which a mean leaves.
func (c *contest) peak(m mean) []float64 {
	n := len(c.y)
	base := basis(m.columns)
	left := slices.Clone(c.y)
	for _, q := range base {
		remove(left, q)
	}
	best, from, to := -1., 0, 0
	sums := make([]float64, len(base))
	for i := range n {
		clear(sums)
		sum := 0.
		for k := i; k < min(n, i+c.apart); k++ {
			sum += left[k]
			length := float64(k + 1 - i)
			for j, q := range base {
				sums[j] += q[k]
				length -= sums[j] * sums[j]
			}
			if gain := sum * sum / length; length > smallestPivot && gain > best {
				best, from, to = gain, i, k+1
			}
		}
	}
	x := make([]float64, n)
	for i := from; i < to; i++ {
		x[i] = 1
	}
	return x
}

// highest is the highest score that means have with dynamics.
func (c *contest) highest(means []mean, all []dynamics) float64 {
	score, _ := c.best(means, all)
	return score
}

// best is that, and which mean has it.
func (c *contest) best(means []mean, all []dynamics) (score float64, which int) {
	n := len(c.y)
	logN := math.Log(float64(n))
	g := newProducts(n)
	numbers := make([][]int, len(means))
	for i, m := range means {
		for _, x := range m.columns {
			numbers[i] = append(numbers[i], g.number(x))
		}
	}
	score = math.Inf(-1)
	for _, d := range all {
		w := d.whitener(n, c.spread)
		g.whiten(w, c.y)
		for i, m := range means {
			squares := max(g.left(numbers[i]), c.least)
			s := -float64(n)/2*math.Log(squares/float64(n)) - w.volume - logN*(m.more+(d.free+float64(len(m.columns)))/2)
			if s > score {
				score, which = s, i
			}
		}
	}
	return score, which
}

// solved are the factors of columns by least squares, of a column that others have all of 0.
func solved(columns [][]float64, y []float64) []float64 {
	left, factors := slices.Clone(y), make([]float64, len(columns))
	for range 2 { // the second time for what rounding left
		for i := len(columns) - 1; i >= 0; i-- {
			// Of a column what the earlier ones have no part of has a product with what is left that is its factor's.
			q := slices.Clone(columns[i])
			for _, b := range basis(columns[:i]) {
				remove(q, b)
			}
			if length := floats.Dot(q, q); length > smallestPivot*floats.Dot(columns[i], columns[i]) {
				f := floats.Dot(q, left) / length
				factors[i] += f
				for k, v := range columns[i] {
					left[k] -= f * v
				}
			}
		}
	}
	return factors
}

// basis makes columns orthogonal and of length one; what others have all of is left out.
func basis(columns [][]float64) (out [][]float64) {
	for _, x := range columns {
		q := slices.Clone(x)
		whole := floats.Dot(q, q)
		for _, o := range out {
			remove(q, o)
		}
		if length := floats.Dot(q, q); length > smallestPivot*whole {
			for i := range q {
				q[i] /= math.Sqrt(length)
			}
			out = append(out, q)
		}
	}
	return out
}

// remove takes off x what it has of q.
func remove(x, q []float64) {
	p := floats.Dot(x, q)
	for i, v := range q {
		x[i] -= p * v
	}
}
