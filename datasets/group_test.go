package datasets

import (
	"slices"
	"strings"
	"testing"
)

// Two series in a table, one below the other and not in the order of time; a row
// without a name and one without a target.
const longTable = `id,year,note,sales
b,2003,x,33
b,2001,x,31
a,2001,x,11
,2001,x,7
a,2002,x,12
b,2002,x,32
a,2003,x,NA
a,2004,x,14
`

func groupsOf(t *testing.T, text string, s Spec) ([]Group, error) {
	t.Helper()
	s.Path = writeFile(t, "long.csv", text)
	return Groups(t.Context(), s)
}

// Series keep the order of the file and their own rows; the text column and the
// group are no inputs.
func TestGroups(t *testing.T) {
	all, err := groupsOf(t, longTable, Spec{Group: "id"})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0].Name != "b" || all[1].Name != "a" {
		t.Fatalf("%+v", all)
	}
	for i, want := range []struct {
		x, y []float64
		rows []int32
	}{
		{[]float64{2003, 2001, 2002}, []float64{33, 31, 32}, []int32{0, 1, 5}},
		{[]float64{2001, 2002, 2004}, []float64{11, 12, 14}, []int32{2, 4, 7}},
	} {
		d := all[i].Data
		if !slices.Equal(d.X, want.x) || !slices.Equal(d.Y, want.y) || !slices.Equal(d.rows, want.rows) {
			t.Errorf("%s: x %v, y %v, rows %v", all[i].Name, d.X, d.Y, d.rows)
		}
		if n := d.N() + d.Dropped.Target + d.Dropped.Inputs + d.Dropped.Others; n != d.Rows || d.Rows != 8 {
			t.Errorf("%s: %d of %d rows are accounted for", all[i].Name, n, d.Rows)
		}
		if !strings.Contains(strings.Join(d.Notices, "\n"), `1 row without a name in the column "id" (data.group) left out`) {
			t.Errorf("notices %q", d.Notices)
		}
	}
	// The same by number, of numbers, at the end of the line.
	all, err = groupsOf(t, "year,sales,id\n1,2,07\n2,3,7\n3,4,07\n", Spec{Group: "last"})
	if err != nil || len(all) != 2 || all[0].Name != "07" || !slices.Equal(all[0].Data.Y, []float64{2, 4}) ||
		all[0].Data.Target.Name != "sales" {
		t.Errorf("%+v, %v", all, err)
	}
	// Without a group there is one, with all rows.
	all, err = groupsOf(t, "year,sales\n1,2\n2,3\n", Spec{})
	if err != nil || len(all) != 1 || all[0].Name != "" || all[0].Data.N() != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

// One series of several is what a run is of.
func TestGroupValue(t *testing.T) {
	for _, c := range []struct{ group, value, want string }{
		{"id", "", `long.csv: the column "id" names 2 series; ` +
			`kestrel backtest forecasts each of them, or choose one with data.group_value, of "b", "a"`},
		{"id", "c", `long.csv: no row has "c" in the column "id" (data.group_value); there are "b", "a"`},
		{"idd", "", `group: long.csv: there is no column "idd"; did you mean "id"? the columns are "id", "year", "note", "sales"`},
		{"sales", "", `long.csv: the target is the last column, "note", if none is named, but that holds text ("x"); ` +
			`name another with --target (data.target), of "year", "sales"`},
		{"", "b", `group_value = "b", but data.group names no column`},
	} {
		_, err := Load(t.Context(), Spec{Path: writeFile(t, "long.csv", longTable), Group: c.group, GroupValue: c.value})
		if err == nil || err.Error() != c.want {
			t.Errorf("%+v:\n got %v\nwant %s", c, err, c.want)
		}
	}
	d := loadText(t, longTable, Spec{Group: "id", GroupValue: "a", TestRows: 1, Time: "yes"})
	if !slices.Equal(d.Y, []float64{11, 12, 14}) || d.Series == nil || len(d.Test) != 1 || d.Y[d.Test[0]] != 14 {
		t.Errorf("%+v", d)
	}
	if one := loadText(t, "id,t,y\nz,1,2\nz,2,3\n", Spec{Group: "id"}); one.N() != 2 {
		t.Errorf("the only one: %+v", one)
	}
	for text, want := range map[string]string{
		"id,t,y\n,1,2\n,2,3\n":      "is empty",
		"id,t,y\nq,1,NA\nz,2,3\n":   "", // q has no rows, which is known of it
		"id,y\nq,1\n":               "has 2 columns; beside the group an input and a target are needed",
		"id,t,y\nq,1,2\nq,2,3\nq\n": "line 4",
	} {
		all, err := groupsOf(t, text, Spec{Group: "id"})
		if want == "" && (err != nil || len(all) != 2 || all[0].Data.N() != 0) ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %+v, %v", text, all, err)
		}
	}
	path := writeFile(t, "long.csv", "id,t,y\nq,1,NA\nz,2,3\n")
	if _, err := Load(t.Context(), Spec{Path: path, Group: "id", GroupValue: "q"}); err == nil ||
		!strings.Contains(err.Error(), `of the series "q"`) {
		t.Error(err)
	}
	for _, s := range []Spec{{Group: "id", Target: "id"}, {Group: "id", Inputs: []string{"id"}}} {
		if _, err := groupsOf(t, longTable, s); err == nil || !strings.Contains(err.Error(), `"id" is both the group and`) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// A window has the first rows by time, nothing of later ones, and its own division.
func TestWindow(t *testing.T) {
	d := loadText(t, "year,y\n2005,5\n2003,3\n2001,1\n2002,2\n2004,4\n", Spec{})
	w, err := d.Window(Spec{Path: "-", Seed: 3}, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	train := w.Targets(w.Train)
	slices.Sort(train)
	if !slices.Equal(w.Y, []float64{1, 2, 3, 4}) ||
		!slices.Equal(train, []float64{1, 2}) || !slices.Equal(w.Targets(w.Test), []float64{3, 4}) ||
		w.Series == nil ||
		!slices.Equal(w.rows, []int32{2, 3, 1, 4}) {
		t.Errorf("%+v", w)
	}
	if d.N() != 5 || !slices.Equal(d.Y, []float64{5, 3, 1, 2, 4}) {
		t.Errorf("the whole was changed: %+v", d)
	}
	if _, err := d.Window(Spec{Path: "-"}, 4, 2); err == nil {
		t.Error("more rows than there are")
	}
}
