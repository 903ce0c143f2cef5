// Package relevance orders the columns of a table by what they say of its target, by
// means alone: quickly, and without any kernel.
package relevance

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	mostRows = 5000  // are looked at, evenly taken
	bins     = 12    // of a number, of equally many rows
	chance   = 0.01  // that a column that says nothing seems to say something
	rounding = 1e-20 // of the squares of y, below which nothing is left to be told
)

// Found is what one column says of the target beside those found before it.
type Found struct {
	Column int
	Share  float64 // of the target's variance, less what as many means have of noise
	Tells  bool    // more than noise does
}

// Order takes columns of x, N x dim, one after the other: the next is the one whose means
// of what the earlier ones leave of y, by levels or in bins of equally many rows, have
//
//	F = (Δ/(k − 1))/(S/(N − k))
//
// least likely by chance, with Δ the squares that its k means explain and S those that
// stay; a column tells something where that is less likely than one in a hundred, divided by the number of
// columns. Its means are then subtracted. levels says which columns are categories.
func Order(x []float64, dim int, y []float64, levels []bool) []Found {
	rows, rest, total := centred(y)
	groups := make([][]int, dim)
	for c := range dim {
		groups[c] = grouped(x, dim, c, rows, levels[c], bins)
	}
	var out []Found
	taken := make([]bool, dim)
	for range dim {
		best, bestP, bestF := -1, math.Inf(1), 0.0
		var next []float64
		for c := range dim {
			if taken[c] {
				continue
			}
			left, k, after, before := without(rest, groups[c])
			f, p := 0.0, 1.0
			if free := len(rest) - k; k > 1 && free > 0 && before > rounding*total {
				// What an equal column has explained before explains nothing more, or by rounding less.
				f = max(0, before-after) / float64(k-1) / (max(after, rounding*total) / float64(free))
				p = distuv.F{D1: float64(k - 1), D2: float64(free)}.Survival(f)
			}
			if p < bestP || p == bestP && f > bestF || best < 0 { // far out all p are 0
				best, bestP, bestF, next = c, p, f, left
			}
		}
		_, k, after, before := without(rest, groups[best])
		share := 0.0
		if total > 0 {
			share = max(0, (before-after-float64(k-1)*after/max(1, float64(len(rest)-k)))/total)
		}
		found := Found{best, share, bestP < chance/float64(dim)}
		taken[best] = true
		if out = append(out, found); found.Tells {
			rest = next
		}
	}
	return out
}

// centred returns which rows are looked at, their targets less the mean of these, and the squares of that.
func centred(y []float64) (rows []int, rest []float64, total float64) {
	n := len(y)
	rows = make([]int, min(n, mostRows))
	rest = make([]float64, len(rows))
	mean := 0.0
	for i := range rows {
		rows[i] = i * n / len(rows)
		rest[i] = y[rows[i]]
		mean += rest[i] / float64(len(rows))
	}
	for i := range rest {
		rest[i] -= mean
		total += rest[i] * rest[i]
	}
	return rows, rest, total
}

// without returns values less the means of their groups, how many these are, and the
// squares after that and before.
func without(values []float64, group []int) (left []float64, k int, after, before float64) {
	k = slices.Max(group) + 1
	sum, count := make([]float64, k), make([]float64, k)
	for i, g := range group {
		sum[g] += values[i]
		count[g]++
	}
	left = make([]float64, len(values))
	for i, g := range group {
		left[i] = values[i] - sum[g]/count[g]
		after += left[i] * left[i]
		before += values[i] * values[i]
	}
	return left, k, after, before
}

// grouped numbers the groups of rows by a column, of a number so many bins at most.
func grouped(x []float64, dim, c int, rows []int, levels bool, bins int) []int {
	sorted := make([]float64, len(rows))
	for i, r := range rows {
		sorted[i] = x[r*dim+c]
	}
	values := slices.Clone(sorted)
	slices.Sort(sorted)
	edges := slices.Compact(slices.Clone(sorted))
	if !levels && len(edges) > bins {
		edges = edges[:0]
		for b := range bins {
			edges = append(edges, sorted[b*len(sorted)/bins])
		}
		edges = slices.Compact(edges)
	}
	out := make([]int, len(rows))
	for i, v := range values {
		out[i] = sort.Search(len(edges), func(e int) bool { return edges[e] > v }) - 1
	}
	return out
}
