package datasets

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// numbered makes a table of so many rows from the texts of its first column.
func numbered(n int, text func(i int) string) string {
	var b strings.Builder
	b.WriteString("t,y\n")
	for i := range n {
		fmt.Fprintf(&b, "%s,%d\n", text(i), i)
	}
	return b.String()
}

// Whole numbers that differ in the file must not become equal; large ones that
// stay different are read, rounded, with a notice.
func TestLargeWholeNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		text func(i int) string
		want string // of the error, or of the notice after "note: "
	}{
		"ids":        {func(i int) string { return fmt.Sprint(9007199254740993 + i) }, "of 100, 51 would be left"},
		"below":      {func(i int) string { return fmt.Sprint(-9007199254740993 - i) }, "of 100, 51 would be left"},
		"stamps":     {func(i int) string { return fmt.Sprint(1700000000000000001 + i) }, "of 100, 1 would be left"},
		"64 bits":    {func(i int) string { return fmt.Sprint(uint64(1<<63) + uint64(i)) }, "of 100, 1 would be left"},
		"128 bits":   {func(i int) string { return fmt.Sprintf("1%028d", i) }, "of 100, 1 would be left"},
		"divided":    {func(i int) string { return fmt.Sprintf("9'007'199'254'740'%d", 993-i%2) }, "of 2, 1 would be left"},
		"the bound":  {func(i int) string { return fmt.Sprint(9007199254740992 + i%2) }, "of 2, 1 would be left"},
		"as floats":  {func(i int) string { return fmt.Sprintf("%d.0", 9007199254740993+i) }, "of 100, 51 would be left"},
		"a point":    {func(i int) string { return fmt.Sprintf("%d.", 9007199254740993+i) }, "of 100, 51 would be left"},
		"one twice":  {func(i int) string { return "9007199254740993" }, "note: 100 whole numbers beyond 2^53, rounded"},
		"far":        {func(i int) string { return fmt.Sprint(9007199254740993 + 10*i) }, "note: 100 whole numbers beyond 2^53, rounded"},
		"exact":      {func(i int) string { return fmt.Sprint(9007199254740992 + 2*i) }, "note: "},
		"exact 1e30": {func(i int) string { return "1e30" }, "note: "},
		"small":      {func(i int) string { return fmt.Sprint(9007199254740991 - i) }, "note: "},
	} {
		d, err := Load(t.Context(), Spec{Path: writeFile(t, "data.csv", numbered(100, c.text))})
		said, noted := strings.CutPrefix(c.want, "note: ")
		switch {
		case noted && err != nil:
			t.Errorf("%s: %v", name, err)
		case noted:
			has := slices.ContainsFunc(d.Notices, func(n string) bool { return strings.HasPrefix(n, `column 1 ("t"): `+said) })
			if any := strings.Contains(strings.Join(d.Notices, "\n"), "2^53"); any != (said != "") || any && !has {
				t.Errorf("%s: %q", name, d.Notices)
			}
		case err == nil || !strings.Contains(err.Error(), `data.csv: column 1 ("t"): values beyond 2^53 differ`) ||
			!strings.Contains(err.Error(), c.want) ||
			!strings.HasSuffix(err.Error(), "subtract a constant first, or leave the column out (data.inputs)"):
			t.Errorf("%s: %v", name, err)
		}
	}
	// What is no input is no matter; the target cannot be left out.
	ids := "id,x,y\n9007199254740993,1,1\n9007199254740992,2,2\n9007199254740992,3,1\n"
	loadText(t, ids, Spec{Inputs: []string{"x"}})
	_, err := Load(t.Context(), Spec{Path: writeFile(t, "data.csv", ids), Inputs: []string{"x"}, Target: "id"})
	if err == nil || !strings.HasSuffix(err.Error(), "of 2, 1 would be left; subtract a constant first") {
		t.Error(err)
	}
	like := loadText(t, "x,y\n1,2\n2,3\n", Spec{})
	p, err := OpenPoints(t.Context(), Spec{Path: writeFile(t, "new.csv", "x\n9007199254740993\n9007199254740992\n")}, like)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for {
		if _, err := p.Next(t.Context(), 1); err != nil {
			break
		}
	}
	if n := p.Notices(); len(n) != 1 || !strings.HasPrefix(n[0], `column 1 ("x"): 1 whole number beyond 2^53, rounded`) {
		t.Errorf("%q %v", n, p.Err())
	}
}

