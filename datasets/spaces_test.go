package datasets

import (
	"strings"
	"testing"
)

// Tables whose columns spaces divide are read without being told so.
func TestSpacesDivide(t *testing.T) {
	const at = "2024-01-31T07:"
	for name, c := range map[string]struct{ text, columns, first, last string }{
		"one space":          {"x y\n1 2\n3 4\n5 7\n", "x y", "1 2", "5 7"},
		"aligned":            {"     x      y\n     1    2.5\n    10   -3.5\n   100  14.25\n", "x y", "1 2.5", "100 14.25"},
		"no names":           {"  1  2\n 10 20\n  5  7\n", "c1 c2", "1 2", "5 7"},
		"tabs and spaces":    {"x \t y\n1\t  2\n2   3\n", "x y", "1 2", "2 3"},
		"names of words":     {"depth m   air temp    y\n1   2   3\n4   5   7\n", "depth m|air temp|y", "1 2 3", "4 5 7"},
		"quoted names":       {"\"the x\" y\n1 2\n2 3\n", "the x|y", "1 2", "2 3"},
		"quoted wide names":  {"\"the x\"   \"y\"\n1 2\n2 3\n", "the x|y", "1 2", "2 3"},
		"comments":           {"# by me, today\n# x y\n1 2\n# a remark\n2 3\n", "x y", "1 2", "2 3"},
		"names in a comment": {"#x y\n1 2\n2 3\n", "x y", "1 2", "2 3"},
		"comment, names":     {"\n# by me\n\n x y\n\n 1 2 \n 2 3 \n\n", "x y", "1 2", "2 3"},
		"units":              {"x y\ns mm\n1 2\n2 3\n", "x y", "1 2", "2 3"},
		"missing":            {"x y\n1 2\n2 NA\n3 4\n", "x y", "1 2", "3 4"},
		"text":               {"site x y\na 1 2\nb 2 3\n", "x y", "1 2", "2 3"},
		"decimal commas":     {"x y\n0,5 1,25\n1,5 2,5\n", "x y", "0.5 1.25", "1.5 2.5"},
		"commas, no names":   {"0,5 1,25\n1,5 2,5\n", "c1 c2", "0.5 1.25", "1.5 2.5"},
		"some commas":        {"0,5 1 7\n1,5 2,5 8\n", "c1 c2 c3", "0.5 1 7", "1.5 2.5 8"},
		"day and time":       {"time y\n2024-01-31 07:30 5\n2024-01-31 07:31 6\n", "time y", at + "30:00Z 5", at + "31:00Z 6"},
		"wide day and time":  {"2024-01-31   07:30   5\n2024-01-31  07:31 6\n", "c1 c2", at + "30:00Z 5", at + "31:00Z 6"},
		"names of both":      {"date time y\n31.01.2024 07:30 5\n31.01.2024 07:31 6\n", "date time|y", at + "30:00Z 5", at + "31:00Z 6"},
		"time of two words":  {"the time   y\n2024-01-31 07:30 5\n2024-01-31 07:31 6\n", "the time|y", at + "30:00Z 5", at + "31:00Z 6"},
		"am and pm":          {"t y\n01/31/2024 7:30 AM 5\n01/31/2024 7:31 am 6\n", "t y", at + "30:00Z 5", at + "31:00Z 6"},
		"day alone":          {"t y\n2024-01-30 5\n2024-01-31 6\n", "t y", "2024-01-30T00:00:00Z 5", "2024-01-31T00:00:00Z 6"},
		"time of day alone":  {"n d y\n1 2024-01-30 5\n2 2024-01-31 6\n", "n d y", "1 2024-01-30T00:00:00Z 5", "2 2024-01-31T00:00:00Z 6"},
	} {
		d := loadText(t, c.text, Spec{})
		var columns, first, last []string
		for j, in := range d.Inputs {
			columns = append(columns, in.Name)
			first = append(first, in.Format(d.Row(0)[j]))
			last = append(last, in.Format(d.Row(d.N() - 1)[j]))
		}
		columns = append(columns, d.Target.Name)
		first, last = append(first, d.Target.Format(d.Y[0])), append(last, d.Target.Format(d.Y[d.N()-1]))
		by := " "
		if strings.Contains(c.columns, "|") {
			by = "|"
		}
		if got := strings.Join(columns, by); got != c.columns {
			t.Errorf("%s: columns %q, want %q", name, got, c.columns)
		}
		if got := strings.Join(first, " "); got != c.first {
			t.Errorf("%s: first row %q, want %q", name, got, c.first)
		}
		if got := strings.Join(last, " "); got != c.last {
			t.Errorf("%s: last row %q, want %q", name, got, c.last)
		}
	}
}

