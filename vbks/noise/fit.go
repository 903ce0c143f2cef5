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

// spread is the standard deviation of the logarithms of levels' variances beforehand.
const spread = 1.0

// Step is a step of the variational EM algorithm for the noise, given the residuals r_i of
// the first rows at the mean of q(f) and the variances v_i of f there. With the scale σ²
// of the noise, what is known of the row and its level b_i, and
//
//	e_i = (r_i² + v_i)/(σ² b_i)
//
// the tail's numbers maximise Σ log p(√e_i), the bound at the best q(w), each row has the
// weight E w_i of Tail, and
//
//	σ² = mean E w_i (r_i² + v_i)/b_i
//
// and the variance of a level is that of its n rows, whose logarithm has the variance 2/n,
// shrunk to the common one by a normal prior of the logarithm. Rows behind the first
// len(residuals) keep what is known of them and weight 1.
func (f *Fit) Step(r Rows, residuals, variances []float64) {
	scale := f.Noise * f.Factor
	n := len(residuals)
	e := make([]float64, n)
	for i, d := range residuals {
		e[i] = (d*d + variances[i]) / (scale * f.base(&r, i))
	}
	f.Tail = f.refit(e)
	w := make([]float64, n)
	sum := 0.0
	for i := range w {
		w[i] = f.weight(e[i])
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
			if count[l] > 0 && total[l] > 0 {
				share := count[l] / (count[l] + 2/(spread*spread))
				f.Levels[l].Factor = math.Exp(share * math.Log(total[l]/count[l]))
			}
		}
	}
	f.Noise = scale * by * f.even(r)
	outliers := 0
	for i := range f.Weights {
		of := 1.0
		if i < n {
			of = w[i]
			if of < OutlierWeight*f.weight(0) {
				outliers++
			}
		}
		f.Weights[i] = of / f.base(&r, i)
	}
	f.Outliers = float64(outliers) / float64(n)
	f.normalise()
}

// even gives the factors of levels the geometric mean 1 over the rows, and returns what it
// divides them by.
func (f *Fit) even(r Rows) float64 {
	if r.Level == nil {
		return 1
	}
	sum := 0.0
	for i := range f.Weights {
		sum += math.Log(f.Levels[r.Level[i]].Factor)
	}
	mean := math.Exp(sum / float64(len(f.Weights)))
	for l := range f.Levels {
		f.Levels[l].Factor /= mean
	}
	return mean
}

// Weight is the weight that a row has which has not been fitted, by the factor that its
// noise has of σ_n² (Prediction.NoiseScale), its error against what is predicted there
// without noise, and the variance of that.
func (m *Model) Weight(scale, noise, d, variance float64) float64 {
	return m.weight(d*d/(scale*noise+math.Max(0, variance))) / scale
}

// Outlying reports whether a row of weight w, whose noise has a factor of σ_n² as in
// Weight, counts for little because of its target.
func (m *Model) Outlying(scale, w float64) bool {
	return w*scale < OutlierWeight*m.weight(0)
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
