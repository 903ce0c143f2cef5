package datasets

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// readBothWays loads a table and reads it as points to predict at, too, in blocks,
// and fails if these differ.
func readBothWays(t *testing.T, text string, s Spec) *Dataset {
	t.Helper()
	s.Path = writeFile(t, "data.csv", text)
	d, err := Load(context.Background(), s)
	if err != nil {
		t.Errorf("%q: %v", text, err)
		return &Dataset{}
	}
	p, _, err := readPoints(t, 2, s, d)
	if err != nil || !equalFloats(p.X, d.X) || !equalFloats(p.Y, d.Y) {
		t.Errorf("%q: as points: %+v, %v; the data are %v %v", text, p, err, d.X, d.Y)
	}
	return d
}

// TestWritings reads the numbers 1234.5 and 0.25 as many countries write them.
func TestWritings(t *testing.T) {
	for _, c := range []struct {
		about, text string
		spec        Spec
		notice      string
	}{
		{"German", "x;y\n1.234,5;1\n0,25;2\n", Spec{}, `the comma is the decimal sign: "1.234,5" is read as 1234.5`},
		{"without thousands", "x;y\n1234,5;1\n,25;2\n", Spec{}, `the comma is the decimal sign: "1234,5" is read as 1234.5`},
		{"tabs, exponents", "x\ty\n+1,2345E+3\t1\n25e-2\t2\n", Spec{}, `the comma is the decimal sign: "+1,2345E+3" is read as +1.2345e+3`},
		{"French", "x;y\n1\u202f234,5;1\n0,25;2\n", Spec{}, `the comma is the decimal sign: "1\u202f234,5" is read as 1234.5`},
		{"French in Latin-1", "x;y\n1\xa0234,5;1\n0,25;2\n", Spec{}, `the comma is the decimal sign: "1\xa0234,5" is read as 1234.5`},
		{"Swiss", "x;y\n1'234.5;1\n.25;2\n", Spec{}, ""},
		{"Swiss, typeset", "x;y\n1\u2019234.5;1\n.25;2\n", Spec{}, ""},
		{"British in semicolons", "x;y\n1,234.5;1\n.25;2\n", Spec{}, `commas divide thousands: "1,234.5" is read as 1234.5`},
		{"British in quotes", "x,y\n\"1,234.5\",1\n.25,2\n", Spec{}, `commas divide thousands: "1,234.5" is read as 1234.5`},
		{"German in quotes, by the config", "x,y\n\"1.234,5\",1\n\"0,25\",2\n", Spec{Decimal: ","}, ""},
		{"by the config", "x;y\n1234,5;1\n0,25;2\n", Spec{Decimal: ","}, ""},
	} {
		c.spec.Inputs = []string{"x"}
		d := readBothWays(t, c.text, c.spec)
		var want []string
		if c.notice != "" {
			want = []string{c.notice}
		}
		if !equalFloats(d.X, []float64{1234.5, 0.25}) || !slices.Equal(d.Notices, want) {
			t.Errorf("%s: %v, %q", c.about, d.X, d.Notices)
		}
	}
}

// Three digits behind a comma throughout are decimals, which at worst is another
// unit, but those of a run go for the points it predicts at.
func TestThreeDigitsBehindTheComma(t *testing.T) {
	d := readBothWays(t, "t;load\n2024-01-01;51,883\n2024-01-02;49,120\n", Spec{})
	if !equalFloats(d.Y, []float64{51.883, 49.12}) || len(d.Notices) != 1 || !strings.Contains(d.Notices[0], `set decimal = "."`) {
		t.Errorf("%v %q", d.Y, d.Notices)
	}
	if d := readBothWays(t, "t;load\n1;51,883\n2;987\n", Spec{Decimal: "."}); !equalFloats(d.Y, []float64{51883, 987}) {
		t.Errorf("%v", d.Y)
	}
	// The first 200 rows could be of either sign, those below tell.
	many := strings.Repeat("1;51,883\n1;12\n", 150) + "1;51,5\n"
	if d := readBothWays(t, "t;load\n"+many, Spec{Inputs: []string{"t"}, StandardiseX: "none"}); d.N() != 301 || d.Y[0] != 51.883 {
		t.Errorf("%d rows", d.N())
	}
	for training, want := range map[string]float64{"x;y\n1,5;1\n2;2\n": 1.234, "x;y\n1.5;1\n2;2\n": 1234} {
		like := loadText(t, training, Spec{})
		p, _, err := readPoints(t, 5, Spec{Path: writeFile(t, "new.csv", "x;y\n1,234;1\n987;2\n")}, like)
		if err != nil || !equalFloats(p.X, []float64{want, 987}) {
			t.Errorf("%q: %+v, %v", training, p, err)
		}
	}
}

