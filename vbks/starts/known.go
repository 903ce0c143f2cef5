package starts

import (
	"math"
	"math/rand/v2"

	"example.com/kestrel/kernelspace"
)

// fresh draws the parameters of a leaf; heed must follow. One whose periods are fixed takes
// no candidates away from others.
func (w *Drawer) fresh(p *kernelspace.Program, in *kernelspace.Instr, raw []float64, rng *rand.Rand, number int, used []map[int]bool) {
	if first := in.Off + 1 + in.NumScale; in.NumPeriod > 0 && p.Params[first].Known.How == kernelspace.Fixed {
		used = w.unused()
	}
	w.leaf(in, raw[in.Off:in.Off+in.NumParams()], rng, number, used)
}

// heed gives those of a leaf's parameters of which something is known beforehand values
// that agree with it, where what has been drawn of them does not.
func (w *Drawer) heed(p *kernelspace.Program, in *kernelspace.Instr, raw []float64, rng *rand.Rand, number int) {
	for j := in.Off; j < in.Off+in.NumParams(); j++ {
		q := &p.Params[j]
		if q.Known.How == kernelspace.Bounded && q.Name == "period" && !within(&q.Known, raw[j]) {
			if period := w.periodWithin(&q.Known, in, j-in.Off-1-in.NumScale, rng, number); period > 0 {
				raw[j] = period
				continue
			}
		}
		raw[j] = heeded(&q.Known, raw[j], rng, number)
	}
}

func within(k *kernelspace.Known, raw float64) bool {
	log := math.Log(raw)
	return log >= k.Low && log <= k.High
}

// heeded is a value that agrees with what is known of it: that which was drawn, if it
// does, else the middle for start 0, then anything likely.
func heeded(k *kernelspace.Known, drawn float64, rng *rand.Rand, number int) float64 {
	switch k.How {
	case kernelspace.Fixed:
		return k.Value
	case kernelspace.Bounded:
		if within(k, drawn) {
			return drawn
		}
		u := 0.5
		if number != 0 {
			u = rng.Float64()
		}
		return math.Exp(k.Low + u*(k.High-k.Low))
	case kernelspace.Expected:
		z := 0.0
		if number != 0 {
			z = rng.NormFloat64()
		}
		return math.Exp(k.Mean + k.SD*z)
	}
	return drawn
}

// periodWithin is one of the candidates between bounds, the most promising for start 0, and
// every other time; 0 where there is none, or none is meant.
func (w *Drawer) periodWithin(k *kernelspace.Known, in *kernelspace.Instr, i int, rng *rand.Rand, number int) float64 {
	var some []float64
	for _, c := range w.candidates(in.Cols[min(i, len(in.Cols)-1)]) {
		if within(k, c.period) {
			some = append(some, c.period)
		}
	}
	switch {
	case len(some) == 0 || number != 0 && rng.IntN(2) == 0:
		return 0
	case number == 0:
		return some[0]
	}
	return some[rng.IntN(len(some))]
}

// taken is unused, but that periods which leaves of a kernel are fixed at are no
// candidates for others of it.
func (w *Drawer) taken(p *kernelspace.Program) []map[int]bool {
	used := w.unused()
	for j := range p.Params {
		q := &p.Params[j]
		if q.Name != "period" || q.Known.How != kernelspace.Fixed || q.Column < 0 {
			continue
		}
		for i, c := range w.candidates(q.Column) {
			if math.Abs(math.Log(c.period/q.Known.Value)) < samePeriods {
				used[q.Column][i] = true
			}
		}
	}
	return used
}
