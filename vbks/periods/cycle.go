package periods

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

const (
	// How many times the power beside it a cycle has, and what the calendar knows where the rows show it.
	// Noise, walks, slopes and seasons have more than the first at some frequency in one series of a
	// hundred, and than the second at a given one in one of ten.
	cycleAbove  = 20
	seasonAbove = 6
	// So many of a cycle are seen at least, and it has so many steps.
	cyclesSeen = 4
	cycleSteps = 3
	// A season has power at its harmonics, of which the first so many are taken out, and beside them: nothing is
	// looked for within so many 1/n, or that share, of a multiple of its frequency.
	seasonHarmonics = 6
	besideRows      = 1.0
	besideShare     = 0.02
	// Where a season's size changes there is as much on its other side, within that share of it.
	mirrored     = 0.3
	mirrorTimes  = 4
	nearestOnes  = 2
	backFrom     = 1.25 // times the frequency, and as much below, background begins
	backTo       = 2.5  // and ends
	peakRows     = 1.6  // 1/n, half the width of a peak, are no background
	closeFrom    = 0.08 // of the frequency, is what stands closer beside
	closeTo      = 0.25
	closeTimes   = 5
	fewestBeside = 3 // frequencies of a periodogram
	// Values further than this from the median of five neighbours, in standard deviations of what all are, are
	// taken to be as far.
	cycleClip   = 4
	cycleMedian = 2 // neighbours on either side
	// Series of more values have their calendar.
	mostCycled = 1 << 18
	// From 1.5 times the median of absolute values of a normal variable.
	medianToDeviation = 1.4826
	slowest           = 0.75 // cycles in the rows, below which a quadratic has taken out what there is
)

// Cycle returns the period, in steps, of the strongest cycle of values at even steps that none of the seasons
// explains, which have so many steps: a wave of the moon's or of business, 0 if there is none. Outliers are
// pulled in, a quadratic and the seasons' harmonics taken out; then with the periodogram P of the tapered rest
// a cycle at frequency f is where
//
//	P(f) > 20 √(mean P(f/2.5 … f/1.25) · mean P(1.25f … 2.5f)),
//
// so that a continuous spectrum, of whatever slope, has no cycles, P(f) > 5 times the mean of what is close to it on
// either side, and 4 times what is as far on the other side of a season's multiple nearby.
func Cycle(y []float64, seasons []float64) float64 {
	c := newCycles(y, seasons, true)
	if c == nil {
		return 0
	}
	best, at := cycleAbove*1., 0
	for k := 1; k+1 < len(c.power); k++ {
		f := c.freq(k)
		if f*c.n < cyclesSeen || f > 1./cycleSteps || !c.free[k] || c.power[k] < c.power[k-1] || c.power[k] < c.power[k+1] {
			continue
		}
		if v := c.above(k); v > best && c.alone(k) {
			best, at = v, k
		}
	}
	if at == 0 {
		return 0
	}
	for _, m := range []float64{3, 2} { // one that has its power in harmonics
		if k := c.peak(float64(at) / m); c.freq(k)*c.n >= cyclesSeen && c.free[k] && c.above(k) > cycleAbove {
			at = k
			break
		}
	}
	return 1 / c.refined(at)
}

// Shown reports of each season, in steps, whether the values show it: more power at its frequency, or at twice or
// three times that, than beside it.
func Shown(y []float64, seasons []float64) []bool {
	out := make([]bool, len(seasons))
	c := newCycles(y, seasons, false)
	if c == nil {
		return out
	}
	for i, p := range seasons {
		for j := 1.; j <= 3 && j/p < 0.5; j++ {
			if k := c.peak(j / p / c.df); k > 0 && k < len(c.power) && c.above(k) > seasonAbove {
				out[i] = true
			}
		}
	}
	return out
}

// cycles is a periodogram at k·df.
type cycles struct {
	n, df     float64
	power     []float64
	free      []bool // of seasons and trends
	sums      []float64
	counts    []float64
	multiples []float64 // of the seasons' frequencies
}

func (c *cycles) freq(k int) float64 { return float64(k) * c.df }

// newCycles makes the periodogram of a series, of which the seasons are taken out or left; nil if there is nothing
// to be seen.
func newCycles(y, seasons []float64, without bool) *cycles {
	n := len(y)
	if n < fewestInputs || n > mostCycled || slices.ContainsFunc(y, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return nil
	}
	r := pulledIn(y)
	size := floats.Norm(r, 2)
	basis := [][]float64{column(n, func(float64) float64 { return 1 }), column(n, func(t float64) float64 { return t / float64(n) }),
		column(n, func(t float64) float64 { return t * t / float64(n) / float64(n) })}
	c := &cycles{n: float64(n)}
	for _, p := range seasons {
		for j := 1.; j/p <= 0.5 && j <= float64(n); j++ {
			c.multiples = append(c.multiples, j/p)
			if without && j <= seasonHarmonics {
				basis = append(basis, column(n, func(t float64) float64 { return math.Cos(2 * math.Pi * j / p * t) }),
					column(n, func(t float64) float64 { return math.Sin(2 * math.Pi * j / p * t) }))
			}
		}
	}
	takeOut(r, basis)
	if !(floats.Norm(r, 2) > 1e-10*size) {
		return nil
	}
	l := fftLength(oversampling * n)
	padded := make([]float64, l)
	for i, v := range r {
		padded[i] = v * (1 - math.Cos(2*math.Pi*(float64(i)+1)/float64(n+1))) / 2 // Hann's taper
	}
	c.df = 1 / float64(l)
	for _, v := range fourier.NewFFT(l).Coefficients(nil, padded) {
		c.power = append(c.power, real(v)*real(v)+imag(v)*imag(v))
	}
	c.free = make([]bool, len(c.power))
	for k := range c.free {
		c.free[k] = c.freq(k)*c.n > slowest
	}
	for _, f := range c.multiples {
		beside := max(besideRows/c.n, besideShare*f)
		for k := max(0, int(math.Ceil((f-beside)/c.df))); k < len(c.free) && c.freq(k) < f+beside; k++ {
			c.free[k] = false
		}
	}
	c.sums, c.counts = make([]float64, len(c.power)+1), make([]float64, len(c.power)+1)
	for k, v := range c.power {
		c.sums[k+1], c.counts[k+1] = c.sums[k], c.counts[k]
		if c.free[k] {
			c.sums[k+1], c.counts[k+1] = c.sums[k]+v, c.counts[k]+1
		}
	}
	return c
}

