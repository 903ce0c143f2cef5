package datasets

import (
	"errors"
	"math"
	"time"

	"example.com/kestrel/datasets/sheets"
)

// Local time is handled in whole minutes since 1970-01-01 00:00 of the clock on
// the wall.
const minutesPerDay = 24 * 60

// Days of a spreadsheet's calendar before 1970-01-01: they count from
// 1899-12-30 (for dates after February 1900), or from 1904-01-01.
const (
	serial1970     = 25569
	serial1904Less = 1462
)

var (
	errNotQuarter   = errors.New("is no time stamp at a full quarter of an hour")
	errNotSwissTime = errors.New("does not exist in Swiss local time: the hour was skipped for summer time")
	errNotInRange   = errors.New("is no date from 1981 to 2199")
)

// Bounds of the years taken: before 1981 Switzerland had no summer time.
const firstYear, lastYear = 1981, 2199

// wallMinutes reads a time stamp: a day with its fraction, or a text such as
// 31.12.2021 23:45. Fractions of a day, often made by adding 1/96 again and
// again, are taken for the quarter hour that is at most a minute away.
func wallMinutes(c *sheets.Cell, date1904 bool) (int64, error) {
	var minutes float64
	if c.IsText {
		us, ok := parseStamp([]byte(c.Text))
		if !ok {
			return 0, errNotTime
		}
		minutes = float64(us) / 60e6
	} else {
		days := c.Number - serial1970
		if date1904 {
			days += serial1904Less
		}
		minutes = days * minutesPerDay
	}
	first := float64(time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 60)
	last := float64(time.Date(lastYear+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 60)
	if !(minutes >= first && minutes <= last) {
		return 0, errNotInRange
	}
	quarter := math.Round(minutes/15) * 15
	if math.Abs(minutes-quarter) > 1 {
		return 0, errNotQuarter
	}
	return int64(quarter), nil
}

// lastSunday returns the start of the last Sunday of a month of 31 days, in
// minutes.
func lastSunday(year int, month time.Month) int64 {
	t := time.Date(year, month, 31, 0, 0, 0, 0, time.UTC)
	return t.AddDate(0, 0, -int(t.Weekday())).Unix() / 60
}

// swissInstants returns the instants, in minutes since 1970 UTC, whose time on
// a Swiss clock is wall: none, one or two, ascending. Summer time lasts from
// the last Sunday of March, 01:00 UTC, to the last Sunday of October, 01:00 UTC
// (to the last of September until 1995). At a change itself the clock may be
// read either way: Swissgrid's stamps are the ends of intervals, and the
// interval before the change ends at 02:00 or 03:00, as one likes.
func swissInstants(wall int64) []int64 {
	year := time.Unix(wall*60, 0).UTC().Year()
	start := lastSunday(year, time.March) + 60
	end := lastSunday(year, time.October) + 60
	if year <= 1995 {
		t := time.Date(year, time.September, 30, 0, 0, 0, 0, time.UTC)
		end = t.AddDate(0, 0, -int(t.Weekday())).Unix()/60 + 60
	}
	var found []int64
	if summer := wall - 120; summer >= start && summer <= end {
		found = append(found, summer)
	}
	if winter := wall - 60; winter <= start || winter >= end {
		found = append(found, winter)
	}
	return found
}

// swissToUTC turns the stamps of a file, in the order of its rows, into
// instants in minutes since 1970 UTC. Where a stamp of the night in autumn
// comes twice, the first is summer time and the second winter time, whether the
// rows repeat the hour as a whole or each quarter by itself. A stamp that comes
// once although it could twice is summer time, but 03:00 winter time: a file
// that writes the change as 02:00 has 03:00 but once. The error is nil for
// stamps that exist.
func swissToUTC(walls []int64) (utc []int64, errs map[int]error) {
	count := map[int64]int{} // of the stamps that are ambiguous
	for _, w := range walls {
		if len(swissInstants(w)) == 2 {
			count[w]++
		}
	}
	seen := map[int64]int{}
	utc = make([]int64, len(walls))
	for i, w := range walls {
		at := swissInstants(w)
		switch {
		case len(at) == 0:
			if errs == nil {
				errs = map[int]error{}
			}
			errs[i] = errNotSwissTime
			continue
		case len(at) == 1:
			utc[i] = at[0]
			continue
		}
		k := min(seen[w], 1)
		seen[w]++
		if count[w] == 1 && w%minutesPerDay == 3*60 {
			k = 1
		}
		utc[i] = at[k]
	}
	return utc, errs
}
