// Package jumps finds where the level of a series changes and does not return, by means, and by the
// likelihood of levels with steps beside others: quickly, and without any kernel.
package jumps

import (
	"math"
	"slices"
)

// Jump is where the level of a series changes.
type Jump struct {
	At   int     // the first value after it
	Size float64 // of the change
}

const (
	fewest       = 24   // values
	windowShare  = 0.05 // of the values are averaged on either side
	leastWindow  = 6
	mostWindow   = 1. / 3 // of the values, for whole seasons
	beyond       = 4.5    // usual changes that a jump is larger than, of very many values
	beyondOfFew  = 60.0   // divided by the number of values, the same of few, whose usual change is not well known
	returning    = 0.5    // of a change by which the level goes back near it, so that it is no jump
	apart        = 2      // windows that jumps are apart
	equalChanges = 1e-6   // of the range, below which changes are rounding
	toDeviation  = 1.4826 // of a median of absolute values of a normal variable
	outliers     = 2      // neighbours on either side of which the median is taken, so that one value alone counts for nothing
)

// Find returns the jumps of a series in the order of their places: those that means beside each place show (see
// beside), and those that are likelier than all else (see compared). A season is of so many values (1: none), of
// which places has the numbers where some are missing between them (nil: none are). Where all values are positive
// their logarithms must have a jump, too; what grows jumps ever further.
func Find(y []float64, season int, places []int) []Jump {
	n := len(y)
	w := window(n, season)
	if w == 0 || slices.ContainsFunc(y, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return nil
	}
	var logs []float64
	if slices.Min(y) > 0 {
		logs = make([]float64, n)
		for i, v := range y {
			logs[i] = math.Log(v)
		}
	}
	near := func(of []Jump, j Jump) bool {
		return slices.ContainsFunc(of, func(o Jump) bool { return max(j.At-o.At, o.At-j.At) <= w && j.Size*o.Size > 0 })
	}
	var all []Jump
	for _, find := range []func(y []float64) []Jump{
		func(y []float64) []Jump { return beside(y, w) },
		func(y []float64) []Jump { return compared(y, season, places) },
	} {
		found := find(y)
		if len(found) > 0 && logs != nil {
			also := find(logs)
			found = slices.DeleteFunc(found, func(j Jump) bool { return !near(also, j) })
		}
		known := all
		for _, j := range found {
			if !near(known, j) {
				all = append(all, j)
			}
		}
	}
	slices.SortFunc(all, func(a, b Jump) int { return a.At - b.At })
	return all
}

// window is how many of n values a mean is of, 0 where they are too few.
func window(n, season int) int {
	w := max(leastWindow, int(math.Round(float64(n)*windowShare)))
	if season > 1 && 2*float64(season) <= float64(n)*mostWindow {
		w = max(1, int(math.Round(float64(w)/float64(season)))) * season
	}
	if n < fewest || float64(w) > float64(n)*mostWindow {
		return 0
	}
	return w
}

// beside finds jumps by means beside each place: of w values behind it less that of w values before it, w a
// twentieth of all and whole seasons, each the median of five neighbours,
//
//	D_s = Σ_{s≤i<s+w} y_i/w − Σ_{s−w≤i<s} y_i/w,
//
// which less its median, what a line does, has a usual size, 1.4826 times the median of its absolute values:
// what noise, walks and slopes make of it is in there, too. A jump is a D_s far beyond that, the largest about
// it, near which nothing goes half as far back: a peak rises and falls.
func beside(y []float64, w int) (found []Jump) {
	n := len(y)
	y = filtered(y)
	changes := make([]float64, n-2*w+1) // at w, w+1, …
	mean := func(from, to int) (m float64) {
		for _, v := range y[from:to] {
			m += v / float64(to-from)
		}
		return m
	}
	before, after := mean(0, w), mean(w, 2*w)
	for i := range changes {
		changes[i] = after - before
		if at := i + w; at+w < n {
			before += (y[at] - y[at-w]) / float64(w)
			after += (y[at+w] - y[at]) / float64(w)
		}
	}
	steady := median(changes)
	sizes := make([]float64, len(changes))
	for i := range changes {
		changes[i] -= steady
		sizes[i] = math.Abs(changes[i])
	}
	usual := max(toDeviation*median(sizes), equalChanges*(slices.Max(y)-slices.Min(y)))
	if usual == 0 {
		return nil
	}
	least := usual * (beyond + beyondOfFew/float64(n))
	for {
		at := 0
		for i, v := range sizes {
			if v > sizes[at] {
				at = i
			}
		}
		if sizes[at] <= least {
			break
		}
		from, to := max(0, at-apart*w), min(len(sizes), at+apart*w+1)
		back := 0.0
		for i := from; i < to; i++ {
			if sizes[i] = 0; changes[i]*changes[at] < 0 {
				back = max(back, math.Abs(changes[i]))
			}
		}
		if back < returning*math.Abs(changes[at]) {
			found = append(found, Jump{at + w, changes[at]})
		}
	}
	return found
}

// filtered are the medians of neighbours.
func filtered(y []float64) []float64 {
	out := make([]float64, len(y))
	for i := range y {
		out[i] = median(y[max(0, i-outliers):min(len(y), i+outliers+1)])
	}
	return out
}

func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
