package datasets

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	npynpz "github.com/sbinet/npyio/npz"
	"github.com/ulikunitz/xz"
	"github.com/xuri/excelize/v2"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// formatTable is a table as CSV text, of which others are made.
type formatTable struct{ name, text string }

func formatTables() []formatTable {
	var long strings.Builder
	long.WriteString("x,y\n")
	for i := range 3000 {
		fmt.Fprintf(&long, "%v,%v\n", float64(i)/7, math.Sin(float64(i)))
	}
	return []formatTable{
		{"numbers", "a,b,y\n1,2.5,3e-7\n-4,0.1,1e20\n7,8,123456789012345\n"},
		{"missing", "a,b,y\n1,,3\n,5,6\n7,8,\n10,11,12\n"},
		{"texts", "city,x,y\nUlm,1,2\n\"Bad Aibling, Ort\",3,4\n\"Bonn \"\"am\"\" Rhein\",5,7\n"},
		{"times", "when,y\n2024-01-31T07:30:00,1\n2024-02-29T08:45:15,2\n2024-12-24T00:00:00,5\n"},
		{"long", long.String()},
	}
}

// formatKind writes records, the first of which are names, in a format; ok is false
// where it cannot hold them.
type formatKind struct {
	name  string
	write func(t *testing.T, path string, recs [][]string) (ok bool)
	sheet string // behind the path
}

// spaced writes records of numbers, time stamps and words with spaces between the cells,
// each at least so wide.
func spaced(width int) func(*testing.T, string, [][]string) bool {
	return func(t *testing.T, path string, recs [][]string) bool {
		var b strings.Builder
		for _, rec := range recs {
			for i, cell := range rec {
				if strings.ContainsAny(cell, "\" ,") {
					return false
				}
				if cell == "" {
					cell = "nan"
				}
				if i > 0 {
					b.WriteByte(' ')
				}
				fmt.Fprintf(&b, "%*s", width, cell)
			}
			b.WriteByte('\n')
		}
		must.OK(t, os.WriteFile(path, []byte(b.String()), 0o644))
		return true
	}
}

