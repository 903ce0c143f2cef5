package datasets

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// rowsTable has n rows; x runs in steps of 7 modulo n, y = x².
func rowsTable(n int) string {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range n {
		x := i * 7 % n
		fmt.Fprintf(&b, "%d,%d\n", x, x*x)
	}
	return b.String()
}

// checkPartition checks that train and test are the rows, each once.
func checkPartition(t *testing.T, d *Dataset, train, test int) {
	t.Helper()
	all := append(slices.Clone(d.Train), d.Test...)
	slices.Sort(all)
	for i, r := range all {
		if int(r) != i {
			t.Fatalf("row %d is missing or double", i)
		}
	}
	if len(d.Train) != train || len(d.Test) != test || len(all) != d.N() {
		t.Fatalf("%d + %d rows, want %d + %d", len(d.Train), len(d.Test), train, test)
	}
}

func TestSplitRandom(t *testing.T) {
	text := rowsTable(100)
	d := loadText(t, text, Spec{TestFraction: .2, Seed: 1})
	checkPartition(t, d, 80, 20)
	again := loadText(t, text, Spec{TestFraction: .2, Seed: 1})
	if !slices.Equal(d.Train, again.Train) || !slices.Equal(d.Test, again.Test) {
		t.Error("the same seed gives another split")
	}
	other := loadText(t, text, Spec{TestFraction: .2, Seed: 2})
	if slices.Equal(d.Test, other.Test) || slices.IsSorted(d.Train) {
		t.Error("not random")
	}
	// More test rows of the same seed contain the fewer.
	more := loadText(t, text, Spec{TestRows: 30, Seed: 1})
	checkPartition(t, more, 70, 30)
	if !slices.Equal(more.Test[:20], d.Test) {
		t.Error("the test rows are not the first of one permutation")
	}
	// Every row is a test row about as often as any other.
	count := make([]int, 20)
	small := rowsTable(20)
	for seed := range uint64(400) {
		for _, r := range loadText(t, small, Spec{TestRows: 5, Seed: seed}).Test {
			count[r]++
		}
	}
	for r, c := range count { // 100 expected, sd 8.7
		if c < 60 || c > 140 {
			t.Errorf("row %d is a test row %d times of 400", r, c)
		}
	}
}

func TestSplitRowsAndX(t *testing.T) {
	text := rowsTable(100)
	d := loadText(t, text, Spec{SplitBy: "rows", TestFraction: .1})
	checkPartition(t, d, 90, 10)
	if d.Test[0] != 90 || !slices.IsSorted(d.Test) {
		t.Errorf("%v", d.Test)
	}
	for _, s := range []Spec{{SplitBy: "x", TestRows: 10}, {SplitBy: "x", TestFraction: .1}} {
		d = loadText(t, text, s)
		checkPartition(t, d, 90, 10)
		for _, r := range d.Train {
			if d.X[r] >= 90 {
				t.Errorf("x = %v is in the training part", d.X[r])
			}
		}
	}
	// An x on the limit min + 0.9 (max − min) itself is for training.
	d = loadText(t, rowsTable(101), Spec{SplitBy: "x", TestFraction: .1})
	checkPartition(t, d, 91, 10)
	d = loadText(t, text, Spec{Order: "time", SplitBy: "rows", TestRows: 5})
	for i, r := range d.Train[1:] {
		if d.X[r] <= d.X[d.Train[i]] {
			t.Fatal("the stream is not in the order of time")
		}
	}
	d = loadText(t, text, Spec{})
	checkPartition(t, d, 100, 0)
}

// The last stretch of x is the same wherever x begins, in whatever unit it is, and with
// other inputs beside it.
func TestSplitByXKnowsNoUnit(t *testing.T) {
	held := func(shift, scale float64, beside string) (rows []int32) {
		var b strings.Builder
		b.WriteString("x," + beside + "y\n")
		for i := range 100 {
			fmt.Fprintf(&b, "%v,", shift+scale*float64(i*7%100))
			if beside != "" {
				fmt.Fprintf(&b, "%d,", i*3%100)
			}
			fmt.Fprintf(&b, "%d\n", i)
		}
		d := loadText(t, b.String(), Spec{SplitBy: "x", TestFraction: .1})
		checkPartition(t, d, 90, 10)
		return d.Test
	}
	want := held(0, 1, "")
	for _, c := range []struct {
		shift, scale float64
		beside       string
	}{{512, 1, ""}, {-512, 1, ""}, {-50, 1, ""}, {0, 1.0 / 8, ""}, {4096, 4, ""}, {0, 1, "w,"}, {-512, 2, "w,"}} {
		if got := held(c.shift, c.scale, c.beside); !slices.Equal(got, want) {
			t.Errorf("%+v: %v are held out, want %v", c, got, want)
		}
	}
}

