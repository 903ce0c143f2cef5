// Package secant is about ascents by L-BFGS: how far one goes along a direction, and how
// far from an optimum it has ended, by the gradient there and the curvature that its last
// steps have shown.
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
		// Where the function is not concave along a step that says nothing of an optimum.
		if floats.Dot(s, y) > 1e-10*floats.Norm(s, 2)*floats.Norm(y, 2) {
			m.pairs = append(m.pairs, [2][]float64{s, y})
			m.pairs = m.pairs[max(0, len(m.pairs)-kept):]
		}
	}
	m.at, m.grad = x, grad
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
	q := append([]float64(nil), m.grad...)
	alpha := make([]float64, len(m.pairs))
	for i := len(m.pairs) - 1; i >= 0; i-- {
		s, y := m.pairs[i][0], m.pairs[i][1]
		alpha[i] = floats.Dot(s, q) / floats.Dot(s, y)
		floats.AddScaled(q, -alpha[i], y)
	}
	flat := 0.0
	for _, p := range m.pairs {
		flat = max(flat, floats.Dot(p[0], p[0])/floats.Dot(p[0], p[1]))
	}
	if flat > 0 {
		floats.Scale(flat, q)
	}
	for i, p := range m.pairs {
		s, y := p[0], p[1]
		floats.AddScaled(q, alpha[i]-floats.Dot(y, q)/floats.Dot(s, y), s)
	}
	return floats.Dot(m.grad, q) / 2
}
