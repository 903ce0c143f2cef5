package params

import (
	"math"

	"example.com/kestrel/kernelspace"
)

// Wall is the strength of the soft bounds of a free vector, in nats per squared
// logarithm beyond them (times two).
const Wall = 100

// Prior returns the broad normal prior of a free vector, by means and standard
// deviations, and its soft bounds. s is of the data, floor the least σ_n².
func Prior(p *kernelspace.Program, s kernelspace.Scales, floor float64) (mean, sd, lo, hi []float64) {
	v := math.Log(s.YVar)
	return priorOf(p, s, floor, p.Prior, v+math.Log(0.1), 3)
}

// SeriesPrior is Prior with what is known of other series in time.
func SeriesPrior(p *kernelspace.Program, s kernelspace.Scales, floor float64) (mean, sd, lo, hi []float64) {
	m, w := s.NoisePrior()
	return priorOf(p, s, floor, p.SeriesPrior, m, w)
}

// What the prior of an entry is of which something is known. Between bounds a
// logarithm is about anywhere: with a normal entry of boundedSD its density is even to a
// seventh but for the outermost fiftieths. That of a fixed noise changes no density and no
// volume: log N(0; 0, 1/2π) = 0.
const (
	boundedSD   = 1.7
	boundedWall = 8.0 // a three-thousandth of the way from a bound
	// A stated prior has its own say up to so many of its standard deviations.
	expectedReach = 8
)

var fixedSD = 1 / math.Sqrt(2*math.Pi)

// Known replaces mean, sd and soft bounds that priors have of an entry by what is known
// of it.
func Known(k kernelspace.Known, m, w, l, h float64) (mean, sd, lo, hi float64) {
	switch k.How {
	case kernelspace.Fixed:
		return 0, fixedSD, -boundedWall, boundedWall
	case kernelspace.Bounded:
		return 0, boundedSD, -boundedWall, boundedWall
	case kernelspace.Expected:
		return k.Mean, k.SD, min(l, k.Mean-expectedReach*k.SD), max(h, k.Mean+expectedReach*k.SD)
	}
	return m, w, l, h
}

func priorOf(
	p *kernelspace.Program, s kernelspace.Scales, floor float64, of func(int, kernelspace.Scales) (mean, sd float64), noise, width float64,
) (mean, sd, lo, hi []float64) {
	add := func(k kernelspace.Known, m, w, l, h float64) {
		m, w, l, h = Known(k, m, w, l, h)
		mean, sd, lo, hi = append(mean, m), append(sd, w), append(lo, l), append(hi, h)
	}
	for _, i := range p.Free {
		m, w := of(i, s)
		l, h := p.Bounds(i, s)
		add(p.Params[i].Known, m, w, l, h)
	}
	// ρ: around a tenth of the variance; below the floor it has no effect.
	v := math.Log(s.YVar)
	add(p.Noise, noise, width, math.Min(math.Log(math.Max(floor, 1e-12*s.YVar))-7, v-16), v+4)
	return mean, sd, lo, hi
}

// Strides returns how far a free vector's entries may sensibly move together,
// relative to each other: 1, but for a period p over a range of x that is many
// times as long. A change of its logarithm by δ moves the phase at the far end by
// δ·range/p cycles, so its steps are half of p/range, at most 1. A change point's place moves
// by twice its width. span is the range of each column.
func Strides(p *kernelspace.Program, x, span []float64) []float64 {
	out := make([]float64, len(x))
	for i := range out {
		out[i] = 1
	}
	var raw []float64
	for i, j := range p.Free {
		q := &p.Params[j]
		if q.Name != "place" && q.Name != "period" {
			continue
		}
		if raw == nil {
			raw, _ = Raw(p, x, 0)
		}
		log, slope := q.Known.Log(x[i])
		stride := 1.0
		if q.Name == "place" {
			width := raw[j+1] // the next parameter
			stride = max(0.02*span[q.Column], 2*width) / math.Cosh(log)
		} else {
			widest := 0.0
			for d, s := range span {
				if q.Column < 0 || q.Column == d {
					widest = max(widest, s)
				}
			}
			if widest == 0 {
				continue
			}
			stride = 0.5 * raw[j] / widest
		}
		if slope > 0 {
			stride /= slope
		}
		out[i] = min(1, stride)
	}
	return out
}
