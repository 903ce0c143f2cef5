package baseline

import (
	"errors"
	"fmt"
	"math"
)

// PhaseMean fills with the mean ȳ of the targets at the same phase of the season, c of them,
//
//	ȳ,   sd σ√(1 + 1/c),   σ² = Σ_i (y_i − ȳ_phase(i))²/(n − phases)
//
// over the n rows of all phases that have any. Errors: no season; steps that cannot be
// counted, an input between them, a phase without rows, as many phases as rows.
func PhaseMean(s *Series, season int, at []float64) ([]Normal, error) {
	if season < 2 {
		return nil, errors.New("no season is known")
	}
	if s.off != nil {
		return nil, s.off
	}
	times, err := s.times(at)
	if err == nil {
		err = s.whole(times, at)
	}
	if err != nil {
		return nil, err
	}
	phase := func(time float64) int { return ((int(time) % season) + season) % season }
	mean, count := make([]float64, season), make([]float64, season)
	for i, v := range s.y {
		p := phase(s.clock[i])
		count[p]++
		mean[p] += (v - mean[p]) / count[p]
	}
	square, free := 0.0, float64(len(s.y))
	for i, v := range s.y {
		d := v - mean[phase(s.clock[i])]
		square += d * d
	}
	for _, c := range count {
		free -= min(1, c)
	}
	if free <= 0 {
		return nil, errors.New("no phase of the season has two rows")
	}
	out := make([]Normal, len(at))
	for i, time := range times {
		p := phase(time)
		if count[p] == 0 {
			return nil, fmt.Errorf("no training row has the phase of %v", at[i])
		}
		out[i] = Normal{mean[p], math.Sqrt(square / free * (1 + 1/count[p]))}
	}
	return out, nil
}
