package belief

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Correlation returns the correlation matrix of g under q(g),
//
//	cov(g)_ij / √(cov(g)_ii cov(g)_jj),
//
// K x K in the order of IDs: the paper's similarity of kernels. It sees the
// kernels only through their local ELBOs; MeanCorrelation sees what they predict.
func (b *Belief) Correlation() *mat.SymDense {
	k := len(b.IDs)
	rows := make([][]float64, k)
	for i := range rows {
		rows[i] = b.Chol[i*k : (i+1)*k]
	}
	return cosines(rows)
}

// MeanCorrelation returns Pearson's correlations between the predictive means
// of kernels on common inputs, means[kernel][row], in any units. A kernel whose
// mean is constant has correlation 0 with every other and 1 with itself. Rows
// of different length and values that are not finite are errors.
func MeanCorrelation(means [][]float64) (*mat.SymDense, error) {
	if len(means) == 0 || len(means[0]) == 0 {
		return nil, fmt.Errorf("vbks: correlation of the means of %d kernels: no values", len(means))
	}
	n := len(means[0])
	centred := make([][]float64, len(means))
	for i, m := range means {
		if len(m) != n {
			return nil, fmt.Errorf("vbks: correlation of means: %d rows for kernel %d, %d for the first", len(m), i, n)
		}
		// Scaled first, so that squares cannot overflow.
		scale := 0.0
		for row, v := range m {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("vbks: correlation of means: mean of kernel %d at row %d is %v", i, row, v)
			}
			scale = max(scale, math.Abs(v))
		}
		c := make([]float64, n)
		centred[i] = c
		if scale == 0 {
			continue
		}
		mean := 0.0
		for row, v := range m {
			c[row] = v / scale
			mean += c[row] / float64(n)
		}
		floats.AddConst(-mean, c)
		// What is left of a constant is rounding.
		if floats.Norm(c, math.Inf(1)) < 1e-14 {
			clear(c)
		}
	}
	return cosines(centred), nil
}

// cosines returns the matrix of cosines between vectors: 1 on the diagonal, 0
// for zero vectors.
func cosines(rows [][]float64) *mat.SymDense {
	norms := make([]float64, len(rows))
	for i, r := range rows {
		norms[i] = floats.Norm(r, 2)
	}
	c := mat.NewSymDense(len(rows), nil)
	for i, a := range rows {
		c.SetSym(i, i, 1)
		for j := range i {
			if norms[i] > 0 && norms[j] > 0 {
				v := floats.Dot(a, rows[j]) / norms[i] / norms[j]
				c.SetSym(i, j, min(1, max(-1, v)))
			}
		}
	}
	return c
}
