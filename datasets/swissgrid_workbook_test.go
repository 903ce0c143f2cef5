package datasets

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/internal/thorough"
)

// utc returns an instant.
func utc(year int, month time.Month, day, hour int) time.Time {
	return time.Date(year, month, day, hour, 0, 0, 0, time.UTC)
}

// week has both the night of the change in autumn and the days around it.
func week(t testing.TB) []gridRow { return gridRows(t, utc(2021, 10, 29, 22), utc(2021, 11, 2, 22)) }

// checkGrid checks that quarter hours follow each other without a gap.
func checkGrid(t *testing.T, d *Dataset, rows int, origin time.Time) {
	t.Helper()
	if d.N() != rows || d.Dim != 1 || d.Inputs[0].Name != "utc_start" || d.Inputs[0].Unit != "d" ||
		!d.Inputs[0].Time || !d.Inputs[0].Origin.Equal(origin) {
		t.Fatalf("%d rows, %+v", d.N(), d.Inputs)
	}
	for i, x := range d.X {
		if math.Abs(x-float64(i)/96) > 1e-11 {
			t.Fatalf("row %d at %v days", i, x)
		}
	}
}

// TestSwissgridWorkbookForms reads the same rows from all three forms. The
// values count the quarter hours by UTC, so their order is that of time.
func TestSwissgridWorkbookForms(t *testing.T) {
	rows := week(t)
	dir := t.TempDir()
	for name, data := range map[string][]byte{
		"dates.xls":  gridXLS(rows),
		"dates.xlsx": gridXLSX(t, rows, false),
		"text.xlsx":  gridXLSX(t, rows, true),
		"wrong.xls":  gridXLSX(t, rows, true), // told by its content
	} {
		d := mustLoad(t, Spec{Source: "swissgrid", Path: writeBytes(t, dir, name, data), TestRows: 10})
		checkGrid(t, d, len(rows), rows[0].wall.Add(-2*time.Hour-15*time.Minute))
		for i, y := range d.Y {
			if math.Abs(y-(1000+float64(i)/1000)) > 1e-9 {
				t.Fatalf("%s: row %d: %v MWh", name, i, y)
			}
		}
		if d.Target.Unit != "MWh" || d.Target.Number != 2 || !strings.HasPrefix(d.Target.Name, "Total energy consumed by end users") ||
			d.Source != "swissgrid" || d.Name != "swissgrid" || len(d.SHA256) != 64 {
			t.Errorf("%s: %+v %q", name, d.Target, d.Name)
		}
		want := []string{name + " reaches from 2021-10-30 00:00 to 2021-11-02 23:00, Swiss time: not one whole year"}
		if !slices.Equal(d.Notices, want) {
			t.Errorf("%s: %q", name, d.Notices)
		}
	}
}

// TestSwissgridWorkbookYears joins a year and the beginning of the next, one of
// each form, given in the wrong order, from a folder, a pattern and a list.
func TestSwissgridWorkbookYears(t *testing.T) {
	thorough.Unraced(t)
	from, to := swissYear(2019)
	first, second := gridRows(t, from, to), gridRows(t, to.Add(15*time.Minute), to.Add(24*time.Hour))
	if len(first) != 35040 { // as ../shared/data/README.md says of the originals
		t.Fatalf("%d rows", len(first))
	}
	dir := t.TempDir()
	old := writeBytes(t, dir, "EnergieUebersichtCH-2019.xls", gridXLS(first))
	next := writeBytes(t, dir, "EnergieUebersichtCH-2020.xlsx", gridXLSX(t, second, false))
	writeBytes(t, dir, "~$EnergieUebersichtCH-2020.xlsx", []byte("Excel's lock"))
	writeBytes(t, dir, "readme.txt", nil)
	var hash string
	for _, path := range []string{dir, filepath.Join(dir, "E*.xls*"), next + string(os.PathListSeparator) + old} {
		d := mustLoad(t, Spec{Source: "swissgrid", Path: path, TestRows: 100, Seed: 3})
		checkGrid(t, d, 35136, time.Date(2018, 12, 31, 23, 0, 0, 0, time.UTC))
		for i, y := range d.Y {
			if want := 1000 + float64(i%35040)/1000; math.Abs(y-want) > 1e-9 {
				t.Fatalf("row %d: %v, not %v", i, y, want)
			}
		}
		want := []string{"EnergieUebersichtCH-2020.xlsx reaches from 2020-01-01 00:15 to 2020-01-02 00:00, Swiss time: not one whole year"}
		if !slices.Equal(d.Notices, want) || d.Rows != 35136 || (d.Dropped != Dropped{}) {
			t.Errorf("%q %d %+v", d.Notices, d.Rows, d.Dropped)
		}
		if hash != "" && hash != d.SHA256 {
			t.Error("the hash depends on how the files are named")
		}
		hash = d.SHA256
		// A config of a run keeps the path that the dataset gives.
		if _, again, err := findWorkbooks(t.Context(), d.Path, nil); err != nil || again != d.Path {
			t.Errorf("%q is not found again: %q, %v", d.Path, again, err)
		}
	}
}

