package datasets

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/datasets/sheets"
)

// readAll reads a sheet into texts, "row,column=text".
func readAll(t testing.TB, data []byte) ([]string, error) {
	t.Helper()
	path := writeBytes(t, t.TempDir(), "a.xls", data)
	var out []string
	_, err := readSheet(context.Background(), path, "Daten", func(row int, cells []sheets.Cell, _ bool) error {
		for _, c := range cells {
			kind := "n"
			if c.IsText {
				kind = "t"
			}
			out = append(out, fmt.Sprintf("%d,%d%s=%s", row, c.Column+1, kind, c.String()))
		}
		return nil
	})
	return out, err
}

// everyRecord has cells of every kind.
func everyRecord() *book {
	return &book{name: "Daten", most: 8224, strings: []string{"eins", "zw\u00f6lf"}, cells: func(b *biff) {
		b.number(0, 0, 1.5)
		b.rk(0, 1, 0x405ec001)
		b.mulRK(0, 2, rkOf(-7), rkOf(8), 0x02f1853b)
		b.shared(0, 5, 1)
		b.record(0x0204, uint16(0), uint16(6), uint16(15), uint16(2), byte(1), []uint16{'a', 0x3a9}) // LABEL
		b.record(0x0205, uint16(0), uint16(7), uint16(15), byte(0x2a), byte(1))                      // #N/A
		b.record(0x0205, uint16(0), uint16(8), uint16(15), byte(1), byte(0))                         // TRUE
		b.record(0x0201, uint16(0), uint16(9), uint16(15))                                           // BLANK
		formula := func(row, col int, result ...any) {
			b.record(0x0006,
				append(append([]any{uint16(row), uint16(col), uint16(15)}, result...), uint16(0), uint32(0), uint16(3), []byte{0x1e, 1, 0})...)
		}
		formula(0, 10, 2.25)
		formula(0, 11, []byte{0, 0, 0, 0, 0, 0, 0xff, 0xff})
		b.record(0x04bc, make([]byte, 10)) // SHRFMLA between a formula and its text
		b.record(0x0207, uint16(3), byte(0), []byte("abc"))
		formula(0, 12, []byte{2, 0, 0x07, 0, 0, 0, 0xff, 0xff}) // error
		formula(0, 13, []byte{1, 0, 0, 0, 0, 0, 0xff, 0xff})    // false
		formula(0, 14, []byte{3, 0, 0, 0, 0, 0, 0xff, 0xff})    // empty
		b.bof(0x0020)                                           // a chart
		b.number(0, 0, 99)
		b.record(0x000a)
		b.number(4, 255, -2e-300)
	}}
}

func TestReadXLSCells(t *testing.T) {
	got, err := readAll(t, oleFile("Workbook", everyRecord().stream()))
	want := []string{"1,1n=1.5", "1,2n=1.23", "1,3n=-7", "1,4n=8", "1,5n=123456.78", "1,6t=zwölf", "1,7t=aΩ", "1,8t=#N/A", "1,9t=TRUE",
		"1,11n=2.25", "1,12t=abc", "1,13t=#ERROR 7", "1,14t=FALSE", "5,256n=-2e-300"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\n%q\n%q", err, got, want)
	}
}

// TestReadXLSStrings breaks the shared strings at every place, among them
// between the halves of a surrogate pair and where the width of the characters
// changes.
func TestReadXLSStrings(t *testing.T) {
	texts := []string{"", "plain", "Sekundär-Regelenergie", "*rich and phonetic", "Ωmega then narrow again for long",
		"*Ω", "𝔘𝔫𝔦", strings.Repeat("x", 300), "end"}
	k := &book{name: "Daten", strings: texts, cells: func(b *biff) {
		for i := range texts {
			b.shared(i, 0, uint32(i))
		}
	}}
	var want []string
	for i, s := range texts {
		want = append(want, fmt.Sprintf("%d,1t=%s", i+1, s))
	}
	for most := 13; most < 130; most++ {
		k.most = most
		got, err := readAll(t, oleFile("Workbook", k.stream()))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("at most %d bytes: %v\n%q", most, err, got)
		}
	}
}

// TestReadXLSLarge needs sectors that list the sectors of the allocation table:
// the file has more than 6.8 MB.
func TestReadXLSLarge(t *testing.T) {
	k := everyRecord()
	k.extra = func(b *biff) {
		for range 900 {
			b.record(0x0ff0, make([]byte, 8192)) // skipped
		}
	}
	got, err := readAll(t, oleFile("WORKBOOK", k.stream()))
	if err != nil || len(got) != 14 {
		t.Errorf("%v %q", err, got)
	}
}