// mean is that of the power from one frequency to another, where it is free; ok is false where that is hardly anywhere.
func (c *cycles) mean(from, to float64) (m float64, ok bool) {
	lo := max(0, int(math.Ceil(from/c.df)))
	hi := min(len(c.power), int(math.Floor(to/c.df))+1)
	if lo >= hi || c.counts[hi]-c.counts[lo] < fewestBeside {
		return 0, false
	}
	return (c.sums[hi] - c.sums[lo]) / (c.counts[hi] - c.counts[lo]), true
}

// above is how many times the background the power is; 0 where there is none to be seen.
func (c *cycles) above(k int) float64 {
	f := c.freq(k)
	low, okLow := c.mean(f/backTo, min(f/backFrom, f-peakRows/c.n))
	high, okHigh := c.mean(max(f*backFrom, f+peakRows/c.n), f*backTo)
	if !okLow || !okHigh || !(low > 0) || !(high > 0) {
		return 0
	}
	return c.power[k] / math.Sqrt(low*high)
}

// alone reports whether a peak stands by itself, and is not the side of what is close to it or of a season.
func (c *cycles) alone(k int) bool {
	f := c.freq(k)
	from, to := max(2/c.n, closeFrom*f), max(8/c.n, closeTo*f)
	for _, side := range [][2]float64{{f - to, f - from}, {f + from, f + to}} {
		if m, ok := c.mean(side[0], side[1]); ok && c.power[k] < closeTimes*m {
			return false
		}
	}
	near := slices.Clone(c.multiples)
	slices.SortFunc(near, func(a, b float64) int { return cmp.Compare(math.Abs(a-f), math.Abs(b-f)) })
	for _, of := range near[:min(nearestOnes, len(near))] {
		if math.Abs(of-f) > mirrored*of {
			continue
		}
		if other := c.peak((2*of - f) / c.df); other > 0 && other < len(c.power) && c.power[k] < mirrorTimes*c.power[other] {
			return false
		}
	}
	return true
}

// peak is the index of the most power within a step of the unpadded transform of one.
func (c *cycles) peak(index float64) int {
	best := -1
	for k := max(0, int(math.Ceil(index))-oversampling); k <= int(index)+oversampling && k < len(c.power); k++ {
		if best < 0 || c.power[k] > c.power[best] {
			best = k
		}
	}
	return max(0, best)
}

// refined is the frequency of a maximum by a parabola through it and its neighbours.
func (c *cycles) refined(k int) float64 {
	if k < 1 || k+1 >= len(c.power) {
		return c.freq(k)
	}
	a, b, d := math.Log(c.power[k-1]), math.Log(c.power[k]), math.Log(c.power[k+1])
	if bend := a - 2*b + d; bend < 0 && !math.IsInf(bend, 0) {
		return (float64(k) + min(0.5, max(-0.5, (a-d)/(2*bend)))) * c.df
	}
	return c.freq(k)
}

// pulledIn are values with outliers as far from their neighbours as values can be.
func pulledIn(y []float64) []float64 {
	out, apart := make([]float64, len(y)), make([]float64, len(y))
	for i := range y {
		out[i] = median(y[max(0, i-cycleMedian):min(len(y), i+cycleMedian+1)])
		apart[i] = math.Abs(y[i] - out[i])
	}
	most := cycleClip * medianToDeviation * median(apart)
	for i := range out {
		if apart[i] <= most || most == 0 {
			out[i] = y[i]
		} else {
			out[i] += math.Copysign(most, y[i]-out[i])
		}
	}
	return out
}

func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func column(n int, of func(t float64) float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = of(float64(i))
	}
	return v
}

// takeOut leaves of r what no sum of the columns explains (modified Gram and Schmidt), and changes these.
func takeOut(r []float64, columns [][]float64) {
	var kept [][]float64
	for _, v := range columns {
		before := floats.Norm(v, 2)
		for range 2 {
			for _, k := range kept {
				floats.AddScaled(v, -floats.Dot(v, k), k)
			}
		}
		size := floats.Norm(v, 2)
		if !(size > 1e-6*before) {
			continue
		}
		floats.Scale(1/size, v)
		kept = append(kept, v)
		floats.AddScaled(r, -floats.Dot(r, v), v)
	}
}
