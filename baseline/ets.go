package baseline

import "math"

// ETS forecasts by exponential smoothing with additive errors of the seasonally adjusted
// series (see seasonal), without a trend or with a damped one, whichever has the lesser
// AICc,
//
//	n log Σ e² + 2K + 2K(K + 1)/(n − K − 1)
//
// with K parameters: those of the smoothing, the first level and slope, σ. Bounds are those
// of forecast::ets in R; σ² = Σ e²/(n − K + 1). Left out are trends without damping, which
// overshoot far ahead (Gardner and McKenzie 1985; FPP3, section 8.2), and
// multiplicative errors and trends. Errors: as of Theta.
func ETS(s *Series, season int, at []float64) ([]Normal, error) {
	return s.smoothed(season, at, func(y []float64, most int) []Normal {
		best := fit(y, false)
		if damped := fit(y, true); damped.aicc < best.aicc {
			best = damped
		}
		_, last := best.squares(y)
		return last.ahead(most, best.sigma)
	})
}

// fitted is a model with the parameters of the least squared errors.
type fitted struct {
	smoothing
	aicc, sigma float64 // AICc is +∞ where there are too few rows for it
}

func fit(y []float64, trend bool) fitted {
	at := func(u []float64) smoothing {
		m := smoothing{alpha: alphaAt(u[0])}
		if trend {
			m.beta, m.phi = leastAlpha+u[1]*(m.alpha-leastAlpha), leastPhi+u[2]*(mostPhi-leastPhi)
		}
		m.start(y)
		return m
	}
	dims, states := 1, 1
	if trend {
		dims, states = 3, 2 // level and slope
	}
	m := at(minimise(dims, func(u []float64) float64 {
		sum, _ := at(u).squares(y)
		return sum
	}))
	sum, _ := m.squares(y)
	n, k := float64(len(y)), float64(dims+states+1)
	f := fitted{smoothing: m, aicc: math.Inf(1), sigma: math.Sqrt(sum / max(1, n-k+1))}
	if n > k+1 {
		f.aicc = n*math.Log(sum) + 2*k + 2*k*(k+1)/(n-k-1)
	}
	return f
}
