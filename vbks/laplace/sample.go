package laplace

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Sample is what has been drawn of a density in proportion to it: points, and how often each counts.
type Sample struct {
	X     [][]float64
	Count []float64
}

// sample chooses so many of the draws by their weights, evenly (systematic resampling).
func (g *integral) sample(n int) (s Sample) {
	points, weights, top := g.weighed()
	if n == 0 || math.IsInf(top, 0) {
		return s
	}
	step := floats.Sum(weights) / float64(n)
	next, so := g.rng.Float64()*step, 0.0
	for i, w := range weights {
		so += w
		count := 0.0
		for ; next < so; next += step {
			count++
		}
		if count > 0 {
			s.X, s.Count = append(s.X, points[i]), append(s.Count, count)
		}
	}
	return s
}

// Corrected is the integral of another density p than that which was drawn from, q, by the
// logarithms of p/q at the points of a sample of q:
//
//	∫p = ∫q · E_q[p/q]
//
// Where both are about alike few points do, and they need not be found anew. Draws is the effective number of points.
func (g Integral) Corrected(ratios []float64) Integral {
	top := math.Inf(-1)
	for _, r := range ratios {
		if !math.IsNaN(r) {
			top = math.Max(top, r)
		}
	}
	if math.IsInf(top, 0) {
		return Integral{Nats: math.NaN(), SE: math.Inf(1)}
	}
	sum, square, all := 0.0, 0.0, 0.0
	for i, count := range g.Sample.Count {
		all += count
		if r := ratios[i]; !math.IsNaN(r) {
			w := math.Exp(r - top)
			sum += count * w
			square += count * count * w * w
		}
	}
	draws := sum * sum / square
	// The sampled points vary in how often they count, which the integral of q has in its error already.
	se := math.Sqrt(math.Max(0, 1/draws-1/all))
	return Integral{Nats: g.Nats + top + math.Log(sum/all), SE: math.Hypot(g.SE, se), Draws: draws}
}
