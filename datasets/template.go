package datasets

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Template is what is kept of a dataset to read tables of the same columns by, and to
// continue it, where its rows are not there.
type Template struct {
	Inputs []TemplateColumn `json:"inputs"`
	Target TemplateColumn   `json:"target"`
	Names  []string         `json:"names,omitempty"` // of all columns of its table
	Noise  string           `json:"noise,omitempty"` // the column of the noise's standard deviations

	// How its values are written: the decimal sign, whether that is sure, and "dmy" or
	// "mdy" for dates with slashes or hyphens.
	Decimal string `json:"decimal,omitempty"`
	Sure    bool   `json:"sure,omitempty"`
	Dates   string `json:"dates,omitempty"`

	Beyond *continuation `json:"beyond,omitempty"` // how a series in time goes on; nil: it is none

	Calendar *TemplateCalendar `json:"calendar,omitempty"` // what the last inputs are made of; nil: none is
}

// TemplateCalendar is how inputs are made of time stamps.
type TemplateCalendar struct {
	Columns  []string `json:"columns"`            // of CalendarNames, and "holiday"; the last inputs, in this order
	Zone     string   `json:"zone,omitempty"`     // IANA name; "": that of the time stamps
	Holidays []string `json:"holidays,omitempty"` // dates, as 2024-12-25, ascending
	Wall     bool     `json:"wall,omitempty"`     // no time stamp has a zone: the clock is what is written

	Own *TemplateZones `json:"own,omitempty"` // of time stamps in several zones, where none is named
}

// TemplateZones are the zones of rows: from values of the first input on, ascending, so
// many seconds east of UTC, up to the last row. Values are in the input's unit.
type TemplateZones struct {
	From    []float64 `json:"from"`
	Offsets []int     `json:"offsets"`
	Last    float64   `json:"last"`
}

// TemplateColumn is a Column.
type TemplateColumn struct {
	Name   string   `json:"name"`
	Number int      `json:"number,omitempty"` // in the table, from 1
	Unit   string   `json:"unit,omitempty"`   // of time stamps s or d; "": not known
	Origin string   `json:"origin,omitempty"` // of time stamps, from which their values count: RFC 3339; else ""
	Nanos  bool     `json:"nanos,omitempty"`  // time stamps have nanoseconds
	Form   string   `json:"form,omitempty"`   // in which time stamps are written, as a layout of Go's package time; "": RFC 3339
	Offset int      `json:"offset,omitempty"` // seconds east of UTC of the zone that they are written in
	Local  bool     `json:"local,omitempty"`  // none of them has a zone
	Type   string   `json:"type,omitempty"`   // what an input is taken for, of ColumnTypes
	Levels []string `json:"levels,omitempty"` // texts whose values are their places here, from 0
	Zone   string   `json:"zone,omitempty"`   // IANA name of the zone that they are written in, where they were read in several
}

// dateOrders are the texts of them.
func dateOrders() map[dateOrder]string {
	return map[dateOrder]string{dayFirst: "dmy", monthFirst: "mdy"}
}

// Template returns that of d, whose rows must be there.
func (d *Dataset) Template() *Template {
	column := func(c *Column) TemplateColumn {
		out := TemplateColumn{Name: c.Name, Number: c.Number, Unit: c.Unit, Nanos: c.nanos, Type: c.Type, Levels: c.Levels}
		if c.Time {
			out.Origin = c.Origin.Format(time.RFC3339Nano)
			out.Form, out.Offset, out.Local = c.form.layout, c.form.offset, c.local
			if c.several != nil {
				out.Zone = c.several.String()
			}
		}
		return out
	}
	t := &Template{Target: column(&d.Target), Names: d.names, Noise: d.NoiseIn, Sure: d.writing.sure,
		Dates: dateOrders()[d.writing.dates], Beyond: d.goes, Calendar: d.calendar.template(d.zones)}
	for i := range d.Inputs {
		t.Inputs = append(t.Inputs, column(&d.Inputs[i]))
	}
	if d.writing.decimal != 0 {
		t.Decimal = string(d.writing.decimal)
	}
	if d.Series != nil && d.goes == nil {
		t.Beyond = d.newContinuation()
	}
	return t
}

