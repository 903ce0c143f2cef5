package baseline

import (
	"errors"
	"math"
)

// Naive forecasts the last target (Hyndman and Athanasopoulos, FPP3, sections 5.2 and
// 5.5), h steps ahead
//
//	y_n,   sd σ√h,   σ² = 1/(n−1) Σ_i (y_i − y_{i−1})²/h_i
//
// with h_i the steps from the row before, 1 where none is missing. Where the inputs lie on
// no grid h is a difference of inputs: a random walk in continuous time. Errors: an input
// that is not beyond the last one, or not finite.
func Naive(s *Series, _ int, at []float64) ([]Normal, error) {
	return s.walk(at, 0, 0)
}

// Drift forecasts the line through the first and the last target, h steps ahead
//
//	y_n + c h,   sd σ√(h (1 + h/T)),   c = (y_n − y_1)/T,   σ² = 1/(n−2) Σ_i (y_i − y_{i−1} − c h_i)²/h_i
//
// with T the steps from the first to the last row (FPP3, sections 5.2 and 5.5), otherwise as
// Naive. Errors: as Naive; two rows only.
func Drift(s *Series, _ int, at []float64) ([]Normal, error) {
	if len(s.x) < 3 {
		return nil, errors.New("the drift needs three training rows at least")
	}
	last := len(s.x) - 1
	time := s.clock[last] - s.clock[0]
	return s.walk(at, (s.y[last]-s.y[0])/time, 1/time)
}

// walk forecasts a random walk with a drift, whose own variance is σ² times so much a
// unit of time; 0: it is given.
func (s *Series) walk(at []float64, drift, uncertain float64) ([]Normal, error) {
	h, err := s.ahead(at)
	if err != nil {
		return nil, err
	}
	last := len(s.x) - 1
	free := float64(last)
	if uncertain > 0 {
		free--
	}
	variance := 0.0
	for i := 1; i <= last; i++ {
		time := s.clock[i] - s.clock[i-1]
		d := s.y[i] - s.y[i-1] - drift*time
		variance += d * d / time / free
	}
	out := make([]Normal, len(at))
	for i, h := range h {
		out[i] = Normal{s.y[last] + drift*h, math.Sqrt(variance * h * (1 + uncertain*h))}
	}
	return out, nil
}

// mostMissing is the share of steps without a row above which nothing is said of a season.
const mostMissing = 0.2

// SeasonalNaive forecasts the last target of the same phase, h steps ahead, in season k
// from 0,
//
//	y_{n+h−m(k+1)},   sd σ√(k+1),   k = ⌊(h−1)/m⌋,   σ² = 1/(n−m) Σ_{t>m} (y_t − y_{t−m})²
//
// (FPP3, sections 5.2 and 5.5). Where a step has no row the one a season before it stands
// in, with k more by 1, and σ² is the mean over the pairs that are there: a day when the shop
// was shut should not keep it from saying that Mondays are like Mondays. Errors: no season, no
// more steps than one has, a fifth of them missing, no pair, none to be counted, an input as of
// Naive or between the steps.
func SeasonalNaive(s *Series, season int, at []float64) ([]Normal, error) {
	if season < 2 {
		return nil, errors.New("no season is known")
	}
	_, missing, err := s.Grid()
	if err != nil {
		return nil, err
	}
	n := len(s.y) + missing
	switch {
	case n <= season:
		return nil, errors.New("there are no more rows than a season has")
	case float64(missing) > mostMissing*float64(n):
		return nil, s.complete()
	}
	h, err := s.stepsAhead(at)
	if err != nil {
		return nil, err
	}
	y := make([]float64, n)
	for t := range y {
		y[t] = math.NaN()
	}
	for i, t := range s.clock {
		y[int(t)] = s.y[i]
	}
	var apart []float64 // differences over a season
	for t := season; t < n; t++ {
		if d := y[t] - y[t-season]; !math.IsNaN(d) {
			apart = append(apart, d)
		}
	}
	if len(apart) == 0 {
		return nil, errors.New("no two rows are a season apart")
	}
	variance := 0.0
	for _, d := range apart {
		variance += d * d / float64(len(apart))
	}
	out := make([]Normal, len(at))
	for i, h := range h {
		k := (int(h) - 1) / season
		from := n - 1 + int(h) - season*(k+1)
		for from >= season && math.IsNaN(y[from]) {
			from, k = from-season, k+1
		}
		if math.IsNaN(y[from]) {
			return nil, s.complete()
		}
		out[i] = Normal{y[from], math.Sqrt(variance * float64(k+1))}
	}
	return out, nil
}
