// Package mixture has what several kernels predict, averaged with weights: at every
// row a mixture of normals, with its moments, quantiles and densities, and scores
// against targets that were held out.
package mixture

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Prediction is what kernels predict at common inputs, and the weights to
// average them with (Bayesian model averaging): at every row a mixture of one
// normal per kernel. Units are those of the targets it was trained on.
type Prediction struct {
	IDs     []string    // canonical expressions, best first
	Weights []float64   // per kernel, not negative, sum 1
	Noise   []float64   // σ_n² per kernel, unit squared
	Mean    [][]float64 // [kernel][row], mean of f
	Var     [][]float64 // [kernel][row], variance of f, unit squared

	// NoiseAt is σ_n² of single rows, for all kernels in the place of Noise; NaN: it has
	// none of its own. nil: no row has.
	NoiseAt []float64

	NoiseScale []float64 // what Noise is multiplied by in single rows; nil: by 1
	// Tails are the normals that the noise is a mixture of, for all rows and kernels; nil:
	// it is normal.
	Tails []Part

	widened float64 // the factors of Widen; 0: none
}

// Part is one normal of noise that is a mixture of some.
type Part struct {
	Share  float64 // of the noise, not negative; those of all parts sum to 1
	Factor float64 // of the variance
}

// whole is noise of one normal.
var whole = [1]Part{{1, 1}}

// parts are the normals that f, or y, of a kernel is a mixture of.
func (p *Prediction) parts(ofY bool) []Part {
	if ofY && p.Tails != nil {
		return p.Tails
	}
	return whole[:]
}

// tail is the mean of the factors of the noise's parts.
func (p *Prediction) tail() (mean float64) {
	for _, q := range p.parts(true) {
		mean += q.Share * q.Factor
	}
	return mean
}

// Check returns an error if the parts do not fit together or hold values that
// are impossible: not finite, or negative weights or noise variances.
func (p *Prediction) Check() error {
	k := len(p.IDs)
	if k == 0 {
		return errors.New("vbks: prediction of no kernels")
	}
	if len(p.Weights) != k || len(p.Noise) != k || len(p.Mean) != k || len(p.Var) != k {
		return fmt.Errorf("vbks: prediction of %d kernels has %d weights, %d noise variances, %d means, %d variances",
			k, len(p.Weights), len(p.Noise), len(p.Mean), len(p.Var))
	}
	if err := checkWeights(p.Weights); err != nil {
		return err
	}
	if p.NoiseAt != nil && len(p.NoiseAt) != p.Rows() {
		return fmt.Errorf("vbks: prediction of %d rows has noise of %d", p.Rows(), len(p.NoiseAt))
	}
	if p.NoiseScale != nil && len(p.NoiseScale) != p.Rows() {
		return fmt.Errorf("vbks: prediction of %d rows has factors of the noise of %d", p.Rows(), len(p.NoiseScale))
	}
	for i, id := range p.IDs {
		if v := p.Noise[i]; !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("vbks: prediction of %s: noise variance is %v", id, v)
		}
		if len(p.Mean[i]) != p.Rows() || len(p.Var[i]) != p.Rows() {
			return fmt.Errorf("vbks: prediction of %s: %d means and %d variances, want %d", id, len(p.Mean[i]), len(p.Var[i]), p.Rows())
		}
		for row, m := range p.Mean[i] {
			if v := p.Var[i][row]; math.IsNaN(m+v) || math.IsInf(m, 0) || math.IsInf(v, 0) {
				return fmt.Errorf("vbks: prediction of %s at row %d: mean %v, variance %v", id, row, m, v)
			}
		}
	}
	return nil
}

func checkWeights(weights []float64) error {
	sum := 0.0
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("vbks: weight of kernel %d in a prediction is %v", i, w)
		}
		sum += w
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return fmt.Errorf("vbks: weights of a prediction sum to %v", sum)
	}
	return nil
}

// Rows returns the number of inputs predicted.
func (p *Prediction) Rows() int {
	if len(p.Mean) == 0 {
		return 0
	}
	return len(p.Mean[0])
}

