package jumps

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// products are those of columns with each other and with a series, each made once for all means that have them.
type products struct {
	n        int
	plain    [][]float64
	whitened [][]float64
	y        []float64
	pairs    [][]float64 // NaN where it is not made yet
	withY    []float64
	squares  float64 // of y
}

func newProducts(n int) *products { return &products{n: n, y: make([]float64, n)} }

// number is that of a column, which is the same slice where it is the same.
func (g *products) number(x []float64) int {
	if i := slices.IndexFunc(g.plain, func(o []float64) bool { return &o[0] == &x[0] }); i >= 0 {
		return i
	}
	g.plain, g.whitened = append(g.plain, x), append(g.whitened, make([]float64, g.n))
	g.pairs, g.withY = append(g.pairs, make([]float64, len(g.plain))), append(g.withY, 0)
	return len(g.plain) - 1
}

func (g *products) whiten(w *whitener, y []float64) {
	w.whiten(y, g.y)
	g.squares = floats.Dot(g.y, g.y)
	for i, x := range g.plain {
		w.whiten(x, g.whitened[i])
		g.withY[i] = floats.Dot(g.whitened[i], g.y)
		for k := range g.pairs[i] {
			g.pairs[i][k] = math.NaN()
		}
	}
}

func (g *products) pair(i, k int) float64 {
	i, k = max(i, k), min(i, k)
	if math.IsNaN(g.pairs[i][k]) {
		g.pairs[i][k] = floats.Dot(g.whitened[i], g.whitened[k])
	}
	return g.pairs[i][k]
}

// left are the squares of y that columns leave, by Cholesky's factor of their products; a column that others have
// all of leaves what they do.
func (g *products) left(columns []int) float64 {
	var factor [mostColumns][mostColumns]float64
	var of [mostColumns]float64
	left := g.squares
	for j, a := range columns {
		for k, b := range columns[:j] {
			v := g.pair(a, b)
			for l := range k {
				v -= factor[j][l] * factor[k][l]
			}
			if factor[k][k] > 0 {
				factor[j][k] = v / factor[k][k]
			}
		}
		whole := g.pair(a, a)
		length, v := whole, g.withY[a]
		for l := range j {
			length, v = length-factor[j][l]*factor[j][l], v-factor[j][l]*of[l]
		}
		if length > smallestPivot*whole {
			factor[j][j] = math.Sqrt(length)
			of[j] = v / factor[j][j]
			left -= of[j] * of[j]
		}
	}
	return left
}
