package relevance

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
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
		before := floats.Dot(rest, rest)
		for i := range groups {
			for j := range i {
				if taken[[2]int{j, i}] {
					continue
				}
				c := cross(rest, groups[j], groups[i])
				after, free := max(0, before-c.explained), len(rest)-c.occupied
				more, joint := c.occupied-c.across-c.down+1, c.joint()
				if more < 1 || free < 1 || after+joint <= rounding*total {
					continue
				}
				noise := max(after, rounding*total) / float64(free)
				f := joint / float64(more) / noise
				p := distuv.F{D1: float64(more), D2: float64(free)}.Survival(f)
				if p < bestP || p == bestP && f > bestF { // far out all p are 0
					best, bestP, bestF = [2]int{j, i}, p, f
					bestShare = max(0, joint-float64(more)*noise) / total
				}
			}
		}
		if !(bestP < chance/float64(of)) {
			break
		}
		out = append(out, Pair{columns[best[0]], columns[best[1]], bestShare})
		c := cross(rest, groups[best[0]], groups[best[1]])
		for i := range rest {
			rest[i] -= c.mean[c.at(groups[best[0]][i], groups[best[1]][i])]
		}
		taken[best] = true
	}
	return out
}

// crossing is the cells of two columns' groups: means, and how many rows are in each.
type crossing struct {
	across, down int // groups of either
	mean, rows   []float64
	occupied     int     // cells with rows
	explained    float64 // squares of the values less those about the means
}

func (c *crossing) at(a, b int) int { return a*c.down + b }

// cross returns the cells of groups a and b of the values.
func cross(values []float64, a, b []int) *crossing {
	c := &crossing{across: slices.Max(a) + 1, down: slices.Max(b) + 1} // groups are numbered from 0
	c.mean, c.rows = make([]float64, c.across*c.down), make([]float64, c.across*c.down)
	for i, v := range values {
		c.mean[c.at(a[i], b[i])] += v
		c.rows[c.at(a[i], b[i])]++
	}
	for i, n := range c.rows {
		if n > 0 {
			c.explained += c.mean[i] * c.mean[i] / n
			c.mean[i] /= n
			c.occupied++
		}
	}
	return c
}

// joint returns the squares of the cells' means, one for each row, about the best sum of an effect for each group of the
// one column and one for each of the other, found by subtracting means by turns.
func (c *crossing) joint() (squares float64) {
	left := slices.Clone(c.mean)
	for range sweeps {
		before := squares
		for a := range c.across {
			centre(left[a*c.down:(a+1)*c.down], c.rows[a*c.down:(a+1)*c.down], 1)
		}
		for b := range c.down {
			centre(left[b:], c.rows[b:], c.down)
		}
		squares = 0
		for i, n := range c.rows {
			squares += n * left[i] * left[i]
		}
		if math.Abs(before-squares) <= 1e-9*squares {
			break
		}
	}
	return squares
}

// centre subtracts the mean of every step-th value, each counted as often as rows says.
func centre(values, rows []float64, step int) {
	sum, n := 0.0, 0.0
	for i := 0; i < len(values); i += step {
		sum += rows[i] * values[i]
		n += rows[i]
	}
	if n == 0 {
		return
	}
	for i := 0; i < len(values); i += step {
		values[i] -= sum / n
	}
}
