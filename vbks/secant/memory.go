// Package secant is about ascents by L-BFGS: how far one goes along a direction, and how
// far from an optimum it has ended, by the gradient there and the curvature that its last
// steps have shown; and about Newton's, where a curvature is known beforehand.
package secant

import "gonum.org/v1/gonum/floats"

// kept is how many steps are remembered.
const kept = 12

// Memory is what the steps of an ascent have shown of the curvature of what it climbs.
// The zero value has seen none.
type Memory struct {
	at, grad []float64      // of the last point
	pairs    [][2][]float64 // s, the step, and y, by how much the gradient fell; sᵀy > 0
}

// Step tells the next point of an ascent and the gradient there. Neither is kept.
func (m *Memory) Step(x, grad []float64) {
	x, grad = append([]float64(nil), x...), append([]float64(nil), grad...)
	if m.at != nil {
		s, y := make([]float64, len(x)), make([]float64, len(x))
		floats.SubTo(s, x, m.at)
		floats.SubTo(y, m.grad, grad)
		m.pair(s, y)
	}
	m.at, m.grad = x, grad
}

// pair tells by how much the gradient falls along a step, and whether that was of use: where the function is not concave
// on the way it says nothing of an optimum.
func (m *Memory) pair(s, y []float64) bool {
	if floats.Dot(s, y) <= 1e-10*floats.Norm(s, 2)*floats.Norm(y, 2) {
		return false
	}
	m.pairs = append(m.pairs, [2][]float64{s, y})
	m.pairs = m.pairs[max(0, len(m.pairs)-kept):]
	return true
}

// Gain is what a step to the optimum would gain from the last point if the function were
// as the steps have shown it,
//
//	½ gᵀHg,
//
// where H is the inverse of minus the second derivatives by the recursion of L-BFGS
// (Nocedal and Wright 2006, algorithm 7.4), γI to begin with; I where there was no step.
// γ is the inverse of the least curvature of any step, sᵀs/sᵀy, not of the last one as
// an optimiser has it: directions that no step has shown are the flat ones, and what
// may be gained there is to be told rather than passed over.
func (m *Memory) Gain() float64 {
	if m.at == nil {
		return 0
	}
	flat := 1.0
	for i, p := range m.pairs {
		if g := floats.Dot(p[0], p[0]) / floats.Dot(p[0], p[1]); i == 0 || g > flat {
			flat = g
		}
	}
	return floats.Dot(m.grad, m.ahead(flat)) / 2
}

// ahead is Hg for that, the step to the optimum, with γI to begin with.
func (m *Memory) ahead(gamma float64) []float64 {
	q := append([]float64(nil), m.grad...)
	alpha := make([]float64, len(m.pairs))
	for i := len(m.pairs) - 1; i >= 0; i-- {
		s, y := m.pairs[i][0], m.pairs[i][1]
		alpha[i] = floats.Dot(s, q) / floats.Dot(s, y)
		floats.AddScaled(q, -alpha[i], y)
	}
	floats.Scale(gamma, q)
	for i, p := range m.pairs {
		s, y := p[0], p[1]
		floats.AddScaled(q, alpha[i]-floats.Dot(y, q)/floats.Dot(s, y), s)
	}
	return q
}
