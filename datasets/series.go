package datasets

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"example.com/kestrel/baseline"
)

// Series is what a dataset is as a series in time: one input, of time.
type Series struct {
	// Step is between neighbouring rows as a rule, in the unit of X.
	Step float64 `json:"step"`
	// Season is the shortest one, in steps; 1: none is known.
	Season int `json:"season"`
	// Seasons are what repeats by the calendar, or as stated: lengths in the unit of X,
	// the shortest first; nil: nothing is known to.
	Seasons []float64 `json:"seasons,omitempty"`
	// Cycle is a period that is none of the calendar's, in the unit of X; 0: none is known.
	Cycle float64 `json:"cycle,omitempty"`

	days float64 // that the unit of X has; 0 if that is not known
}

const (
	// Of a series in time so many steps at least are as long as the median, within
	// stepsOff, see baseline for the calendar's.
	regularSteps = 0.6
	stepsOff     = 0.15   // February is shorter than others, and decimal years are rounded
	mostSteps    = 20_000 // are looked at
	evenRows     = 20     // that ascend in even steps may be time, whatever the column is called
	year         = 365.25 // days
	// A quarter is the step of a column whose unit nobody states where its values look
	// like years or are no more of them than this; else it may be anything's.
	quarterlyYears = 60
)

// timeWords are names of columns that are time.
var timeWords = []string{
	"time", "date", "datetime", "timestamp", "t", "ds", "year", "month", "quarter", "week", "day", "hour", "minute", "second",
	"jahr", "monat", "quartal", "woche", "stunde", "datum", "zeit", "yr", "years", "months", "quarters", "weeks", "days",
	"hours", "minutes", "seconds",
}

// daysOf is how many days the unit of a column of numbers has that is called by it.
var daysOf = map[string]float64{
	"year": year, "years": year, "yr": year, "jahr": year, "quarter": year / 4, "quarters": year / 4, "quartal": year / 4,
	"month": year / 12, "months": year / 12, "monat": year / 12, "week": 7, "weeks": 7, "woche": 7, "day": 1, "days": 1,
	"hour": 1. / 24, "hours": 1. / 24, "stunde": 1. / 24, "minute": 1. / 1440, "minutes": 1. / 1440, "second": 1. / 86400,
	"seconds": 1. / 86400,
}

// findSeries finds out whether the rows are a series in time: time stamps, or a
// column that its name or Spec.Time calls time and that ascends in steps that are
// nearly equal. Metres are never taken for it.
func (d *Dataset) findSeries(s *Spec) error {
	asked := s.Time == "yes"
	switch {
	case asked && d.Dim != 1:
		return fmt.Errorf("%s: data.time = \"yes\", but there are %d inputs; name the one that is time (data.inputs)", d.file(), d.Dim)
	case s.Time == "no" || d.Dim != 1 || d.Source == "synthetic" && !asked:
		return nil
	}
	in := &d.Inputs[0]
	x := d.X[:d.decisive()]
	ascends := slices.IsSorted(x)
	if !ascends {
		x = slices.Clone(x)
		slices.Sort(x)
	}
	step, regular := typicalStep(x)
	if step == 0 {
		if asked && s.Group == "" { // a series of many is left out by who forecasts them
			return fmt.Errorf("%s: data.time = \"yes\", but %s is %v in all rows", d.file(), quoteText(in.Name), x[0])
		}
		return nil
	}
	word, unit := timeWord(in.Name)
	if !asked && !in.Time && !(word != "" && ascends && regular && !calendarNumbers(x)) {
		if ascends && regular && len(x) >= evenRows {
			d.Notices = append(d.Notices, fmt.Sprintf("%s rises in even steps: if it is time, data.time = \"yes\" makes forecasts of it",
				quoteText(in.Name)))
		}
		return nil
	}
	if in.Unit != "" {
		unit = in.Unit
	}
	series := &Series{Step: step, Season: 1, days: daysPerUnit(unit, word, step, x)}
	if s.Season > 1 {
		series.Season, series.Seasons = s.Season, []float64{float64(s.Season) * step}
	} else if s.Season == 0 && regular && series.days > 0 {
		series.calendar(x[len(x)-1] - x[0])
	}
	if s.Cycle > 0 {
		series.Cycle = s.Cycle * step
	}
	d.Series = series
	return nil
}

