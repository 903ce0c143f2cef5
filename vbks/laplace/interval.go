package laplace

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// outside is how much of the mass lies on each side of an interval.
const outside = 0.025

// between finds the intervals of the entries of the free vector.
func (g *integral) between() (low, high []float64) {
	drawn, weights, _ := g.weighed()
	points := make([][]float64, len(drawn))
	for i, x := range drawn {
		points[i] = g.nearest(x)
	}
	f := len(points[0])
	low, high = make([]float64, f), make([]float64, f)
	order := make([]int, len(points))
	for j := range f {
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(points[a][j], points[b][j]) })
		low[j] = reached(order, weights, func(i int) float64 { return points[i][j] })
		slices.Reverse(order)
		high[j] = reached(order, weights, func(i int) float64 { return points[i][j] })
	}
	return low, high
}

// nearest is a point in the arrangement in which it is likeliest of the first mode.
func (g *integral) nearest(x []float64) []float64 {
	best, most := x, math.Inf(-1)
	for _, order := range g.orders {
		y := arranged(x, order)
		if l := g.curved[0].log(y); l > most {
			best, most = y, l
		}
	}
	return best
}

// reached is where the weights of points in an order come to what lies outside, half of each point's own counted
// before it: between two of them by the straight line.
func reached(order []int, weights []float64, at func(i int) float64) float64 {
	want := outside * floats.Sum(weights)
	so, was, x := 0.0, 0.0, at(order[0])
	for _, i := range order {
		w := weights[i]
		if w == 0 {
			continue
		}
		now := so + w/2
		if now >= want {
			if was == 0 && so == 0 {
				return at(i)
			}
			return x + (at(i)-x)*(want-was)/(now-was)
		}
		so, was, x = so+w, now, at(i)
	}
	return x
}
