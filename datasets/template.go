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

	// How its values are written: the decimal sign, whether that is sure, and "dmy" or
	// "mdy" for dates with slashes or hyphens.
	Decimal string `json:"decimal,omitempty"`
	Sure    bool   `json:"sure,omitempty"`
	Dates   string `json:"dates,omitempty"`

	Beyond *continuation `json:"beyond,omitempty"` // how a series in time goes on; nil: it is none
}

// TemplateColumn is a Column.
type TemplateColumn struct {
	Name   string `json:"name"`
	Number int    `json:"number,omitempty"` // in the table, from 1
	Unit   string `json:"unit,omitempty"`
	Origin string `json:"origin,omitempty"` // of time stamps, from which their values count: RFC 3339; else ""
	Nanos  bool   `json:"nanos,omitempty"`  // time stamps have nanoseconds
}

// dateOrders are the texts of them.
func dateOrders() map[dateOrder]string {
	return map[dateOrder]string{dayFirst: "dmy", monthFirst: "mdy"}
}

// Template returns that of d, whose rows must be there.
func (d *Dataset) Template() *Template {
	column := func(c *Column) TemplateColumn {
		out := TemplateColumn{Name: c.Name, Number: c.Number, Unit: c.Unit, Nanos: c.nanos}
		if c.Time {
			out.Origin = c.Origin.Format(time.RFC3339Nano)
		}
		return out
	}
	t := &Template{Target: column(&d.Target), Names: d.names, Sure: d.writing.sure, Dates: dateOrders()[d.writing.dates], Beyond: d.goes}
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
	d := &Dataset{Dim: len(t.Inputs), names: t.Names}
	if d.Dim == 0 {
		return nil, errors.New("no input column")
	}
	for i, c := range append(slices.Clone(t.Inputs), t.Target) {
		col := Column{Name: c.Name, Number: c.Number, Unit: c.Unit, nanos: c.Nanos}
		if c.Number < 0 || len(t.Names) > 0 && c.Number > len(t.Names) {
			return nil, fmt.Errorf("column %s is number %d of %d", quoteText(c.Name), c.Number, len(t.Names))
		}
		if c.Origin != "" {
			at, err := time.Parse(time.RFC3339Nano, c.Origin)
			if err != nil || i == d.Dim || c.Unit != "s" && c.Unit != "d" {
				return nil, fmt.Errorf("column %s has the origin %s of time stamps", quoteText(c.Name), quoteText(c.Origin))
			}
			col.Time, col.Origin = true, at.UTC()
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
	if t.Beyond != nil {
		if d.Dim != 1 || !t.Beyond.sound() {
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
