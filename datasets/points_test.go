package datasets

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// readPoints reads all points of a table, so many at a time, and counts the rows
// that were left out.
func readPoints(t *testing.T, block int, spec Spec, like *Dataset) (all *Points, dropped int, err error) {
	t.Helper()
	r, err := OpenPoints(t.Context(), spec, like)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	all = &Points{}
	for last := false; ; {
		p, err := r.Next(t.Context(), block)
		if err == io.EOF {
			return all, r.Dropped(), nil
		}
		if err != nil {
			return nil, 0, err
		}
		if len(p.Rows) == 0 || len(p.Rows) > block || last || p.Dim != like.Dim || len(p.X) != p.Dim*len(p.Rows) ||
			(p.Y != nil) != r.HasTarget() {
			t.Fatalf("a block of %d where %d were wanted, after a short one: %v: %+v", len(p.Rows), block, last, p)
		}
		last = len(p.Rows) < block
		all.Add(p)
	}
}

func TestPoints(t *testing.T) {
	d := loadText(t, "when,z,y\n2020-01-01,1,5\n2020-01-02,2,6\n2020-01-03,3,8\n", Spec{})
	// Columns in another order, earlier than the origin, without the target.
	p, dropped, err := readPoints(t, 2, Spec{Path: writeFile(t, "new.csv", "z,when\n7,2019-12-31\nNA,2020-01-01\n8,2020-01-05 12:00\n")}, d)
	if err != nil {
		t.Fatal(err)
	}
	if !equalFloats(p.X, []float64{-86400, 7, 4.5 * 86400, 8}) || p.Y != nil || dropped != 1 || p.Rows[1] != 2 {
		t.Errorf("%+v", p)
	}
	p, _, err = readPoints(t, 1, Spec{Path: writeFile(t, "new.csv", "y,z,when\n1,7,2020-01-01\n,8,2020-01-02\n")}, d)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Y) != 2 || p.Y[0] != 1 || !math.IsNaN(p.Y[1]) || len(p.X) != 4 {
		t.Errorf("%+v", p)
	}
	for text, want := range map[string]string{
		"when,zz\n2020-01-01,1\n":             `new.csv: there is no column "z"; did you mean "zz"? the columns are "when", "zz"`,
		"when,z\n1,1\n":                       `new.csv: column 1 ("when") holds numbers, but time stamps in the training data`,
		"when,y,z\n2020-01-01,2020-01-01,1\n": `new.csv: column 2 ("y") holds time stamps, but numbers in the training data`,
		"when,z\nNA,1\n":                      `new.csv: no rows to predict at: 1 row read, 1 dropped for a missing input`,
	} {
		_, _, err := readPoints(t, 1, Spec{Path: writeFile(t, "new.csv", text)}, d)
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v\nwant %s", text, err, want)
		}
	}
}

