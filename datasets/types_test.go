package datasets

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// daysTable has a column of every type: days, numbers, few whole ones, flags as text and
// as numbers, levels, and a text that each row has its own of.
func daysTable(rows int) string {
	var b strings.Builder
	b.WriteString("date,temperature,room,open,sunday,day,note,y\n")
	for i := range rows {
		day := "weekday"
		if i%7 > 4 {
			day = "weekend"
		}
		fmt.Fprintf(&b, "2024-%02d-%02d,%.2f,%d,%t,%d,%s,note %d,%d\n", 1+i/28, 1+i%28, 3+float64(i*37%100)/9, 1+i%5, i%3 > 0, (i/7)%2,
			day, i, i%13)
	}
	return b.String()
}

func TestColumnTypes(t *testing.T) {
	typesOf := func(d *Dataset) (out []string) {
		for _, c := range d.Inputs {
			out = append(out, c.Name+" "+c.Type)
		}
		return out
	}
	d := loadText(t, daysTable(200), Spec{Target: "y"})
	want := []string{"date time", "temperature number", "room few", "open flag", "sunday flag", "day levels"}
	if got := typesOf(d); !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	if !slices.ContainsFunc(d.Notices, func(n string) bool {
		return strings.Contains(n, `"note") holds text, 200 different ones in 200 rows, and is no input`)
	}) {
		t.Errorf("a text that nobody shares: %q", d.Notices)
	}
	if open, day := d.Inputs[3], d.Inputs[5]; !slices.Equal(open.Levels, []string{"false", "true"}) ||
		!slices.Equal(day.Levels, []string{"weekday", "weekend"}) || d.Row(0)[3] != 0 || d.Row(1)[3] != 1 ||
		day.Format(d.Row(5)[5]) != "weekend" {
		t.Errorf("%q, %q; rows %v, %v", open.Levels, day.Levels, d.Row(0), d.Row(1))
	}

	d = loadText(t, daysTable(200), Spec{Target: "y", Types: map[string]string{"room": "levels", "sunday": "number", "day": "text"}})
	want = []string{"date time", "temperature number", "room levels", "open flag", "sunday number"}
	if got := typesOf(d); !slices.Equal(got, want) || !slices.Equal(d.Inputs[2].Levels, []string{"1", "2", "3", "4", "5"}) {
		t.Errorf("as stated: %q, levels %q", got, d.Inputs[2].Levels)
	}

	// A series in time with remarks stays one, unless the remarks are asked for.
	series := "date,remark,y\n"
	for i := range 56 {
		series += fmt.Sprintf("2024-%02d-%02d,%s,%d\n", 1+i/28, 1+i%28, []string{"a", "b"}[i%2], i%5)
	}
	if d := loadText(t, series, Spec{}); d.Dim != 1 || d.Series == nil {
		t.Errorf("a series with remarks has %d inputs", d.Dim)
	}
	if d := loadText(t, series, Spec{Types: map[string]string{"remark": "levels"}}); d.Dim != 2 {
		t.Errorf("a text that is asked for makes %d inputs", d.Dim)
	}

	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Inputs: []string{"temperature", "note"}, Target: "y"}, `column 7 ("note") has 200 different texts in 200 rows: too many`},
		{Spec{Types: map[string]string{"rooms": "levels"}}, `types: data.csv: there is no column "rooms"; did you mean "room"?`},
		{Spec{Types: map[string]string{"room": "level"}}, `types = "level": allowed are`},
		{Spec{Inputs: []string{"note"}, Types: map[string]string{"note": "text"}}, `is an input, but by data.types text`},
	} {
		c.spec.Path = writeFile(t, "data.csv", daysTable(200))
		if _, err := Load(context.Background(), c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, not %q", c.spec, err, c.want)
		}
	}
}

// Levels of a table to predict at are those of the training rows, whatever their order
// there, also by way of a template; others are like none of them, and told.
func TestLevelsOfPoints(t *testing.T) {
	d := loadText(t, daysTable(200), Spec{Target: "y"})
	again, err := d.Template().Dataset()
	if err != nil {
		t.Fatal(err)
	}
	text := "day,open,sunday,room,temperature,date\nweekend,TRUE,0,1,4,2024-03-01\n" +
		"holiday,true,0,1,4,2024-03-01\nweekday,false,1,1,4,2024-03-01\n"
	for _, like := range []*Dataset{d, again} {
		p, err := OpenPoints(context.Background(), Spec{Path: writeFile(t, "new.csv", text)}, like)
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.Next(context.Background(), 10)
		if err != nil {
			t.Fatal(err)
		}
		day := column(b.X, b.Dim, 5)
		if !slices.Equal(day, []float64{1, 2, 0}) || !slices.Equal(column(b.X, b.Dim, 3), []float64{1, 1, 0}) {
			t.Errorf("days %v, open %v", day, column(b.X, b.Dim, 3))
		}
		if n := p.Notices(); len(n) != 1 || !strings.Contains(n[0], `column "day": no training row has "holiday"`) {
			t.Errorf("notices %q", n)
		}
		if got := like.Inputs[5].Format(2); got != "(unknown)" {
			t.Errorf("a level that is not known is %q", got)
		}
		p.Close()
	}
}

// What columns are is said by the first rows: others that come later, with levels of their
// own, move no number of a row that was there.
func TestLevelsOfATableThatGrows(t *testing.T) {
	var b strings.Builder
	b.WriteString("u,v,open,kind,y\n")
	for i := range 160 {
		fmt.Fprintf(&b, "%d,%d,%t,k%d,%d\n", i*i%97, i*5%31, i%3 == 0, i%20, i%13)
	}
	first := b.String()
	more := first + "3,4,perhaps,k77,5\n9,9,TRUE,k78,1\n"
	a := loadText(t, first, Spec{Target: "y"})
	c := loadText(t, more, Spec{Target: "y", FirstRows: 160})
	if a.Dim != c.Dim || !slices.Equal(a.X, c.X[:len(a.X)]) {
		t.Fatalf("%d inputs, now %d; %q and %q", a.Dim, c.Dim, a.Inputs[2].Levels, c.Inputs[2].Levels)
	}
	if open := c.Inputs[2]; open.Type != TypeFlag || !slices.Equal(open.Levels, []string{"false", "true", "perhaps"}) || c.Row(161)[2] != 1 {
		t.Errorf("%s %q, the last row %v", open.Type, open.Levels, c.Row(161))
	}
}

// Texts are found again by the names of their levels, those of a flag in any case, also where
// others have come behind them.
func TestLevelsAreFoundAgain(t *testing.T) {
	for _, c := range []struct {
		names []string
		text  string
		want  int
	}{
		{[]string{"false", "true"}, "TRUE", 1}, {[]string{"false", "true", "perhaps"}, "TRUE", 1},
		{[]string{"false", "true", "perhaps"}, "Perhaps", 2},
		{[]string{"yes", "no", "Yes"}, "Yes", 2}, {[]string{"a", "b"}, "A", 2},
	} {
		l := newLevels(c.names)
		if got := l.add(c.text); got != c.want {
			t.Errorf("%q of %q is %d, not %d", c.text, c.names, got, c.want)
		}
	}
}