// Points that could be of either sign are not read in silence.
func TestThreeDigitsBehindThePoint(t *testing.T) {
	const taken, divide = `the point is taken for the decimal sign: "1.230" is read so; if it divides thousands, set decimal = ","`,
		`points divide thousands: "1.230" is read as 1230`
	for _, c := range []struct {
		text, decimal string
		want          float64
		notice        string
	}{
		{"x;y\n1.230;1\n987;2\n", "", 1.23, taken},
		{"x\ty\n1.230\t1\n987\t2\n", "", 1.23, taken},
		{"x;y\n1.230;1\n987;2\n", ",", 1230, ""},
		{"x;y\n1.230;1\n987;2\n", ".", 1.23, ""},
		{"x;y\n1.230;1,5\n987;2\n", "", 1230, divide},
		{"x;y\n1.230;1.5\n987;2\n", "", 1.23, ""},
		{"x;y\n1.230;1\n987.5;2\n", "", 1.23, ""},
		{"x;y\n1.230;1\n2.345;2\n", "", 1.23, ""},
		{"x,y\n1.230,1\n987,2\n", "", 1.23, ""},
		{"x;y\n" + strings.Repeat("1.230;1\n987;2\n", 150) + "1.5;2\n", "", 1.23, ""},
	} {
		d := readBothWays(t, c.text, Spec{Inputs: []string{"x"}, Decimal: c.decimal})
		said := ""
		for _, n := range d.Notices {
			if strings.Contains(n, "1.230") {
				said += n
			}
		}
		if len(d.X) == 0 || d.X[0] != c.want || said != c.notice {
			t.Errorf("%.40q, decimal %q: %v, %q", c.text, c.decimal, d.X, d.Notices)
		}
	}
}

// Numbers that stand for missing values are those of the table, however it and the
// user write them.
func TestMissingAsWritten(t *testing.T) {
	for _, missing := range []string{"-999,9", "-999.9"} {
		d := readBothWays(t, "x;y\n1,5;1\n-999,9;2\n2,5;3\n4,5;4\n", Spec{Missing: []string{missing}})
		if !equalFloats(d.X, []float64{1.5, 2.5, 4.5}) {
			t.Errorf("missing %q: %v", missing, d.X)
		}
	}
	text := "x;y\n1,5;1\n-9.999;2\n2,5;3\n4,5;4\n"
	if d := readBothWays(t, text, Spec{Missing: []string{"-9999"}}); !equalFloats(d.X, []float64{1.5, 2.5, 4.5}) {
		t.Errorf("%v", d.X)
	}
}

// Who predicts learns how the new table is read.
func TestPointsTellHowTheyAreRead(t *testing.T) {
	like := loadText(t, "x;y\n1.5;1\n2;2\n", Spec{})
	p, err := OpenPoints(t.Context(), Spec{Path: writeFile(t, "new.csv", "x;z\n1,234;1\n987;2\n")}, like)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got := p.Notices(); !slices.Equal(got, []string{`commas divide thousands: "1,234" is read as 1234`}) {
		t.Errorf("%q", got)
	}
}

