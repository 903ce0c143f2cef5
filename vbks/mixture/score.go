package mixture

import (
	"errors"
	"math"

	"example.com/kestrel/scoring"
)

var errNoRows = errors.New("vbks: score of a prediction without rows")

// Places in CoverageLevels and in a Coverage.
const (
	Coverage50 = iota
	Coverage80
	Coverage95
	coverages
)

// CoverageLevels are scoring.Levels.
var CoverageLevels [coverages]float64 = scoring.Levels

// Coverage is the fraction of targets inside the central interval of y, one for
// each of CoverageLevels.
type Coverage [coverages]float64

// Score says how well a prediction fits targets that were held out. What has a unit has
// that of the targets.
type Score struct {
	RMSE     float64  // root mean squared error of the mixture's mean
	MAE      float64  // mean absolute error of the mixture's mean
	NLPD     float64  // mean of −log p(y), nats
	CRPS     float64  // mean continuous ranked probability score
	Interval float64  // mean score of the central interval of 95 %
	Coverage Coverage // 0 to 1
	Rows     int      // scored
}

// Score compares the mixture of y with the targets, one per row, in the units
// of the prediction:
//
//	RMSE = √mean (y − μ)²   MAE = mean |y − μ|   NLPD = −mean log Σ_i w_i N(y; μ_i, σ_i² + σ_n,i²)
//
// Coverage counts (1−c)/2 <= F(y) <= (1+c)/2, for each level c, with the mixture's
// own distribution function F. CRPS is that of crps; Interval is the mean of
// scoring.Interval between the mixture's own quantiles, MSIS once it is divided by the
// scale of the training series. NLPD is +∞ if a target has density 0. Errors: another number of
// targets than rows, no rows, a target that is not finite, a bad prediction.
func (p *Prediction) Score(y []float64) (Score, error) {
	if err := p.checkTargets(y); err != nil {
		return Score{}, err
	}
	sum := tally{rows: len(y)}
	parts := p.components()
	tail := (1 - scoring.IntervalLevel) / 2
	for row, v := range y {
		mean := 0.0
		for i, w := range p.Weights {
			mean += w * p.Mean[i][row]
		}
		sum.add(v-mean, v-mean, p.LogDensity(row, v))
		sum.spread(parts.crps(row, v), scoring.Interval(v, p.Quantile(row, tail, true), p.Quantile(row, 1-tail, true)))
		sum.cover(p.around(row, v))
	}
	return sum.score(), nil
}

// tally adds up, row by row, what a Score is the mean of.
type tally struct {
	rows                   int
	root, absolute, surely float64 // √Σ square errors, Σ absolute errors, −Σ log densities
	crps, interval         float64
	inside                 Coverage
	impossible             bool // a target has density 0
}

// add takes in the error of the mean, that of the point that is scored by its
// absolute error, and the log density of the target.
func (t *tally) add(off, offAbsolute, density float64) {
	t.absolute += math.Abs(offAbsolute)
	t.root = math.Hypot(t.root, math.Abs(off))
	t.impossible = t.impossible || math.IsInf(density, -1)
	t.surely -= density
}

// spread takes in what compares the whole distribution with the target.
func (t *tally) spread(crps, interval float64) {
	t.crps += crps
	t.interval += interval
}

// cover counts the intervals that a target is in, of its distribution function and
// that from the left.
func (t *tally) cover(at, below float64) {
	for l, level := range CoverageLevels {
		if tail := (1 - level) / 2; at >= tail && below <= 1-tail {
			t.inside[l]++
		}
	}
}

func (t *tally) score() Score {
	n := float64(t.rows)
	s := Score{RMSE: t.root / math.Sqrt(n), MAE: t.absolute / n, NLPD: t.surely / n,
		CRPS: t.crps / n, Interval: t.interval / n, Coverage: t.inside, Rows: t.rows}
	for l := range s.Coverage {
		s.Coverage[l] /= n
	}
	if t.impossible {
		s.NLPD = math.Inf(1) // not NaN, if another row has density +∞
	}
	return s
}

// around returns F(y) and its limit from the left. They differ at a step of F, and
// there it is enough for y to be covered that the step reaches into the interval.
func (p *Prediction) around(row int, y float64) (at, below float64) {
	at = p.CDF(row, y, true)
	step := 0.0
	for i, w := range p.Weights {
		if y == p.Mean[i][row] && p.variance(i, row, true, 1) == 0 {
			step += w
		}
	}
	return at, at - step
}

// InUnits converts the score of targets divided by scale > 0, as standardised
// ones are, to the units of the data:
//
//	RMSE·scale,  MAE·scale,  CRPS·scale,  Interval·scale,  NLPD + log scale.
func (s Score) InUnits(scale float64) Score {
	s.RMSE *= scale
	s.MAE *= scale
	s.CRPS *= scale
	s.Interval *= scale
	s.NLPD += math.Log(scale)
	return s
}