// words say which seasons there are.
func (s *Series) words() string {
	if len(s.Seasons) == 0 && s.Cycle > 0 {
		return fmt.Sprintf("; a cycle of %.4g steps", s.Cycle/s.Step)
	}
	if len(s.Seasons) == 0 {
		return "; no season is known of it"
	}
	text := fmt.Sprintf("; a season of %s", plural(s.Season, "step"))
	for _, v := range s.Seasons[1:] {
		text += fmt.Sprintf(", one of %.6g", v/s.Step)
	}
	if s.Cycle > 0 {
		text += fmt.Sprintf("; a cycle of %.4g", s.Cycle/s.Step)
	}
	return text
}

// CycleText is how long the series' cycle is, "30.0 days", or in steps where the unit of its time is not known.
func (s *Series) CycleText() string {
	if s.days > 0 {
		return HumanDuration(s.Cycle * s.days * secondsPerDay)
	}
	return fmt.Sprintf("%.3g steps", s.Cycle/s.Step)
}

// DaysOf returns how many days a unit of time has, by its sign or its word; 0 of what is
// none.
func DaysOf(unit string) float64 {
	if days := baseline.Days(unit); days > 0 {
		return days
	}
	return daysOf[strings.ToLower(unit)]
}

// Days returns how many days the unit of input j has, 0 if it is not known to be one of
// time.
func (d *Dataset) Days(j int) float64 {
	in := &d.Inputs[j]
	_, unit := timeWord(in.Name)
	switch {
	case in.Unit != "":
		return DaysOf(in.Unit)
	case j == 0 && d.Series != nil && d.Series.days > 0:
		return d.Series.days
	}
	return DaysOf(unit)
}

// typicalStep is the mean of the steps that are near their median, and whether
// most are. x ascends.
func typicalStep(x []float64) (step float64, regular bool) {
	var steps []float64
	for i := 1; i < len(x); i += 1 + len(x)/mostSteps {
		if x[i] > x[i-1] {
			steps = append(steps, x[i]-x[i-1])
		}
	}
	if len(steps) == 0 {
		return 0, false
	}
	slices.Sort(steps)
	median := steps[len(steps)/2]
	sum, near := 0.0, 0
	for _, v := range steps {
		if math.Abs(v-median) <= stepsOff*median {
			sum += v
			near++
		}
	}
	return sum / float64(near), float64(near) >= regularSteps*float64(len(steps))
}

// timeWord is the word of a column's name by which it is time, and the unit that
// stands behind it in brackets; "" if there is none. What has a unit of something else
// is no time: "T (C)".
func timeWord(name string) (word, unit string) {
	name = strings.ToLower(name)
	plain := name
	if i := strings.IndexAny(name, "(["); i >= 0 {
		plain, unit = name[:i], strings.Trim(name[i:], " ()[]")
		if baseline.Days(unit) == 0 && daysOf[unit] == 0 && !slices.Contains(timeZones, unit) {
			return "", ""
		}
	}
	for _, w := range strings.FieldsFunc(plain, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if slices.Contains(timeWords, w) {
			return w, unit
		}
	}
	return "", ""
}

// timeZones may stand in brackets behind time.
var timeZones = []string{"utc", "gmt", "local", "cet", "cest", "est", "pst"}

// calendarNumbers reports whether numbers are dates run together, 202401 or 20240131,
// which do not count time.
func calendarNumbers(x []float64) bool {
	month := func(v float64) bool { m := math.Mod(v, 100); return m >= 1 && m <= 12 }
	day := func(v float64) bool { d := math.Mod(v, 100); return d >= 1 && d <= 31 && month(math.Floor(v/100)) }
	all := func(low, high float64, of func(float64) bool) bool {
		return !slices.ContainsFunc(x, func(v float64) bool { return v != math.Floor(v) || v < low || v > high || !of(v) })
	}
	return all(100001, 299912, month) || all(10000101, 29991231, day)
}