// What is no number divided by thousands stays none.
func TestNoDividedNumbers(t *testing.T) {
	for _, text := range []string{"1,23,456", "12345,678.5", "1,2345", "0,123", ",123", "1,234,5",
		"1'234,567", "1''234", "1,234.5.6", "1,234 ", "-", "+", "1e", "1,e5", "1,234-5", "1.5,000"} {
		w := writing{decimal: '.', sure: true}
		got := w.plain([]byte(text), nil)
		if want := map[string]string{"1,234 ": "1234"}[text]; string(got) != want {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}

// TestLocalStampsAgreeWithTimePackage writes instants in the forms of several
// countries.
func TestLocalStampsAgreeWithTimePackage(t *testing.T) {
	for _, order := range []dateOrder{dayFirst, monthFirst} {
		c := &cells{writing: writing{dates: order}}
		layouts := []string{"2-Jan-06", "02-Jan-2006 15:04", "2 January 2006", "2/Jan/2006 15:04:05",
			"2.1.2006 15:04", "02.01.2006 15:04", "2006-01-02 3:04 PM", "2006-01-02 15:04"}
		if order == dayFirst {
			layouts = append(layouts, "2/1/2006", "02/01/2006 15:04", "02-01-2006 15:04:05", "2/1/2006 3:04 PM", "2/1/2006 15:04Z")
		} else {
			layouts = append(layouts, "1/2/2006", "01/02/2006 15:04", "01-02-2006 15:04:05", "1/2/2006 3:04:05PM", "1/2/2006 15:04-07:00")
		}
		for n := range 2000 {
			at := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 12_345_678 * time.Second / 14)
			for _, layout := range layouts {
				text := at.Format(layout)
				want, err := time.Parse(layout, text)
				if err != nil {
					t.Fatal(err)
				}
				if got, ok := c.stamp([]byte(text)); !ok || got != want.UnixMicro() {
					t.Fatalf("%q: %v, %v", text, time.UnixMicro(got).UTC(), ok)
				}
			}
		}
	}
	c := &cells{writing: writing{dates: dayFirst}}
	for _, text := range []string{
		"1/2/24", "24/01/31", "31.1.24", "01/31/2024", "1/2-2024", "1-Foo-24", "1-Jan-024", "1 2 2024", "2024-01-31 7", "1/2/2024 13:00 PM",
		"1/2/2024 0:30 AM", "1/2/2024 7:30 XM",
		"30-Feb-24", "1/2/2024x", "07:30", "1.Jan.2024", "1/2/", "1-Jan", "100/1/2024",
	} {
		if us, ok := c.stamp([]byte(text)); ok {
			t.Errorf("%q is read as %v", text, time.UnixMicro(us).UTC())
		}
	}
	c.dates = orderUnknown
	if _, ok := c.stamp([]byte("13/02/2024")); ok {
		t.Error("a date is read before the order of the table is known")
	}
}

// The order of day and month is that which one date of the sample shows, and that
// of the training data for points.
func TestDayAndMonth(t *testing.T) {
	var rows strings.Builder
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range 96 * 14 { // the 13th comes far below the first 200 rows
		fmt.Fprintf(&rows, "%s,%d\n", at.Add(time.Duration(n)*15*time.Minute).Format("1/2/2006 15:04"), n)
	}
	d := readBothWays(t, "when,y\n"+rows.String(), Spec{})
	if len(d.X) != 96*14 || d.X[1] != 900 || d.X[96*14-1] != (96*14-1)*900 || !d.Inputs[0].Origin.Equal(at) {
		t.Fatalf("%+v", d.Inputs)
	}
	if want := []string{`dates such as "1/1/2024 00:00" are read as month, day, year`}; !slices.Equal(d.Notices, want) {
		t.Errorf("%q", d.Notices)
	}
	p, _, err := readPoints(t, 5, Spec{Path: writeFile(t, "new.csv", "when\n1/2/2024\n")}, d)
	if err != nil || !equalFloats(p.X, []float64{86400}) {
		t.Errorf("%+v, %v", p, err)
	}
	p, _, err = readPoints(t, 5, Spec{Path: writeFile(t, "new.csv", "when,y\n1/2/2024,5\n")}, d)
	if err != nil || !equalFloats(p.X, []float64{86400}) {
		t.Errorf("%+v, %v", p, err)
	}
	d = readBothWays(t, "when,y\n31/12/2023,1\n1/1/2024,2\n", Spec{})
	if !equalFloats(d.X, []float64{0, 86400}) {
		t.Errorf("%v", d.X)
	}
	d = loadText(t, "x,when,y\n3,1/2/2024,1\n4,1/1/2024,2\n", Spec{})
	if want := []string{`column 2 ("when") holds text and is no input: "1/2/2024" does not tell day from month, ` +
		`and no date in the first rows does; write 2024-01-31`}; d.Dim != 1 || !slices.Equal(d.Notices, want) {
		t.Errorf("%q", d.Notices)
	}
}
