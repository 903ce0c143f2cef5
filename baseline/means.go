package baseline

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// waves of a year are taken from what the means by phase leave.
const waves = 2

// Means forecasts as if every season were as all those before: the mean ȳ of the targets at the
// same phase of a season, and of what it leaves the waves of a slow one of S steps, if that is
// not 0,
//
//	ȳ + Σ_k a_k cos 2πkt/S + b_k sin 2πkt/S,   k = 1, 2,
//
// by least squares, with the standard deviation of what these leave. What has happened of late is
// of no account, so that it is what to go by far ahead. Errors: those of PhaseMean but for inputs
// beyond the rows; a slow season that has not been seen once.
func Means(s *Series, season int, slow float64, at []float64) ([]Normal, error) {
	if slow == 0 {
		return PhaseMean(s, season, at)
	}
	phases, err := PhaseMean(s, season, slices.Concat(s.x, at))
	if err != nil {
		return nil, err
	}
	n, dim := len(s.y), 2*waves+1
	if s.clock[n-1]-s.clock[0] < slow {
		return nil, errors.New("no whole turn of the slow season has been seen")
	}
	times, err := s.times(at)
	if err != nil {
		return nil, err
	}
	fit, out := phases[:n], phases[n:]
	row := make([]float64, dim)
	wave := func(t float64) {
		row[0] = 1
		for k := range waves {
			row[1+2*k], row[2+2*k] = math.Cos(2*math.Pi*float64(k+1)*t/slow), math.Sin(2*math.Pi*float64(k+1)*t/slow)
		}
	}
	gram, cross := mat.NewSymDense(dim, nil), make([]float64, dim)
	for i, t := range s.clock {
		wave(t)
		gram.SymRankOne(gram, 1, mat.NewVecDense(dim, row))
		for j, v := range row {
			cross[j] += v * (s.y[i] - fit[i].Mean)
		}
	}
	var factor mat.Cholesky
	w := mat.NewVecDense(dim, nil)
	if !factor.Factorize(gram) || factor.SolveVecTo(w, mat.NewVecDense(dim, cross)) != nil {
		return nil, errors.New("the slow season's waves cannot be told apart")
	}
	square := 0.0
	for i, t := range s.clock {
		wave(t)
		d := s.y[i] - fit[i].Mean - dot(w.RawVector().Data, row)
		square += d * d
	}
	free := float64(n - season - dim + 1)
	if free <= 0 {
		return nil, errors.New("there are as many phases and waves as rows")
	}
	for i, t := range times {
		wave(t)
		out[i] = Normal{out[i].Mean + dot(w.RawVector().Data, row), math.Sqrt(square / free)}
	}
	return out, nil
}
