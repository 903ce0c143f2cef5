package mixture

import (
	"math"

	"example.com/kestrel/scoring"
)

// components are the normals of the kernels of a prediction that have a weight, and room
// for a row of them.
type components struct {
	*Prediction
	normals        []normal
	mean, variance []float64 // of these
}

// normal is one of those that y of a kernel is a mixture of.
type normal struct {
	kernel         int
	weight, factor float64 // of the kernel times the share of the noise's part; of the noise
}

func (p *Prediction) components() *components {
	c := &components{Prediction: p}
	for i, w := range p.Weights {
		if w > 0 {
			for _, q := range p.parts(true) {
				c.normals = append(c.normals, normal{i, w * q.Share, q.Factor})
			}
		}
	}
	k := len(c.normals)
	c.mean, c.variance = make([]float64, k), make([]float64, k)
	return c
}

// crps returns the continuous ranked probability score ∫ (F(t) − 1{y ≤ t})² dt of the
// mixture of y at a row,
//
//	Σ_i w_i A(y − μ_i, s_i) − ½ Σ_ij w_i w_j A(μ_i − μ_j, √(s_i² + s_j²)),   s_i² = σ_i² + σ_n,i²
//
// with A = scoring.AbsNormal (Grimit et al. 2006, equation 5), for weights that sum
// to 1. It takes the square of the number of kernels with a weight, each as often as its noise has parts.
func (c *components) crps(row int, y float64) float64 {
	miss, spread := 0.0, 0.0
	for a, n := range c.normals {
		w := n.weight
		c.mean[a], c.variance[a] = c.Mean[n.kernel][row], c.Prediction.variance(n.kernel, row, true, n.factor)
		sd := math.Sqrt(c.variance[a])
		miss += w * scoring.AbsNormal(y-c.mean[a], sd)
		spread += w * w * sd / math.Sqrt(math.Pi) // half of A(0, s√2)
		for b, m := range c.normals[:a] {
			spread += w * m.weight * scoring.AbsNormal(c.mean[a]-c.mean[b], math.Sqrt(c.variance[a]+c.variance[b]))
		}
	}
	return max(0, miss-spread)
}
