package scoring

import (
	"errors"
	"fmt"
	"math"
)

// SeasonalScale returns the mean absolute error of the seasonal naive forecast
// within the training targets, by which MASE and MSIS divide,
//
//	1/(n − m) Σ_{t>m} |y_t − y_{t−m}|,
//
// for targets in the order of time, season m of 1 or more; 0 counts as 1. Errors: no
// more targets than a season has steps; all differences are 0.
func SeasonalScale(train []float64, season int) (float64, error) {
	m := max(1, season)
	if len(train) <= m {
		return 0, fmt.Errorf("the scale of MASE needs more training targets than a season has steps: %d for %d", len(train), m)
	}
	sum := 0.0
	for t := m; t < len(train); t++ {
		sum += math.Abs(train[t] - train[t-m])
	}
	if sum == 0 {
		return 0, errors.New("the scale of MASE is 0: the training targets repeat themselves")
	}
	return sum / float64(len(train)-m), nil
}

// SMAPE returns the symmetric mean absolute percentage error of forecasts, in
// percent, as in the M3 competition (Makridakis and Hibon 2000) but for the absolute
// values, which change nothing of positive series:
//
//	mean 200 |y − f| / (|y| + |f|),   0 where both are 0.
//
// Errors: no targets or another number of forecasts.
func SMAPE(y, forecasts []float64) (float64, error) {
	return meanOf(y, forecasts, func(y, f float64) float64 {
		if y == f {
			return 0
		}
		return 200 * math.Abs(y-f) / (math.Abs(y) + math.Abs(f))
	})
}

func meanOf(y, forecasts []float64, of func(y, f float64) float64) (float64, error) {
	if len(y) == 0 || len(y) != len(forecasts) {
		return 0, fmt.Errorf("%d forecasts for %d targets", len(forecasts), len(y))
	}
	sum := 0.0
	for i := range y {
		sum += of(y[i], forecasts[i])
	}
	return sum / float64(len(y)), nil
}
