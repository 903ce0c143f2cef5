package datasets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Horizon is how far a series goes on beyond its last row: a number of steps, or a
// length of time.
type Horizon struct {
	count int
	unit  string // of horizonUnits; "": steps
}

// horizonUnit is a unit of time: days, or months of the calendar.
type horizonUnit struct {
	name   string
	days   float64
	months int // of a time stamp
}

var horizonUnits = []horizonUnit{
	{"s", 1. / 86400, 0}, {"min", 1. / 1440, 0}, {"h", 1. / 24, 0}, {"d", 1, 0}, {"w", 7, 0},
	{"mo", year / 12, 1}, {"q", year / 4, 3}, {"y", year, 12},
}

const (
	mostAhead = 1_000_000 // steps
	// A step that ends so much of one behind a length of time is within it: months and
	// rounded inputs are not equally long.
	stepLate = 0.05
	// The years of RFC 3339 end so many seconds after 1970.
	secondsWritten = 253402300799
)

// ParseHorizon reads "18", so many steps, or a length of time: "90d", with one of the
// units s, min, h, d, w, mo, q and y.
func ParseHorizon(text string) (Horizon, error) {
	digits := strings.TrimRight(strings.TrimSpace(text), "abcdefghijklmnopqrstuvwxyz")
	unit := strings.TrimSpace(text)[len(digits):]
	n, err := strconv.Atoi(strings.TrimSpace(digits))
	known := unit == "" || slices.ContainsFunc(horizonUnits, func(u horizonUnit) bool { return u.name == unit })
	switch {
	case err != nil || n < 1 || !known:
		return Horizon{}, fmt.Errorf("%s is neither a number of steps nor a length of time; "+
			"for example 18, or 90d with one of the units s, min, h, d, w, mo, q, y", quoteText(text))
	case n > mostAhead:
		return Horizon{}, fmt.Errorf("%s: at most %d are taken", text, mostAhead)
	}
	return Horizon{n, unit}, nil
}

// String is the horizon as it is read.
func (h Horizon) String() string { return strconv.Itoa(h.count) + h.unit }

// asSeries says how a table can be forecast that is not known to be a series: one of several
// inputs cannot be continued, since nothing says what the others will be.
func (d *Dataset) asSeries() string {
	if len(d.Inputs) < 2 {
		return "run it with data.time = \"yes\" if it is one, or give a table of points to predict at"
	}
	at := max(0, slices.IndexFunc(d.Inputs, func(c Column) bool { return c.Time }))
	var all, others []string
	for i := range d.Inputs {
		if all = append(all, d.Inputs[i].Name); i != at {
			others = append(others, d.Inputs[i].Name)
		}
	}
	inputs := "data.inputs=" + all[at]
	if strings.ContainsFunc(all[at], func(r rune) bool { return r != '_' && !unicode.IsLetter(r) }) {
		inputs = fmt.Sprintf("'data.inputs=[%s]'", strconv.Quote(all[at]))
	}
	return fmt.Sprintf("if it is one, run it with one input only: --set data.time=yes --set %s, which leaves out %s; "+
		"or predict --data with a table of %s", inputs, quoteList(others), quoteList(all))
}

// Beyond continues the input of a series beyond its last row, held out or not:
//
//	x_i = x_last + i·step,   i = 1, 2, …
//
// and time stamps of months, quarters and years by the calendar, on the same day of
// the month, or on its last one. Numbers have the digits of those that there are.
// Rows of the points count steps, from 0. Errors say what the data lack.
func (d *Dataset) Beyond(h Horizon) (*Points, error) {
	if d.Series == nil && d.goes == nil {
		return nil, fmt.Errorf("%s is not known to be a series in time, which could be continued; %s", d.file(), d.asSeries())
	}
	s := d.goes
	if s == nil {
		s = d.newContinuation()
	}
	n, err := s.steps(h)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.file(), err)
	}
	p := &Points{Dim: d.Dim}
	for i := range n {
		p.X, p.Rows = append(p.X, s.at(i+1)), append(p.Rows, int32(i))
	}
	if in := s.in; in.Time && float64(in.Origin.Unix())+in.Seconds(p.X[n-1]) > secondsWritten {
		return nil, fmt.Errorf("%s: %v goes beyond the year 9999", d.file(), h)
	}
	if err := d.knows(p.X); err != nil {
		return nil, err
	}
	p.X = d.widen(p.X)
	return p, nil
}

// continuation is how a series goes on.
type continuation struct {
	in   *Column
	Last float64 `json:"last"`
	Step float64 `json:"step"`           // in the unit of the column
	Days float64 `json:"days,omitempty"` // of that unit; 0 if it is not known

	Months int `json:"months,omitempty"` // of the calendar, of a step; 0: steps are equal
	Day    int `json:"day,omitempty"`    // of the month; 31 where rows are on its last one

	Resolution float64 `json:"resolution,omitempty"` // of time stamps: seconds of which all are multiples; 0: of none
	Digits     int     `json:"digits,omitempty"`     // of numbers, behind the point
}