// Time stamps keep their nanoseconds, from the table to predictions at new points.
func TestNanoseconds(t *testing.T) {
	stamp := func(ns int) string { return fmt.Sprintf("2024-01-31T07:30:00.%09dZ", ns) }
	shown := func(ns int) string { return time.Date(2024, 1, 31, 7, 30, 0, ns, time.UTC).Format(time.RFC3339Nano) }
	d := loadText(t, numbered(100, func(i int) string { return stamp(12_345_005 + (i+50)%100) }), Spec{})
	for i := range d.N() {
		ns := (i + 50) % 100
		if got, want := d.X[i], float64(ns)/1e9; got != want {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
		if got, want := d.Inputs[0].Format(d.X[i]), shown(12_345_005+ns); got != want {
			t.Errorf("row %d: %s, want %s", i, got, want)
		}
	}
	ns := []int{0, 12_345_004, 12_345_005, 12_345_999, 12_346_000, 999_999_999}
	var text strings.Builder
	text.WriteString("t\n")
	for _, v := range ns {
		text.WriteString(stamp(v) + "\n")
	}
	p, _, err := readPoints(t, 2, Spec{Path: writeFile(t, "new.csv", text.String())}, d)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range ns {
		if got := d.Inputs[0].Format(p.X[i]); got != shown(v) {
			t.Errorf("%d ns: %s", v, got)
		}
	}
	// The rows of the run's own table are the same points.
	p, _, err = readPoints(t, 7, Spec{Path: d.Path}, d)
	if err != nil || !equalFloats(p.X, d.X) {
		t.Errorf("%v %v", p, err)
	}
	// Years later nanoseconds are beyond a float64; that is said.
	far := loadText(t, "t,y\n2001-01-01 00:00:00.000000001,1\n2021-01-01 00:00:00.000000001,2\n"+
		"2021-01-01 00:00:00.000000002,3\n", Spec{})
	want := `column 1 ("t"): 1 time stamp within nanoseconds of another one and, so far from the first, equal to it`
	if far.Notices[0] != want {
		t.Errorf("%q", far.Notices)
	}
	if got := far.Inputs[0].Format(far.X[1]); got != "2021-01-01T00:00:00Z" {
		t.Error(got)
	}
	if near := loadText(t, "t,y\n2001-01-01 00:00:00,1\n2001-01-01 00:00:01,2\n", Spec{}); len(near.Notices) != 0 {
		t.Errorf("%q", near.Notices)
	}
}

// Time stamps of two kinds in one column are told.
func TestZonesMixed(t *testing.T) {
	d := loadText(t, "t,y\n2024-01-31 07:30,1\n2024-01-31T07:30:00Z,2\n2024-01-31 09:30:00.5+02:00,3\n2024-02-01,4\n", Spec{})
	want := `column 1 ("t"): 2 time stamps with a zone, read by it, and 2 without one, read as UTC`
	if len(d.Notices) != 1 || d.Notices[0] != want {
		t.Errorf("%q", d.Notices)
	}
	if !equalFloats(d.X, []float64{0, 0, 0.5, 59400}) {
		t.Error(d.X)
	}
	for _, text := range []string{"t,y\n2024-01-31 07:30,1\n2024-02-01,4\n", "t,y\n2024-01-31 07:30-0100,1\n2024-01-31 07:30Z,4\n"} {
		if d := loadText(t, text, Spec{}); len(d.Notices) > 0 {
			t.Errorf("%q: %q", text, d.Notices)
		}
	}
}