// writeArray writes an array of two dimensions, which has no names.
func writeArray(t *testing.T, path string, recs [][]string) bool {
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", len(recs)-1, len(recs[0]))
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	out := []byte("\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), 0}) + header)
	for _, rec := range recs[1:] {
		for _, cell := range rec {
			v, ok := asNumber(cell)
			if !ok && cell != "" {
				return false
			}
			if !ok {
				v = math.NaN()
			}
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		}
	}
	must.OK(t, os.WriteFile(path, out, 0o644))
	return true
}

// packed writes a text through a compressor.
func packed(open func(io.Writer) (io.WriteCloser, error)) func(*testing.T, [][]string) []byte {
	return func(t *testing.T, recs [][]string) []byte {
		var b bytes.Buffer
		z, err := open(&b)
		must.OK(t, err)
		_, err = z.Write(csvText(t, recs))
		must.OK(t, err)
		must.OK(t, z.Close())
		return b.Bytes()
	}
}

// asNumber reads a cell.
func asNumber(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

func jsonText(t *testing.T, recs [][]string) []byte {
	var b bytes.Buffer
	for _, rec := range recs[1:] {
		b.WriteByte('{')
		for i, cell := range rec {
			if i > 0 {
				b.WriteByte(',')
			}
			key, err := json.Marshal(recs[0][i])
			must.OK(t, err)
			value, err := json.Marshal(cell)
			must.OK(t, err)
			if _, number := asNumber(cell); number {
				value = []byte(cell)
			} else if cell == "" {
				value = []byte("null")
			}
			fmt.Fprintf(&b, "%s: %s", key, value)
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}

func csvText(t *testing.T, recs [][]string) []byte { return dividedText(t, ',', recs) }

func dividedText(t *testing.T, by rune, recs [][]string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = by
	must.OK(t, w.WriteAll(recs))
	return b.Bytes()
}

func zipped(t *testing.T, name string, text []byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	must.OK(t, err)
	_, err = w.Write(text)
	must.OK(t, err)
	must.OK(t, z.Close())
	return b.Bytes()
}

func formatKinds() []formatKind {
	bytesOf := func(text func(*testing.T, [][]string) []byte) func(*testing.T, string, [][]string) bool {
		return func(t *testing.T, path string, recs [][]string) bool {
			must.OK(t, os.WriteFile(path, text(t, recs), 0o644))
			return true
		}
	}
	return append(otherKinds(), []formatKind{
		{"csv", bytesOf(csvText), ""},
		{"tsv", bytesOf(func(t *testing.T, recs [][]string) []byte { return dividedText(t, '\t', recs) }), ""},
		{"semicolons.csv", bytesOf(func(t *testing.T, recs [][]string) []byte { return dividedText(t, ';', recs) }), ""},
		{"spaces.txt", spaced(1), ""},
		{"aligned.txt", spaced(24), ""},
		{"csv.gz", bytesOf(packed(func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })), ""},
		{"csv.xz", bytesOf(packed(func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) })), ""},
		{"csv.zst", bytesOf(packed(func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })), ""},
		{"npy", writeArray, ""},
		{"jsonl", bytesOf(jsonText), ""},
		{"jsonl.gz", bytesOf(func(t *testing.T, recs [][]string) []byte {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, err := z.Write(jsonText(t, recs))
			must.OK(t, err)
			must.OK(t, z.Close())
			return b.Bytes()
		}), ""},
		{"csv.zip", bytesOf(func(t *testing.T, recs [][]string) []byte { return zipped(t, "a/t.csv", csvText(t, recs)) }), ""},
		{"jsonl.zip", bytesOf(func(t *testing.T, recs [][]string) []byte { return zipped(t, "t.jsonl", jsonText(t, recs)) }), ""},
		{"npz", writeColumns, ""},
		{"xlsx", func(t *testing.T, path string, recs [][]string) bool { return writeBook(t, path, "Sheet1", recs) }, ""},
		{"XLSX", func(t *testing.T, path string, recs [][]string) bool { return writeBook(t, path, "Two words#3", recs) }, "#two WORDS#3"},
	}...)
}

// writeColumns writes columns of numbers as NumPy's arrays.
func writeColumns(t *testing.T, path string, recs [][]string) bool {
	w, err := npynpz.Create(path)
	must.OK(t, err)
	for i, name := range recs[0] {
		var column []float64
		for _, rec := range recs[1:] {
			v, ok := asNumber(rec[i])
			if !ok && rec[i] != "" {
				return false
			}
			if !ok {
				v = math.NaN()
			}
			column = append(column, v)
		}
		must.OK(t, w.Write(name+".npy", column))
	}
	must.OK(t, w.Close())
	return true
}

// writeBook writes a workbook: numbers, dates as numbers that are shown as such, texts.
func writeBook(t *testing.T, path, sheet string, recs [][]string) bool {
	f := excelize.NewFile()
	defer f.Close()
	if sheet != "Sheet1" {
		_, err := f.NewSheet(sheet)
		must.OK(t, err)
	}
	style, err := f.NewStyle(&excelize.Style{NumFmt: 22}) // m/d/yy h:mm
	must.OK(t, err)
	for r, rec := range recs {
		for c, text := range rec {
			cell, err := excelize.CoordinatesToCellName(c+1, r+1)
			must.OK(t, err)
			switch v, number := asNumber(text); {
			case number:
				must.OK(t, f.SetCellFloat(sheet, cell, v, -1, 64))
			case text == "":
			default:
				if at, err := time.Parse("2006-01-02T15:04:05", text); err == nil {
					must.OK(t, f.SetCellValue(sheet, cell, at))
					must.OK(t, f.SetCellStyle(sheet, cell, cell, style))
				} else {
					must.OK(t, f.SetCellStr(sheet, cell, text))
				}
			}
		}
	}
	var b bytes.Buffer
	must.OK(t, f.Write(&b))
	must.OK(t, os.WriteFile(path, b.Bytes(), 0o644))
	return true
}

