package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// loadSeries loads rows whose input of a name is at(i), and returns what is found.
func loadSeries(t *testing.T, name string, rows int, at func(i int) string, s Spec) *Dataset {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s,y\n", name)
	for i := range rows {
		fmt.Fprintf(&b, "%s,%d\n", at(i), i*i%17)
	}
	return loadText(t, b.String(), s)
}

func steps(step float64) func(int) string {
	return func(i int) string { return fmt.Sprintf("%.10g", 1960+step*float64(i)) }
}

func fromZero(step float64) func(int) string {
	return func(i int) string { return fmt.Sprintf("%.10g", step*float64(i)) }
}

// What is time, and what is not; which seasons the calendar has of it, of those that
// have been seen twice.
func TestSeries(t *testing.T) {
	months := func(i int) string { return fmt.Sprintf("%d-%02d-01", 2010+i/12, 1+i%12) }
	hours := func(i int) string { return fmt.Sprintf("2024-01-%02d %02d:00", 1+i/24, i%24) }
	runTogether := func(i int) string { return fmt.Sprintf("%d%02d", 2010+i/12, 1+i%12) }
	rounded := func(i int) string { return fmt.Sprintf("%.2f", 1949+float64(i)/12) }
	for _, c := range []struct {
		what, name string
		rows       int
		at         func(int) string
		time       string
		is         bool
		season     int
		seasons    []float64
	}{
		{"months", "when", 60, months, "", true, 12, []float64{365.25 * 86400}},
		{"a year of months", "when", 13, months, "", true, 1, nil},
		{"hours", "when", 24 * 20, hours, "", true, 24, []float64{86400, 7 * 86400}},
		{"hours of a week", "when", 24 * 7, hours, "", true, 24, []float64{86400}},
		{"decimal years", "year", 60, steps(1. / 12), "", true, 12, []float64{1}},
		{"rounded ones", "year", 60, rounded, "", true, 12, []float64{1}},
		{"years from the first row", "t", 40, fromZero(0.25), "", true, 4, []float64{1}},
		{"quarters of an hour", "hours", 400, fromZero(0.25), "", true, 96, []float64{24}},
		{"seconds of a signal", "time", 4000, fromZero(0.25), "", true, 1, nil},
		{"days", "day", 100, fromZero(1), "", true, 7, []float64{7}},
		{"years", "year", 100, steps(1), "", true, 1, nil},
		{"weeks", "weeks", 150, fromZero(1), "", true, 52, []float64{365.25 / 7}},
		{"a unit in brackets", "time (h)", 24 * 4, fromZero(1), "", true, 24, []float64{24}},
		{"metres", "x", 60, fromZero(1), "", false, 0, nil},
		{"metres that are said to be time", "x", 60, fromZero(1), "yes", true, 1, nil},
		{"a temperature", "T (C)", 60, fromZero(10), "", false, 0, nil},
		{"an age", "age (years)", 60, fromZero(1), "", false, 0, nil},
		{"months run together", "month", 60, runTogether, "", false, 0, nil},
		{"time that is denied", "when", 60, months, "no", false, 0, nil},
		{"uneven steps", "time", 60, func(i int) string { return fmt.Sprint(i * i * i) }, "", false, 0, nil},
	} {
		s := loadSeries(t, c.name, c.rows, c.at, Spec{Time: c.time}).Series
		if s == nil || !c.is {
			if (s != nil) != c.is {
				t.Errorf("%s: %+v", c.what, s)
			}
			continue
		}
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6*b }
		if s.Season != c.season || !slices.EqualFunc(s.Seasons, c.seasons, near) {
			t.Errorf("%s: season %d, %v, want %d, %v", c.what, s.Season, s.Seasons, c.season, c.seasons)
		}
	}
	if s := loadSeries(t, "x", 50, fromZero(2), Spec{Time: "yes", Season: 5}).Series; s.Season != 5 || math.Abs(s.Seasons[0]-10) > 1e-9 {
		t.Errorf("a season that is stated: %+v", s)
	}
	for text, want := range map[string]string{"a,b,y\n1,2,3\n2,3,4\n": "2 inputs", "x,y\n3,1\n3,2\n": "is 3 in all rows"} {
		if _, err := Load(t.Context(), Spec{Path: writeFile(t, "t.csv", text), Time: "yes"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The end of a series is held out, as many rows as were asked for, wherever a wrong
// time stamp lies; of other data rows at random.
func TestSeriesSplit(t *testing.T) {
	at := func(i int) string {
		if i == 0 {
			return "1970-01-01"
		}
		return fmt.Sprintf("2024-%02d-%02d", 1+i/28, 1+i%28)
	}
	d := loadSeries(t, "when", 100, at, Spec{TestFraction: 0.1})
	if d.SplitBy != "x" || len(d.Test) != 10 || slices.Min(d.Test) != 90 {
		t.Errorf("%s: %v", d.SplitBy, d.Test)
	}
	if d := loadSeries(t, "x", 100, fromZero(1), Spec{TestFraction: 0.1}); d.SplitBy != "random" || len(d.Test) != 10 {
		t.Errorf("%s: %v", d.SplitBy, d.Test)
	}
}

// Even steps of a column that nothing calls time are told of, unless somebody has said what it is.
func TestEvenStepsAreToldOf(t *testing.T) {
	uneven := func(i int) string { return fmt.Sprint(i * i) }
	for _, c := range []struct {
		name, time string
		rows       int
		at         func(int) string
		told       bool
	}{
		{"x", "", 60, fromZero(1), true}, {"x", "no", 60, fromZero(1), false}, {"x", "yes", 60, fromZero(1), false},
		{"day", "", 60, fromZero(1), false}, {"x", "", evenRows - 1, fromZero(1), false}, {"x", "", 60, uneven, false},
	} {
		d := loadSeries(t, c.name, c.rows, c.at, Spec{Time: c.time})
		if told := slices.ContainsFunc(d.Notices, func(n string) bool { return strings.Contains(n, "data.time") }); told != c.told {
			t.Errorf("%s, %q, %d rows: %q", c.name, c.time, c.rows, d.Notices)
		}
	}
}

// Of what is made to be high and low at a time that is found, on a rise that is larger;
// of noise, of rows too far apart and of less than two whole ones nothing is.
func TestRhythms(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 3))
	week := func(at time.Time) float64 {
		return map[time.Weekday]float64{time.Saturday: 4, time.Monday: -3}[at.Weekday()]
	}
	day := func(at time.Time) float64 { return map[int]float64{18: 5, 6: -5}[at.Hour()] }
	year := func(at time.Time) float64 { return map[time.Month]float64{time.July: 8, time.January: -8}[at.Month()] }
	for _, c := range []struct {
		what string
		rows int
		next func(time.Time) time.Time
		of   func(time.Time) float64
		want []Rhythm
	}{
		{"a week by days", 400, func(at time.Time) time.Time { return at.AddDate(0, 0, 1) }, week, []Rhythm{{"week", "Saturday", "Monday"}}},
		{"a day and a week by hours", 24 * 60, func(at time.Time) time.Time { return at.Add(time.Hour) },
			func(at time.Time) float64 { return day(at) + week(at) }, []Rhythm{{"day", "18:00", "06:00"}, {"week", "Saturday", "Monday"}}},
		{"a year by months", 96, func(at time.Time) time.Time { return at.AddDate(0, 1, 0) }, year, []Rhythm{{"year", "July", "January"}}},
		{"a year and a half by days", 540, func(at time.Time) time.Time { return at.AddDate(0, 0, 1) }, year, nil},
		{"noise", 400, func(at time.Time) time.Time { return at.AddDate(0, 0, 1) }, func(time.Time) float64 { return 0 }, nil},
	} {
		var b strings.Builder
		b.WriteString("when,y\n")
		at := time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
		for i := range c.rows {
			fmt.Fprintf(&b, "%s,%.4f\n", at.Format(time.RFC3339), 1000+50*float64(i)/float64(c.rows)+c.of(at)+rng.NormFloat64())
			at = c.next(at)
		}
		if got := Describe(loadText(t, b.String(), Spec{}), nil).Rhythms; !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// Values are divided by the clock of their stamps, and nothing is where the period is
// none of the calendar's, or nobody knows what clock the stamps are of.
func TestParts(t *testing.T) {
	stamps := func(zones ...string) string {
		var b strings.Builder
		b.WriteString("when,y\n")
		for i := range 28 {
			at := time.Date(2024, 1, 1, 23, 30, 0, 0, time.UTC).AddDate(0, 0, i)
			fmt.Fprintf(&b, "%s%s,%d\n", at.Format("2006-01-02T15:04:05"), zones[i%len(zones)], i*i%11)
		}
		return b.String()
	}
	for _, c := range []struct {
		what, text string
		seconds    float64
		want       int
		first      string
	}{
		{"a week", stamps("Z"), 7 * 86400, 7, "Sunday"},
		{"a week, nearly", stamps("Z"), 7 * 86400 * 1.005, 7, "Sunday"},
		{"a zone", stamps("+02:00"), 7 * 86400, 7, "Sunday"},
		{"two zones", stamps("+02:00", "+01:00"), 7 * 86400, 0, ""},
		{"five days", stamps("Z"), 5 * 86400, 0, ""},
		{"a month of a year", stamps("Z"), 365.25 * 86400, 0, ""},
		{"numbers", "when,y\n1,2\n2,5\n3,1\n4,4\n", 7 * 86400, 0, ""},
	} {
		d := loadText(t, c.text, Spec{})
		parts := d.Parts(c.seconds, d.Times(counted(d.N())))
		if len(parts) != c.want || len(parts) > 0 && parts[0].Name != c.first {
			t.Errorf("%s: %+v", c.what, parts)
			continue
		}
		for k, p := range parts { // the series begins on a Monday
			for _, i := range p.Of {
				if (i+1)%7 != k {
					t.Errorf("%s: row %d is a %s", c.what, i, p.Name)
				}
			}
		}
	}
}

// Of a rounded peak the hour whose mean is the highest is chance; the middle of those that cannot
// be told from it is the peak's.
func TestRhythmsOfARoundedPeak(t *testing.T) {
	rng, off := rand.New(rand.NewPCG(9, 1)), 0.0
	const tries = 20
	for range tries {
		var b strings.Builder
		b.WriteString("when,y\n")
		at := time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
		for range 24 * 30 {
			fmt.Fprintf(&b, "%s,%.4f\n", at.Format(time.RFC3339), math.Cos(2*math.Pi*float64(at.Hour()-16)/24)+rng.NormFloat64())
			at = at.Add(time.Hour)
		}
		all := Describe(loadText(t, b.String(), Spec{}), nil).Rhythms
		if len(all) != 1 || all[0].Every != "day" {
			t.Fatalf("rhythms %v", all)
		}
		for name, want := range map[string]int{all[0].High: 16, all[0].Low: 4} {
			var hour int
			if _, err := fmt.Sscanf(name, "%d:00", &hour); err != nil {
				t.Fatal(err)
			}
			off += math.Abs(float64(hour-want)) / (2 * tries)
		}
	}
	if off > 0.7 { // .95 by the highest ones
		t.Errorf("hours are off by %.2f on average", off)
	}
}

// On a grid a period is that of the values there: 7/3 and 7/2 days on whole days are a week, and
// longer ones are seen between the rows.
func TestOnGrid(t *testing.T) {
	for _, c := range []struct{ period, step, span, want float64 }{
		{7. / 3, 1, 300, 7}, {7. / 2, 1, 300, 7}, {2.3334, 1, 300, 7}, {1.75, 1, 300, 7}, {3, 1, 300, 3}, {2.9999, 1, 300, 3}, {7, 1, 300, 7},
		{10.5, 1, 300, 10.5}, {2.71828, 1, 1000, 2.71828}, {7. / 3 * 24, 24, 9000, 7 * 24}, {5, 0, 10, 5}, {0, 1, 10, 0},
	} {
		if got := OnGrid(c.period, c.step, c.span); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v on steps of %v over %v: %v, want %v", c.period, c.step, c.span, got, c.want)
		}
	}
	// What repeats with the period repeats at the grid with what is told of it.
	for _, period := range []float64{7. / 3, 7. / 2, 7. / 4, 5. / 3, 11. / 3} {
		told := OnGrid(period, 1, 200)
		for i := range 200 {
			a, b := float64(i), float64(i)+told
			if f := math.Sin(math.Pi * (b - a) / period); math.Abs(f) > 1e-9 {
				t.Fatalf("%v: not the same after %v", period, told)
			}
		}
	}
}
