package formats

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"testing"
)

// tabled reads all rows and looks whether they are a table, the same as text.
func tabled(t *testing.T, open func() (Rows, error)) {
	t.Helper()
	read := func() (rows [][]string, err error) {
		next, err := open()
		for err == nil {
			var row []string
			if row, err = next(); err == nil && row != nil {
				rows = append(rows, row)
			}
		}
		return rows, err
	}
	rows, err := read()
	if err != io.EOF {
		if strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
			t.Errorf("%q", err)
		}
		return
	}
	for i, row := range rows {
		if len(row) != len(rows[0]) {
			t.Fatalf("row %d has %d cells, the first %d", i, len(row), len(rows[0]))
		}
	}
	next, err := open()
	if err != nil {
		t.Fatal(err)
	}
	in := csv.NewReader(Text(next))
	in.FieldsPerRecord = -1
	again, err := in.ReadAll()
	if err != nil || len(again) != len(rows) {
		t.Fatalf("%d rows are %d as text: %v", len(rows), len(again), err)
	}
	for i := range rows {
		same := slices.EqualFunc(rows[i], again[i], func(a, b string) bool {
			return a == b || strings.ContainsAny(a, "\r\n") && strings.Join(strings.Fields(a), " ") == b
		})
		if !same {
			t.Fatalf("row %d is %q, as text %q", i, rows[i], again[i])
		}
	}
}

func FuzzJSONLines(f *testing.F) {
	for _, s := range []string{
		"{\"x\":1,\"y\":2}\n{\"y\":3,\"x\":4}\n", "{\"x\":null}\n\n{}\n", "{\"x\":\"a\\nb\",\"y\":true}", "{\"x\":{\"y\":1}}",
		"[1,2]", "{\"x\":1e999}",
		"{\"x\":1,\"x\":2}\n", "{\"\":1}\n", "{}\n{}\n", "{\"a\":\"\\u0000\"}", "{\"x\":1}{\"x\":2}\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tabled(t, func() (Rows, error) { return JSONLines(bytes.NewReader(data)), nil })
	})
}

func FuzzNPY(f *testing.F) {
	head := "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), }"
	head += strings.Repeat(" ", 10+0x76-len(head)-1) + "\n"
	f.Add([]byte(head + strings.Repeat("\x00", 16)))
	f.Add([]byte(strings.Replace(head, "<f8", "<i4", 1) + strings.Repeat("\x01", 8)))
	f.Add([]byte(strings.Replace(head, "False", "True ", 1) + strings.Repeat("\x01", 16)))
	f.Add([]byte(strings.Replace(head, "(2, 1)", "(9,)  ", 1)))
	f.Add([]byte(strings.Replace(head, "(2, 1)", "(2, 0)", 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		tabled(t, func() (Rows, error) { return NPY(bytes.NewReader(data)) })
	})
}