// A table in any format has the cells, the columns, the kinds and the missing values of
// its CSV; an array has no names. With -v it lists how many are equal in all.
func TestFormatsHaveTheCellsOfTheCSV(t *testing.T) {
	thorough.Unraced(t)
	type tally struct{ tables, rows, cells, equal int }
	counts := map[string]*tally{}
	for _, table := range formatTables() {
		recs, err := csv.NewReader(strings.NewReader(table.text)).ReadAll()
		must.OK(t, err)
		read := func(path string) *compared {
			all, err := readTable(t.Context(), path, &Spec{Missing: DefaultMissing()}, func(f *form) ([]int, error) {
				var some []int
				for i := range f.names {
					if f.kinds[i] != kindText {
						some = append(some, i)
					}
				}
				return some, nil
			})
			if err != nil {
				t.Errorf("%s: %v", filepath.Base(path), err)
				return nil
			}
			out := &compared{all.rows, all.names, nil, nil}
			for i := range all.columns {
				c := &all.columns[i]
				out.cells = append(out.cells, c.values)
				out.columns = append(out.columns, fmt.Sprint(c.name, c.number, c.kind, c.origin, c.missing, c.values))
			}
			return out
		}
		dir := t.TempDir()
		plain := filepath.Join(dir, "t.csv")
		must.OK(t, os.WriteFile(plain, []byte(table.text), 0o644))
		named := read(plain)
		_, below, _ := strings.Cut(table.text, "\n")
		must.OK(t, os.WriteFile(plain, []byte(below), 0o644))
		unnamed := read(plain)
		for _, kind := range formatKinds() {
			path, want := filepath.Join(dir, "t."+kind.name), named
			if kind.name == "npy" {
				want = unnamed
			}
			if !kind.write(t, path, recs) {
				continue
			}
			got := read(path + kind.sheet)
			if got == nil {
				continue
			}
			n := counts[kind.name]
			if n == nil {
				n = &tally{}
				counts[kind.name] = n
			}
			n.tables, n.rows = n.tables+1, n.rows+got.rows
			for i := range want.cells {
				for r, v := range want.cells[i] {
					if n.cells++; i < len(got.cells) && r < len(got.cells[i]) && math.Float64bits(got.cells[i][r]) == math.Float64bits(v) {
						n.equal++
					}
				}
			}
			bare := *want
			got.cells, bare.cells = nil, nil // NaN is no equal of itself
			if !reflect.DeepEqual(got, &bare) {
				t.Errorf("%s as %s: %.300v\nCSV: %.300v", table.name, kind.name, got, want)
			}
		}
	}
	for _, kind := range formatKinds() {
		n := counts[kind.name]
		if n == nil || n.equal != n.cells || n.rows < 3000 {
			t.Errorf("%s: %+v", kind.name, n)
			continue
		}
		t.Logf("%-14s %d tables, %d rows, %d of %d cells equal", kind.name, n.tables, n.rows, n.equal, n.cells)
	}
}

// compared is what of a table is compared.
type compared struct {
	rows    int
	names   []string
	columns []string
	cells   [][]float64 // of each column
}

