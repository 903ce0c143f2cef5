package datasets

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
	_ "time/tzdata" // zones are known on every machine

	"example.com/kestrel/datasets/holidays"
)

// calendarColumn is an input that is made of time stamps, so that it is known for
// all times to come.
type calendarColumn struct {
	name, unit string
	of         func(local time.Time) float64
}

// HolidayName is the name of the column of Spec.Holidays, 1 on holidays, else 0.
const HolidayName = "holiday"

var calendarColumns = []calendarColumn{
	{"hour", "h", func(t time.Time) float64 {
		return float64(t.Hour()) + (float64(t.Minute())+(float64(t.Second())+float64(t.Nanosecond())*1e-9)/60)/60
	}},
	{"weekday", "d", func(t time.Time) float64 { return float64((t.Weekday()+6)%7 + 1) }}, // as ISO 8601: Monday is 1
	{"yearday", "d", func(t time.Time) float64 { return float64(t.YearDay()) }},
}

// CalendarNames lists what Spec.Calendar may hold: the hour with its fraction, 0 to
// 24, the day of the week, Monday 1 to Sunday 7, and that of the year, from 1.
func CalendarNames() []string {
	var names []string
	for _, c := range calendarColumns {
		names = append(names, c.name)
	}
	return names
}

// calendar makes the inputs of a series that are known for all times, of time stamps in
// a zone.
type calendar struct {
	columns []calendarColumn
	zone    *time.Location // nil: each stamp is in its own, see ownZones
	wall    bool           // no stamp has a zone: the clock is what is written

	days         map[date]bool // holidays
	path, sha256 string        // of their file; "": there is none
}

// observe takes a day for a holiday.
func (k *calendar) observe(day date) {
	if k.days == nil {
		k.days = map[date]bool{}
	}
	k.days[day] = true
}

// column is the one with a name, of the calendar or the holidays.
func (k *calendar) column(name string) (calendarColumn, bool) {
	if i := slices.IndexFunc(calendarColumns, func(c calendarColumn) bool { return c.name == name }); i >= 0 {
		return calendarColumns[i], true
	}
	return calendarColumn{HolidayName, "", func(t time.Time) float64 {
		if k.days[dateOf(t)] {
			return 1
		}
		return 0
	}}, name == HolidayName
}

