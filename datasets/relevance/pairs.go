package relevance

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	mostColumns = 24 // are paired, those that say most
	mostPairs   = 6  // are found
	coarse      = 4  // bins of a number in a pair
	sweeps      = 20 // of means by one column and by the other, that a sum of both be found
)

// Pair is what two columns say of the target together that their sum does not.
type Pair struct {
	A, B  int     // columns, A before B in their order by themselves
	Share float64 // of the target's variance, less what as many means have of noise
}

// Pairs returns the pairs of columns that say something together, the surest first, at
// most six. alone is what [Order] found of the same table. Of what the columns that tell
// something leave of y, each is the pair whose cells, levels or four bins of equally many rows of
// one by those of the other, have
//
//	F = (Δ/(k − a − b + 1))/(S/(N − k))
//
// least likely by chance, with S the squares about the means of the k cells that have rows and Δ by how much
// they are fewer than those about the best sum of a effects of the one and b of the other. It counts
// where that is less likely than one in a hundred, divided by the number of pairs, and its cells' means are
// then subtracted. (Ranking pairs on coarse cells of an additive model's residual is FAST, of Lou,
// Caruana, Gehrke and Hooker, KDD 2013.)
func Pairs(x []float64, dim int, y []float64, levels []bool, alone []Found) []Pair {
	rows, rest, total := centred(y)
	var groups [][]int
	var columns []int
	for _, f := range alone {
		if f.Tells {
			rest, _, _, _ = without(rest, grouped(x, dim, f.Column, rows, levels[f.Column], bins))
		}
		if len(columns) < mostColumns {
			columns = append(columns, f.Column)
			groups = append(groups, grouped(x, dim, f.Column, rows, levels[f.Column], coarse))
		}
	}
	of := len(columns) * (len(columns) - 1) / 2
	var out []Pair
	taken := map[[2]int]bool{}
	for len(out) < mostPairs {
		best, bestP, bestF, bestShare := [2]int{}, math.Inf(1), 0.0, 0.0
		var next []float64
		for i := range groups {
			for j := range i {
				if taken[[2]int{j, i}] {
					continue
				}
				cell := cells(groups[j], groups[i])
				left, k, after, _ := without(rest, cell)
				sum, free := additive(rest, groups[j], groups[i]), len(rest)-k
				more := k - slices.Max(groups[j]) - slices.Max(groups[i]) - 1 // the groups are numbered from 0
				if more < 1 || free < 1 || sum <= rounding*total {
					continue
				}
				noise := max(after, rounding*total) / float64(free)
				f := max(0, sum-after) / float64(more) / noise
				p := distuv.F{D1: float64(more), D2: float64(free)}.Survival(f)
				if p < bestP || p == bestP && f > bestF { // far out all p are 0
					best, bestP, bestF, next = [2]int{j, i}, p, f, left
					bestShare = max(0, sum-after-float64(more)*noise) / total
				}
			}
		}
		if !(bestP < chance/float64(of)) {
			break
		}
		out = append(out, Pair{columns[best[0]], columns[best[1]], bestShare})
		taken[best], rest = true, next
	}
	return out
}

// cells numbers the pairs of groups that some row is in.
func cells(a, b []int) []int {
	out, numbers := make([]int, len(a)), map[[2]int]int{}
	for i := range a {
		at := [2]int{a[i], b[i]}
		n, known := numbers[at]
		if !known {
			n = len(numbers)
			numbers[at] = n
		}
		out[i] = n
	}
	return out
}

// additive returns the squares of values about the best sum of an effect of each of a's
// groups and one of each of b's, found by subtracting means by turns.
func additive(values []float64, a, b []int) (after float64) {
	left := values
	for range sweeps {
		before := after
		left, _, _, _ = without(left, a)
		left, _, after, _ = without(left, b)
		if math.Abs(before-after) <= 1e-9*after {
			break
		}
	}
	return after
}