// daysPerUnit is how many days a unit of a column has, 0 if that cannot be told: by
// its unit, its name, or because its steps are an even part of a year or a day. x
// ascends.
func daysPerUnit(unit, word string, step float64, x []float64) float64 {
	for _, days := range []float64{baseline.Days(unit), daysOf[unit], daysOf[word]} {
		if days > 0 {
			return days
		}
	}
	parts := math.Round(1 / step)
	first, last := x[0], x[len(x)-1]
	switch {
	case math.Abs(1/step-parts) > 0.01*parts:
	case parts == 12 || parts == 52, parts == 4 && (first >= 1000 && last <= 3000 || last-first <= quarterlyYears):
		return year // "1949.083", whatever its name
	case slices.Contains([]float64{24, 48, 96, 144, 288, 1440}, parts):
		return 1
	}
	return 0
}

// calendar finds the seasons of a series by its step: of months, quarters and weeks
// a year, of days a week and a year, of parts of a day a day, too; those that at least
// two have been seen of. span is in the unit of X.
func (s *Series) calendar(span float64) {
	step := s.Step * s.days
	if len(baseline.Seasons(step)) == 0 {
		return
	}
	for _, days := range []float64{1, 7, year} {
		if days >= 2*step*(1-stepsOff) && span*s.days >= 2*days && !(days == 7 && step > 3) {
			s.Seasons = append(s.Seasons, days/s.days)
		}
	}
	if len(s.Seasons) > 0 {
		s.Season = int(math.Round(s.Seasons[0] / s.Step))
	}
}

// Rhythm is when in a day, a week or a year the training rows of a series are high and
// when low, each beside the mean of a whole one about it; of a day the middle of the parts
// that cannot be told from the extreme one.
type Rhythm struct {
	Every string `json:"every"` // "day", "week", "year"
	High  string `json:"high"`  // such as "18:00", "Saturday", "July"
	Low   string `json:"low"`
}

// rhythms are those that rows can show: of so many seconds, in parts with names, of which
// a step between rows must be no more than step.
var rhythms = []struct {
	every         string
	seconds, step float64
	part          func(local time.Time) (int, string)
}{
	{"day", secondsPerDay, secondsPerDay / 4, func(t time.Time) (int, string) { return t.Hour(), fmt.Sprintf("%02d:00", t.Hour()) }},
	{"week", 7 * secondsPerDay, 1.1 * secondsPerDay, func(t time.Time) (int, string) { return int(t.Weekday()), t.Weekday().String() }},
	{"year", 365.2425 * secondsPerDay, 32 * secondsPerDay, func(t time.Time) (int, string) { return int(t.Month()), t.Month().String() }},
}

// clock is the zone of the time that the first input is read as.
func (d *Dataset) clock() *time.Location {
	if d.calendar != nil && d.calendar.zone != nil {
		return d.calendar.zone
	}
	return d.Inputs[0].zone()
}

// Part is a part of a day, a week or a year, and which of some values lie in it.
type Part struct {
	Name string // as in Rhythm
	Of   []int
}

// Parts divides values of the first input among the parts of what repeats every so many
// seconds, in the order of these parts; there are none where that is no day, week or year
// within 1 %, where the input is not known to hold time stamps of one zone, or where there
// are fewer than three.
func (d *Dataset) Parts(seconds float64, values []float64) (parts []Part) {
	in := &d.Inputs[0]
	if !in.Time || d.offsets != nil || in.form.layout == "" && in.several == nil {
		return nil
	}
	for _, k := range rhythms {
		if math.Abs(seconds/k.seconds-1) > 0.01 {
			continue
		}
		zone, found := d.clock(), map[int]*Part{}
		for i, v := range values {
			at, name := k.part(in.At(v).In(zone))
			if found[at] == nil {
				found[at] = &Part{Name: name}
			}
			found[at].Of = append(found[at].Of, i)
		}
		if len(found) < 3 {
			return nil
		}
		for _, at := range slices.Sorted(maps.Keys(found)) {
			parts = append(parts, *found[at])
		}
		return parts
	}
	return nil
}

