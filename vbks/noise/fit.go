package noise

import (
	"math"
	"slices"
)

// Fit is where the noise stands between two steps.
type Fit struct {
	Model
	Noise   float64   // σ_n² that belongs to the weights
	Weights []float64 // of rows, of geometric mean 1
}

// Begin is the fit of so many rows before any step: they differ as is known of them.
func Begin(m Model, r Rows, rows int) Fit {
	m.Factor = 1
	f := Fit{Model: m, Weights: make([]float64, rows)}
	for i := range f.Weights {
		f.Weights[i] = 1 / m.base(&r, i)
	}
	return f
}

// Relative are variances over their geometric mean in the first rows, which is unit.
func Relative(sds []float64, first int) (known []float64, unit float64) {
	sum := 0.0
	for _, s := range sds[:first] {
		sum += 2 * math.Log(s)
	}
	unit = math.Exp(sum / float64(first))
	known = make([]float64, len(sds))
	for i, s := range sds {
		known[i] = s * s / unit
	}
	return known, unit
}

// normalise gives the weights the geometric mean 1 and takes what that changes to σ_n²
// and, for rows to come, Factor: the density of the rows is that of the weighted ones.
func (f *Fit) normalise() {
	sum := 0.0
	for _, w := range f.Weights {
		sum += math.Log(w)
	}
	g := math.Exp(sum / float64(len(f.Weights)))
	for i := range f.Weights {
		f.Weights[i] /= g
	}
	f.Noise, f.Factor = f.Noise/g, g
}

// pseudoRows is how many rows of the common variance each level is thought to have seen.
const pseudoRows = 4

// Step is a step of the variational EM algorithm for the noise, given the residuals r_i of
// the first rows at the mean of q(f) and the variances v_i of f there. With the scale σ²
// of the noise, what is known of the row and its level b_i, and
//
//	e_i = (r_i² + v_i)/(σ² b_i)
//
// ν maximises Σ log t_ν(√e_i), the bound at the best q(w), which is Gamma((ν+1)/2,
// (ν+e_i)/2) with
//
//	E w_i = (ν + 1)/(ν + e_i),   σ² = mean E w_i (r_i² + v_i)/b_i
//
// and the variance of a level is that of its rows, with a few more of the common one. Rows
// behind the first len(residuals) keep what is known of them and weight 1. Without
// outliers (Nu = 0) all E w_i are 1.
func (f *Fit) Step(r Rows, residuals, variances []float64) {
	scale := f.Noise * f.Factor
	n := len(residuals)
	e := make([]float64, n)
	for i, d := range residuals {
		e[i] = (d*d + variances[i]) / (scale * f.base(&r, i))
	}
	if f.Nu > 0 {
		f.Nu = degrees(e)
	}
	w := make([]float64, n)
	sum := 0.0
	for i := range w {
		w[i] = weight(f.Nu, e[i])
		sum += w[i] * e[i]
	}
	by := sum / float64(n) // of σ²
	if r.Level != nil {
		total, count := make([]float64, len(f.Levels)), make([]float64, len(f.Levels))
		for i := range w {
			l := r.Level[i]
			total[l] += w[i] * e[i] * f.Levels[l].Factor / by
			count[l]++
		}
		f.Levels = slices.Clone(f.Levels)
		for l := range f.Levels {
			f.Levels[l].Factor = (total[l] + pseudoRows) / (count[l] + pseudoRows)
		}
	}
	f.Noise = scale * by
	outliers := 0
	for i := range f.Weights {
		of := 1.0
		if i < n {
			of = w[i]
			if f.Nu > 0 && of < OutlierWeight*weight(f.Nu, 0) {
				outliers++
			}
		}
		f.Weights[i] = of / f.base(&r, i)
	}
	f.Outliers = float64(outliers) / float64(n)
	f.normalise()
}

// weight is E w of a row, 1 where noise is normal.
func weight(nu, e float64) float64 {
	if nu == 0 {
		return 1
	}
	return (nu + 1) / (nu + e)
}

