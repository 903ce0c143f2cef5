package baseline

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/scoring"
)

// Series is what a method learns from: targets in the order of one input, and what
// counts time between them.
type Series struct {
	x, y []float64 // inputs ascend
	// clock is the number of steps from the first input where the inputs lie on a grid,
	// else the input itself.
	clock []float64
	step  float64 // 0 if there is no grid
	off   error   // why there is none
}

// NewSeries takes the training inputs and targets, in any order. Targets of equal
// inputs are averaged. Errors: other lengths, fewer than two inputs, values that are not
// finite.
func NewSeries(x, y []float64) (*Series, error) {
	if len(x) != len(y) {
		return nil, fmt.Errorf("%d targets for %d inputs", len(y), len(x))
	}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
		if v := x[i] + y[i]; math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("row %d is %v at %v", i, y[i], x[i])
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	s := &Series{}
	equal := 0.0
	for _, i := range order {
		if n := len(s.x); n > 0 && s.x[n-1] == x[i] {
			equal++
			s.y[n-1] += (y[i] - s.y[n-1]) / equal
			continue
		}
		equal = 1
		s.x, s.y = append(s.x, x[i]), append(s.y, y[i])
	}
	if len(s.x) < 2 {
		return nil, errors.New("a series needs two different inputs at least")
	}
	if s.step, s.clock, s.off = grid(s.x); s.off != nil {
		s.clock = s.x
	}
	return s, nil
}

// Grid returns the step of the grid on which the inputs lie, in their unit, and how
// many of its steps have no row; an error that says why there is none.
func (s *Series) Grid() (step float64, missing int, err error) {
	if s.off != nil {
		return 0, 0, s.off
	}
	return s.step, int(s.clock[len(s.clock)-1]) + 1 - len(s.x), nil
}

// Scale is scoring.SeasonalScale of the targets, by which MASE and MSIS divide. Errors:
// its own; a season where steps cannot be counted, or are missing.
func (s *Series) Scale(season int) (float64, error) {
	if season > 1 {
		if err := s.complete(); err != nil {
			return 0, err
		}
	}
	return scoring.SeasonalScale(s.y, season)
}

// complete returns an error where the series is not one value a step.
func (s *Series) complete() error {
	_, missing, err := s.Grid()
	if err == nil && missing > 0 {
		err = fmt.Errorf("%d of %d steps are missing", missing, len(s.x)+missing)
	}
	return err
}

// ahead returns the time from the last training input to others, in the unit of clock.
func (s *Series) ahead(at []float64) ([]float64, error) {
	times, err := s.times(at)
	last := len(s.x) - 1
	for i := range times {
		if at[i] <= s.x[last] {
			return nil, fmt.Errorf("%v is not beyond the last training input, %v", at[i], s.x[last])
		}
		times[i] -= s.clock[last]
	}
	return times, err
}

// stepsAhead is ahead where it is a whole number of steps.
func (s *Series) stepsAhead(at []float64) ([]float64, error) {
	h, err := s.ahead(at)
	if err == nil {
		err = s.whole(h, at)
	}
	return h, err
}

// whole returns an error where the time at an input is no whole number of steps.
func (s *Series) whole(times, at []float64) error {
	for i, time := range times {
		if time != math.Trunc(time) {
			return fmt.Errorf("%v lies between the steps of %v of the training inputs", at[i], s.step)
		}
	}
	return nil
}

// times returns the time at other inputs, in the unit of clock.
func (s *Series) times(at []float64) ([]float64, error) {
	for _, v := range at {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("an input is %v", v)
		}
	}
	if s.off != nil {
		return slices.Clone(at), nil
	}
	// Each is counted from the nearest one below, of the training inputs or of these:
	// months are of unequal length, which adds up.
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	times := make([]float64, len(at))
	x, clock, next := s.x[0], s.clock[0], 1
	for _, i := range order {
		for next < len(s.x) && s.x[next] <= at[i] {
			x, clock = s.x[next], s.clock[next]
			next++
		}
		apart := (at[i] - x) / s.step
		if steps := math.Round(apart); math.Abs(apart-steps) > mostOff(steps) {
			times[i] = clock + apart
		} else if times[i] = clock + steps; steps > 0 {
			x, clock = at[i], times[i]
		}
	}
	return times, nil
}
