// Package periods finds candidate periods of a series by a least-squares
// periodogram.
package periods

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"example.com/kestrel/vbks/random"
)

// Peak is a candidate period of a series.
type Peak struct {
	Period float64 // in the units of x
	Power  float64 // share of the detrended series' sum of squares that the period and its harmonics explain, in [0, 1]
}

// Options are the choices of Find. The zero value is useful.
type Options struct {
	Max  int // the most peaks returned; 0: 8
	Rows int // irregular series are thinned at random to this many rows; 0: 20000
	// FalseAlarm is the probability that white noise gives a peak at all; 0:
	// 0.01. With 1 or more also insignificant peaks are returned.
	FalseAlarm float64
	Seed       uint64 // of the thinning
}

func (o Options) orDefaults() Options {
	if o.Max <= 0 {
		o.Max = 8
	}
	if o.Rows <= 0 {
		o.Rows = 20000
	}
	if o.FalseAlarm <= 0 {
		o.FalseAlarm = 0.01
	}
	return o
}

// Fewer distinct inputs than this are a factor rather than a time, and too few
// rows determine anything.
const (
	fewestInputs = 12
	// The components searched for per peak wanted: periods with many
	// harmonics and sidebands take several.
	componentsPerPeak = 3
	// Harmonics up to this one count for a period. A seventh would let every
	// week claim its days.
	highestHarmonic = 6
	// Components with less than this share of the first may be what its
	// subtraction, at a frequency of a grid, has left.
	negligible = 1e-3
)

// Find finds candidate periods of y as a function of x, strongest first and
// well separated (by 5 %, or by what the range of x resolves). x may be
// irregular, unsorted and repeat; rows that are not finite are left out.
//
// The series is detrended by a quadratic. Then the greatest peak of a
// least-squares periodogram with floating quadratic trend and linearly changing
// amplitude (see spectrum) is taken and its sinusoid subtracted, again and
// again, as long as a peak has a thousandth of the first one's power and a
// share of the sum of squares above z,
//
//	(1 − z)^b (1 + bz) = FalseAlarm/F,  b = (n − 7)/2,
//
// where F is the number of independent frequencies: in white noise, n rows, a
// share of four degrees of freedom follows Beta(2, b). Time series are hardly
// ever white, so a long slow wave may pass; its rank tells.
//
// The components found are then gathered into periods: a period's power is
// that of all components at its first six harmonics. The second to fourth
// multiple of a component's period is considered, too, where further
// components are among its harmonics, so that a signal whose second harmonic
// is the stronger one (or the only other is the third) still gives its
// fundamental. Components that a stronger period explains come last.
//
// Nothing is returned for fewer than 12 rows or distinct inputs, for constant
// targets, and where no peak is significant.
func Find(x, y []float64, opts Options) []Peak {
	opts = opts.orDefaults()
	x, y = finiteRows(x, y)
	if len(x) < fewestInputs {
		return nil
	}
	s, ok := sampleOf(x)
	if !ok || s.distinct < fewestInputs {
		return nil
	}
	if s.step == 0 && len(x) > opts.Rows {
		x, y = thinRows(x, y, opts.Rows, opts.Seed)
	}
	y, ok = detrend(x, y, s)
	if !ok {
		return nil
	}
	sp := newSpectrum(x, y, s)
	found := components(sp, opts)
	return gather(found, s.span, opts.Max)
}

// Columns is Find for every column of N x dim inputs (row-major), the
// others taken as noise. Columns with few distinct values have none.
func Columns(x, y []float64, dim int, opts Options) [][]Peak {
	if dim == 1 {
		return [][]Peak{Find(x, y, opts)}
	}
	opts = opts.orDefaults()
	rows := make([]int, len(y))
	for i := range rows {
		rows[i] = i
	}
	if len(rows) > opts.Rows {
		rows = random.Sample(rand.New(rand.NewPCG(opts.Seed, thinningStream)), len(y), opts.Rows)
	}
	targets := make([]float64, len(rows))
	for i, r := range rows {
		targets[i] = y[r]
	}
	column := make([]float64, len(rows))
	out := make([][]Peak, dim)
	for d := range dim {
		for i, r := range rows {
			column[i] = x[r*dim+d]
		}
		out[d] = Find(column, targets, opts)
	}
	return out
}

const thinningStream = 0x7468696e6e696e67

func thinRows(x, y []float64, rows int, seed uint64) (tx, ty []float64) {
	for _, i := range random.Sample(rand.New(rand.NewPCG(seed, thinningStream)), len(x), rows) {
		tx = append(tx, x[i])
		ty = append(ty, y[i])
	}
	return tx, ty
}

func finiteRows(x, y []float64) (fx, fy []float64) {
	bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	if !slices.ContainsFunc(x, bad) && !slices.ContainsFunc(y, bad) {
		return x, y
	}
	for i := range x {
		if !bad(x[i]) && !bad(y[i]) {
			fx = append(fx, x[i])
			fy = append(fy, y[i])
		}
	}
	return fx, fy
}