func TestSwissgridWorkbookSeries(t *testing.T) {
	path := writeBytes(t, t.TempDir(), "a.xls", gridXLS(week(t)))
	for target, want := range map[string]struct {
		column int
		unit   string
		first  float64
	}{
		"end users":                         {2, "MWh", 1000},
		"ENDVERBRAUCHTE energie":            {2, "MWh", 1000},
		"Total energy  production":          {3, "MWh", 2000},
		"produzierte":                       {3, "MWh", 2000},
		"verbrauchte Energie Regelblock":    {0, "", 0}, // two of them
		"Summe verbrauchte":                 {4, "MWh", 3000},
		"transit":                           {5, "MWh", .0125},
		"positive Sekundär-Regelenergie":    {6, "Euro/MWh", 45.25},
		"6":                                 {6, "Euro/MWh", 45.25},
		"Total energy consumption Swiss co": {4, "MWh", 3000},
	} {
		d, err := Load(context.Background(), Spec{Source: "swissgrid", Path: path, Target: target})
		if want.column == 0 {
			if err == nil || !strings.Contains(err.Error(), "is part of the names of 2 columns") {
				t.Errorf("%q: %v", target, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", target, err)
			continue
		}
		if d.Target.Number != want.column || d.Target.Unit != want.unit || math.Abs(d.Y[0]-want.first) > 1e-9 {
			t.Errorf("%q: %+v from %v", target, d.Target, d.Y[0])
		}
	}
	for target, want := range map[string]string{
		"end user's": `a.xls: there is no column "end user's"; the columns are "c1", "Total energy consumed by end users in th…", `,
		"Transitt":   `a.xls: there is no column "Transitt"; did you mean "Transit"? `,
		"1":          `a.xls: target = "1" is the first column, which holds the time`,
		"27":         "a.xls: there is no column 27; ",
	} {
		if _, err := Load(context.Background(), Spec{Source: "swissgrid", Path: path, Target: target}); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", target, err)
		}
	}
}

// TestSwissgridWorkbookFlaws has empty cells, a missing row, rows given twice
// and rows out of order.
func TestSwissgridWorkbookFlaws(t *testing.T) {
	rows := gridRows(t, utc(2013, 5, 1, 0), utc(2013, 5, 3, 0))
	n := len(rows)
	rows[7].values = slices.Clone(rows[7].values)
	rows[7].values[0] = math.NaN()
	twice := rows[20]
	twice.values = slices.Clone(twice.values)
	twice.values[0]++
	flawed := slices.Concat(rows[:50], rows[51:100], []gridRow{rows[10], twice}, rows[101:], rows[100:101])
	for name, data := range map[string][]byte{"a.xls": gridXLS(flawed), "a.xlsx": gridXLSX(t, flawed, true)} {
		d := mustLoad(t, Spec{Source: "swissgrid", Path: writeBytes(t, t.TempDir(), name, data)})
		want := []string{
			name + " reaches from 2013-05-01 02:00 to 2013-05-03 02:00, Swiss time: not one whole year",
			"2 rows for quarter hours already read: left out, the first in " + name + ", row 102; 1 with another value",
			// The empty cell and the missing row.
			"the time grid has 2 steps other than 15 min, the widest 30 min after 2013-05-01 01:15",
		}
		slices.Sort(want)
		slices.Sort(d.Notices)
		if !slices.Equal(d.Notices, want) {
			t.Errorf("%s: %q", name, d.Notices)
		}
		if d.N() != n-2 || d.Rows != n-1 || d.Dropped.Target != 1 || d.Target.Missing != 1 {
			t.Errorf("%s: %d of %d, %+v", name, d.N(), d.Rows, d.Dropped)
		}
		for i, y := range d.Y {
			if want := 1000 + math.Round(d.X[i]*96)/1000; math.Abs(y-want) > 1e-9 {
				t.Fatalf("%s: row %d: %v, not %v", name, i, y, want)
			}
		}
	}
}

func TestSwissgridWorkbookErrors(t *testing.T) {
	dir := t.TempDir()
	sheet := func(name string, cells func(*biff)) string {
		k := &book{name: workbookSheet, most: 8224,
			strings: []string{"", "energy consumed by end users", "kWh", "abc", "31.03.2013 02:30", "MWh"}, cells: func(b *biff) {
				b.shared(0, 1, 1)
				b.shared(1, 1, 2)
				cells(b)
			}}
		return writeBytes(t, dir, name, oleFile("Workbook", k.stream()))
	}
	day := serial(time.Date(2013, 1, 2, 0, 0, 0, 0, time.UTC))
	good := sheet("good.xls", func(b *biff) { b.number(2, 0, day); b.number(2, 1, 5); b.number(3, 0, day+1); b.number(3, 1, 6) })
	other := sheet("other.xls", func(b *biff) { b.number(2, 0, day+9); b.number(2, 1, 5) })
	data, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	writeBytes(t, dir, "other.xls", bytes.Replace(data, []byte("\x03\x00\x00kWh"), []byte("\x03\x00\x00GWh"), 1))
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	list := func(paths ...string) string { return strings.Join(paths, string(os.PathListSeparator)) }
	for path, want := range map[string]string{
		sheet("text.xls", func(b *biff) { b.number(2, 0, day); b.shared(2, 1, 3) }): `text.xls: line 3, column 2 ` +
			`("energy consumed by end users"): "abc" is not a number`,
		sheet("stamp.xls", func(b *biff) { b.shared(2, 0, 3); b.number(2, 1, 4) }): `stamp.xls: line 3, column 1: "abc" is not a time stamp`,
		sheet("nostamp.xls", func(b *biff) { b.number(4, 1, 4) }):                  "nostamp.xls: line 5: a value without a time stamp",
		sheet("nothing.xls", func(b *biff) { b.shared(2, 0, 4) }): `nothing.xls: sheet Zeitreihen0h15 has no rows but empty ones ` +
			`for the hour that is skipped in spring`,
		sheet("skipped.xls", func(b *biff) { b.shared(2, 0, 4); b.number(2, 1, 4) }): `skipped.xls: line 3, column 1: ` +
			`"2013-03-31 02:30" does not exist in Swiss local time: the hour was skipped for summer time`,
		sheet("norows.xls", func(*biff) {}): "norows.xls: sheet Zeitreihen0h15 has no rows " +
			"below the names and units of its columns",
		sheet("huge.xls", func(b *biff) { b.number(2, 0, day); b.number(2, 1, 1e200) }): `huge.xls: line 3, column 2 ` +
			`("energy consumed by end users"): "1e+200" is too large`,
		list(good, other):            `other.xls: the unit of "energy consumed by end users" is "GWh", but in good.xls it is "MWh"`,
		empty:                        `is a folder without EnergieUebersichtCH-YYYY.xls or .xlsx`,
		filepath.Join(dir, "x*.xls"): "not found; looked for",
		list(good, writeBytes(t, dir, "a.csv", []byte("a,b\n1,2\n"))): "a.csv: is no workbook (.xls or .xlsx); " +
			"only Swissgrid's workbooks can be joined",
		writeBytes(t, dir, "cut.xlsx", gridXLSX(t, nil, true)[:900]): "cut.xlsx: cannot be read as .xlsx: ",
	} {
		_, err := Load(context.Background(), Spec{Source: "swissgrid", Path: path})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v\nnot %s", err, want)
		}
	}
	if _, err := Load(context.Background(), Spec{Source: "swissgrid", Path: good, Inputs: []string{"x"}}); err == nil ||
		!strings.Contains(err.Error(), "inputs") {
		t.Error(err)
	}
	// An empty row in the hour that does not exist is no error.
	d := mustLoad(t, Spec{Source: "swissgrid", Path: sheet("hole.xls", func(b *biff) {
		b.number(2, 0, day)
		b.number(2, 1, 5)
		b.number(3, 0, day+1./96)
		b.number(3, 1, 6)
		b.shared(4, 0, 4)
	})})
	if d.N() != 2 {
		t.Errorf("%d rows", d.N())
	}
}

