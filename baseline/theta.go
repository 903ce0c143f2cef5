package baseline

import (
	"errors"
	"fmt"
	"math"
)

// Theta forecasts as Assimakopoulos and Nikolopoulos (2000) do, by the method that did
// best in the M3 competition: the mean of the linear trend and of simple exponential
// smoothing of the series with its curvature doubled. α and the first level are those of
// the least squared errors, and intervals those of the model behind it, exponential
// smoothing with drift (Hyndman and Billah 2003; Fiorucci et al. 2016),
//
//	½(a + b(n + h)) + ½ ℓ_n,   sd σ√(1 + (h − 1)α²),   σ² = Σ e²/(n − 3)
//
// of the seasonally adjusted series (see seasonal). Errors: fewer than five rows, steps
// missing or none to be counted, an input as of SeasonalNaive.
func Theta(s *Series, season int, at []float64) ([]Normal, error) {
	return s.smoothed(season, at, func(y []float64, most int) []Normal {
		alpha := alphaAt(minimise(1, func(u []float64) float64 {
			return thetaAt(y, alphaAt(u[0])).squares
		})[0])
		return thetaAt(y, alpha).ahead(most)
	})
}

// thetaModel is Theta with a given α.
type thetaModel struct {
	intercept, slope float64 // of the trend, time counted from 1
	last             smoothing
	n                int
	squares          float64 // of the errors
}

func thetaAt(y []float64, alpha float64) thetaModel {
	m := thetaModel{n: len(y)}
	m.intercept, m.slope = line(y)
	curved := make([]float64, len(y))
	for t, v := range y {
		curved[t] = 2*v - (m.intercept + m.slope*float64(t+1))
	}
	m.last = smoothing{alpha: alpha}
	m.last.start(curved)
	m.squares, m.last = m.last.squares(curved)
	m.squares /= 4 // half of them are those of the series
	return m
}

func (m thetaModel) ahead(most int) []Normal {
	out := m.last.ahead(most, math.Sqrt(m.squares/float64(m.n-3)))
	for h := range out {
		out[h].Mean = 0.5*(m.intercept+m.slope*float64(m.n+h+1)) + 0.5*out[h].Mean
	}
	return out
}

// line is the regression of targets on time, which is counted from 1.
func line(y []float64) (intercept, slope float64) {
	n := float64(len(y))
	mean := 0.0
	for t, v := range y {
		mean += v / n
		slope += (float64(t+1) - (n+1)/2) * v
	}
	slope *= 12 / (n * (n*n - 1))
	return mean - slope*(n+1)/2, slope
}

// mostAhead is how many steps ahead smoothing forecasts: it goes through all between.
const mostAhead = 1_000_000

// smoothed takes the season out, forecasts 1 to most steps ahead and puts it back.
func (s *Series) smoothed(season int, at []float64, forecast func(y []float64, most int) []Normal) ([]Normal, error) {
	if len(s.y) < 5 {
		return nil, errors.New("smoothing needs five training rows at least")
	}
	if err := s.complete(); err != nil {
		return nil, err
	}
	h, err := s.stepsAhead(at)
	if err != nil || len(h) == 0 {
		return nil, err
	}
	most := 0.0
	for i, h := range h {
		if most = max(most, h); h > mostAhead {
			return nil, fmt.Errorf("%v is more than %d steps ahead", at[i], int(mostAhead))
		}
	}
	adjusted := seasonal(s.y, season)
	ahead := forecast(adjusted.off(s.y), int(most))
	out := make([]Normal, len(at))
	for i, h := range h {
		out[i] = adjusted.on(len(s.y)-1+int(h), ahead[int(h)-1])
	}
	return out, nil
}
