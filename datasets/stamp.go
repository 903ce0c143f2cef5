package datasets

import (
	"bytes"
	"time"
)

// parseStamp reads a time stamp and returns it in microseconds since 1970,
// UTC. A stamp without a zone is taken as UTC. Understood are dates
//
//	2006-01-02   2006/01/02   02.01.2006   2006-01
//
// alone or followed by T or a space and 15:04, 15:04:05 or 15:04:05.999999,
// and then by nothing, Z, ±07, ±0700 or ±07:00: RFC 3339, ISO 8601's extended
// form and the forms of common exports.
func parseStamp(b []byte) (int64, bool) {
	year, month, day, b, ok := parseDate(b)
	if !ok || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	us := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() * 1e6
	if len(b) == 0 {
		return us, true
	}
	if b[0] != 'T' && b[0] != 't' && b[0] != ' ' {
		return 0, false
	}
	clock, b, ok := parseClock(b[1:])
	if !ok {
		return 0, false
	}
	offset, ok := parseZone(b)
	if !ok {
		return 0, false
	}
	return us + clock - offset, true
}

// stampEnd returns what parseStamp leaves out of a time stamp: the nanoseconds
// beyond its microseconds, and its zone, in seconds east of UTC, if it has one.
func stampEnd(b []byte) (nanos uint16, offset int32, zoned bool) {
	_, b, ok := bytes.Cut(b, []byte{':'})
	if !ok {
		return 0, 0, false
	}
	if _, fraction, ok := bytes.Cut(b, []byte{'.'}); ok {
		for i, unit := 0, uint16(100); i < len(fraction) && i < 9 && fraction[i] >= '0' && fraction[i] <= '9'; i++ {
			if i >= 6 {
				nanos += unit * uint16(fraction[i]-'0')
				unit /= 10
			}
		}
	}
	at := bytes.IndexAny(b, "Zz+-")
	if at < 0 {
		return nanos, 0, false
	}
	us, _ := parseZone(b[at:])
	return nanos, int32(us / 1e6), true
}

// digits reads n decimal digits from the start of b.
func digits(b []byte, n int) (int, bool) {
	if len(b) < n {
		return 0, false
	}
	v := 0
	for _, c := range b[:n] {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = 10*v + int(c-'0')
	}
	return v, true
}

func parseDate(b []byte) (year, month, day int, rest []byte, ok bool) {
	if len(b) < 7 {
		return 0, 0, 0, nil, false
	}
	var okY, okM, okD bool
	switch {
	case b[4] == '-' || b[4] == '/':
		year, okY = digits(b, 4)
		month, okM = digits(b[5:], 2)
		if len(b) == 7 && b[4] == '-' {
			return year, month, 1, nil, okY && okM
		}
		if len(b) < 10 || b[7] != b[4] {
			return 0, 0, 0, nil, false
		}
		day, okD = digits(b[8:], 2)
	case b[2] == '.' && len(b) >= 10 && b[5] == '.':
		day, okD = digits(b, 2)
		month, okM = digits(b[3:], 2)
		year, okY = digits(b[6:], 4)
	default:
		return 0, 0, 0, nil, false
	}
	return year, month, day, b[10:], okY && okM && okD
}

// parseClock returns the time of day in microseconds and what follows it.
func parseClock(b []byte) (us int64, rest []byte, ok bool) {
	if len(b) < 5 || b[2] != ':' {
		return 0, nil, false
	}
	hour, okH := digits(b, 2)
	minute, okM := digits(b[3:], 2)
	if !okH || !okM || hour > 23 || minute > 59 {
		return 0, nil, false
	}
	us = int64(hour*60+minute) * 60e6
	b = b[5:]
	if len(b) == 0 || b[0] != ':' {
		return us, b, true
	}
	second, ok := digits(b[1:], 2)
	if !ok || second > 59 {
		return 0, nil, false
	}
	us += int64(second) * 1e6
	b = b[3:]
	if len(b) < 2 || b[0] != '.' || b[1] < '0' || b[1] > '9' {
		return us, b, true
	}
	b = b[1:]
	for unit := int64(1e5); len(b) > 0 && b[0] >= '0' && b[0] <= '9'; b = b[1:] {
		us += unit * int64(b[0]-'0')
		unit /= 10
	}
	return us, b, true
}

// parseZone returns the offset from UTC in microseconds.
func parseZone(b []byte) (us int64, ok bool) {
	switch len(b) {
	case 0:
		return 0, true
	case 1:
		return 0, b[0] == 'Z' || b[0] == 'z'
	case 3, 5, 6:
	default:
		return 0, false
	}
	hour, okH := digits(b[1:], 2)
	minute, okM := 0, true
	switch len(b) {
	case 5:
		minute, okM = digits(b[3:], 2)
	case 6:
		minute, okM = digits(b[4:], 2)
		okM = okM && b[3] == ':'
	}
	if !okH || !okM || hour > 23 || minute > 59 {
		return 0, false
	}
	us = int64(hour*60+minute) * 60e6
	switch b[0] {
	case '+':
		return us, true
	case '-':
		return -us, true
	}
	return 0, false
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}
