package local

import (
	"math"

	"example.com/kestrel/device/cpu/simd"
)

// Alike is a kernel of several inputs: a smooth and a rough function of one distance, with
// independent noise,
//
//	k(x, x′) = σ₁² m₅(r) + σ₂² m₃(cr),   r² = Σ_d (x_d − x′_d)²/ℓ_d²,
//	m₅(r) = (1 + √5 r + 5r²/3) e^{−√5 r},   m₃(r) = (1 + √3 r) e^{−√3 r},
//
// where two levels of a category are 1 apart.
type Alike struct {
	Levels []bool `json:"levels"` // by input: it is a category
	// Theta are logarithms: of the noise's variance but for leastNoise, σ₁², σ₂², c, and of ℓ by input.
	Theta []float64 `json:"theta"`
}

// shared is how many hyperparameters there are beside lengths.
const shared = 4

// leastNoise is added to the noise, as a part of σ₁² + σ₂²: rows may be equal, or nearly.
const leastNoise = 1e-8

// alike is such a kernel ready to be evaluated.
type alike struct {
	own, noise             float64 // variance of the noise, without and with leastNoise
	smooth, rough, sharper float64 // sharper: c²
	levels                 []bool
	rate                   []float64 // 1/ℓ²
}

func (k *Alike) made() alike {
	t := k.Theta
	a := alike{own: math.Exp(t[0]), smooth: math.Exp(t[1]), rough: math.Exp(t[2]), sharper: math.Exp(2 * t[3]), levels: k.Levels}
	a.noise = a.own + leastNoise*a.variance()
	for _, l := range t[shared:] {
		a.rate = append(a.rate, math.Exp(-2*l))
	}
	return a
}

// variance returns k(x, x) without noise.
func (a *alike) variance() float64 { return a.smooth + a.rough }

// square is r² of two rows.
func (a *alike) square(x, y []float64) float64 {
	s := 0.0
	for d := range a.rate {
		s += a.apart(d, x[d]-y[d])
	}
	return s
}

// apart is what two rows are apart in r² that differ by so much in an input.
func (a *alike) apart(d int, e float64) float64 {
	if a.levels[d] && e != 0 {
		e = 1
	}
	return e * e * a.rate[d]
}

// pairs are the rows near one that is asked for: of them and of these, row by row below the diagonal,
// each row followed by what is of it and the one that is asked for.
type pairs struct {
	square        []float64 // r², padded with zeros
	smooth, rough []float64 // the parts of the covariances
	weight        []float64 // derivatives of a log density by the covariances, padded with zeros
	bySmooth      []float64 // these times derivatives of the parts, see simd.MaternGrad
	byRough       []float64
}

// at finds covariances of n rows, which row returns, and x, and puts them and the targets where
// they are conditioned on.
func (a *alike) at(p *pairs, w *given, n int, row func(i int) []float64, x []float64) {
	w.room(n)
	all := n * (n + 1) / 2
	padded := max(8, (all+7)/8*8)
	for _, s := range []*[]float64{&p.square, &p.smooth, &p.rough, &p.weight, &p.bySmooth, &p.byRough} {
		*s = grown(*s, padded)
	}
	at := 0
	for i := range n {
		xi := row(i)
		for j := range i {
			p.square[at] = a.square(xi, row(j))
			at++
		}
		p.square[at] = a.square(xi, x)
		at++
	}
	clear(p.square[all:])
	level := simd.Best()
	level.Matern(52, p.smooth, p.square, 1, a.smooth)
	level.Matern(32, p.rough, p.square, a.sharper, a.rough)
	at = 0
	for i := range n {
		to := w.l[i*n : i*n+i]
		for j := range to {
			to[j] = p.smooth[at+j] + p.rough[at+j]
		}
		at += i
		w.k[i] = p.smooth[at] + p.rough[at]
		at++
	}
}

// slopes adds to grad, whose first entry is the noise's, derivatives by the shared
// hyperparameters, and leaves in bySmooth those by log ℓ_d over (x_d − x′_d)²/ℓ_d², of each pair.
func (a *alike) slopes(p *pairs, grad []float64) {
	level := simd.Best()
	sum, _ := level.MaternGrad(52, p.bySmooth, p.weight, p.smooth, p.square, 1)
	grad[1] += sum
	sum, scale := level.MaternGrad(32, p.byRough, p.weight, p.rough, p.square, a.sharper)
	grad[2] += sum
	grad[3] -= a.sharper * scale
	for i, v := range p.byRough {
		p.bySmooth[i] += a.sharper * v
	}
}