// TestXLSXBomb has archives that say they unpack to more than is allowed.
func TestXLSXBomb(t *testing.T) {
	for name, size := range map[string]uint64{"xl/worksheets/sheet1.xml": 3 << 30, "xl/styles.xml": 17 << 20,
		"xl/sharedStrings.xml": math.MaxUint64} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		if _, err := w.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, UncompressedSize64: size}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := Load(context.Background(), Spec{Source: "swissgrid", Path: writeBytes(t, t.TempDir(), "bomb.xlsx", b.Bytes())})
		if err == nil || err.Error() != "bomb.xlsx: cannot be read as .xlsx: unpacks to more than is read of a workbook; it may be damaged" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestXLSXOverstated has small archives with parts that are said to unpack to
// hundreds of megabytes: what is not there must not be made room for.
func TestXLSXOverstated(t *testing.T) {
	good := gridXLSX(t, nil, true)
	// stating returns the archive with another size of the parts named so.
	stating := func(size uint32, of string) []byte {
		b := bytes.Clone(good)
		at := 0
		for {
			i := bytes.Index(b[at:], []byte("PK\x01\x02")) // APPNOTE 4.3.12: the size at 24, the name at 46
			if i < 0 {
				return b
			}
			at += i + 4
			if h := b[at-4:]; strings.HasPrefix(string(h[46:46+int(binary.LittleEndian.Uint16(h[28:]))]), of) {
				binary.LittleEndian.PutUint32(h[24:], size)
			}
		}
	}
	for _, c := range []struct {
		what string
		data []byte
	}{
		{"a sheet of 724 MB", stating(724<<20, "xl/worksheets/sheet2")},
		{"shared strings and sheets of 300 MB", stating(300<<20, "xl/")},
		{"all parts of 15 MB", stating(15<<20, "")},
	} {
		path := writeBytes(t, t.TempDir(), "a.xlsx", c.data)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Load(context.Background(), Spec{Source: "swissgrid", Path: path})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.HasPrefix(err.Error(), "a.xlsx: cannot be read as .xlsx: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.what, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 40<<20 {
			t.Errorf("%s: %d MiB allocated", c.what, n>>20)
		}
	}
}

