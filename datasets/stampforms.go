package datasets

import (
	"bytes"
	"time"
)

// dateOrder is the order of day and month in dates such as 01/02/2006.
type dateOrder uint8

const (
	orderUnknown dateOrder = iota
	dayFirst
	monthFirst
)

// stampForms names the forms of time stamps for a message.
const stampForms = "time stamps are read as 2024-01-31 07:30, 31.01.2024 07:30, 31-Jan-24 07:30, 01/31/2024 7:30 AM or 31/01/2024 07:30"

// stamp reads a time stamp as parseStamp does, and besides it
//
//	1/31/2006   31/1/2006   31-01-2006   1.2.2006   2-Jan-06   2 January 2006
//
// with hours of one digit and AM or PM. Numbers between slashes and hyphens are in
// the order that c has learned, see learn; years of two digits are of 1969 to 2068,
// as in POSIX's strptime.
func (c *cells) stamp(b []byte) (us int64, ok bool) {
	if us, ok = parseStamp(b); ok || len(b) < 7 || b[0] < '0' || b[0] > '9' {
		return us, ok
	}
	year, month, day, rest, ok := parseDate(b)
	if !ok {
		d := parseLocalDate(b)
		switch {
		case !d.ok || d.numeric && c.dates == orderUnknown:
			return 0, false
		case d.numeric && c.dates == monthFirst:
			d.first, d.second = d.second, d.first
		}
		year, month, day, rest = d.year, d.second, d.first, d.rest
	}
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	us = time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() * 1e6
	if len(rest) == 0 {
		return us, true
	}
	if rest[0] != ' ' && rest[0] != 'T' {
		return 0, false
	}
	clock, ok := parseLocalClock(rest[1:])
	return us + clock, ok
}

// localDate is a date that begins with the day or the month. first is the day, or
// if numeric perhaps the month.
type localDate struct {
	first, second, year int
	numeric             bool // the order of the first two is not known
	rest                []byte
	ok                  bool
}

func parseLocalDate(b []byte) (d localDate) {
	var n int
	if d.first, n = shortNumber(b, 2); n == 0 || len(b) <= n {
		return d
	}
	sep := b[n]
	b = b[n+1:]
	if sep != '/' && sep != '-' && sep != '.' && sep != ' ' {
		return d
	}
	named := false
	if d.second, n = shortNumber(b, 2); n == 0 {
		if d.second, n = monthName(b); n == 0 || sep == '.' {
			return d
		}
		named = true
	} else if sep == ' ' {
		return d
	}
	if len(b) <= n || b[n] != sep {
		return d
	}
	b = b[n+1:]
	d.year, n = shortNumber(b, 4)
	switch {
	case n == 4:
	case n == 2 && named && d.year < 69:
		d.year += 2000
	case n == 2 && named:
		d.year += 1900
	default:
		return d
	}
	d.numeric = !named && sep != '.'
	d.rest, d.ok = b[n:], true
	return d
}

// orderless reports whether a text begins with a date whose form does not tell day
// from month.
func orderless(b []byte) bool {
	d := parseLocalDate(b)
	return d.ok && d.numeric
}

// shortNumber reads up to most digits from the start of b and says how many there
// are; 0 if there are more.
func shortNumber(b []byte, most int) (v, n int) {
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		if n == most {
			return 0, 0
		}
		v = 10*v + int(b[n]-'0')
		n++
	}
	return v, n
}

// monthName reads an English name of a month, whole or its first three letters.
func monthName(b []byte) (month, n int) {
	for n < len(b) && (b[n]|0x20) >= 'a' && (b[n]|0x20) <= 'z' {
		n++
	}
	if n < 3 {
		return 0, 0
	}
	for m := time.January; m <= time.December; m++ {
		if name := []byte(m.String()); bytes.EqualFold(b[:n], name) || bytes.EqualFold(b[:n], name[:3]) {
			return int(m), n
		}
	}
	return 0, 0
}

// parseLocalClock reads a time of day, with AM or PM if it has them, and a zone,
// and returns it in microseconds, UTC.
func parseLocalClock(b []byte) (us int64, ok bool) {
	var buf [40]byte
	if len(b) > 1 && b[1] == ':' {
		b = append(append(buf[:0], '0'), b...)
	}
	clock, rest, ok := parseClock(b)
	if !ok {
		return 0, false
	}
	const hour = 3600e6
	if half := bytes.TrimLeft(rest, " "); len(half) >= 2 && half[1]|0x20 == 'm' && (half[0]|0x20 == 'a' || half[0]|0x20 == 'p') {
		if clock < hour || clock >= 13*hour {
			return 0, false
		}
		clock %= 12 * hour
		if half[0]|0x20 == 'p' {
			clock += 12 * hour
		}
		rest = half[2:]
	}
	offset, ok := parseZone(rest)
	return clock - offset, ok
}