func TestPointsWithoutHeader(t *testing.T) {
	d := loadText(t, "1,2,3\n4,5,6\n", Spec{Target: "1", Inputs: []string{"3", "2"}})
	for text, withTarget := range map[string]bool{"9,8,7\n": true, "7,8\n": false} {
		p, _, err := readPoints(t, 1, Spec{Path: writeFile(t, "new.csv", text)}, d)
		if err != nil {
			t.Fatal(err)
		}
		if !equalFloats(p.X, []float64{7, 8}) || (p.Y != nil) != withTarget || withTarget && p.Y[0] != 9 {
			t.Errorf("%q: %+v", text, p)
		}
	}
	_, _, err := readPoints(t, 1, Spec{Path: writeFile(t, "new.csv", "7\n")}, d)
	if err == nil || !strings.HasSuffix(err.Error(), "has 1 column, but 2 inputs are needed") {
		t.Errorf("%v", err)
	}
	s := mustLoad(t, synthetic("SE", 1))
	p, _, err := readPoints(t, 1, Spec{Path: writeFile(t, "new.csv", "x\n.5\n1.5\n")}, s)
	if err != nil || !equalFloats(p.X, []float64{.5, 1.5}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// Whatever the size of the blocks, the points are those of a naive reading.
func TestPointsInBlocks(t *testing.T) {
	d := loadText(t, "when,z,y\n2020-01-01 00:00:00.25,1,5\n2020-01-02,2,6\n2020-01-03,3,8\n", Spec{})
	const rows, day = 1003, 86400
	var text strings.Builder
	text.WriteString("z,y,remark,when\n")
	var want Points
	for r := range rows {
		z, y, when := fmt.Sprint(r), fmt.Sprint(2*r), fmt.Sprintf("2020-01-%02d 00:%02d:%02d.5", 1+r%28, r/60, r%60)
		at := float64(r%28*day+r) + 0.5 - 0.25 // exact
		if r%5 == 3 {
			y = "NA"
		}
		switch {
		case r%7 == 2:
			z = "NA"
		case r >= 100 && r < 300:
			when = ""
		default:
			want.X, want.Rows = append(want.X, at, float64(r)), append(want.Rows, int32(r))
			if want.Y = append(want.Y, float64(2*r)); r%5 == 3 {
				want.Y[len(want.Y)-1] = -1
			}
		}
		fmt.Fprintf(&text, "%s,%s,x,%s\n", z, y, when)
	}
	for _, name := range []string{"a.csv", "a.csv.gz", "a.csv.xz", "a.csv.zst"} {
		path := writeFile(t, name, string(compressed(t, strings.TrimPrefix(name, "a.csv."), text.String())))
		for _, block := range []int{1, 2, 7, 100, 250, 1000, 5000} {
			got, dropped, err := readPoints(t, block, Spec{Path: path}, d)
			if err != nil {
				t.Fatal(err)
			}
			for i, y := range got.Y {
				if math.IsNaN(y) {
					got.Y[i] = -1
				}
			}
			if !equalFloats(got.X, want.X) || !equalFloats(got.Y, want.Y) || !slices.Equal(got.Rows, want.Rows) || dropped != rows-len(want.Rows) {
				t.Errorf("%s in blocks of %d: %d points, %d dropped, want %d and %d, or they differ",
					name, block, len(got.Rows), dropped, len(want.Rows), rows-len(want.Rows))
			}
		}
	}
}

// A bad cell comes after the points of the blocks before it, and ends the
// reading.
func TestPointsWithABadCell(t *testing.T) {
	d := loadText(t, "x,y\n1,2\n2,3\n3,5\n", Spec{})
	r, err := OpenPoints(t.Context(), Spec{Path: writeFile(t, "new.csv", "x\n"+strings.Repeat("1\n", 25)+"one\n2\n")}, d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 2 {
		if p, err := r.Next(t.Context(), 10); err != nil || len(p.Rows) != 10 {
			t.Fatal(p, err)
		}
	}
	for range 2 {
		if p, err := r.Next(t.Context(), 10); err == nil || p != nil || err != r.Err() ||
			err.Error() != `new.csv: line 27, column 1 ("x"): "one" is not a number` {
			t.Errorf("%v %v", p, err)
		}
	}
}

// Of half a gigabyte of points no more is read than has been asked for and fits
// the reader's buffer, and memory stays what one block takes.
func TestPointsTakeNoMoreThanABlock(t *testing.T) {
	d := loadText(t, "x,y\n1,2\n2,3\n3,5\n", Spec{})
	const line, block = "12345.678,90\n", 10_000
	in := &repeating{head: "x,y\n", text: line, most: 1 << 29}
	s, err := Spec{Path: "endless.csv"}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	r, err := newPointReader(&source{Reader: in}, "endless.csv", &s, d)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const blocks = 100
	for n := 1; n <= blocks; n++ {
		p, err := r.Next(t.Context(), block)
		if err != nil || len(p.Rows) != block || p.X[block-1] != 12345.678 {
			t.Fatal(n, err)
		}
		if most := len(in.head) + n*block*len(line) + 2*sampleBytes; in.at > most {
			t.Fatalf("%d bytes read for %d blocks of %d bytes", in.at, n, block*len(line))
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 2<<20 { // a block is 0.2 MiB, all are 19
		t.Errorf("after %d blocks the heap has grown by %d bytes", blocks, grown)
	}
	runtime.KeepAlive(r)
}

// Rows of JSON are read as a table of a decimal comma never would be: a number is what it
// says, a row of texts above numbers holds no units, and one without a value is a row.
func TestReadPoints(t *testing.T) {
	like := loadText(t, "day;x;y\n01.02.2024;1,5;2\n02.02.2024;2,5;3\n03.02.2024;3,5;4\n", Spec{Inputs: []string{"day", "x"}})
	read := func(text string) (*Points, int, error) {
		p, err := ReadPoints(strings.NewReader(text), "rows", Spec{}, like)
		if err != nil {
			return nil, 0, err
		}
		defer p.Close()
		all, err := p.Next(t.Context(), 100)
		return all, p.Dropped(), err
	}
	got, dropped, err := read(`{"x":1.5,"day":"02.02.2024","y":7}` + "\n" + `{"x":null,"day":"03.02.2024"}` + "\n" +
		`{"day":"2024-02-04T12:00:00Z","x":"1e3"}` + "\n")
	if err != nil || dropped != 1 || !equalFloats(got.X, []float64{86400, 1.5, 3.5 * 86400, 1000}) ||
		!slices.Equal(got.Rows, []int32{0, 2}) || got.Y[0] != 7 || !math.IsNaN(got.Y[1]) {
		t.Errorf("%+v, %d dropped, %v", got, dropped, err)
	}
	for text, want := range map[string]string{
		`{"x":"m","day":"d"}` + "\n" + `{"x":1,"day":"02.02.2024"}`: `rows: line 1, column 2 ("day"): "d" is `,
		`{"x":"1,5","day":"02.02.2024"}`:                            `"1,5" is not a number`,
		`{"x":1.5}`:                                                 "day",
		``:                                                          "has no rows",
	} {
		if _, _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
	one := loadText(t, "x,y\n1,2\n2,3\n3,5\n", Spec{})
	p, err := ReadPoints(strings.NewReader("{\"x\":null}\n{}\n{\"x\":7}\n"), "rows", Spec{}, one)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := p.Next(t.Context(), 100); err != nil || !slices.Equal(all.Rows, []int32{2}) || p.Dropped() != 2 {
		t.Errorf("%+v, %d dropped, %v", all, p.Dropped(), err)
	}
}