// TestRealSwissgridOrder takes the local stamps of the real series, in the order
// of the published table, for the instants that it lists beside them, and reads
// two years back that are written as workbooks.
func TestRealSwissgridOrder(t *testing.T) {
	thorough.Unraced(t)
	t.Parallel() // decompression is slow under the race detector
	src, err := openSource(t.Context(), sharedData(t, swissgridFile), false)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r := csv.NewReader(src)
	if _, err := r.Read(); err != nil { // the names of the columns
		t.Fatal(err)
	}
	var all []gridRow
	var walls, ends []int64
	for {
		rec, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, err1 := time.Parse("2006-01-02T15:04Z", rec[0])
		wall, err2 := time.Parse("2006-01-02 15:04", rec[1])
		mwh, err3 := strconv.ParseFloat(rec[2], 64)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		walls, ends = append(walls, wall.Unix()/60), append(ends, start.Unix()/60+15)
		all = append(all, gridRow{wall, []float64{math.Round(mwh * 1000), 1, 1, 1, 1}})
	}
	got, errs := swissToUTC(walls)
	if len(errs) > 0 || !slices.Equal(got, ends) || len(ends) != 210336 {
		t.Errorf("%d instants differ: %v", len(ends), errs)
	}
	const year = 35040
	dir := t.TempDir()
	writeBytes(t, dir, "EnergieUebersichtCH-2009.xls", gridXLS(all[:year]))
	writeBytes(t, dir, "EnergieUebersichtCH-2010.xls", gridXLS(all[year:2*year]))
	d := mustLoad(t, Spec{Source: "swissgrid", Path: dir})
	checkGrid(t, d, 2*year, time.Unix((ends[0]-15)*60, 0))
	for i, y := range d.Y {
		if math.Abs(y-all[i].values[0]/1000) > 1e-9 {
			t.Fatalf("row %d: %v, not %v", i, y, all[i].values[0]/1000)
		}
	}
	if len(d.Notices) != 0 {
		t.Errorf("%q", d.Notices)
	}
}
