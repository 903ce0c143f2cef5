package local

import "math"

// given is the workspace of a row that is predicted from others, its neighbours N.
type given struct {
	near []int32   // N, places of rows
	l    []float64 // k(N,N) without its diagonal, then L of k(N,N) + σ_n²I = LLᵀ; row by row, n x n
	k    []float64 // k(N,x), then L⁻¹ of it
	y    []float64 // y_N, then L⁻¹ of it
	b, a []float64 // (k(N,N) + σ_n²I)⁻¹ k(N,x), and of y_N
}

// room makes the workspace one of n neighbours.
func (w *given) room(n int) {
	for _, s := range []*[]float64{&w.k, &w.y, &w.b, &w.a} {
		*s = grown(*s, n)
	}
	w.l = grown(w.l, n*n)
}

func grown(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

// condition finds mean and variance of f at x from l, k and y as they come, with the
// variances of f and of the noise,
//
//	E f = k(x,N) (k(N,N) + σ_n²I)⁻¹ y_N,   var f = k(x,x) − k(x,N) (k(N,N) + σ_n²I)⁻¹ k(N,x).
//
// It is not ok where the matrix cannot be factorised.
func (w *given) condition(prior, noise float64) (mean, variance float64, ok bool) {
	n := len(w.k)
	variance = prior
	for i := range n {
		row := w.l[i*n : i*n+i+1]
		for j := range i {
			other := w.l[j*n : j*n+j+1]
			s := row[j]
			for q, o := range other[:j] {
				s -= row[q] * o
			}
			row[j] = s / other[j]
		}
		d, ki, yi := prior+noise, w.k[i], w.y[i]
		for q, o := range row[:i] {
			d -= o * o
			ki -= o * w.k[q]
			yi -= o * w.y[q]
		}
		if !(d > 1e-12*prior) {
			return 0, 0, false
		}
		d = math.Sqrt(d)
		row[i] = d
		w.k[i], w.y[i] = ki/d, yi/d
		variance -= w.k[i] * w.k[i]
		mean += w.k[i] * w.y[i]
	}
	return mean, max(variance, 0), true
}

// back solves Lᵀ out = b.
func (w *given) back(b, out []float64) {
	n := len(b)
	copy(out, b)
	for i := n - 1; i >= 0; i-- {
		out[i] /= w.l[i*n+i]
		o := out[i]
		for j, r := range w.l[i*n : i*n+i] {
			out[j] -= r * o
		}
	}
}

// logNormal is the log density of a normal at a distance from its mean.
func logNormal(e, variance float64) float64 {
	return -0.5 * (math.Log(2*math.Pi*variance) + e*e/variance)
}
