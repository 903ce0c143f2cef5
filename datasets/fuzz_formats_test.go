package datasets

import (
	"archive/zip"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"example.com/kestrel/internal/must"
)

// FuzzFormats feeds what is told by its first bytes, workbooks, archives, arrays, lines of JSON
// and, where it is built in, Parquet: no panic, one line, nothing that steers a terminal.
func FuzzFormats(f *testing.F) {
	book := excelize.NewFile()
	for i, row := range [][]any{{"when", "y"}, {"2024-01-31", 1.5}, {45000.5, "2"}, {nil, true}} {
		must.OK(f, book.SetSheetRow("Sheet1", "A"+string(rune('1'+i)), &row))
	}
	var packed bytes.Buffer
	must.OK(f, book.Write(&packed))
	f.Add(packed.Bytes())
	must.OK(f, book.Close())

	array := "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"
	array += strings.Repeat(" ", 10+0x76-len(array)-1) + "\n" + strings.Repeat("\x00\x00\x00\x00\x00\x00\xf0\x3f", 2)
	for name, text := range map[string]string{
		"a/t.csv": "x,y\n1,2\n2,3\n", "t.jsonl": "{\"x\":1,\"y\":2}\n{\"x\":3}\n", "y.npy": array, "../t.csv": "x,y\n1,2\n",
	} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create(name)
		must.OK(f, err)
		_, err = w.Write([]byte(text))
		must.OK(f, err)
		must.OK(f, z.Close())
		f.Add(b.Bytes())
		f.Add([]byte(text))
	}
	for _, seed := range otherSeeds(f) {
		f.Add(seed)
	}
	path := filepath.Join(f.TempDir(), "a")
	f.Fuzz(func(t *testing.T, data []byte) {
		must.OK(t, os.WriteFile(path, data, 0o600))
		if _, err := Load(context.Background(), Spec{Path: path}); err != nil && strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
			t.Errorf("%q", err)
		}
	})
}