// variance returns the variance of f or y under kernel i, of y with a factor of the
// noise. A variance of f below 0 is rounding.
func (p *Prediction) variance(i, row int, ofY bool, factor float64) float64 {
	v := max(0, p.Var[i][row])
	if ofY {
		if p.NoiseAt != nil && !math.IsNaN(p.NoiseAt[row]) {
			return v + p.NoiseAt[row]
		}
		if p.NoiseScale != nil {
			factor *= p.NoiseScale[row]
		}
		v += factor * p.Noise[i]
	}
	return v
}

// Replace makes a row the normal of this mean and these variances of f and of the noise,
// whichever kernel predicts it. Predictions are widened before.
func (p *Prediction) Replace(row int, mean, variance, noise float64) {
	if p.NoiseAt == nil {
		p.NoiseAt = slices.Repeat([]float64{math.NaN()}, p.Rows())
	}
	p.NoiseAt[row] = noise
	for i := range p.Mean {
		p.Mean[i][row], p.Var[i][row] = mean, variance
	}
}

// Moments returns mean and variance of f, or of y = f + noise, at a row,
//
//	μ = Σ_i w_i μ_i,   σ² = Σ_i w_i (σ_i² + μ_i²) − μ² = Σ_i w_i (σ_i² + (μ_i − μ)²)
//
// (the paper's equation for Bayesian model averaging; the last form does not cancel).
func (p *Prediction) Moments(row int, ofY bool) (mean, variance float64) {
	for i, w := range p.Weights {
		mean += w * p.Mean[i][row]
	}
	tail := p.tail()
	for i, w := range p.Weights {
		if w == 0 {
			continue
		}
		d := p.Mean[i][row] - mean
		variance += w * (p.variance(i, row, ofY, tail) + d*d)
	}
	return mean, variance
}

// Widen multiplies the distance of f, and of y, from the mean by a factor at every row:
// of the mixture with components μ_i and σ_i² it makes that of
//
//	μ + c(μ_i − μ),   c²σ_i²,   μ = Σ_i w_i μ_i.
func (p *Prediction) Widen(c float64) {
	for row := range p.Rows() {
		mean, _ := p.Moments(row, false)
		for i := range p.Mean {
			p.Mean[i][row] = mean + c*(p.Mean[i][row]-mean)
			p.Var[i][row] *= c * c
		}
	}
	for i := range p.Noise {
		p.Noise[i] *= c * c
	}
	for row := range p.NoiseAt {
		p.NoiseAt[row] *= c * c
	}
	p.widened = c * cmp.Or(p.widened, 1)
}

// density returns the density at x of the components that have one.
func (p *Prediction) density(row int, x float64, ofY bool) float64 {
	sum, parts := 0.0, p.parts(ofY)
	for i, w := range p.Weights {
		if w > 0 {
			d := x - p.Mean[i][row]
			for _, q := range parts {
				if v := p.variance(i, row, ofY, q.Factor); v > 0 {
					sum += w * q.Share / math.Sqrt(2*math.Pi*v) * math.Exp(-0.5*d*d/v)
				}
			}
		}
	}
	return sum
}

// CDF returns P(f <= x), or P(y <= x), at a row,
//
//	Σ_i w_i Φ((x − μ_i)/σ_i)
//
// with a step where σ_i = 0.
func (p *Prediction) CDF(row int, x float64, ofY bool) float64 {
	sum, parts := 0.0, p.parts(ofY)
	for i, w := range p.Weights {
		if w == 0 {
			continue
		}
		d := x - p.Mean[i][row]
		for _, q := range parts {
			if v := p.variance(i, row, ofY, q.Factor); v > 0 {
				sum += w * q.Share * normalCDF(d/math.Sqrt(v))
			} else if d >= 0 {
				sum += w * q.Share
			}
		}
	}
	return min(1, sum)
}

