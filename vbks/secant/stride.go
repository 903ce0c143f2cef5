package secant

import (
	"errors"

	"gonum.org/v1/gonum/optimize"
)

const (
	// Along a direction so many points are tried. Where that is not enough gradients are
	// mostly rounding errors: bounds of data without noise change by a hundredth where gradients
	// of 1e9 point to either side.
	mostTried = 8
	// A direction that promises less, by its slope and the step of a whole second-order one,
	// is tried once.
	leastGain = 1e-4
)

// ErrStuck ends an optimisation that finds no better point along a direction.
var ErrStuck = errors.New("secant: no better point along the direction")

// Stride is how far an optimiser goes along a direction: the search of Moré and Thuente (1994),
// which gives up where it takes long or where nothing is to be gained. The zero value is ready.
type Stride struct {
	optimize.MoreThuente
	tried, most int
}

// Init begins at a value f of slope g along the direction.
func (s *Stride) Init(f, g, step float64) optimize.Operation {
	s.tried, s.most = 0, mostTried
	if -g*step/2 < leastGain {
		s.most = 1
	}
	return s.MoreThuente.Init(f, g, step)
}

// Iterate is told what there is at the last point and returns the next; the error is ErrStuck,
// or gonum's.
func (s *Stride) Iterate(f, g float64) (optimize.Operation, float64, error) {
	op, step, err := s.MoreThuente.Iterate(f, g)
	s.tried++
	if err == nil && op != optimize.MajorIteration && s.tried >= s.most {
		return optimize.NoOperation, step, ErrStuck
	}
	return op, step, err
}
