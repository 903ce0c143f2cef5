package words

import "math"

// endShare is what the ends of an interval may be off by, of its length and of themselves.
const endShare = 0.02

// Ends rounds the ends of an interval to what matters of them.
func Ends(low, high float64) (float64, float64) {
	round := func(v float64) float64 {
		least := endShare * math.Min(high-low, math.Abs(v))
		if !(least > 0) || math.IsInf(least, 0) {
			return v
		}
		unit := math.Floor(math.Log10(least))
		if unit < 0 { // a power of ten that is a number
			return math.Round(v*math.Pow(10, -unit)) / math.Pow(10, -unit)
		}
		return math.Round(v/math.Pow(10, unit)) * math.Pow(10, unit)
	}
	return round(low), round(high)
}
