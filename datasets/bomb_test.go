package datasets

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"example.com/kestrel/internal/thorough"
)

// What unpacks too well is refused before it has cost the memory of its values,
// whether it is rows or a line that never ends.
func TestBombsCostLittle(t *testing.T) {
	thorough.Unraced(t)
	for name, text := range map[string]string{"rows": "1,2\n", "line": "1111"} {
		for _, packed := range []string{"gz", "zst"} {
			var file bytes.Buffer
			var w interface {
				Write([]byte) (int, error)
				Close() error
			} = gzip.NewWriter(&file)
			if packed == "zst" {
				var err error
				if w, err = zstd.NewWriter(&file, zstd.WithWindowSize(8<<20)); err != nil {
					t.Fatal(err)
				}
			}
			block := []byte(strings.Repeat(text, 1<<18))
			w.Write([]byte("x,y\n1,2\n3,4\n"))
			for range anyExpansion>>20 + 8 {
				w.Write(block)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "bomb.csv."+packed)
			if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Load(t.Context(), Spec{Path: path})
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), "unpack to more than 250 times") {
				t.Errorf("%s.%s: %v", name, packed, err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 128<<20 {
				t.Errorf("%s.%s: %d MB", name, packed, n>>20)
			}
		}
	}
}