// part is one of a rhythm, with what rows are beside the mean of a whole one about them.
type part struct {
	name            string
	n, sum, squares float64
}

func (p *part) mean() float64 { return p.sum / p.n }

// variance is that of the mean.
func (p *part) variance() float64 { return max(0, p.squares-p.sum*p.sum/p.n) / (p.n - 1) / p.n }

// error is the standard error of the difference of two means.
func (p *part) error(q *part) float64 { return math.Sqrt(p.variance() + q.variance()) }

// alikeErrors is by fewer than how many standard errors two parts of a day are alike.
const alikeErrors = 2

// middle is the part in the middle of those next to an extreme one that cannot be told from it, of a circle: which hour
// of a rounded peak is the highest is chance.
func middle(parts map[int]*part, extreme *part) *part {
	order := slices.Sorted(maps.Keys(parts))
	n := len(order)
	first := slices.IndexFunc(order, func(at int) bool { return parts[at] == extreme })
	next := func(by int) *part { return parts[order[(first+by+n)%n]] }
	alike := func(by int) bool {
		return math.Abs(next(by).mean()-extreme.mean()) < alikeErrors*next(by).error(extreme)
	}
	from, to := 0, 0
	for to < n/4 && alike(to+1) {
		to++
	}
	for from > -n/4 && alike(from-1) {
		from--
	}
	return next(int(math.Floor(float64(from+to) / 2)))
}

// surelyApart is by how many standard errors the highest part and the lowest must differ.
const surelyApart = 4

// rhythms finds when a series of time stamps in one zone is high and low.
func (d *Dataset) rhythms() (out []Rhythm) {
	if d.Series == nil || !d.Inputs[0].Time || d.offsets != nil {
		return nil
	}
	in, zone := &d.Inputs[0], d.clock()
	rows := slices.Clone(d.Train)
	slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(d.X[int(a)*d.Dim], d.X[int(b)*d.Dim]) })
	times, sums := make([]float64, len(rows)), make([]float64, len(rows)+1) // sums of the targets before a row
	for i, r := range rows {
		times[i], sums[i+1] = in.Seconds(d.X[int(r)*d.Dim]), sums[i]+d.Y[r]
	}
	for _, k := range rhythms {
		if len(rows) == 0 || in.Seconds(d.Series.Step) > k.step || times[len(rows)-1]-times[0] < 2*k.seconds {
			continue
		}
		parts := map[int]*part{}
		from, to := 0, 0
		for i, r := range rows {
			for times[i]-times[from] > k.seconds/2 {
				from++
			}
			for to < len(rows) && times[to]-times[i] < k.seconds/2-1e-6*k.seconds {
				to++
			}
			if times[i]-times[0] < k.seconds/2 || times[len(rows)-1]-times[i] < k.seconds/2 {
				continue // no whole one is about it
			}
			at, name := k.part(in.At(d.X[int(r)*d.Dim]).In(zone))
			if parts[at] == nil {
				parts[at] = &part{name: name}
			}
			v := d.Y[r] - (sums[to]-sums[from])/float64(to-from)
			parts[at].n, parts[at].sum, parts[at].squares = parts[at].n+1, parts[at].sum+v, parts[at].squares+v*v
		}
		var high, low *part
		whole := len(parts) >= 3
		for _, at := range slices.Sorted(maps.Keys(parts)) {
			p := parts[at]
			whole = whole && p.n >= 2
			if high == nil || p.mean() > high.mean() {
				high = p
			}
			if low == nil || p.mean() < low.mean() {
				low = p
			}
		}
		if !whole {
			continue
		}
		if high.mean()-low.mean() > surelyApart*high.error(low) {
			if k.every == "day" {
				high, low = middle(parts, high), middle(parts, low)
			}
			out = append(out, Rhythm{k.every, high.name, low.name})
		}
	}
	return out
}
