package baseline

import "math"

// Seasons returns the lengths, in steps, of the seasons that a series with such a step,
// in days, may have, the shortest first: of months a year, of quarters a year, of weeks a
// year, of days a week, of parts of a day a day and a week. Nil if there is none, as of
// years.
func Seasons(days float64) []int {
	const year = 365.25
	for _, c := range []struct {
		days   float64
		season int
	}{{year / 4, 4}, {year / 12, 12}, {7, 52}, {1, 7}} {
		if math.Abs(days/c.days-1) < 0.06 {
			return []int{c.season}
		}
	}
	a := math.Round(1 / days)
	if days > 0 && a >= 2 && math.Abs(1/days-a) < 0.01 {
		return []int{int(a), 7 * int(a)}
	}
	return nil
}

// Days returns how many days a unit of time has, of those that columns are given in:
// s, min, h, d, and years by names; 0 of others.
func Days(unit string) float64 {
	switch unit {
	case "s":
		return 1. / 86400
	case "min":
		return 1. / 1440
	case "h":
		return 1. / 24
	case "d", "day", "days":
		return 1
	case "a", "yr", "year", "years":
		return 365.25
	}
	return 0
}
