// Package stacking finds weights of predictions from how they have predicted rows that
// they did not learn from.
package stacking

import "math"

const (
	// enough is within how many nats a row the mean log density is of its maximum.
	enough = 1e-6
	most   = 10_000 // steps
)

// Weights returns the weights, not negative and of sum 1, for which a mixture of
// predictions k with log densities logp[k][i] at rows i has the greatest log density
//
//	1/n Σ_i log Σ_k w_k p_ik
//
// (stacking of predictive distributions: Yao, Vehtari, Simpson and Gelman 2018). It is
// concave, and the steps of expectation and maximisation
//
//	w_k ← w_k g_k,   g_k = 1/n Σ_i p_ik / Σ_j w_j p_ij,
//
// never lower it; since max_k g_k − 1 bounds what is left to gain (Lindsay 1983), they end
// where that is small. Rows at which no density is above 0 do not count; without rows or
// densities weights are even. logp must have as many rows of each prediction.
func Weights(logp [][]float64) []float64 {
	k := len(logp)
	w, gradient := make([]float64, k), make([]float64, k)
	for j := range w {
		w[j] = 1 / float64(k)
	}
	rows := scaled(logp)
	for range most {
		clear(gradient)
		for _, p := range rows {
			sum := 0.0
			for j, v := range p {
				sum += w[j] * v
			}
			for j, v := range p {
				gradient[j] += v / sum
			}
		}
		gain := 0.0
		for j, g := range gradient {
			gradient[j] = g / float64(max(1, len(rows)))
			gain = math.Max(gain, gradient[j]-1)
		}
		if len(rows) == 0 || gain < enough {
			break
		}
		total := 0.0
		for j := range w {
			w[j] *= gradient[j]
			total += w[j]
		}
		for j := range w {
			w[j] /= total
		}
	}
	return w
}

// least is what a density counts as at least, relative to the greatest of its row, so
// that a weight that has become small can grow again.
const least = 1e-300

// scaled returns the densities row by row, each divided by its greatest.
func scaled(logp [][]float64) [][]float64 {
	if len(logp) == 0 {
		return nil
	}
	var rows [][]float64
	for i := range logp[0] {
		top := math.Inf(-1)
		for j := range logp {
			top = math.Max(top, logp[j][i])
		}
		if math.IsInf(top, 0) || math.IsNaN(top) {
			continue
		}
		row := make([]float64, len(logp))
		for j := range logp {
			row[j] = math.Max(least, math.Exp(logp[j][i]-top))
		}
		rows = append(rows, row)
	}
	return rows
}