// Weight is the weight that a row has which has not been fitted, by the factor that its
// noise has of σ_n² (Prediction.NoiseScale), its error against what is predicted there
// without noise, and the variance of that.
func (m *Model) Weight(scale, noise, d, variance float64) float64 {
	return weight(m.Nu, d*d/(scale*noise+math.Max(0, variance))) / scale
}

// Outlying reports whether a row of weight w, whose noise has a factor of σ_n² as in
// Weight, counts for little because of its target.
func (m *Model) Outlying(scale, w float64) bool {
	return m.Nu > 0 && w*scale < OutlierWeight*weight(m.Nu, 0)
}

// mostInfluence is the most that a row is taken to pull the mean at it to itself: where
// nothing else is known there, its error says nothing.
const mostInfluence = 0.95

// Standardised are the residuals of the first rows as errors of predictions without the
// row, in standard deviations: with the row's share h_i = w_i v_i/σ_n² of the mean at it,
//
//	r_i/(1 − h_i) over √(σ² b_i + v_i/(1 − h_i)).
func (f *Fit) Standardised(r Rows, residuals, variances []float64) []float64 {
	z := make([]float64, len(residuals))
	for i, d := range residuals {
		v := math.Max(0, variances[i])
		rest := 1 - math.Min(mostInfluence, f.Weights[i]*v/f.Noise)
		z[i] = d / rest / math.Sqrt(f.Noise*f.Factor*f.base(&r, i)+v/rest)
	}
	return z
}

// logT is log t_ν(√e) of the standardised Student's t.
func logT(nu, e float64) float64 {
	a, _ := math.Lgamma((nu + 1) / 2)
	b, _ := math.Lgamma(nu / 2)
	return a - b - 0.5*math.Log(math.Pi*nu) - (nu+1)/2*math.Log1p(e/nu)
}

// degrees is the ν that maximises Σ log t_ν(√e_i), by golden sections of log ν.
func degrees(e []float64) float64 {
	of := func(u float64) float64 {
		sum, nu := 0.0, math.Exp(u)
		for _, v := range e {
			sum += logT(nu, v)
		}
		return sum
	}
	return math.Exp(peak(of, math.Log(Heaviest), math.Log(Lightest)))
}

// peak is where a function with one top is largest between two places, to 1e-4.
func peak(of func(float64) float64, lo, hi float64) float64 {
	ratio := (math.Sqrt(5) - 1) / 2
	a, b := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	fa, fb := of(a), of(b)
	for hi-lo > 1e-4 {
		if fa >= fb {
			hi, b, fb = b, a, fa
			a = hi - ratio*(hi-lo)
			fa = of(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + ratio*(hi-lo)
			fb = of(b)
		}
	}
	return (lo + hi) / 2
}

// Gain is by how many nats the best Student's t has a greater likelihood of standardised
// errors than the best normal distribution, both about 0, and its degrees of freedom.
func Gain(z []float64) (nats, nu float64) {
	n := float64(len(z))
	square := 0.0
	for _, v := range z {
		square += v * v
	}
	normal := -0.5 * n * (math.Log(2*math.Pi*square/n) + 1)
	e := make([]float64, len(z))
	// The best scale for a ν is the fixed point s² = mean (ν+1) z²/(ν + z²/s²).
	of := func(u float64) float64 {
		nu, s2 := math.Exp(u), square/n
		for range 100 {
			sum := 0.0
			for _, v := range z {
				sum += (nu + 1) * v * v / (nu + v*v/s2)
			}
			next := sum / n
			done := math.Abs(next-s2) < 1e-9*s2
			if s2 = next; done {
				break
			}
		}
		sum := -0.5 * n * math.Log(s2)
		for i, v := range z {
			e[i] = v * v / s2
			sum += logT(nu, e[i])
		}
		return sum
	}
	if !(square > 0) {
		return 0, Lightest
	}
	u := peak(of, math.Log(Heaviest), math.Log(Lightest))
	return math.Max(0, of(u)-normal), math.Exp(u)
}

// Enough is how many nats of Gain speak for outliers: what chance gives one set in ten
// thousand, and what one more number costs.
func Enough(rows int) float64 { return 3 + 0.5*math.Log(float64(rows)) }
