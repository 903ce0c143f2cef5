// Package holidays knows the public holidays of countries and of some of their parts, by
// rules: for all years, also those to come. Only it knows the library that has the rules.
package holidays

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rickar/cal/v2"
)

// Codes lists what Days knows: codes of ISO 3166 as DE, DE-BY and GB, ascending.
func Codes() []string {
	var codes []string
	for name, c := range countries() {
		codes = append(codes, name)
		for part := range c.parts {
			codes = append(codes, name+"-"+part)
		}
	}
	slices.Sort(codes)
	return codes
}

// IsCode reports whether a text has the form of a code: two capital letters, or these and
// behind a hyphen two or three more. Days need not know it.
func IsCode(text string) bool {
	name, part, parted := strings.Cut(text, "-")
	return len(name) == 2 && capitals(name) && (!parted || len(part) >= 2 && len(part) <= 3 && capitals(part))
}

func capitals(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < 'A' || r > 'Z' })
}

// Days returns the holidays of a country or a part of one from a year to another, both
// included, each at midnight of UTC, ascending, those that are observed on a working day
// instead of a weekend twice: as they fall and as they are observed. Of a country that
// knows holidays by its parts alone these are the days that are free in two thirds of
// them. ok is false of a code that is not known.
func Days(code string, from, to int) (days []time.Time, ok bool) {
	name, part, parted := strings.Cut(code, "-")
	c, ok := countries()[name]
	if !ok {
		return nil, false
	}
	var set map[time.Time]bool
	switch {
	case parted:
		list, known := c.parts[part]
		if !known {
			return nil, false
		}
		set = daysOf(list, from, to)
	case c.all != nil:
		set = daysOf(c.all, from, to)
	default:
		set = usual(c.parts, from, to)
	}
	return slices.SortedFunc(maps.Keys(set), time.Time.Compare), true
}

// daysOf are the days of a list of holidays.
func daysOf(list []*cal.Holiday, from, to int) map[time.Time]bool {
	days := map[time.Time]bool{}
	for _, h := range list {
		for year := from - 1; year <= to+1; year++ { // the first of January may be observed the day before
			actual, observed := h.Calc(year)
			for _, t := range []time.Time{actual, observed} {
				if t.IsZero() {
					continue
				}
				// midnight by the clock of this machine, which where summer time begins then may be
				// that of the day before, at eleven
				y, m, d := t.Add(2 * time.Hour).Date()
				if y >= from && y <= to {
					days[time.Date(y, m, d, 0, 0, 0, 0, time.UTC)] = true
				}
			}
		}
	}
	return days
}

// usual are the days that two thirds of the parts have: on one that half of a country has free
// it does half of what it does on holidays.
func usual(parts map[string][]*cal.Holiday, from, to int) map[time.Time]bool {
	count := map[time.Time]int{}
	for _, list := range parts {
		for t := range daysOf(list, from, to) {
			count[t]++
		}
	}
	days := map[time.Time]bool{}
	for t, n := range count {
		if 3*n >= 2*len(parts) {
			days[t] = true
		}
	}
	return days
}
