package searches

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Surrogate is a Gaussian process over things of which only the squared
// distances d² to each other are known. After the values have been standardised,
// their covariance is
//
//	1 + σ² exp(−d²/2ℓ²) + ν δ
//
// (1: a constant level with prior N(0, 1); ν = 1e-3: an optimum may not be the
// best), with the σ and ℓ of a grid that maximise likelihood times prior, log σ
// and log ℓ being normal about 0 and log 0.3 with sd 1.
type Surrogate struct {
	values       []float64
	shift, scale float64 // of the values
	sigma2, ell2 float64
	factor       mat.Cholesky
	weights      *mat.VecDense // covariance⁻¹ (standardised values)
}

// surrogateNoise is ν.
const surrogateNoise = 1e-3

// Failing returns values in which those of kernels that failed, NaN, are the least of the
// others, or 0.
func Failing(values []float64) []float64 {
	least := math.Inf(1)
	for _, v := range values {
		if v < least {
			least = v
		}
	}
	if math.IsInf(least, 1) {
		least = 0
	}
	out := slices.Clone(values)
	for i, v := range out {
		if math.IsNaN(v) {
			out[i] = least
		}
	}
	return out
}

// FitSurrogate fits σ and ℓ to values and their squared distances.
func FitSurrogate(squared [][]float64, values []float64) (*Surrogate, error) {
	shift, scale := stat.PopMeanStdDev(values, nil)
	if !(scale > 0) {
		scale = 1
	}
	y := mat.NewVecDense(len(values), nil)
	for i, v := range values {
		y.SetVec(i, (v-shift)/scale)
	}
	var best *Surrogate
	most := math.Inf(-1)
	for logEll := math.Log(0.05); logEll < math.Log(3); logEll += 0.25 {
		for logSigma := -1.5; logSigma <= 1.5; logSigma += 0.5 {
			s := &Surrogate{values: values, shift: shift, scale: scale, sigma2: math.Exp(2 * logSigma), ell2: math.Exp(2 * logEll)}
			if !s.factor.Factorize(s.covariance(squared)) {
				continue
			}
			s.weights = mat.NewVecDense(len(values), nil)
			if err := s.factor.SolveVecTo(s.weights, y); err != nil {
				continue // too badly conditioned to be of use
			}
			u := logEll - math.Log(0.3)
			if fit := -mat.Dot(y, s.weights)/2 - s.factor.LogDet()/2 - u*u/2 - logSigma*logSigma/2; fit > most {
				best, most = s, fit
			}
		}
	}
	if best == nil {
		return nil, errors.New("the model of the evidence cannot be computed: distances or values are not finite")
	}
	return best, nil
}

// Most is the greatest of the values.
func (s *Surrogate) Most() float64 { return slices.Max(s.values) }

func (s *Surrogate) covariance(squared [][]float64) *mat.SymDense {
	c := mat.NewSymDense(len(squared), nil)
	for i, row := range squared {
		for j := range i {
			// Both ways of measuring are the same but for rounding.
			c.SetSym(i, j, s.between(row[j]))
		}
		c.SetSym(i, i, s.between(0)+surrogateNoise)
	}
	return c
}

func (s *Surrogate) between(squared float64) float64 {
	return 1 + s.sigma2*math.Exp(-squared/(2*s.ell2))
}

// Belief is what a surrogate says of a value not seen yet.
type Belief struct {
	Mean, SD float64
}

// At returns the belief at given squared distances from what was seen.
func (s *Surrogate) At(squared []float64) Belief {
	k := mat.NewVecDense(len(squared), nil)
	for i, d := range squared {
		k.SetVec(i, s.between(d))
	}
	solved := mat.NewVecDense(len(squared), nil)
	variance := s.between(0)
	if err := s.factor.SolveVecTo(solved, k); err == nil {
		variance -= mat.Dot(k, solved)
	}
	return Belief{
		Mean: s.shift + s.scale*mat.Dot(k, s.weights),
		SD:   s.scale * math.Sqrt(max(0, variance)),
	}
}

// Improvement is that over best which is to be expected, E max(0, g − best) of a normal g,
//
//	s [z Φ(z) + φ(z)],  z = (μ − best)/s
//
// (Jones, Schonlau and Welch 1998).
func (b Belief) Improvement(best float64) float64 {
	if !(b.SD > 0) {
		return max(0, b.Mean-best)
	}
	z := (b.Mean - best) / b.SD
	density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	return b.SD * max(0, z*math.Erfc(-z/math.Sqrt2)/2+density)
}
