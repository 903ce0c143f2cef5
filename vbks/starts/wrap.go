package starts

import (
	"math"
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

const (
	// A leaf that gives its function away is so many spans of x long: as good as a constant.
	awaySpans = 10
	// What its summand keeps of the function's variance.
	awayShare = 0.01
)

// Wrap makes starts from a solution in each of which a leaf PER takes over the smooth function of
// another leaf, of length s, as one turn of a circle that is as long as the data: with the
// period p = span and ℓ = 2πs/p its covariance at distances d well below p is that of length s,
//
//	exp(−2 sin²(πd/p)/ℓ²) ≈ exp(−d²/2s²),
//
// while the ends of the data are neighbours, which nothing says that does not repeat.
func (w *Drawer) Wrap(p *kernelspace.Program, x []float64) [][]float64 {
	return w.takeOver(p, x, awaySpans, 1, func(_, span float64) []float64 { return []float64{span} })
}

const (
	// Periods at which a function is folded are so many of its lengths at least, up to foldedMost cycles
	// within the range of x, and so close that what is a cycle apart moves by one of its lengths over all of it.
	foldedLengths = 6
	foldedMost    = 24.0
	// Shorter details than such a part of the range some hundred rows, on which starts are valued, do not show.
	foldedFinest = 1. / 128
	foldedSpans  = 0.5 // length of what the leaf is multiplied by then
	// With so many times the noise what does not quite repeat yet is not refuted.
	foldedNoise = 10
)

// Fold makes starts as Wrap does, in each of which the data are several turns of the circle, so that what is a
// period apart is alike; and those in which a leaf PER has its own function so. What is alike is told by details as
// short as the function's length, which no other period has, so that an ascent does not lead from one to the next.
func (w *Drawer) Fold(p *kernelspace.Program, x []float64) [][]float64 {
	return w.takeOver(p, x, foldedSpans, foldedNoise, func(s, span float64) (periods []float64) {
		if s < foldedFinest*span {
			return nil
		}
		for cycles := 1.0; cycles <= foldedMost && span/cycles >= foldedLengths*s; cycles *= 1 + s/span {
			periods = append(periods, span/cycles)
		}
		return periods
	})
}

// takeOver makes starts in each of which a leaf PER takes over the function of another leaf with one of some
// periods; has its own one so, where there are several. What it is multiplied by is so many ranges of x long then.
func (w *Drawer) takeOver(
	p *kernelspace.Program, x []float64, spans, times float64, of func(s, span float64) (periods []float64),
) (out [][]float64) {
	whole, noise := params.Raw(p, x, w.floor)
	p = p.Own()
	raw, t, leaves := whole[:len(p.Params)], params.Tree(p), params.Leaves(p)
	alone := func(in *kernelspace.Instr) bool { return len(in.Cols) == 1 && in.NumScale == 1 }
	for i, in := range leaves {
		at := in.Off + 1 + in.NumScale
		if in.Op != kernelspace.OpPER || !alone(in) || w.calendrical && in.Seasonal() {
			continue
		}
		span, known := w.scales.Span[in.Cols[0]], &p.Params[at].Known
		if known.How == kernelspace.Fixed {
			continue
		}
		to := summand(t, i)
		emit := func(s float64, from []float64, edit func(v []float64)) {
			for _, period := range of(s, span) {
				if known.How == kernelspace.Bounded && !within(known, period) {
					continue
				}
				v := slices.Clone(from)
				v[at], v[in.Off+1] = period, 2*math.Pi*s/period
				edit(v)
				params.Settle(p, v)
				out = append(out, params.Free(p, v, times*noise, w.floor))
			}
		}
		for j, from := range leaves {
			if !from.Op.Radial() || !alone(from) || from.Cols[0] != in.Cols[0] || raw[from.Off+1] > span {
				continue
			}
			v := slices.Clone(raw)
			for _, k := range to.Leaves { // what is left of the term is not to bend it
				if leaves[k].Op.Radial() && alone(leaves[k]) {
					v[leaves[k].Off+1] = spans * span
				}
			}
			source := summand(t, j)
			if source != to {
				v[from.Off+1] = awaySpans * span
			}
			emit(raw[from.Off+1], v, func(v []float64) {
				if source == to {
					return
				}
				share := w.share(p, source, raw)
				w.shrink(p, to, v, share)
				w.shrink(p, source, v, awayShare*share)
			})
		}
		if own := raw[in.Off+1] * raw[at] / (2 * math.Pi); len(of(own, span)) > 1 && !w.idle(p, to, raw, noise) {
			emit(own, raw, func([]float64) {})
		}
	}
	return out
}