// detrend returns y less its least-squares quadratic in x, by polynomials
// orthogonal on the x given (Forsythe, J. SIAM 5, 1957). ok is false where
// nothing but rounding is left.
func detrend(x, y []float64, s sampling) (r []float64, ok bool) {
	n := len(x)
	r = slices.Clone(y)
	t := make([]float64, n)
	for i, v := range x {
		t[i] = 2*(v-s.lo)/s.span - 1
	}
	before := make([]float64, n)
	p := make([]float64, n)
	next := make([]float64, n)
	for i := range p {
		p[i] = 1
	}
	var normBefore float64
	for range 3 {
		var norm, shift, dot float64
		for i, v := range p {
			norm += v * v
			shift += t[i] * v * v
			dot += r[i] * v
		}
		if norm < 1e-12*float64(n) {
			break
		}
		ratio := 0.0
		if normBefore > 0 {
			ratio = norm / normBefore
		}
		for i, v := range p {
			r[i] -= dot / norm * v
			next[i] = (t[i]-shift/norm)*v - ratio*before[i]
		}
		before, p, next = p, next, before
		normBefore = norm
	}
	var rr, yy float64
	for i, v := range r {
		rr += v * v
		yy += y[i] * y[i]
	}
	return r, rr > 1e-20*yy && !math.IsInf(rr, 0)
}

// component is a sinusoid found in a series.
type component struct {
	freq  float64
	power float64
}

// components takes sinusoids out of a spectrum, the strongest first, while
// they are significant. Repeated finds at one frequency, where amplitude or
// phase wander, are counted together.
func components(sp *spectrum, opts Options) []component {
	var found []component
	noise := falseAlarmShare(sp, opts.FalseAlarm)
	for range componentsPerPeak * opts.Max {
		least := noise * sp.yy / sp.all
		if len(found) > 0 {
			least = max(least, negligible*found[0].power)
		}
		k, share := sp.strongest(least)
		if k == 0 || sp.yy <= 1e-12*sp.all {
			break
		}
		f := sp.refine(k)
		sp.remove(k)
		near := slices.IndexFunc(found, func(c component) bool {
			return math.Abs(c.freq-f) < max(1/sp.span, 0.05*f)
		})
		if near >= 0 {
			found[near].power += share
			continue
		}
		found = append(found, component{f, share})
	}
	return found
}

// falseAlarmShare returns the share of the sum of squares which the strongest
// of all frequencies exceeds in white noise with the given probability.
func falseAlarmShare(sp *spectrum, falseAlarm float64) float64 {
	if falseAlarm >= 1 {
		return 0
	}
	b := (sp.n - 7) / 2
	frequencies := max(1, float64(sp.k)*sp.df*sp.span)
	target := math.Log(falseAlarm / frequencies)
	lo, hi := 0.0, 1.0
	for range 60 {
		z := (lo + hi) / 2
		if b*math.Log1p(-z)+math.Log1p(b*z) > target {
			lo = z
		} else {
			hi = z
		}
	}
	return hi
}

// fundamental is a period proposed, with the components it explains.
type fundamental struct {
	freq    float64
	power   float64
	members []int
}

// gather turns components into periods, as Find describes.
func gather(found []component, span float64, most int) []Peak {
	claimed := make([]bool, len(found))
	var out []Peak
	add := func(freq, power float64) {
		for _, p := range out {
			if math.Abs(math.Log(p.Period*freq)) < 0.05 || math.Abs(1/p.Period-freq) < 0.5/span {
				return
			}
		}
		out = append(out, Peak{Period: 1 / freq, Power: min(1, power)})
	}
	for len(out) < most {
		var best fundamental
		for i, c := range found {
			if claimed[i] {
				continue
			}
			for m := 1; m <= 4; m++ {
				if f, ok := propose(found, claimed, c.freq, m, span); ok && f.power > best.power {
					best = f
				}
			}
		}
		if best.members == nil {
			break
		}
		add(best.freq, best.power)
		for _, j := range best.members {
			claimed[j] = true
			// A harmonic that is most of the power may be the truth itself.
			if found[j].power > best.power/2 {
				add(found[j].freq, found[j].power)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Peak) int { return cmp.Compare(b.Power, a.Power) })
	for _, c := range found {
		add(c.freq, c.power)
	}
	return out[:min(most, len(out))]
}

// propose gathers the unclaimed components at the harmonics of freq/m. Where
// the strongest of them is a higher harmonic h, a fiftieth of the power must be
// at harmonics that are not multiples of h: else its period is the truth. For
// m > 1 the range must also resolve the harmonics.
func propose(found []component, claimed []bool, freq float64, m int, span float64) (fundamental, bool) {
	f := freq / float64(m)
	tolerance := min(0.5/span, 0.1*f)
	if f*span < 1.5 || m > 1 && f*span < 3 {
		return fundamental{}, false
	}
	var out fundamental
	var atHarmonic [highestHarmonic + 1]float64
	var weight, sum float64
	for i, c := range found {
		h := math.Round(c.freq / f)
		if claimed[i] || h < 1 || h > highestHarmonic || math.Abs(c.freq-h*f) > tolerance {
			continue
		}
		out.members = append(out.members, i)
		out.power += c.power
		atHarmonic[int(h)] += c.power
		// The frequencies of strong components are the best known.
		weight += c.power * h * h
		sum += c.power * h * c.freq
	}
	lead := 1
	for h, p := range atHarmonic {
		if p > atHarmonic[lead] {
			lead = h
		}
	}
	if lead > 1 {
		var further float64
		for h, p := range atHarmonic {
			if h%lead != 0 {
				further += p
			}
		}
		if further < 0.02*out.power {
			return fundamental{}, false
		}
	}
	out.freq = sum / weight
	return out, true
}
