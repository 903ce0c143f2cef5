package baseline

import (
	"math"
	"slices"
)

// adjustment is what a season does to the targets.
type adjustment struct {
	index    []float64 // per phase, the first row's first; nil: nothing
	additive bool
}

// seasonal finds the adjustment for targets of one step each by classical
// decomposition, where the season of m steps is there at the 90 % level, as
// Assimakopoulos and Nikolopoulos (2000) have it:
//
//	|r_m| > 1.645 √((1 + 2 Σ_{k<m} r_k²)/n)
//
// with autocorrelations r. Indices are the means by phase of the targets over (additive:
// less) their centred moving averages, and multiply to (add up to) nothing in the mean. They
// are additive where a target or an index is not positive. Two seasons of targets are needed.
func seasonal(y []float64, m int) adjustment {
	n := len(y)
	if m < 2 || n < 2*m || !autocorrelated(y, m) {
		return adjustment{}
	}
	if slices.Min(y) > 0 {
		if a := decompose(y, m, false); slices.Min(a.index) > 0.01 {
			return a
		}
	}
	return decompose(y, m, true)
}

func autocorrelated(y []float64, m int) bool {
	mean := 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	r := make([]float64, m+1)
	for k := range r {
		for t := k; t < len(y); t++ {
			r[k] += (y[t] - mean) * (y[t-k] - mean)
		}
	}
	if !(r[0] > 0) {
		return false
	}
	sum := 1.0
	for _, v := range r[1:m] {
		sum += 2 * (v / r[0]) * (v / r[0])
	}
	const z = 1.6448536269514722 // Φ⁻¹(0.95)
	return math.Abs(r[m]/r[0]) > z*math.Sqrt(sum/float64(len(y)))
}

// decompose has the moving average of an even season weigh both ends by half.
func decompose(y []float64, m int, additive bool) adjustment {
	a := adjustment{index: make([]float64, m), additive: additive}
	counts := make([]float64, m)
	half := m / 2
	for t := half; t+half < len(y); t++ {
		trend := 0.0
		for k := t - half; k <= t+half; k++ {
			trend += y[k]
		}
		if m%2 == 0 {
			trend -= 0.5 * (y[t-half] + y[t+half])
		}
		trend /= float64(m)
		counts[t%m]++
		if additive {
			a.index[t%m] += y[t] - trend
		} else {
			a.index[t%m] += y[t] / trend
		}
	}
	mean := 0.0
	for p := range a.index {
		a.index[p] /= counts[p]
		mean += a.index[p] / float64(m)
	}
	for p := range a.index {
		if additive {
			a.index[p] -= mean
		} else {
			a.index[p] /= mean
		}
	}
	return a
}

// off takes the season out of the targets.
func (a adjustment) off(y []float64) []float64 {
	out := slices.Clone(y)
	if a.index == nil {
		return out
	}
	for t := range out {
		if i := a.index[t%len(a.index)]; a.additive {
			out[t] -= i
		} else {
			out[t] /= i
		}
	}
	return out
}

// on puts the season back into the prediction at step t, the first row's being 0.
func (a adjustment) on(t int, p Normal) Normal {
	if a.index == nil {
		return p
	}
	i := a.index[t%len(a.index)]
	if a.additive {
		return Normal{p.Mean + i, p.SD}
	}
	return Normal{p.Mean * i, p.SD * i}
}
