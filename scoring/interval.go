package scoring

// IntervalLevel is the probability of the central interval that Interval scores, as
// in the M4 competition.
const IntervalLevel = 0.95

// Interval returns the interval score of [lo, hi], lo <= hi, for a target y, in the
// unit of y; less is better:
//
//	hi − lo + 2/α (lo − y)₊ + 2/α (y − hi)₊,   α = 1 − IntervalLevel
//
// (Gneiting and Raftery 2007, equation 43). Its mean over the scale of MASE is the
// MSIS of the M4 competition (Makridakis et al. 2020).
func Interval(y, lo, hi float64) float64 {
	return hi - lo + 2/(1-IntervalLevel)*(max(0, lo-y)+max(0, y-hi))
}
