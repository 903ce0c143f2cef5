package simd

import "math"

// Dot returns Σ x_i y_i.
func (l Level) Dot(x, y []float64) float64 {
	y = y[:len(x)]
	s, n := l.dot(x, y)
	t := 0.0
	for i := n; i < len(x); i++ {
		t += x[i] * y[i]
	}
	return s + t
}

// Axpy computes y += alpha x.
func (l Level) Axpy(alpha float64, x, y []float64) {
	y = y[:len(x)]
	for i := l.axpy(alpha, x, y); i < len(x); i++ {
		y[i] += alpha * x[i]
	}
}

// Adam makes step t (from 1) of Adam (Kingma and Ba 2015, algorithm 1) uphill:
//
//	m ← β₁m + (1−β₁)g     v ← β₂v + (1−β₂)g²
//	x ← x + rate · m/(1−β₁ᵗ) / (√(v/(1−β₂ᵗ)) + 1e-8)
func (l Level) Adam(t int, rate, b1, b2 float64, x, g, m, v []float64) {
	n := len(x)
	g, m, v = g[:n], m[:n], v[:n]
	c1, c2 := 1/(1-math.Pow(b1, float64(t))), 1/(1-math.Pow(b2, float64(t)))
	for i := l.adam(x, g, m, v, b1, b2, rate, c1, c2); i < n; i++ {
		m[i] = b1*m[i] + (1-b1)*g[i]
		v[i] = b2*v[i] + (1-b2)*g[i]*g[i]
		x[i] += rate * (m[i] * c1) / (math.Sqrt(v[i]*c2) + 1e-8)
	}
}

// Marginals adds one row of A and CᵀA to the means and variances:
//
//	mu += m a     v += ca² − a²
func (l Level) Marginals(m float64, a, ca, mu, v []float64) {
	n := len(a)
	ca, mu, v = ca[:n], mu[:n], v[:n]
	for i := l.marginals(m, a, ca, mu, v); i < n; i++ {
		mu[i] += a[i] * m
		v[i] += ca[i]*ca[i] - a[i]*a[i]
	}
}

// ABar replaces a row of SA by that of Ā: sa = w (m r + a − sa).
func (l Level) ABar(w, m float64, r, a, sa []float64) {
	n := len(r)
	a, sa = a[:n], sa[:n]
	for i := l.abar(w, m, r, a, sa); i < n; i++ {
		sa[i] = w * (m*r[i] + a[i] - sa[i])
	}
}