// A fraction that is asked for holds out a row at least, however few there are.
func TestSplitOfFewRows(t *testing.T) {
	for _, by := range []string{"random", "rows", "x"} {
		for _, n := range []int{3, 10} {
			checkPartition(t, loadText(t, rowsTable(n), Spec{SplitBy: by, TestFraction: .01}), n-1, 1)
		}
	}
}

func TestSplitMask(t *testing.T) {
	text := "x,y\n1,1\n2,2\n3,NA\n4,4\n5,5\n"
	mask := writeFile(t, "mask.csv", string(compressed(t, "gz", "0,1\n1,0\n1,0\n0,0\n0,1\n")))
	d := loadText(t, text, Spec{SplitBy: "mask", Mask: mask})
	checkPartition(t, d, 3, 1)
	if d.Y[d.Test[0]] != 2 {
		t.Errorf("%v", d.Test)
	}
	// The third row of the file was dropped: the mask still counts it.
	d = loadText(t, text, Spec{SplitBy: "mask", Mask: mask, MaskColumn: 2})
	checkPartition(t, d, 2, 2)
	if d.Y[d.Test[0]] != 1 || d.Y[d.Test[1]] != 5 {
		t.Errorf("%v", d.Test)
	}
	for want, s := range map[string]Spec{
		"mask_column = 3, but the mask has 2 columns":  {Mask: mask, MaskColumn: 3},
		"mask.csv has 2 rows, the data have 5":         {Mask: writeFile(t, "mask.csv", "0\n1\n")},
		"mask.csv: row 2, column 1: neither 0 nor 1":   {Mask: writeFile(t, "mask.csv", "0\n2\n0\n0\n0\n")},
		"\"nothere.csv\" not found; looked for ":       {Mask: "nothere.csv"},
		"split_by = \"mask\", but data.mask names no ": {},
	} {
		s.SplitBy, s.Path = "mask", writeFile(t, "data.csv", text)
		if _, err := Load(t.Context(), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// What lies in a gap is the median run of rows held out between others, in the order of the one input, or of time beside columns
// that are made of it, whatever order the file has; nothing else is a gap.
func TestGaps(t *testing.T) {
	// masked is a table whose rows come in steps of 7 modulo their number, and a mask of places in the order of x.
	masked := func(places string, header string, row func(x int) string) *Dataset {
		var table, mask strings.Builder
		table.WriteString(header + "\n")
		for i := range len(places) {
			x := i * 7 % len(places)
			table.WriteString(row(x) + "\n")
			mask.WriteString(places[x:x+1] + "\n")
		}
		return loadText(t, table.String(), Spec{SplitBy: "mask", Mask: writeFile(t, "mask.csv", mask.String())})
	}
	one := func(x int) string { return fmt.Sprintf("%d,%d", x, x*x) }
	run := strings.Repeat
	for _, c := range []struct {
		places string
		want   int
	}{
		{"0010010001000100", 1}, {"0" + run("1", 20) + "00" + run("1", 24) + "00000" + run("1", 31) + "00", 24},
		{run("1", 9) + "000110000" + run("1", 11), 2}, {run("0", 20) + run("1", 9), 1}, {run("0", 12), 1},
		{"0110011100", 2}, {"0100111110010", 1},
	} {
		if got := masked(c.places, "x,y", one).Gap(); got != c.want {
			t.Errorf("%s: gaps of %d, want %d", c.places, got, c.want)
		}
	}
	places := "00" + run("1", 5) + "0000" + run("1", 6) + "00000"
	two := func(x int) string { return fmt.Sprintf("%d,%d,%d", x, x%3, x*x) }
	if got := masked(places, "a,b,y", two).Gap(); got != 1 {
		t.Errorf("of two inputs none orders the rows, gaps of %d", got)
	}
	stamped := func(x int) string { return fmt.Sprintf("2024-01-%02dT%02d:00:00Z,%d", 1+x/24, x%24, x*x%17) }
	if got := masked(places, "time,y", stamped).Gap(); got != 5 {
		t.Errorf("in time, gaps of %d", got)
	}
	for _, by := range []string{"random", "x"} {
		if got := loadText(t, rowsTable(100), Spec{TestFraction: .6, Seed: 1, SplitBy: by}).Gap(); got != 1 {
			t.Errorf("held out by %s: gaps of %d", by, got)
		}
	}
	// The last rows of the file may lie between the others.
	if got := loadText(t, "x,y\n0,1\n1,2\n5,3\n6,4\n2,1\n3,2\n4,4\n", Spec{TestRows: 3, SplitBy: "rows"}).Gap(); got != 3 {
		t.Errorf("the last rows, between others: gaps of %d", got)
	}
}