// Spaces within the values of a table that something else divides do not divide
// it.
func TestSpacesDoNotDivide(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		columns int
	}{
		"stamps":                      {"when,y\n2024-01-31 07:30,5\n2024-01-31 07:31,6\n", 2},
		"stamps and commas at ends":   {"when,y\n2024-01-31 07:30,5,\n2024-01-31 07:31,6,\n", 2},
		"after commas":                {"x, y\n1, 2\n2, 3\n", 2},
		"thousands":                   {"x;y\n1 234;5\n2 345;6\n", 2},
		"thousands, commas":           {"x,y\n1 234,5\n2 345,6\n", 2},
		"names":                       {"the x,the y\n1,2\n2,3\n", 2},
		"a table in a semicolon file": {"a b;c d\n1;2\n2;3\n", 2},
		"text":                        {"x;name;y\n1;a b;2\n2;b c;3\n", 2},
	} {
		if d := loadText(t, c.text, Spec{}); d.Dim+1 != c.columns {
			t.Errorf("%s: %d columns: %+v", name, d.Dim+1, d.Inputs)
		}
	}
	for text, want := range map[string]string{
		"x y\n1 2\n2 3\n3\n4 5\n5 6\n6 7\n7 8\n8 9\n9 8\n1 2\n2 3\n": "data.csv: line 4: 1 field where the first line has 2; " +
			"write nan where a value is missing, or remove the line",
		"x y\n1 2 3\n2 3 4\n":                            "data.csv: line 2: 3 fields where the first line has 2",
		"one\n1\n2\n":                                    "data.csv: has a single column",
		"t\n2024-01-31 07:30\n2024-01-31 07:31\n":        "data.csv: has a single column",
		"A title of words\n2024-01-31 07:30,5\n2024,6\n": "data.csv: has a single column",
	} {
		if _, err := Load(t.Context(), Spec{Path: writeFile(t, "data.csv", text)}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// What the message of a missing cell says to do helps.
func TestMissingCellBetweenSpaces(t *testing.T) {
	rows := "x y\n1 2\n2 3\nnan 4\n4 5\n5 6\n6 7\n7 8\n8 9\n9 8\n1 2\n2 3\n"
	if d := loadText(t, rows, Spec{}); d.Dim != 1 || d.Dropped.Inputs != 1 || d.Rows != 11 {
		t.Errorf("%+v, %+v of %d", d.Inputs, d.Dropped, d.Rows)
	}
}

// New points may be divided otherwise than the table of the run.
func TestPointsDividedBySpaces(t *testing.T) {
	like := loadText(t, "time,x,y\n2024-01-31 07:30,1,5\n2024-01-31 07:31,2,6\n", Spec{})
	p, _, err := readPoints(t, 10, Spec{Path: writeFile(t, "new.txt", "   x  time\n  3   2024-01-31 07:32\n 14   2024-01-31 07:33\n")}, like)
	if err != nil || !equalFloats(p.X, []float64{120, 3, 180, 14}) {
		t.Errorf("%+v %v", p, err)
	}
}