// newContinuation looks at the inputs of a series.
func (d *Dataset) newContinuation() *continuation {
	x := slices.Sorted(slices.Values(d.Times(counted(d.N()))))
	in := &d.Inputs[0]
	c := &continuation{in: in, Last: x[len(x)-1], Step: d.Series.Step, Days: d.Series.days}
	if !in.Time {
		c.Digits = digitsOf(x, c.Step)
		return c
	}
	stamps := make([]time.Time, len(x))
	for i, v := range x {
		stamps[i] = in.At(v)
	}
	c.calendar(stamps)
	for _, r := range []float64{86400, 3600, 60, 1} {
		if in.Seconds(c.Step) >= r && !slices.ContainsFunc(stamps, func(t time.Time) bool {
			return t.Unix()%int64(r) != 0 || t.Nanosecond() != 0
		}) {
			c.Resolution = r
			break
		}
	}
	return c
}

// digitsOf is how many digits behind the point the inputs have, as far as these can
// tell steps apart; three more than a step has otherwise.
func digitsOf(x []float64, step float64) int {
	digits := 0
	for i := 0; i < len(x); i += 1 + len(x)/mostSteps {
		_, behind, _ := strings.Cut(strconv.FormatFloat(x[i], 'f', -1, 64), ".")
		digits = max(digits, len(behind))
	}
	enough := max(0, int(math.Ceil(-math.Log10(step)))+3)
	unit := math.Pow10(-digits)
	if whole := math.Abs(step/unit-math.Round(step/unit)) < 1e-6; digits < enough && (whole || unit < step/50) {
		return digits
	}
	return enough
}

// calendar finds out whether the rows are months apart, and on which day of them.
func (c *continuation) calendar(stamps []time.Time) {
	months := int(math.Round(c.Step * c.Days / (year / 12)))
	if months < 1 {
		return
	}
	whole, ends := 0, 0
	days := map[int]int{}
	for i, t := range stamps {
		if lastOfMonth(t) {
			ends++
		}
		days[t.Day()]++
		if i > 0 && wholeMonths(stamps[i-1], t) {
			whole++
		}
	}
	n := float64(len(stamps))
	if float64(whole) < regularSteps*(n-1) {
		return
	}
	last := stamps[len(stamps)-1]
	c.Months, c.Day = months, last.Day()
	switch {
	case float64(ends) > 0.9*n:
		c.Day = 31
	case lastOfMonth(last): // the rows' day may be later than its last one
		for day, rows := range days {
			if 2*rows > len(stamps) {
				c.Day = max(c.Day, day)
			}
		}
	}
}

// wholeMonths reports whether two instants are of the same time and day of the
// month, or as near as the months' lengths allow.
func wholeMonths(a, b time.Time) bool {
	day := func(t time.Time) time.Duration { return t.Sub(t.Truncate(24 * time.Hour)) }
	return day(a) == day(b) && (a.Day() == b.Day() || lastOfMonth(a) && b.Day() > a.Day() || lastOfMonth(b) && a.Day() > b.Day())
}

func lastOfMonth(t time.Time) bool { return t.Day() == daysIn(t.Year(), int(t.Month())) }

// plusMonths is the instant so many months after the last row.
func (c *continuation) plusMonths(months int) time.Time {
	t := c.in.At(c.Last)
	first := time.Date(t.Year(), t.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	day, day0 := c.Day, time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	if day == 0 {
		day = t.Day()
	}
	return first.AddDate(0, 0, min(day, daysIn(first.Year(), int(first.Month())))-1).Add(t.Sub(day0))
}

// since is an instant in the unit of the column, from its origin.
func (c *continuation) since(t time.Time) float64 {
	v := float64(t.Unix()-c.in.Origin.Unix()) + float64(t.Nanosecond()-c.in.Origin.Nanosecond())*1e-9
	return v / c.in.Seconds(1)
}

// at is the input i steps behind the last row.
func (c *continuation) at(i int) float64 {
	if c.Months > 0 {
		return c.since(c.plusMonths(i * c.Months))
	}
	x := c.Last + float64(i)*c.Step
	if !c.in.Time {
		v, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', c.Digits, 64), 64) // what has been written can be read
		return v
	}
	if c.Resolution > 0 {
		from := float64(c.in.Origin.Unix())
		x = (math.Round((from+c.in.Seconds(x))/c.Resolution)*c.Resolution - from) / c.in.Seconds(1)
	}
	return x
}

// steps is how many steps there are within a horizon.
func (c *continuation) steps(h Horizon) (int, error) {
	if h.unit == "" {
		return h.count, nil
	}
	if c.Days == 0 {
		return 0, fmt.Errorf("the unit of %s is not known; count steps, for example 18", quoteText(c.in.Name))
	}
	u := horizonUnits[slices.IndexFunc(horizonUnits, func(u horizonUnit) bool { return u.name == h.unit })]
	limit := c.Last + float64(h.count)*u.days/c.Days
	if c.in.Time && u.months > 0 {
		limit = c.since(c.plusMonths(h.count * u.months))
	}
	n := int(math.Min(math.Ceil((limit-c.Last)/c.Step)+1, mostAhead+1))
	for n > 0 && c.at(n) > limit+stepLate*c.Step {
		n--
	}
	switch {
	case n == 0:
		return 0, fmt.Errorf("%v is less than a step, which is %s; count steps, for example 1", h, c.stepText())
	case n > mostAhead:
		return 0, fmt.Errorf("%v is more than %d steps, each %s", h, mostAhead, c.stepText())
	}
	return n, nil
}

// stepText is the length of a step in words.
func (c *continuation) stepText() string { return HumanDuration(c.Step * c.Days * secondsPerDay) }
