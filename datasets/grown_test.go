package datasets

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
)

// Rows behind the first ones change nothing that these have decided: division, order,
// scaling, transform, series, seasons and calendar are those of the table of the first
// ones alone. They are in the stream behind those, as they stand in the table, in the
// same units; of stamps before the first one, too.
func TestRowsBehindDecideNothing(t *testing.T) {
	day := func(i int) string { return fmt.Sprintf("2024-%02d-%02d", 1+i/28, 1+i%28) }
	for name, c := range map[string]struct {
		spec  Spec
		line  func(i int) string
		first int
	}{
		"numbers": {Spec{Header: "no", TestFraction: 0.2, Seed: 3}, func(i int) string {
			return fmt.Sprintf("%d,%d,%v", i*i%17, i, math.Sin(float64(i)))
		}, 40},
		"missing": {Spec{TestRows: 5, SplitBy: "rows"}, func(i int) string {
			return fmt.Sprintf("%d,%s,%d", i, []string{"1", "", "3"}[i%3], i*i%11)
		}, 31},
		"Box and Cox": {Spec{Transform: "boxcox", TestFraction: 0.1, Order: "time"}, func(i int) string {
			return fmt.Sprintf("%d,%d", (i*7)%50, 1+i*i%97)
		}, 40},
		"a series with a calendar": {Spec{Calendar: []string{"weekday", "hour"}, TestFraction: 0.1}, func(i int) string {
			return fmt.Sprintf("%s,%d", day(i), i%7+i)
		}, 60},
		"stamps before the first": {Spec{TestFraction: 0.1}, func(i int) string { return fmt.Sprintf("%s,%d", day((i+50)%80), i%7+i) }, 30},
		"of a group": {Spec{Group: "1", GroupValue: "b", TestFraction: 0.2}, func(i int) string {
			return fmt.Sprintf("%s,%d,%d", []string{"a", "b"}[i%2], i, i*i%13)
		}, 41},
	} {
		var lines []string
		for i := range 80 {
			lines = append(lines, c.line(i))
		}
		text := strings.Join(lines, "\n") + "\n"
		few := loadText(t, strings.Join(lines[:c.first], "\n")+"\n", c.spec)
		spec := c.spec
		spec.FirstRows = c.first
		all := loadText(t, text, spec)
		n := few.N()
		if !slices.Equal(all.X[:n*all.Dim], few.X) || !slices.Equal(all.Y[:n], few.Y) || !slices.Equal(all.Test, few.Test) ||
			!slices.Equal(all.First(), few.Train) || !reflect.DeepEqual(all.Series, few.Series) || all.Dim != few.Dim {
			t.Errorf("%s: the first rows are not what they were", name)
		}
		if behind := all.Train[len(few.Train):]; len(behind) != all.N()-n || !slices.IsSorted(behind) || len(behind) < 10 || int(behind[0]) != n {
			t.Errorf("%s: behind them %v", name, behind)
		}
		for j := range all.Inputs {
			if all.Inputs[j].Origin != few.Inputs[j].Origin || all.Inputs[j].Name != few.Inputs[j].Name {
				t.Errorf("%s: input %+v, was %+v", name, all.Inputs[j], few.Inputs[j])
			}
		}
		modes := Spec{StandardiseX: "full", StandardiseY: "full", Transform: spec.Transform}
		if modes.Transform == "" {
			modes.Transform = "none"
		}
		a, err := NewScaler(few, modes)
		must.OK(t, err)
		b, err := NewScaler(all, modes)
		must.OK(t, err)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: scaled by %+v, was %+v", name, b, a)
		}
		// The rows behind are those of the whole table, read at once.
		plain := c.spec
		plain.Calendar = nil
		whole := loadText(t, text, plain)
		for _, r := range all.Train[len(few.Train):] {
			got, want := all.Inputs[0].Format(all.Row(int(r))[0]), whole.Inputs[0].Format(whole.Row(int(r))[0])
			if got != want || all.Y[r] != whole.Y[r] {
				t.Errorf("%s: row %d is %s, %v, not %s, %v", name, r, got, all.Y[r], want, whole.Y[r])
			}
		}
		if from, to, differs := all.Differs(few.Marks()); differs {
			t.Errorf("%s: rows %d to %d differ", name, from, to)
		}
	}
	for want, spec := range map[string]Spec{
		"data.csv: has 3 rows; the first 4 are needed (data.first_rows), and those from row 4 on are missing": {FirstRows: 4},
		`first_rows = 2 needs source = "csv", not "synthetic"`: {
			Source: "synthetic", Kernel: "SE", FirstRows: 2,
		},
		"first_rows = -1: the number of rows must not be negative": {FirstRows: -1},
		"data.csv: row 3: the target y is -1; data.transform": {
			FirstRows: 2, Transform: "log", StandardiseX: "full", StandardiseY: "full",
		},
	} {
		spec.Path = writeFile(t, "data.csv", "x,y\n1,2\n2,3\n3,-1\n")
		d, err := Load(t.Context(), spec)
		if err == nil {
			_, err = NewScaler(d, spec)
		}
		if err == nil || !strings.HasPrefix(strings.ReplaceAll(err.Error(), `"`, ""), strings.ReplaceAll(want, `"`, "")) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Marks find the first row that is not what it was, to the row or, of large tables, the
// rows that have one mark; and a line of a file is found by its row.
func TestMarksFindTheRow(t *testing.T) {
	table := func(change func(lines []string) []string) *Dataset {
		lines := []string{"# a comment", "x,when,y", "", "s,,mm"}
		for i := range 30 {
			y := fmt.Sprint(i * i % 7)
			if i == 11 {
				y = ""
			}
			lines = append(lines, fmt.Sprintf("%d,2024-01-%02d 07:00,%s", i, i+1, y))
		}
		return loadText(t, strings.Join(change(lines), "\n")+"\n", Spec{})
	}
	was := table(func(l []string) []string { return l })
	marks := was.Marks()
	if marks.Rows != 30 || marks.Block != 1 || len(marks.Sums) != 30 {
		t.Fatalf("%+v", marks)
	}
	for name, c := range map[string]struct {
		change func(l []string) []string
		row    int
	}{
		"the same, longer":       {func(l []string) []string { return append(l, "99,2024-02-07 07:00,5") }, -1},
		"a target":               {func(l []string) []string { l[9] = "5,2024-01-06 07:00,1"; return l }, 5},
		"a stamp by a minute":    {func(l []string) []string { l[20] = "16,2024-01-17 07:01,4"; return l }, 16},
		"one that was not there": {func(l []string) []string { l[15] = "11,2024-01-12 07:00,1"; return l }, 11},
		"one that is not there":  {func(l []string) []string { l[4] = "0,,0"; return l }, 0},
		"exchanged":              {func(l []string) []string { l[7], l[8] = l[8], l[7]; return l }, 3},
		"cut off":                {func(l []string) []string { return l[:24] }, 20},
	} {
		from, to, differs := table(c.change).Differs(marks)
		if differs != (c.row >= 0) || differs && (from != c.row || to != c.row+1) {
			t.Errorf("%s: rows %d to %d, %v", name, from, to, differs)
		}
	}
	blocks := was.marks(30, 7)
	if len(blocks.Sums) != 5 {
		t.Errorf("%d sums of 7 rows each", len(blocks.Sums))
	}
	other := table(func(l []string) []string { l[20] = "17,2024-01-17 07:00,4"; return l })
	if from, to, differs := other.Differs(blocks); !differs || from != 14 || to != 21 {
		t.Errorf("rows %d to %d, %v", from, to, differs)
	}
	if b := blockOf(10 * mostMarks); b != 10 {
		t.Errorf("blocks of %d", b)
	}
	for row, want := range map[int]int{0: 5, 29: 34} {
		if line, err := LineOf(t.Context(), Spec{Path: was.Path}, row); err != nil || line != want {
			t.Errorf("row %d is on line %d, %v", row, line, err)
		}
	}
	if _, err := LineOf(t.Context(), Spec{Path: was.Path}, 30); err == nil {
		t.Error("a line of a row that is not there")
	}
}
