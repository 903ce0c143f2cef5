package starts

import (
	"math"
	"math/rand/v2"
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/periods"
)

// candidate is a period that may be one, with PER's length scale as far as it is known.
type candidate struct {
	period float64
	scale  float64 // 0: not known
}

const (
	// Of shapedRows rows periods are looked for by their shape, too, also beside a
	// slow wander: as they are and with what local means of these parts of the range
	// explain taken out.
	shapedRows = 4000
	shapedMost = 3 // of each
	// A rough wander looks like a period of which few cycles are seen.
	shapedCycles = 4
)

func wanders() []float64 { return []float64{0, 1. / 16, 1. / 64} }

// findPeaks finds the periods of every column's strongest components.
func (w *Drawer) findPeaks() {
	w.peaks = make([][]float64, w.dim)
	for c, peaks := range periods.Columns(w.x, w.y, w.dim, periods.Options{Seed: w.seed}) {
		for _, p := range peaks {
			w.peaks[c] = append(w.peaks[c], p.Period)
		}
	}
	if known := w.known(); len(known) > 0 {
		w.peaks[0] = append(known, w.peaks[0]...)
	}
}

// known are periods of the first column that its values are known to have: the cycle that they show, then the
// calendar's.
func (w *Drawer) known() (known []float64) {
	if w.scales.Cycle > 0 {
		known = append(known, w.scales.Cycle)
	}
	return append(known, w.scales.Seasons...)
}

// candidates are the periods that are tried of a column, the most promising first: what
// the calendar knows, then the best shapes in turn with the strongest components. They
// are looked for when they are first asked for.
func (w *Drawer) candidates(column int) []candidate {
	w.shaped.Do(func() {
		w.periods = make([][]candidate, w.dim)
		for c := range w.periods {
			w.periods[c] = w.findCandidates(c)
		}
	})
	return w.periods[column]
}

func (w *Drawer) findCandidates(c int) (out []candidate) {
	known := w.peaks[c]
	if c == 0 {
		n := len(w.known())
		for _, period := range known[:n] {
			out = append(out, candidate{period: period})
		}
		known = known[n:]
	}
	column := make([]float64, len(w.y))
	for i := range column {
		column[i] = w.x[i*w.dim+c]
	}
	var lists [][]candidate
	for _, part := range wanders() {
		var list []candidate
		for _, p := range periods.FindShaped(column, w.y, part*w.scales.Span[c], shapedMost, periods.Options{Rows: shapedRows, Seed: w.seed}) {
			if p.Period*shapedCycles <= w.scales.Span[c] {
				list = append(list, candidate{p.Period, p.Scale})
			}
		}
		lists = append(lists, list)
	}
	var components []candidate
	for _, p := range known {
		components = append(components, candidate{period: p})
	}
	if len(w.y) > shapedRows { // components are of all rows, shapes beside a wander of some
		lists = slices.Insert(lists, 1, components)
		return inTurn(out, lists)
	}
	return inTurn(out, append(lists, components))
}

// samePeriods is how far logarithms of periods are apart that are one.
const samePeriods = 0.02

// inTurn adds the first of every list, then the second, but none twice: of periods
// that are one the scale stays that is known.
func inTurn(out []candidate, lists [][]candidate) []candidate {
	for place, some := 0, true; some; place++ {
		some = false
		for _, list := range lists {
			if place >= len(list) {
				continue
			}
			some = true
			same := slices.IndexFunc(out, func(o candidate) bool { return math.Abs(math.Log(o.period/list[place].period)) < samePeriods })
			switch {
			case same < 0:
				out = append(out, list[place])
			case out[same].scale == 0:
				out[same].scale = list[place].scale
			}
		}
	}
	return out
}

const (
	// Of the leaves PER that are drawn smoothShare are functions that vary slowly and
	// hardly ever return, for which the kernels of a grammar have no other place where SE is lacking.
	smoothShare = 0.2
	// And so many have any period.
	anyShare = 0.12
)

// periodic draws PER: a candidate period with the scale that goes with it or any, any
// period, or a smooth function, which is PER of a period beyond the range:
//
//	exp(−2 sin²(πr/p)/ℓ²) ≈ exp(−r²/2s²),  ℓ = 2πs/p,  r ≪ p.
func (w *Drawer) periodic(in *kernelspace.Instr, raw []float64, rng *rand.Rand, number int, used []map[int]bool) {
	columns := float64(len(in.Cols))
	scales := raw[1 : 1+in.NumScale]
	rest := raw[1+in.NumScale:]
	if number > 0 && rng.Float64() < smoothShare {
		c := in.Cols[0]
		p := w.scales.Span[c] * math.Exp(rng.Float64()*math.Log(8))
		l := 2 * math.Pi * logUniform(rng, w.shortest(len(in.Cols)), 3) * w.spread[c] / p
		for i := range scales {
			scales[i] = l * math.Sqrt(columns)
		}
		for i := range in.NumPeriod {
			rest[i] = p * w.scales.Span[in.Cols[min(i, len(in.Cols)-1)]] / w.scales.Span[c]
		}
		return
	}
	l := 1.0
	if number > 0 {
		l = math.Exp(rng.NormFloat64() - 0.3)
	}
	for i := range in.NumPeriod {
		known := w.period(in.Cols[min(i, len(in.Cols)-1)], rng, number, used)
		rest[i] = known.period
		if i == 0 && known.scale > 0 && (number == 0 || rng.IntN(2) == 0) {
			l = known.scale
			if number > 0 {
				l *= math.Exp(0.4 * rng.NormFloat64())
			}
		}
	}
	for i := range scales {
		scales[i] = l * math.Sqrt(columns)
	}
}

// period draws a period for a column: the candidates in their order for start 0, then
// candidates at random, their multiples and halves, and now and then anything. Leaves
// of one kernel get different candidates.
func (w *Drawer) period(c int, rng *rand.Rand, number int, used []map[int]bool) candidate {
	all := w.candidates(c)
	u := rng.Float64()
	lo := math.Max(3*w.scales.Spacing[c], w.scales.Span[c]/500)
	if len(all) == 0 || number > 0 && u < anyShare {
		return candidate{period: logUniform(rng, lo, 1.5*w.scales.Span[c])}
	}
	if number == 0 {
		for i, p := range all {
			if !used[c][i] {
				used[c][i] = true
				return p
			}
		}
		return all[len(all)-1]
	}
	// The strongest is drawn most often.
	i := min(int(rng.ExpFloat64()*2.5), len(all)-1)
	for range all {
		if !used[c][i] {
			break
		}
		i = (i + 1) % len(all)
	}
	used[c][i] = true
	p := all[i]
	switch {
	case u < 0.2:
		p = candidate{period: 2 * p.period}
	case u < 0.28:
		p = candidate{period: p.period / 2}
	}
	// What the range resolves, or a little for those that are not known so well.
	p.period = math.Max(p.period*math.Exp(math.Min(0.02, 0.1*p.period/w.scales.Span[c])*rng.NormFloat64()), lo)
	return p
}

// ShortestPeriod returns the shortest of a column's strongest candidates, 0 if there
// is none.
func (w *Drawer) ShortestPeriod(column int) float64 {
	const strongest = 3
	peaks := w.peaks[column]
	if len(peaks) == 0 {
		return 0
	}
	return slices.Min(peaks[:min(strongest, len(peaks))])
}
