package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// Model predicts rows of a series from those about them. It is not changed once it is fitted.
type Model struct {
	X      []float64 `json:"-"` // rows, ascending in X
	Y      []float64 `json:"-"`
	Means  Means     `json:"means"`
	Kernel Kernel    `json:"kernel"`
	Reach  Reach     `json:"reach"`
	Checked

	found sync.Once
	rest  []float64
}

const (
	// Fewest is how many rows there must be.
	Fewest = 300

	fitted, checked = 800, 2000 // questions
	climbs          = 50        // iterations of L-BFGS
	beside, cycles  = 8, 3      // neighbours on each side, and whole periods away
	atLag           = 7
)

// series is what a model is made for.
type series struct {
	x, rest []float64 // rest: targets less their means
	step    float64   // between rows, the median
	periods []float64 // of the kernel's terms, ascending
	reach   Reach
}

func (s *series) span() float64 { return s.x[len(s.x)-1] - s.x[0] }

// longest is the longest period, 0 of none.
func (s *series) longest() float64 {
	if len(s.periods) == 0 {
		return 0
	}
	return s.periods[len(s.periods)-1]
}

// Fit fits a model to rows in any order. Periods are those that the series may have,
// ascending, in units of x: of the two shortest that it has often enough the kernel has a
// term, of longer ones there are waves. Random numbers are drawn from rng.
func Fit(ctx context.Context, x, y, periods []float64, rng *rand.Rand) (*Model, error) {
	if len(x) < Fewest {
		return nil, fmt.Errorf("%d rows are too few for neighbours; it takes %d", len(x), Fewest)
	}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	m := &Model{}
	for _, r := range order {
		m.X, m.Y = append(m.X, x[r]), append(m.Y, y[r])
	}
	s := &series{x: m.X, step: stepOf(m.X)}
	if !(s.step > 0) {
		return nil, errors.New("all rows are at one place")
	}
	var long []float64
	for _, p := range periods {
		turns := s.span() / p
		switch {
		case p < 4*s.step:
		case turns >= fewestTurns && len(s.periods) < 2:
			s.periods = append(s.periods, p)
		case turns >= leastWave:
			long = append(long, p)
		}
	}
	phases := 0.0
	if p := s.longest(); p > 0 && s.span() >= fewestCycles*p && p/s.step <= mostPhases && s.onGrid(p) {
		phases = p
	}
	m.Means = newMeans(m.X, m.Y, s.step, phases, long)
	variance := 0.0
	for i, v := range m.X {
		d := m.Y[i] - m.Means.at(v)
		s.rest = append(s.rest, d)
		variance += d * d / float64(len(m.X))
	}
	if !(variance > 0) {
		return nil, errors.New("the rows are all as their means are")
	}
	m.Reach = Reach{Beside: beside, AtLag: atLag}
	for _, p := range s.periods {
		for c := 1; c <= cycles; c++ {
			m.Reach.Lags = append(m.Reach.Lags, float64(c)*p)
		}
	}
	s.reach = m.Reach
	a := newAsker(s, rng)
	m.Kernel = s.begin(variance)
	var err error
	if m.Kernel.Theta, err = climb(ctx, m.Kernel.Theta, newObjective(m.Kernel.Terms, s, a.ask(fitted)).value, climbs); err != nil {
		return nil, err
	}
	if err := m.check(s, a.ask(checked), order); err != nil {
		return nil, err
	}
	return m, ctx.Err()
}

// stepOf is the median of what lies between rows, of those that are not at one place.
func stepOf(x []float64) float64 {
	var steps []float64
	for i := 1; i < len(x); i++ {
		if d := x[i] - x[i-1]; d > 0 {
			steps = append(steps, d)
		}
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return steps[len(steps)/2]
}

// onGrid reports whether rows lie whole steps apart, of which a period is a whole number.
func (s *series) onGrid(period float64) bool {
	off := func(v float64) bool { return math.Abs(v-math.Round(v)) > 0.05 }
	if off(period / s.step) {
		return false
	}
	step, stray := period/math.Round(period/s.step), 0
	for _, v := range s.x {
		if off((v - s.x[0]) / step) {
			stray++
		}
	}
	return stray*100 <= len(s.x)
}

// begin is the kernel from which the search begins: a rough, a smooth and a slow function,
// and for each period a pattern.
func (s *series) begin(variance float64) Kernel {
	long := 50 * s.step
	if len(s.periods) > 0 {
		long = s.periods[0]
	}
	k := Kernel{
		Terms: []Term{{}, {Smooth: true}, {Smooth: true}},
		Theta: []float64{
			math.Log(1e-3 * variance), math.Log(0.4 * variance), math.Log(long), math.Log(0.4 * variance), math.Log(10 * s.step),
			math.Log(0.4 * variance), math.Log(20 * long),
		},
	}
	for _, p := range s.periods {
		k.Terms = append(k.Terms, Term{Period: p})
		k.Theta = append(k.Theta, math.Log(0.4*variance), math.Log(5*p), math.Log(0.3))
	}
	return k
}

// check predicts rows that the hyperparameters were not fitted to.
func (m *Model) check(s *series, asked []question, order []int) error {
	made := m.Kernel.made()
	got := make([]Check, len(asked))
	err := striped(len(asked), func(_, from, to int) error {
		c := newCovariances(&made, m.X)
		var w given
		for i := from; i < to; i++ {
			q := &asked[i]
			mean, variance, ok := m.given(&w, c, s.rest, m.X[q.row], q.near)
			if !ok {
				return errSingular
			}
			got[i] = Check{Row: order[q.row], Away: q.away, Y: m.Y[q.row], Mean: mean + m.Means.at(m.X[q.row]), Variance: variance + made.noise}
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.Checked = checkedBy(got)
	return nil
}

var errSingular = errors.New("the covariance of neighbours cannot be factorised")
