package datasets

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func allRecords(text string, delim byte, buffer int) ([][]string, error) {
	s := &records{r: bufio.NewReaderSize(strings.NewReader(text), buffer), delim: delim, file: "f"}
	var out [][]string
	for {
		fields, err := s.read()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		var rec []string
		for _, f := range fields {
			rec = append(rec, string(f))
		}
		out = append(out, rec)
	}
}

// TestRecordsAgreeWithStandardLibrary checks the splitter against
// encoding/csv, with a buffer so small that lines do not fit.
func TestRecordsAgreeWithStandardLibrary(t *testing.T) {
	for _, text := range []string{
		"a,b,c\n1,2,3\n",
		"a,b,c\r\n1,2,3\r\n\r\n\n4,,\n",
		"\"a\",\"b\"\n1,2",
		"\"a,b\",\"say \"\"hi\"\"\"\n\"two\nlines\",x\n",
		"\"cr\r\nlf\",2\n,\n\"\",\"\"\n",
		strings.Repeat("long field ", 50) + ",1\n\"" + strings.Repeat("quoted, ", 60) + "\",2\n",
	} {
		for _, buffer := range []int{16, 4096} {
			want, err := csv.NewReader(strings.NewReader(text)).ReadAll()
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			got, err := allRecords(text, ',', buffer)
			if err != nil || !slices.EqualFunc(got, want, slices.Equal[[]string]) {
				t.Errorf("%q, buffer %d: got %q, %v, want %q", text, buffer, got, err, want)
			}
		}
	}
}

func TestRecordsBySpace(t *testing.T) {
	got, err := allRecords("1 21.5   23\n\n  2\t24.5 20 \n", ' ', 64)
	want := [][]string{{"1", "21.5", "23"}, {"2", "24.5", "20"}}
	if err != nil || !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("got %q, %v", got, err)
	}
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{
		"x,y\n1,2\n3,4\n", "1;2\n3;4", "\"a\"\"b\",c\n1,2\n2,3", "\"", "a,b\n\"1\n", "\xef\xbb\xbfx\ty\r\n1\t2\r\n3\t5\r\n\r\n",
		"t,y\n2020-01-01T00:00Z,1\n2020-01-02 10:00,2\n", ",,\n,,", "x,y\n1,Inf\n", "\x00\x01\x02", "\x1f\x8b", "\xfd7zXZ\x00",
		"\x28\xb5\x2f\xfd", "1,2\n1", "  x   the y\n 1   2\n30   4\n# by me\n 5   7\n", "0,5 1,5\n1,5 2,25\n",
		"t y\n2020-01-01  07:30 1\n2020-01-02 07:30 2\n", "\"a b\" c\n01/31/2024 7:30 AM 1\n01/31/2024 7:31 PM 2\n",
		"t,y\n9007199254740993,1\n9007199254740995,2\n", "t,y\n2020-01-01 00:00:00.000000001Z,1\n2020-01-01 00:00:00.000000002,2\n",
	} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "fuzz.csv")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Load(context.Background(), Spec{Path: path, TestFraction: .3})
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
				t.Errorf("error with control characters: %q", err)
			}
			return
		}
		n := d.N()
		if len(d.X) != n*d.Dim || len(d.Inputs) != d.Dim || len(d.Train)+len(d.Test) != n || n+d.Dropped.Target+d.Dropped.Inputs != d.Rows {
			t.Fatalf("%d rows, dim %d: %d inputs, %d+%d split, %d read, %+v dropped", n, d.Dim,
				len(d.X), len(d.Train), len(d.Test), d.Rows, d.Dropped)
		}
		for _, v := range append(slices.Clone(d.X), d.Y...) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%v in the data", v)
			}
		}
		Describe(d, nil)
		// What the standard library takes for a table, too, has the same shape.
		if bytes.ContainsAny(data, "\ufeff") {
			return
		}
		r := csv.NewReader(bytes.NewReader(data))
		r.LazyQuotes, r.FieldsPerRecord = false, -1
		want, err := r.ReadAll()
		if err != nil {
			return
		}
		got, err := allRecords(string(data), ',', 16)
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		blank := func(rec []string) bool { return len(rec) == 1 && strings.TrimSpace(rec[0]) == "" }
		want, got = slices.DeleteFunc(want, blank), slices.DeleteFunc(got, blank)
		if len(got) != len(want) {
			t.Fatalf("%q: %d records, want %d", data, len(got), len(want))
		}
		for i := range got {
			if len(got[i]) != len(want[i]) {
				t.Fatalf("%q: record %d has %d fields, want %d", data, i, len(got[i]), len(want[i]))
			}
		}
	})
}
