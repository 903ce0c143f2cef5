// Package habits finds in the values of a series which clock people lived by and which holidays they
// kept, where the file says neither: a load or a traffic in UTC moves by an hour where summer time begins and
// ends, and is on some working days as on no others.
//
// Both are asked of days against the days around them, by ranks and medians, so that neither the unit of the
// values nor a trend, a season or single outliers matter. What is not plain is not found.
package habits

import (
	"math"
	"slices"
	"time"
)

const (
	daySeconds = 86400
	dayHours   = 24
	// mostDays of a series are looked at, two centuries; beyond them stamps are no history of people.
	mostDays = 73000
)

// days are the values of a series by day and hour.
type days struct {
	first int64 // days since 1970 by the clock that was asked for
	hours [][dayHours]float64
	asked map[change]move
}

// byHour takes the means of the values y at seconds since 1970, in any order, in each hour of the day by the
// clock of a zone; NaN: there was none. ok is false where that is no series by the hour or finer, most of whose
// days are whole.
func byHour(at, y []float64, zone *time.Location) (d days, ok bool) {
	if len(at) == 0 {
		return d, false
	}
	low, high := slices.Min(at), slices.Max(at)
	clock := clockOf(zone, low, high)
	d.first = floorDay(clock.local(low))
	last := floorDay(clock.local(high))
	if last-d.first >= mostDays || last <= d.first {
		return d, false
	}
	d.hours = make([][dayHours]float64, last-d.first+1)
	counts := make([][dayHours]int32, len(d.hours))
	for i, t := range at {
		local := clock.local(t)
		day := floorDay(local)
		hour := int(local-float64(day)*daySeconds) / 3600
		k := min(max(0, int(day-d.first)), len(d.hours)-1) // a clock that is put back at midnight
		d.hours[k][hour] += y[i]
		counts[k][hour]++
	}
	whole := 0
	for k := range d.hours {
		some := 0
		for h := range d.hours[k] {
			if n := counts[k][h]; n > 0 {
				d.hours[k][h] /= float64(n)
				some++
			} else {
				d.hours[k][h] = math.NaN()
			}
		}
		if some == dayHours {
			whole++
		}
	}
	return d, 2*whole > len(d.hours)
}

func floorDay(seconds float64) int64 { return int64(math.Floor(seconds / daySeconds)) }

// weekday is that of a day, Monday 0 to Sunday 6: 1970 began on a Thursday.
func weekday(day int64) int { return int(((day+3)%7 + 7) % 7) }

// clock is what a zone's clock shows, as seconds since 1970 were it UTC.
type clock struct {
	from   []float64 // ascending, the first −∞
	offset []float64 // seconds east of UTC since then
}

// clockOf knows a zone's clock over a stretch of time; nil is UTC.
func clockOf(zone *time.Location, low, high float64) clock {
	c := clock{from: []float64{math.Inf(-1)}, offset: []float64{0}}
	if zone == nil {
		return c
	}
	t := time.Unix(int64(low), 0).In(zone)
	_, offset := t.Zone()
	c.offset[0] = float64(offset)
	for {
		_, end := t.ZoneBounds()
		if end.IsZero() || float64(end.Unix()) > high {
			return c
		}
		t = end
		_, offset := t.Zone()
		c.from, c.offset = append(c.from, float64(t.Unix())), append(c.offset, float64(offset))
	}
}

func (c *clock) local(t float64) float64 {
	i, found := slices.BinarySearch(c.from, t)
	if !found {
		i--
	}
	return t + c.offset[i]
}

// median of values, which it sorts; NaN of none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
