package windows

import (
	"math"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/periods"
)

const (
	// Of a summand PER so many harmonics are taken at most, as many as leave repeatingRest of its variance: what is left
	// is seen by windows.
	mostHarmonics = 24
	repeatingRest = 1e-9
	// Of a length below this hardly anything is in so many, and none are taken.
	leastLength = 0.01
)

// repeating is a summand PER of a kernel: what repeats for ever is in no window, and inducing inputs, where all summands
// are seen together, say little of it beside a large rough one. Its function is
//
//	f(x) = σ Σ_h √q_h [v_h cos(hωx) + v'_h sin(hωx)],  v, v' ~ N(0, 1),  ω = 2π/p,
//
// q as in periods.CosineWeights, of which the v stand beside u.
type repeating struct {
	off    int // of its variance among θ; length scale and period follow
	middle float64

	omega  float64
	amps   []float64 // σ√q_h, h = 0, 1, …
	slopes []float64 // of these by log ℓ
	grad   [3]float64
}

// size is how many weights stand for the function.
func (r *repeating) size() int { return 2*len(r.amps) - 1 }

// set takes the summand out of θ.
func (r *repeating) set(theta []float64) {
	scale := theta[r.off+1]
	r.grad = [3]float64{}
	if !(scale >= leastLength) {
		r.omega, r.amps, r.slopes = 0, make([]float64, 1), make([]float64, 1)
		theta[r.off] = 0
		return
	}
	r.omega = 2 * math.Pi / theta[r.off+2]
	q := periods.CosineWeights(scale, mostHarmonics+1)
	harmonics, sum := 0, q[0]
	for harmonics < mostHarmonics && 1-sum > repeatingRest {
		harmonics++
		sum += q[harmonics]
	}
	r.amps, r.slopes = make([]float64, harmonics+1), make([]float64, harmonics+1)
	sd := math.Sqrt(theta[r.off])
	for h := range r.amps {
		// 2I_h' = I_{h−1} + I_{h+1}, and of z = 1/ℓ² the logarithm moves by −2 with that of ℓ.
		by := -q[h] + q[h+1]/2
		switch h {
		case 0:
		case 1:
			by += q[0]
		default:
			by += q[h-1] / 2
		}
		if q[h] > 0 {
			root := math.Sqrt(q[h])
			r.amps[h], r.slopes[h] = sd*root, -sd*by/(scale*scale*root)
		}
	}
	theta[r.off] = 0
}

// each calls do with cos and sin of hω(x − middle) for all rows i and harmonics h, times the rows' factors.
func (r *repeating) each(x, scale []float64, do func(i, h int, cos, sin, phase float64)) {
	for i, v := range x {
		phase := r.omega * (v - r.middle)
		sin, cos := math.Sincos(phase)
		c, s := 1.0, 0.0
		if scale != nil {
			c = scale[i]
		}
		for h := range r.amps {
			do(i, h, c, s, phase)
			c, s = c*cos-s*sin, s*cos+c*sin
		}
	}
}

// rows writes what stands for so many rows: a line for each weight.
func (r *repeating) rows(x, scale, to []float64) {
	n := len(x)
	r.each(x, scale, func(i, h int, cos, sin, _ float64) {
		if h == 0 {
			to[i] = r.amps[0] * cos
			return
		}
		to[(2*h-1)*n+i], to[2*h*n+i] = r.amps[h]*cos, r.amps[h]*sin
	})
}

// collect adds to the gradient by log σ², log ℓ and log p what bar, of the shape of rows, gives.
func (r *repeating) collect(x, scale, bar []float64) {
	n := len(x)
	r.each(x, scale, func(i, h int, cos, sin, phase float64) {
		if h == 0 {
			r.grad[0] += bar[i] * cos * r.amps[0] / 2
			r.grad[1] += bar[i] * cos * r.slopes[0]
			return
		}
		byCos, bySin := bar[(2*h-1)*n+i], bar[2*h*n+i]
		along := byCos*cos + bySin*sin
		r.grad[0] += along * r.amps[h] / 2
		r.grad[1] += along * r.slopes[h]
		r.grad[2] += r.amps[h] * float64(h) * phase * (byCos*sin - bySin*cos)
	})
}

// apart is the part of an Evidence that has to do with what repeats.
type apart struct {
	all    []*repeating
	alone  bool         // there is no other summand
	theta  device.Array // θ without
	cut    device.Array // Ā of the inducing inputs
	buffer []float64
}

// size is how many weights there are at present.
func (a *apart) size() (n int) {
	for _, r := range a.all {
		n += r.size()
	}
	return n
}

// set takes what repeats out of θ.
func (a *apart) set(theta []float64) {
	for _, r := range a.all {
		r.set(theta)
	}
}

// between returns the inputs and factors of rows.
func (r Rows) between(p device.Points) (x, scale []float64) {
	if r.Scale != nil {
		scale = r.Scale[p.From:p.To]
	}
	return r.X[p.From:p.To], scale
}

// extend adds to A of the inducing inputs, in b.part, what stands for the weights.
func (e *Evidence) extend(b *block) error {
	s := b.points.Len()
	at := e.m * s
	a := e.apart.buffer[:e.rank()*s]
	if err := e.lane.Read(b.part, 0, a[:at]); err != nil {
		return err
	}
	x, scale := e.rows.between(b.points)
	for _, r := range e.apart.all {
		r.rows(x, scale, a[at:])
		at += r.size() * s
	}
	b.a.Reshape(e.rank(), s)
	e.lane.Write(b.a, 0, a)
	return nil
}

// collectRepeating adds what Ā gives for the weights, and leaves that of the inducing inputs in e.apart.cut.
func (e *Evidence) collectRepeating(b *block) error {
	s := b.points.Len()
	at := e.m * s
	bar := e.apart.buffer[:e.rank()*s]
	if err := e.lane.Read(b.abar, 0, bar); err != nil {
		return err
	}
	x, scale := e.rows.between(b.points)
	e.apart.cut.Reshape(e.m, s)
	e.lane.Write(e.apart.cut, 0, bar[:at])
	for _, r := range e.apart.all {
		r.collect(x, scale, bar[at:])
		at += r.size() * s
	}
	return nil
}
