package datasets

import (
	"bytes"
	"slices"
	"strings"
	"time"
)

// stampForm is how the time stamps of a column are written: a layout of package time,
// "" for RFC 3339, in a zone so many seconds east of UTC.
type stampForm struct {
	layout string
	offset int
}

// formRows is how many time stamps decide how those of a column are written, but for
// their zone, which all do.
const formRows = 200

var (
	dateLayouts = []string{
		"2006-01-02", "2006/01/02", "02.01.2006", "2006-01", "2.1.2006", "2-Jan-06", "02-Jan-06", "2-Jan-2006", "02-Jan-2006",
		"2 Jan 2006", "2 January 2006", "2-January-2006", "2/Jan/2006", "02/Jan/2006",
	}
	dayFirstLayouts   = []string{"02/01/2006", "2/1/2006", "02-01-2006", "2-1-2006"}
	monthFirstLayouts = []string{"01/02/2006", "1/2/2006", "01-02-2006", "1-2-2006"}

	clockLayouts = []string{
		"15:04", "15:04:05", "15:04:05.0", "15:04:05.000", "15:04:05.000000", "15:04:05.000000000",
		"03:04 PM", "3:04 PM", "3:04PM", "03:04:05 PM", "3:04:05 PM",
	}
	zoneLayouts = []string{"", "Z07:00", "-07:00", "-0700", "-07"}
)

// formsOf lists the forms in which a time stamp, microseconds since 1970, is just the
// text that it was read from.
func formsOf(text string, us int64, order dateOrder) (forms []stampForm) {
	dates := dateLayouts
	switch order {
	case dayFirst:
		dates = append(slices.Clone(dates), dayFirstLayouts...)
	case monthFirst:
		dates = append(slices.Clone(dates), monthFirstLayouts...)
	}
	date, sep, clock := splitStamp(text)
	clocks := []string{""}
	if sep != "" {
		clocks = nil
		for _, c := range clockLayouts {
			for _, zone := range zoneLayouts {
				if _, err := time.Parse(c+zone, clock); err == nil {
					clocks = append(clocks, sep+c+zone)
				}
			}
		}
	}
	for _, d := range dates {
		if _, err := time.Parse(d, date); err != nil {
			continue
		}
		for _, c := range clocks {
			if t, err := time.Parse(d+c, text); err == nil && t.UnixMicro() == us {
				_, offset := t.Zone()
				if f := (stampForm{d + c, offset}); f.write(t) == text {
					forms = append(forms, f)
				}
			}
		}
	}
	return forms
}

// known reports whether it is a form that formsOf may find.
func (f stampForm) known() bool {
	if f.offset <= -secondsPerDay || f.offset >= secondsPerDay {
		return false
	}
	if f.layout == "" {
		return true
	}
	for _, d := range slices.Concat(dateLayouts, dayFirstLayouts, monthFirstLayouts) {
		clock, ok := strings.CutPrefix(f.layout, d)
		if ok && clock == "" {
			return true
		}
		if !ok || clock[0] != ' ' && clock[0] != 'T' {
			continue
		}
		for _, zone := range zoneLayouts {
			if at, ok := strings.CutSuffix(clock[1:], zone); ok && slices.Contains(clockLayouts, at) {
				return true
			}
		}
	}
	return false
}

// splitStamp divides a time stamp between date and time of day; sep is "" if it has none.
func splitStamp(text string) (date, sep, clock string) {
	at := strings.IndexByte(text, ':')
	if at < 0 {
		return text, "", ""
	}
	at = strings.LastIndexAny(text[:at], " T")
	if at < 0 {
		return text, "", ""
	}
	return text[:at], text[at : at+1], text[at+1:]
}

// write writes an instant.
func (f stampForm) write(t time.Time) string { return t.In(f.zone()).Format(f.layout) }

func (f stampForm) zone() *time.Location {
	if f.offset == 0 {
		return time.UTC
	}
	return time.FixedZone("", f.offset)
}

// look narrows down how the time stamps of a column are written.
func (col *tableColumn) look(text []byte, us int64, c *cells) {
	if col.looked++; col.looked == 1 {
		col.forms = formsOf(string(text), us, c.dates)
		return
	}
	at := time.UnixMicro(us).Add(time.Duration(col.nano))
	var buf [64]byte
	col.forms = slices.DeleteFunc(col.forms, func(f stampForm) bool {
		return !bytes.Equal(at.In(f.zone()).AppendFormat(buf[:0], f.layout), text)
	})
}

// form is how the time stamps looked at are all written; RFC 3339 where that is not one
// way, or any stamp of the column is in another zone.
func (col *tableColumn) form() stampForm {
	if len(col.forms) == 0 || col.offsets != nil {
		return stampForm{}
	}
	return col.forms[0]
}

// Written writes a value of the column as the file has it: a number, or a time stamp in
// the form and the zone of those that were read, in RFC 3339 where that cannot tell the
// instant or they have no one form.
func (c *Column) Written(v float64) string {
	if !c.Time || c.form.layout == "" && c.several == nil {
		return c.Format(v)
	}
	at := c.At(v)
	if c.form.layout != "" {
		text := c.form.write(at)
		if back, err := time.ParseInLocation(c.form.layout, text, c.zone()); err == nil && back.Equal(at) {
			return text
		}
	}
	return at.In(c.zone()).Format(time.RFC3339Nano)
}

// zone is that in which time stamps are written.
func (c *Column) zone() *time.Location {
	if c.several != nil {
		return c.several
	}
	return c.form.zone()
}
