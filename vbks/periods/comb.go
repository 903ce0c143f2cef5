package periods

import (
	"math"
	"slices"
)

const (
	// Harmonics of one amplitude that are tried: up to these.
	fewestHarmonics = 4
	mostHarmonics   = 64
	// A fundamental must be so many resolved frequencies away from the next harmonic.
	combCycles = 3
	// What a model of the wrong level leaves over a band is the median over so many
	// frequencies that the range resolves, to either side.
	combEither = 32
)

// tooth is a fundamental with the harmonics it was found by.
type tooth struct {
	freq      float64 // in multiples of the frequencies' step
	harmonics int
	gain      float64
}

// combs finds fundamentals of which many harmonics stand out a little and perhaps none by
// itself: what a function that repeats and is rough within its period leaves. g are
// ratios that are exponential of mean 1 at independent frequencies where nothing is left
// (see Left). With harmonics 1 to H of one amplitude, which raises them to the mean 1 + s,
// the log likelihood ratio at the best s is
//
//	S − H − H ln(S/H),  S = Σ_h g(hf) > H.
//
// For being found at all a g counts for no more than what would be found by itself, so that one
// cannot make a comb of others.
// A fundamental of which every m-th only is right has the same S − H in m times as many
// harmonics and so a lower ratio, and a multiple of the right one has fewer of them. Those of at
// least so many nats are returned, in no order.
func combs(g []float64, low, k int, least float64) []tooth {
	g = levelled(g, low, k)
	ratio := func(sum float64, teeth int) float64 {
		mean := sum / float64(teeth)
		return float64(teeth) * (mean - 1 - math.Log(max(1, mean)))
	}
	var out []tooth
	for most := fewestHarmonics; most <= mostHarmonics; most *= 2 {
		// The fundamental in steps by which the last harmonic moves one frequency. Not all need be
		// within the frequencies, but more than half, which the next fewer are.
		for j := combCycles * oversampling * most; ; j++ {
			teeth := min(most, ((k+1)*most-most/2-1)/j)
			if 2*teeth <= most {
				break
			}
			sum, capped := 0.0, 0.0
			for h := 1; h <= teeth; h++ {
				v := g[(h*j+most/2)/most]
				sum, capped = sum+v, capped+min(v, least)
			}
			if ratio(capped, teeth) >= least {
				out = append(out, tooth{float64(j) / float64(most), teeth, ratio(sum, teeth)})
			}
		}
	}
	return out
}

// levelled divides g by its median over neighbouring frequencies, in units of the median of
// an exponential variable of mean 1, where that is above 1.
func levelled(g []float64, low, k int) []float64 {
	out := make([]float64, len(g))
	const either = combEither * oversampling
	block := make([]float64, 0, 2*either+1)
	// One median serves a quarter of the frequencies it is taken over.
	for from := low; from <= k; from += either / 2 {
		to := min(k+1, from+either/2)
		middle := (from + to) / 2
		block = append(block[:0], g[max(low, middle-either):min(k+1, middle+either)]...)
		slices.Sort(block)
		by := max(1, block[len(block)/2]/math.Ln2)
		for i := from; i < to; i++ {
			out[i] = g[i] / by
		}
	}
	return out
}