// What is wrong with a cell or a row is told with the file, its line or row, and the
// column, and what is wrong with a file in one line.
func TestFormatErrors(t *testing.T) {
	dir := t.TempDir()
	npy := func(header, data string) string {
		header += strings.Repeat(" ", 53-len(header)%64+64) + "\n"
		return "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header + data
	}
	f := excelize.NewFile()
	must.OK(t, f.SetSheetRow("Sheet1", "A1", &[]any{"x", "y"}))
	must.OK(t, f.SetSheetRow("Sheet1", "A3", &[]any{1, 2}))
	must.OK(t, f.SetSheetRow("Sheet1", "A4", &[]any{2, "two"}))
	var book bytes.Buffer
	must.OK(t, f.Write(&book))
	_, err := f.NewSheet("More")
	must.OK(t, err)
	var books bytes.Buffer
	must.OK(t, f.Write(&books))
	var several bytes.Buffer
	z := zip.NewWriter(&several)
	for _, name := range []string{"a.csv", "b.csv"} {
		_, err := z.Create(name)
		must.OK(t, err)
	}
	must.OK(t, z.Close())
	for _, c := range []struct{ file, text, sheet, want string }{
		{"a.jsonl", "{\"x\": 1, \"y\": 2}\n{\"x\": 2, \"y\": \"two\"}\n", "", `a.jsonl: line 2, column 2 ("y"): "two" is not a number`},
		{"b.jsonl", "{\"x\": 1, \"y\": 2}\n\n{\"x\": 2, \"z\": 3}\n", "", `line 3: key "z" is not in the first line`},
		{"c.jsonl", "{\"x\": 1, \"y\": [2]}\n", "", `line 1: key "y" holds a list or an object, not a value`},
		{"d.jsonl", "{\"x\": 1, \"y\"\n", "", `line 1: is no JSON object`},
		{"a.xlsx", book.String(), "", `a.xlsx: line 4, column 2 ("y"): "two" is not a number`},
		{"b.xlsx", book.String(), "#More", `b.xlsx#More: has no sheet "More"; its sheets are "Sheet1"`},
		{"c.xlsx", books.String(), "", `c.xlsx: has 2 sheets; name one behind #, as in book.xlsx#Sheet1: "Sheet1", "More"`},
		{"a.zip", several.String(), "", `a.zip: is an archive of 2 files, the first "a.csv"; a table is one file: unpack it`},
		{"b.zip", several.String()[:40], "", `b.zip: is a damaged archive`},
		{"a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", strings.Repeat("\x00", 24)), "",
			`row 2: the array is cut off`},
		{"b.npy", npy("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }", ""), "", `is an array of something else than numbers`},
		{"c.npy", npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }", ""), "", `is an array in Fortran's order`},
		{"d.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 999999999), }", ""), "",
			`has 999999999 columns, more than are read`},
		{"x.csv", "x,y\n1,2\n", "", ""},
	} {
		path := filepath.Join(dir, c.file)
		must.OK(t, os.WriteFile(path, []byte(c.text), 0o644))
		_, err := Load(t.Context(), Spec{Path: path + c.sheet})
		if c.want == "" {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), c.file) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %s", c.file, err, c.want)
		}
	}
	if _, err := Load(t.Context(), Spec{Path: "-"}); err == nil || !strings.Contains(err.Error(), "read only once") {
		t.Errorf("standard input: %v", err)
	}
}

// An array of two dimensions is the table of its numbers without names.
func TestArrayIsATableWithoutNames(t *testing.T) {
	dir := t.TempDir()
	var data bytes.Buffer
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	data.WriteString("\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), 0}) + header)
	for _, v := range []float32{1, 2.5, 3, 4.25, 5, -0.5} {
		bits := math.Float32bits(v)
		data.Write([]byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
	}
	array, plain := filepath.Join(dir, "t.npy"), filepath.Join(dir, "t.csv")
	must.OK(t, os.WriteFile(array, data.Bytes(), 0o644))
	must.OK(t, os.WriteFile(plain, []byte("1,2.5\n3,4.25\n5,-0.5\n"), 0o644))
	got, err := Load(t.Context(), Spec{Path: array})
	must.OK(t, err)
	want, err := Load(t.Context(), Spec{Path: plain})
	must.OK(t, err)
	if !reflect.DeepEqual(got.X, want.X) || !reflect.DeepEqual(got.Y, want.Y) || !reflect.DeepEqual(got.Inputs, want.Inputs) {
		t.Errorf("%v %v %v, of the CSV %v %v %v", got.X, got.Y, got.Inputs, want.X, want.Y, want.Inputs)
	}
}
