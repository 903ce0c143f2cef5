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

// Axpby computes y = alpha x + beta y.
func (l Level) Axpby(alpha, beta float64, x, y []float64) {
	y = y[:len(x)]
	for i := l.axpby(alpha, beta, x, y); i < len(x); i++ {
		y[i] = alpha*x[i] + beta*y[i]
	}
}

// The constants of Adam (Kingma and Ba 2015, algorithm 1); ε stands in the
// assembly, too.
const (
	adamBeta1   = 0.9
	adamBeta2   = 0.999
	adamEpsilon = 1e-8
)

// Adam is one step of Adam's algorithm, uphill:
//
//	m ← β₁m + (1−β₁)g     v ← β₂v + (1−β₂)g²
//	x ← x + rate · m/(1−β₁ᵗ) / (√(v/(1−β₂ᵗ)) + ε)
type Adam struct {
	rate, c1, c2 float64 // c: inverses of 1−βᵗ
}

// NewAdam returns step t, counted from 1.
func NewAdam(t int, rate float64) Adam {
	return Adam{rate: rate, c1: 1 / (1 - math.Pow(adamBeta1, float64(t))), c2: 1 / (1 - math.Pow(adamBeta2, float64(t)))}
}

// Adam makes the step on x along g with the moments m and v. stride, nil for
// ones, multiplies the rate entry by entry.
func (l Level) Adam(s Adam, stride, x, g, m, v []float64) {
	n := len(x)
	g, m, v = g[:n], m[:n], v[:n]
	i := 0
	if stride == nil {
		i = l.adam(x, g, m, v, adamBeta1, adamBeta2, s.rate, s.c1, s.c2)
	}
	for ; i < n; i++ {
		m[i] = adamBeta1*m[i] + (1-adamBeta1)*g[i]
		v[i] = adamBeta2*v[i] + (1-adamBeta2)*g[i]*g[i]
		step := s.rate * (m[i] * s.c1) / (math.Sqrt(v[i]*s.c2) + adamEpsilon)
		if stride != nil {
			step *= stride[i]
		}
		x[i] += step
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
