package jumps

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// blocks are means of so many neighbours; what is left over at the end is none.
func blocks(y []float64, size int) []float64 {
	if size <= 1 {
		return y
	}
	out := make([]float64, len(y)/size)
	for i := range out {
		out[i] = stat.Mean(y[i*size:(i+1)*size], nil)
	}
	return out
}

// spread is how much larger than usual the noise of each block is where it is not the same everywhere; nil: it is.
func spread(y []float64, block int) []float64 {
	part := (len(y) + parts - 1) / parts
	_, off := middles(y)
	var log []float64
	for from := 0; from < len(y); from += part {
		log = append(log, math.Log(median(off[from:min(len(off), from+part)])))
	}
	if !(slices.Max(log)-slices.Min(log) > math.Log(differs)) || math.IsInf(slices.Min(log), 0) {
		return nil
	}
	out := make([]float64, len(y)/block)
	for i := range out { // from the middle of one part to that of the next
		at := (float64(i)+0.5)*float64(block)/float64(part) - 0.5
		k := min(max(int(math.Floor(at)), 0), len(log)-2)
		share := min(max(at-float64(k), 0), 1)
		out[i] = math.Exp(log[k]*(1-share) + log[k+1]*share)
	}
	usual := median(out)
	for i := range out {
		out[i] /= usual
	}
	return out
}

// cleaned are values without their season and without what is far from all neighbours.
func cleaned(y []float64, season int, places []int) []float64 {
	out := clipped(y)
	if season <= 1 || len(y) < seasonsSeen*season {
		return out
	}
	// Beside a large season outliers are found only when it is off, of which a first guess is by medians, that they
	// do not touch; what a guess leaves of it is guessed again.
	pattern := make([]float64, season)
	mean := func(x []float64) float64 { return stat.Mean(x, nil) }
	for _, middle := range []func([]float64) float64{median, mean, mean} {
		for p, v := range phases(out, season, places, middle) {
			pattern[p] += v
		}
		for i, v := range y {
			out[i] = v - pattern[phase(i, season, places)]
		}
		out = clipped(out)
	}
	return out
}

func phase(i, season int, places []int) int {
	if places != nil {
		i = places[i]
	}
	return (i%season + season) % season
}

// phases are the middles of a season's phases, beside the mean of a season about each value.
func phases(y []float64, season int, places []int, middle func([]float64) float64) []float64 {
	beside := make([][]float64, season)
	level := stat.Mean(y[:season], nil)
	for from := 0; from+season <= len(y); from++ {
		next, i := 0., from+season/2
		if from+season < len(y) {
			next = (y[from+season] - y[from]) / float64(season)
		}
		about := level
		if season%2 == 0 { // half of the value at either end
			about += next / 2
		}
		p := phase(i, season, places)
		beside[p] = append(beside[p], y[i]-about)
		level += next
	}
	pattern := make([]float64, season)
	for p, all := range beside {
		if len(all) > 0 {
			pattern[p] = middle(all)
		}
	}
	whole := stat.Mean(pattern, nil)
	for p := range pattern {
		pattern[p] -= whole
	}
	return pattern
}

// clipped are values no farther from the median of their neighbours than three times as far as usual.
func clipped(y []float64) []float64 {
	middle, off := middles(y)
	most := farthest * toDeviation * median(off)
	out := slices.Clone(y)
	if most > 0 {
		for i := range out {
			out[i] = min(max(out[i], middle[i]-most), middle[i]+most)
		}
	}
	return out
}

// middles are the medians of neighbours, and how far values are from them.
func middles(y []float64) (middle, off []float64) {
	middle, off = make([]float64, len(y)), make([]float64, len(y))
	near := make([]float64, 0, 2*neighbours+1)
	for i := range y {
		near = append(near[:0], y[max(0, i-neighbours):min(len(y), i+neighbours+1)]...)
		slices.Sort(near)
		middle[i] = (near[(len(near)-1)/2] + near[len(near)/2]) / 2
		off[i] = math.Abs(y[i] - middle[i])
	}
	return middle, off
}