func TestReadXLSErrors(t *testing.T) {
	with := func(change func(*book)) []byte {
		k := everyRecord()
		change(k)
		return oleFile("Workbook", k.stream())
	}
	old := everyRecord().stream()
	old[5] = 5 // BIFF5
	good := oleFile("Workbook", everyRecord().stream())
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"password": {with(func(k *book) { k.extra = func(b *biff) { b.record(0x2f, make([]byte, 54)) } }),
			"a.xls: is protected by a password; save it without one"},
		"sheet":      {with(func(k *book) { k.name = "Tabelle1" }), `a.xls: has no sheet "Daten"; its sheets are "Übersicht", "Tabelle1"`},
		"old":        {oleFile("Book", old), "a.xls: cannot be read as .xls: is a workbook of Excel 95 or older; save it as .xlsx"},
		"old in new": {oleFile("Workbook", old), "a.xls: is no workbook of Excel 97 to 2003; save it as .xlsx"},
		"document":   {oleFile("WordDocument", old), "a.xls: cannot be read as .xls: holds no workbook"},
		"missing string": {with(func(k *book) { k.cells = func(b *biff) { b.shared(0, 0, 7) } }),
			`a.xls: sheet "Daten": row 1, column 1: shared string 7 of 2; the file is damaged`},
		"order": {with(func(k *book) { k.cells = func(b *biff) { b.number(3, 0, 1); b.number(2, 0, 1) } }),
			`a.xls: sheet "Daten": row 3, column 1: comes after row 4; save the workbook anew`},
		"short": {with(func(k *book) { k.cells = func(b *biff) { b.record(0x0203, uint16(0), uint16(0)) } }),
			`a.xls: sheet "Daten": behind row 0: a record is shorter than it should be`},
		"numbers to another column": {with(func(k *book) {
			k.cells = func(b *biff) {
				b.number(2, 0, 1)
				b.record(0x00bd, uint16(3), uint16(0), uint16(15), rkOf(1), uint16(15), rkOf(2), uint16(5))
			}
		}), `a.xls: sheet "Daten": row 4: a record is shorter than it should be`},
		"short text": {with(func(k *book) {
			k.cells = func(b *biff) { b.record(0x0204, uint16(4), uint16(0), uint16(15), uint16(9), byte(0), []byte("ab")) }
		}), `a.xls: sheet "Daten": row 5: a record is shorter than it should be`},
		"cut off":     {good[:len(good)/2], "a.xls: cannot be read as .xls: "},
		"no workbook": {[]byte("a,b\n1,2\n"), "a.xls: is no workbook (.xls or .xlsx)"},
	} {
		_, err := readAll(t, c.data)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadXLSDamaged changes and cuts files at random: there is an error or
// there are cells, and an end.
func TestReadXLSDamaged(t *testing.T) {
	k := everyRecord()
	k.most = 20
	good := oleFile("Workbook", k.stream())
	path := writeBytes(t, t.TempDir(), "a.xls", good)
	r := rand.New(rand.NewPCG(1, 2))
	used := len(k.stream()) + 512
	failed := 0
	for i := range 600 {
		bad := slices.Clone(good)
		switch i % 3 {
		case 0: // the records
			for range 1 + r.IntN(3) {
				bad[512+r.IntN(used-512)] = byte(r.IntN(256))
			}
		case 1: // the container
			at := r.IntN(512 + 1024)
			if at >= 512 {
				at = len(bad) - 1024 + at - 512
			}
			bad[at] = byte(r.IntN(256))
		case 2:
			bad = bad[:8+r.IntN(len(bad)-8)]
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		cells := 0
		if _, err := readSheet(context.Background(), path, "Daten", func(_ int, c []sheets.Cell, _ bool) error {
			cells += len(c)
			return nil
		}); err != nil {
			failed++
		}
		if cells > 100 {
			t.Fatalf("%d: %d cells", i, cells)
		}
	}
	if failed < 200 {
		t.Errorf("%d of 600 failed", failed)
	}
}

// FuzzReadSheet looks for panics and endless loops in workbooks of both forms.
func FuzzReadSheet(f *testing.F) {
	f.Add(oleFile("Workbook", everyRecord().stream()))
	f.Add(gridXLSX(f, nil, true))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := writeBytes(t, t.TempDir(), "a.xls", data)
		for _, sheet := range []string{"Daten", workbookSheet} {
			readSheet(context.Background(), path, sheet, func(int, []sheets.Cell, bool) error { return nil })
		}
	})
}

func TestReadSheetStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	rows := 0
	k := &book{name: "Daten", most: 100, cells: func(b *biff) {
		for i := range 5000 {
			b.number(i, 0, 1)
		}
	}}
	path := writeBytes(t, t.TempDir(), "a.xls", oleFile("Workbook", k.stream()))
	_, err := readSheet(ctx, path, "Daten", func(int, []sheets.Cell, bool) error {
		rows++
		cancel()
		return nil
	})
	if !reflect.DeepEqual(err, context.Canceled) || rows > contextRows {
		t.Errorf("%v after %d rows", err, rows)
	}
}
