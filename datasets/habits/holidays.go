package habits

import (
	"math"
	"slices"
	"strings"
	"time"

	"example.com/kestrel/datasets/holidays"
)

// Rest is a list of holidays that people keep.
type Rest struct {
	Code string // of a country, as package holidays has it
	// Days of the list fall on Monday to Friday within the series, of which Kept are unlike the same days of the
	// weeks around, to the same side as most and by half as much or more.
	Days, Kept int
}

// zones are those of the countries that have one, and summer time.
func zones() map[string]string {
	return map[string]string{
		"AT": "Europe/Vienna", "BE": "Europe/Brussels", "BG": "Europe/Sofia", "CH": "Europe/Zurich", "CZ": "Europe/Prague",
		"DE": "Europe/Berlin", "DK": "Europe/Copenhagen", "ES": "Europe/Madrid", "FR": "Europe/Paris", "GB": "Europe/London",
		"GR": "Europe/Athens", "HR": "Europe/Zagreb", "IE": "Europe/Dublin", "IT": "Europe/Rome", "LT": "Europe/Vilnius",
		"LV": "Europe/Riga", "NL": "Europe/Amsterdam", "NO": "Europe/Oslo", "NZ": "Pacific/Auckland", "PL": "Europe/Warsaw",
		"RO": "Europe/Bucharest", "SE": "Europe/Stockholm", "SI": "Europe/Ljubljana", "SK": "Europe/Bratislava", "UA": "Europe/Kyiv",
	}
}

// ZoneOf is the zone of a country, or of a part of one, that is put on and back on the same days, while the times last, as
// one that was found; that one itself if there is none: how far noon is from twelve tells less of where people are than
// the country that they rest with.
func ZoneOf(code string, found string, at []float64) string {
	country, _, _ := strings.Cut(code, "-")
	name, ok := zones()[country]
	if !ok || len(at) == 0 {
		return found
	}
	its, err1 := time.LoadLocation(name)
	other, err2 := time.LoadLocation(found)
	if err1 != nil || err2 != nil {
		return found
	}
	low, high := slices.Min(at), slices.Max(at)
	a, b := clockOf(its, low, high), clockOf(other, low, high)
	same := func(s, t float64) bool { return floorDay(s) == floorDay(t) }
	if !slices.EqualFunc(a.from[1:], b.from[1:], same) {
		return found
	}
	return name
}

// Sure reports whether nearly all days of the list are kept, so that it is hardly that of neighbours, which have most of
// them, too.
func (r Rest) Sure() bool { return r.Days > 0 && float64(r.Kept) >= sure*float64(r.Days) }

const (
	weeksAround   = 4   // on each side, whose same days a day is compared with
	fewestAround  = 4   // of these
	fewestDays    = 8   // of a list
	sure          = 0.9 // of its days
	alike         = 0.6 // of its days, at least, are off to the same side, and by half as much as usual
	leastEvidence = 40  // nats
	farthest      = 10  // standard deviations that a single day may be off: beyond them it is no more evidence
	// A list must be worth so many times what any list is by chance: with all its days so many weeks before or later.
	plainly    = 2
	chanceWeek = 20
)

// FindHolidays looks for the country whose holidays a series of values y at seconds since 1970 UTC, in days by the
// clock of a zone (nil: UTC), keeps. Of each day from Monday to Friday z is how far its mean is from the median
// of the same days of four weeks before and behind, over the standard deviation that such days have (from their median
// absolute deviation). A list of holidays whose days are off by μ, the median of their z, is worth
//
//	Σ [z² − (z − μ)²] / 2   nats over its days
//
// against days as all others, so that days that the list has, and nothing happened on, count against it. The best
// one counts if that is plain, twice as much as any list is worth that is moved by one to twenty weeks, and most of
// its days are kept. Countries alone are asked for, not parts of them.
func FindHolidays(at, y []float64, zone *time.Location) (found Rest, ok bool) {
	d, ok := byHour(at, y, zone)
	if !ok {
		return found, false
	}
	z := d.unlike()
	from := time.Unix(d.first*daySeconds, 0).UTC().Year() - 1
	to := time.Unix((d.first+int64(len(d.hours)))*daySeconds, 0).UTC().Year() + 1
	best, chance := float64(leastEvidence), 0.0
	for _, code := range holidays.Codes() {
		if strings.Contains(code, "-") {
			continue
		}
		var list []int // of days, as z has them
		days, _ := holidays.Days(code, from, to)
		for _, day := range days {
			list = append(list, int(day.Unix()/daySeconds-d.first))
		}
		for week := 1; week <= chanceWeek; week++ {
			for _, w := range []int{-week, week} {
				worth, _ := kept(z, list, 7*w)
				chance = max(chance, worth)
			}
		}
		if worth, r := kept(z, list, 0); worth > best && float64(r.Kept) >= alike*float64(r.Days) {
			found, best = r, worth
			found.Code = code
		}
	}
	if found.Code == "" || best <= plainly*chance {
		return Rest{}, false
	}
	return found, true
}

// kept is what a list of days is worth that is moved by some, and how many of it are kept; 0 of one too short.
func kept(z []float64, list []int, by int) (worth float64, r Rest) {
	var off []float64
	for _, k := range list {
		if k += by; k >= 0 && k < len(z) && !math.IsNaN(z[k]) {
			off = append(off, z[k])
		}
	}
	if len(off) < fewestDays {
		return 0, r
	}
	μ := median(slices.Clone(off))
	r.Days = len(off)
	for _, v := range off {
		worth += (v*v - (v-μ)*(v-μ)) / 2
		if v*μ > 0 && math.Abs(v) > math.Abs(μ)/2 {
			r.Kept++
		}
	}
	return worth, r
}

// unlike is z of FindHolidays of all days; NaN where it is not known, and of weekends.
func (d *days) unlike() []float64 {
	means := make([]float64, len(d.hours))
	for k := range d.hours {
		for _, v := range d.hours[k] {
			means[k] += v / dayHours
		}
	}
	z := make([]float64, len(means))
	var sizes []float64
	for k := range means {
		z[k] = math.NaN()
		if weekday(d.first+int64(k)) > 4 {
			continue
		}
		var around []float64
		for w := -weeksAround; w <= weeksAround; w++ {
			if j := k + 7*w; w != 0 && j >= 0 && j < len(means) && !math.IsNaN(means[j]) {
				around = append(around, means[j])
			}
		}
		if len(around) < fewestAround {
			continue
		}
		if z[k] = means[k] - median(around); !math.IsNaN(z[k]) {
			sizes = append(sizes, math.Abs(z[k]))
		}
	}
	const normal = 1.4826 // standard deviations in a median absolute deviation
	sd := normal * median(sizes)
	for k := range z {
		if z[k] != 0 { // nor is it if sd is
			z[k] = max(-farthest, min(z[k]/sd, farthest)) // NaN stays
		}
	}
	return z
}
