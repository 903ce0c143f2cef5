package local

import "math"

// Term is a summand of a kernel of one input: a Matérn function, and with a period the
// product of that and a periodic function,
//
//	σ² m(|d|/ℓ) exp(−2 sin²(πd/p)/s²),   m(r) = e^{−r} or (1 + √3r) e^{−√3r},
//
// d = x − x′. The product is a pattern of period p that changes over lengths ℓ: rows whole
// periods away tell of it.
type Term struct {
	Smooth bool    `json:"smooth,omitempty"` // Matérn 3/2, else 1/2
	Period float64 `json:"period,omitempty"` // in units of x; 0: not periodic
}

// params is the number of hyperparameters of a term: σ², ℓ, and s of a periodic one.
func (t Term) params() int {
	if t.Period > 0 {
		return 3
	}
	return 2
}

// Kernel is a sum of terms with independent noise.
type Kernel struct {
	Terms []Term `json:"terms"`
	// Theta are logarithms: of the noise's variance, then term by term of σ², ℓ and, of
	// periodic ones, s.
	Theta []float64 `json:"theta"`
}

// made is a kernel ready to be evaluated.
type made struct {
	noise float64
	terms []madeTerm
}

type madeTerm struct {
	variance, rate float64 // rate: 1/ℓ or √3/ℓ
	smooth         bool
	turn, sharp    float64 // π/p, 2/s²; 0: not periodic
}

func (k *Kernel) made() made {
	m := made{noise: math.Exp(k.Theta[0])}
	at := k.Theta[1:]
	for _, t := range k.Terms {
		u := madeTerm{variance: math.Exp(at[0]), rate: math.Exp(-at[1]), smooth: t.Smooth}
		if t.Smooth {
			u.rate *= math.Sqrt(3)
		}
		if t.Period > 0 {
			u.turn, u.sharp = math.Pi/t.Period, 2*math.Exp(-2*at[2])
		}
		m.terms = append(m.terms, u)
		at = at[t.params():]
	}
	return m
}

// variance returns k(x, x) without noise.
func (m *made) variance() float64 {
	v := 0.0
	for i := range m.terms {
		v += m.terms[i].variance
	}
	return v
}

// at returns the covariance of f at two inputs d apart.
func (m *made) at(d float64) float64 {
	v := 0.0
	d = math.Abs(d)
	for i := range m.terms {
		t := &m.terms[i]
		r := t.rate * d
		e := r
		if t.sharp > 0 {
			s := math.Sin(t.turn * d)
			e += t.sharp * s * s
		}
		if e > farthest {
			continue
		}
		g := t.variance * math.Exp(-e)
		if t.smooth {
			g *= 1 + r
		}
		v += g
	}
	return v
}

// farthest is the exponent beyond which a term counts for nothing.
const farthest = 40

// slopes adds to grad, whose first entry is the noise's, w times the derivatives of
// at(d) by the entries of Theta.
func (m *made) slopes(d, w float64, grad []float64) {
	d = math.Abs(d)
	at := 1
	for i := range m.terms {
		t := &m.terms[i]
		r, e, s := t.rate*d, t.rate*d, 0.0
		if t.sharp > 0 {
			s = math.Sin(t.turn * d)
			s *= s * t.sharp
			e += s
		}
		if e <= farthest {
			g := w * t.variance * math.Exp(-e)
			if t.smooth {
				grad[at+1] += g * r * r
				g *= 1 + r
			} else {
				grad[at+1] += g * r
			}
			grad[at] += g
			if t.sharp > 0 {
				grad[at+2] += 2 * g * s
			}
		}
		at += 2
		if t.sharp > 0 {
			at++
		}
	}
}