// Dataset returns a dataset of the columns without rows. Errors: what no dataset has.
func (t *Template) Dataset() (*Dataset, error) {
	d := &Dataset{Dim: len(t.Inputs), names: t.Names, NoiseIn: t.Noise}
	if d.Dim == 0 {
		return nil, errors.New("no input column")
	}
	for i, c := range append(slices.Clone(t.Inputs), t.Target) {
		col := Column{Name: c.Name, Number: c.Number, Unit: c.Unit, nanos: c.Nanos, Type: c.Type, Levels: c.Levels}
		if len(c.Levels) > 0 && (i == d.Dim || c.Origin != "") || c.Type != "" && !slices.Contains(ColumnTypes(), c.Type) {
			return nil, fmt.Errorf("column %s has %d levels and is taken for %s", quoteText(c.Name), len(c.Levels), quoteText(c.Type))
		}
		if c.Number < 0 || len(t.Names) > 0 && c.Number > len(t.Names) {
			return nil, fmt.Errorf("column %s is number %d of %d", quoteText(c.Name), c.Number, len(t.Names))
		}
		if c.Origin != "" {
			at, err := time.Parse(time.RFC3339Nano, c.Origin)
			if err != nil || i == d.Dim || c.Unit != "s" && c.Unit != "d" {
				return nil, fmt.Errorf("column %s has the origin %s of time stamps", quoteText(c.Name), quoteText(c.Origin))
			}
			col.Time, col.Origin, col.form, col.local = true, at.UTC(), stampForm{c.Form, c.Offset}, c.Local
			if col.several, err = zoneOf(c.Zone, nil); err != nil {
				return nil, err
			}
			if !col.form.known() {
				return nil, fmt.Errorf("column %s has time stamps of the form %s, %d s from UTC", quoteText(c.Name), quoteText(c.Form), c.Offset)
			}
		}
		if i < d.Dim {
			d.Inputs = append(d.Inputs, col)
		} else {
			d.Target = col
		}
	}
	switch t.Decimal {
	case "":
	case ".", ",":
		d.writing.decimal = t.Decimal[0]
	default:
		return nil, fmt.Errorf("decimal sign %s", quoteText(t.Decimal))
	}
	d.writing.sure = t.Sure
	for order, text := range dateOrders() {
		if text == t.Dates {
			d.writing.dates = order
		}
	}
	if err := t.Calendar.add(d); err != nil {
		return nil, err
	}
	if t.Beyond != nil {
		if d.read() != 1 || !t.Beyond.sound() {
			return nil, errors.New("a series goes on as none can")
		}
		goes := *t.Beyond
		goes.in = &d.Inputs[0]
		d.goes = &goes
	}
	return d, nil
}

// sound reports whether a series may go on like that.
func (c *continuation) sound() bool {
	for _, v := range []float64{c.Last, c.Step, c.Days, c.Resolution} {
		if math.IsNaN(v) || math.Abs(v) > largest {
			return false
		}
	}
	return c.Step > 0 && c.Days >= 0 && c.Resolution >= 0 && c.Months >= 0 && c.Months <= 120_000 &&
		c.Day >= 0 && c.Day <= 31 && c.Digits >= 0 && c.Digits <= 400
}

// template is what is kept of a calendar.
func (k *calendar) template(zones *ownZones) *TemplateCalendar {
	if k == nil {
		return nil
	}
	t := &TemplateCalendar{Wall: k.wall}
	for _, c := range k.columns {
		t.Columns = append(t.Columns, c.name)
	}
	for d := range k.days {
		t.Holidays = append(t.Holidays, d.String())
	}
	slices.Sort(t.Holidays)
	if k.zone != nil {
		t.Zone = k.zone.String() // "" of that of time stamps that have an offset
		return t
	}
	t.Own = &TemplateZones{From: zones.from, Last: zones.last}
	for _, z := range zones.zones {
		_, offset := time.Unix(0, 0).In(z).Zone()
		t.Own.Offsets = append(t.Own.Offsets, offset)
	}
	return t
}

// add gives a dataset of the columns the calendar that its last inputs are made by.
// Errors: what no calendar has.
func (t *TemplateCalendar) add(d *Dataset) error {
	if t == nil {
		return nil
	}
	k := &calendar{wall: t.Wall}
	if len(t.Columns) == 0 || d.Dim != 1+len(t.Columns) || !d.Inputs[0].Time {
		return fmt.Errorf("%d columns are made of time, of %d inputs", len(t.Columns), d.Dim)
	}
	var err error
	if k.zone, err = zoneOf(t.Zone, d.Inputs[0].zone()); err != nil {
		return err
	}
	if o := t.Own; o != nil {
		if t.Zone != "" || len(o.From) == 0 || len(o.From) != len(o.Offsets) || !slices.IsSorted(o.From) || !(o.Last >= o.From[len(o.From)-1]) {
			return errors.New("time stamps are in zones as none can be")
		}
		k.zone, d.zones = nil, &ownZones{from: o.From, last: o.Last}
		for _, offset := range o.Offsets {
			f := stampForm{offset: offset}
			if !f.known() {
				return fmt.Errorf("a zone is %d s from UTC", offset)
			}
			d.zones.zones = append(d.zones.zones, f.zone())
		}
	}
	for _, text := range t.Holidays {
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return fmt.Errorf("%s is no date", quoteText(text))
		}
		k.observe(dateOf(day))
	}
	for i, name := range t.Columns {
		made, ok := k.column(name)
		if in := d.Inputs[1+i]; !ok || in.Name != name || in.Time || slices.Contains(t.Columns[:i], name) {
			return fmt.Errorf("input %s is not made of time as %s", quoteText(in.Name), quoteText(name))
		}
		k.columns = append(k.columns, made)
	}
	d.calendar = k
	return nil
}
