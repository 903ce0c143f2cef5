package baseline

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"example.com/kestrel/scoring"
)

// Score says how well predictions fit targets that were held out, in their unit.
type Score struct {
	RMSE, MAE float64                      // of the means
	NLPD      float64                      // mean of −log density, nats
	CRPS      float64                      // mean of scoring.CRPS
	Interval  float64                      // mean of scoring.Interval of the central 95 %
	Rows      int                          // scored
	Coverage  [len(scoring.Levels)]float64 // shares of the targets within the central intervals
}

// Scored compares predictions with targets. Errors: no targets, another number of
// predictions, values that are not finite.
func Scored(predicted []Normal, y []float64) (Score, error) {
	if len(y) == 0 || len(y) != len(predicted) {
		return Score{}, fmt.Errorf("%d predictions for %d targets", len(predicted), len(y))
	}
	s := Score{Rows: len(y)}
	n := float64(len(y))
	impossible := false
	z := distuv.UnitNormal.Quantile(0.5 + scoring.IntervalLevel/2)
	var reach [len(scoring.Levels)]float64 // of the intervals, in standard deviations
	for l, level := range scoring.Levels {
		reach[l] = distuv.UnitNormal.Quantile(0.5 + level/2)
	}
	for i, p := range predicted {
		d := y[i] - p.Mean
		if v := d + p.SD; math.IsNaN(v) || math.IsInf(v, 0) {
			return Score{}, fmt.Errorf("row %d: target %v, prediction %v ± %v", i, y[i], p.Mean, p.SD)
		}
		s.MAE += math.Abs(d) / n
		s.RMSE += d * d / n
		s.CRPS += scoring.CRPS(y[i], p.Mean, p.SD) / n
		s.Interval += scoring.Interval(y[i], p.Mean-z*p.SD, p.Mean+z*p.SD) / n
		for l := range reach {
			if math.Abs(d) <= reach[l]*p.SD {
				s.Coverage[l]++
			}
		}
		if p.SD > 0 {
			s.NLPD -= distuv.Normal{Mu: p.Mean, Sigma: p.SD}.LogProb(y[i]) / n
		} else {
			s.NLPD = math.Inf(-1)
			impossible = impossible || d != 0
		}
	}
	for l := range s.Coverage {
		s.Coverage[l] /= n
	}
	if impossible {
		s.NLPD = math.Inf(1)
	}
	s.RMSE = math.Sqrt(s.RMSE)
	return s, nil
}
