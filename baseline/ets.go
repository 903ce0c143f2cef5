package baseline

import "math"

// ETS forecasts by exponential smoothing with additive errors of the seasonally adjusted
// series (see seasonal), without a trend, with one and with a damped one, whichever has
// the least AICc,
//
//	n log Σ e² + 2K + 2K(K + 1)/(n − K − 1)
//
// with K parameters: those of the smoothing, the first level and slope, σ. Bounds are those
// of forecast::ets in R; σ² = Σ e²/(n − K + 1). Multiplicative errors and trends are left out.
// Errors: as of Theta.
func ETS(s *Series, season int, at []float64) ([]Normal, error) {
	return s.smoothed(season, at, func(y []float64, most int) []Normal {
		var best fitted
		least := 0.0
		for form := range trends {
			if f := fit(y, form); form == noTrend || f.aicc < least {
				best, least = f, f.aicc
			}
		}
		_, last := best.squares(y)
		return last.ahead(most, best.sigma)
	})
}

// Forms of the trend.
const (
	noTrend = iota
	withTrend
	dampedTrend
	trends
)

// fitted is a model with the parameters of the least squared errors.
type fitted struct {
	smoothing
	aicc, sigma float64 // AICc is +∞ where there are too few rows for it
}

func fit(y []float64, form int) fitted {
	at := func(u []float64) smoothing {
		m := smoothing{alpha: alphaAt(u[0])}
		if form != noTrend {
			m.beta, m.phi = leastAlpha+u[1]*(m.alpha-leastAlpha), 1
		}
		if form == dampedTrend {
			m.phi = leastPhi + u[2]*(mostPhi-leastPhi)
		}
		m.start(y)
		return m
	}
	dims := [trends]int{1, 2, 3}[form]
	m := at(minimise(dims, func(u []float64) float64 {
		sum, _ := at(u).squares(y)
		return sum
	}))
	sum, _ := m.squares(y)
	states := min(dims, 2) // level and slope
	n, k := float64(len(y)), float64(dims+states+1)
	f := fitted{smoothing: m, aicc: math.Inf(1), sigma: math.Sqrt(sum / max(1, n-k+1))}
	if n > k+1 {
		f.aicc = n*math.Log(sum) + 2*k + 2*k*(k+1)/(n-k-1)
	}
	return f
}