// zoneOf is the time zone of an IANA name, or of "" the one that stands for it. That of
// the machine has no name: another one would make other columns.
func zoneOf(name string, none *time.Location) (*time.Location, error) {
	if name == "" {
		return none, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || zone == time.Local {
		return nil, fmt.Errorf("data.zone = %s is no time zone; name one as Europe/Zurich, or UTC", quoteText(name))
	}
	return zone, nil
}

// asksCalendar reports whether a Spec wants columns of the calendar.
func (s *Spec) asksCalendar() bool { return len(s.Calendar) > 0 || s.Holidays != "" }

// newCalendar reads what a Spec says of the calendar of d, whose only input is to hold
// time stamps; nil if it asks for none.
func newCalendar(ctx context.Context, s *Spec, d *Dataset) (*calendar, error) {
	if !s.asksCalendar() {
		return nil, nil
	}
	switch {
	case d.Dim != 1:
		return nil, fmt.Errorf("%s: data.calendar and data.holidays are of a series in time, but there are %d inputs; "+
			"name the one that holds time stamps (data.inputs)", d.file(), d.Dim)
	case !d.Inputs[0].Time:
		return nil, fmt.Errorf("%s: %s holds no time stamps, of which data.calendar and data.holidays are made; "+
			"name a column that does (data.inputs), or leave these keys out", d.file(), quoteText(d.Inputs[0].Name))
	}
	in := &d.Inputs[0]
	k := &calendar{wall: in.local}
	var err error
	if k.zone, err = zoneOf(s.Zone, in.zone()); err != nil {
		return nil, err
	}
	if k.wall { // stamps are in the zone that is named as they are
		k.zone = in.zone()
	}
	if s.Zone != "" && d.offsets != nil {
		in.several, d.offsets = k.zone, nil
	}
	if d.offsets != nil {
		k.zone = nil
	}
	for _, c := range calendarColumns {
		if slices.Contains(s.Calendar, c.name) {
			k.columns = append(k.columns, c)
		}
	}
	if s.Holidays != "" {
		if holidays.IsCode(s.Holidays) {
			err = k.knownHolidays(s.Holidays, d)
		} else {
			err = k.readHolidays(ctx, s, d.writing.dates)
		}
		if err != nil {
			return nil, err
		}
		made, _ := k.column(HolidayName)
		k.columns = append(k.columns, made)
	}
	for _, c := range k.columns {
		if c.name == d.Inputs[0].Name {
			return nil, fmt.Errorf("%s: the input is called %s, as a column that data.calendar or data.holidays makes; rename it in the file",
				d.file(), quoteText(c.name))
		}
	}
	return k, nil
}

// Clock is what the time stamps of a series say of the clock that they are by.
type Clock int

const (
	ClockUnsaid  Clock = iota // no stamp has a zone: they are by the clock that people see, whichever that is
	ClockOne                  // all have one, UTC or some hours east or west of it
	ClockSeveral              // what they are east of UTC changes
)

// Clock returns it, and the zone in which all stamps are written, nil where they are in several. Those of ClockUnsaid are
// read as if they were in UTC.
func (d *Dataset) Clock() (Clock, *time.Location) {
	switch {
	case d.offsets != nil:
		return ClockSeveral, nil
	case d.Inputs[0].local:
		return ClockUnsaid, d.Inputs[0].zone()
	}
	return ClockOne, d.Inputs[0].zone()
}

// Keeps reports whether all time stamps, of several zones, are written as the clock of a zone shows them.
func (d *Dataset) Keeps(zone *time.Location) bool {
	for i, offset := range d.offsets {
		if _, shown := d.Inputs[0].At(d.X[i*d.Dim]).In(zone).Zone(); shown != int(offset) {
			return false
		}
	}
	return d.offsets != nil
}

// addCalendar adds the columns of the calendar to a series.
func (d *Dataset) addCalendar() error {
	if d.calendar == nil {
		return nil
	}
	if d.Series == nil {
		return fmt.Errorf("%s: data.calendar and data.holidays are of a series in time, which this is not known to be; "+
			"set data.time = \"yes\", or leave these keys out", d.file())
	}
	if d.zones = d.ownZones(); d.zones != nil && len(d.zones.zones) > 1 {
		d.Notices = append(d.Notices, fmt.Sprintf("time stamps are in several zones (%s): the calendar of a row is by its own; "+
			"set data.zone, such as Europe/Zurich, to forecast beyond the last row", d.zones.names()))
	}
	d.X = d.widen(d.X)
	for _, c := range d.calendar.columns {
		d.Inputs = append(slices.Clip(d.Inputs), Column{Name: c.name, Unit: c.unit})
	}
	d.Dim = len(d.Inputs)
	return nil
}

// Calendar names the inputs that are made of the first one, time; nil if none is.
func (d *Dataset) Calendar() []string {
	var names []string
	for _, c := range d.Inputs[d.read():] {
		names = append(names, c.Name)
	}
	return names
}

// read is how many inputs are read from the file; the others are of the calendar.
func (d *Dataset) read() int {
	if d.calendar == nil || d.Dim == 1 {
		return d.Dim
	}
	return d.Dim - len(d.calendar.columns)
}

// Along returns the inputs at so many times, rows x Dim, if all others are made of time;
// ok is false if they are not.
func (d *Dataset) Along(times []float64) (x []float64, ok bool) {
	if d.Dim > 1 && d.read() > 1 || len(d.Calendar()) == 0 {
		return nil, false
	}
	return d.widen(times), true
}

// widen adds to times, in the unit of the first input, the columns of the calendar.
func (d *Dataset) widen(times []float64) []float64 {
	if d.calendar == nil {
		return times
	}
	x := make([]float64, 0, len(times)*(1+len(d.calendar.columns)))
	for _, v := range times {
		x = append(x, v)
		zone := d.calendar.zone
		if zone == nil {
			zone = d.zones.at(v)
		}
		local := d.Inputs[0].At(v).In(zone)
		for _, c := range d.calendar.columns {
			x = append(x, c.of(local))
		}
	}
	return x
}

// Times returns the first input of some rows.
func (d *Dataset) Times(rows []int32) []float64 {
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = d.X[int(r)*d.Dim]
	}
	return out
}

// ownZones are the zones of time stamps that are not all in one: from a value of the
// first input on, to the next, stamps are in a zone. What the clock says is known of the
// rows, not beyond them.
type ownZones struct {
	from  []float64
	zones []*time.Location
	last  float64 // row
}

// ownZones finds them by the offsets of the rows; nil: there is one.
func (d *Dataset) ownZones() *ownZones {
	if d.offsets == nil {
		return nil
	}
	rows := counted(d.N())
	d.sortByFirst(rows)
	z := &ownZones{}
	for i, r := range rows {
		z.last = d.X[int(r)*d.Dim]
		if i == 0 || d.offsets[r] != d.offsets[rows[i-1]] {
			z.from, z.zones = append(z.from, z.last), append(z.zones, stampForm{offset: int(d.offsets[r])}.zone())
		}
	}
	return z
}

// at is the zone of a value of the first input: that of the last row until then.
func (z *ownZones) at(v float64) *time.Location {
	i := sort.Search(len(z.from), func(i int) bool { return z.from[i] > v })
	return z.zones[max(0, i-1)]
}

// names lists the zones as offsets, each once.
func (z *ownZones) names() string {
	var names []string
	for _, zone := range z.zones {
		if name := time.Unix(0, 0).In(zone).Format("-07:00"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names[:min(len(names), 3)], ", ")
}

// knows returns an error where some value of the first input is not among the rows,
// which alone say what the clock is.
func (d *Dataset) knows(times []float64) error {
	z := d.zones
	if z == nil || len(z.zones) == 1 || !slices.ContainsFunc(times, func(v float64) bool { return v < z.from[0] || v > z.last }) {
		return nil
	}
	return fmt.Errorf("%s: its time stamps are in several zones (%s), so that data.calendar and data.holidays are not known "+
		"before and behind its rows; run it with data.zone, such as Europe/Zurich", d.file(), z.names())
}