// normalCDF is Φ, accurate in the lower tail.
func normalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// Quantile returns the smallest x with CDF(row, x, ofY) >= prob, by Newton's
// method within a bracket that every step narrows, and by bisection where that
// leaves it: a quantile of a mixture lies between the least and the largest of
// its components' quantiles. It does not decrease with prob, up to rounding: of two
// probabilities that differ by no more than the rounding of the CDF, about 1e-16,
// the larger one may have the smaller quantile. 0 and 1 give −∞ and +∞ unless all
// variances are 0. It panics if prob is not in [0, 1].
func (p *Prediction) Quantile(row int, prob float64, ofY bool) float64 {
	if !(prob >= 0 && prob <= 1) {
		panic("vbks: probability of a quantile is not between 0 and 1")
	}
	z := distuv.UnitNormal.Quantile(prob)
	lo, hi := math.Inf(1), math.Inf(-1)
	finest := math.Inf(1)
	for i, w := range p.Weights {
		if w == 0 {
			continue
		}
		for _, part := range p.parts(ofY) {
			q := p.Mean[i][row]
			if sd := math.Sqrt(p.variance(i, row, ofY, part.Factor)); sd > 0 {
				q += sd * z
				finest = min(finest, sd)
			}
			lo, hi = min(lo, q), max(hi, q)
		}
	}
	switch {
	case prob == 0:
		return lo
	case prob == 1 || lo == hi:
		return hi
	}
	// The rounding of the components' own quantiles must not put the answer
	// outside.
	width := 1e-12 * (math.Abs(lo) + math.Abs(hi))
	lo -= width
	hi += width
	resolution := 1e-13 * finest
	if math.IsInf(finest, 1) {
		resolution = 0 // steps only: to the last digit
	}
	x := lo + 0.5*(hi-lo)
	if mean, variance := p.Moments(row, ofY); variance > 0 {
		if start := mean + math.Sqrt(variance)*z; lo < start && start < hi {
			x = start
		}
	}
	before := hi - lo
	for range 200 {
		if x <= lo || x >= hi || hi-lo < resolution {
			break
		}
		off := p.CDF(row, x, ofY) - prob
		if off < 0 {
			lo = x
		} else {
			hi = x
		}
		// A step must be half the last one at most, else the bracket is halved. A
		// small one goes a little too far, to have the quantile between two points.
		move := -off / p.density(row, x, ofY)
		move += math.Copysign(0.4*resolution, move)
		if to := x + move; lo < to && to < hi && math.Abs(move) <= max(0.5*before, resolution) {
			x, before = to, math.Abs(move)
		} else {
			x, before = lo+0.5*(hi-lo), 0.5*(hi-lo)
		}
	}
	return hi
}

// LogDensity returns the logarithm of the density of y at a row,
//
//	log Σ_i w_i N(y; μ_i, σ_i² + σ_n,i²),
//
// by log-sum-exp, so that it does not underflow. A component without any
// variance contributes +∞ at its mean and nothing elsewhere.
func (p *Prediction) LogDensity(row int, y float64) float64 {
	// One pass, with a running maximum.
	top, sum, parts := math.Inf(-1), 0.0, p.parts(true)
	for i, w := range p.Weights {
		if w == 0 {
			continue
		}
		for _, q := range parts {
			l := math.Log(w*q.Share) + logNormal(y, p.Mean[i][row], p.variance(i, row, true, q.Factor))
			switch {
			case math.IsInf(l, 1):
				return l
			case l > top:
				sum = sum*math.Exp(top-l) + 1
				top = l
			case !math.IsInf(l, -1):
				sum += math.Exp(l - top)
			}
		}
	}
	if math.IsInf(top, -1) {
		return top
	}
	return top + math.Log(sum)
}

// logNormal returns log N(y; mean, variance).
func logNormal(y, mean, variance float64) float64 {
	d := y - mean
	if variance <= 0 {
		if d == 0 {
			return math.Inf(1)
		}
		return math.Inf(-1)
	}
	z := d / math.Sqrt(variance)
	return -0.5 * (math.Log(2*math.Pi*variance) + z*z)
}

// Single returns the prediction of kernel k alone, about its own mean. Variances are
// shared with p, and means unless it has been widened.
func (p *Prediction) Single(k int) *Prediction {
	mean := p.Mean[k]
	if p.widened != 0 { // its own again
		mean = make([]float64, len(mean))
		for row, v := range p.Mean[k] {
			of, _ := p.Moments(row, false)
			mean[row] = of + (v-of)/p.widened
		}
	}
	return &Prediction{
		IDs: []string{p.IDs[k]}, Weights: []float64{1}, Noise: []float64{p.Noise[k]},
		Mean: [][]float64{mean}, Var: [][]float64{p.Var[k]}, NoiseAt: p.NoiseAt, NoiseScale: p.NoiseScale, Tails: p.Tails, widened: p.widened,
	}
}
