package configtest

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/internal/must"
)

// MaskedData writes a table and a mask that holds out every third row, and returns
// the folder that they are in and the config of a small run with them.
func MaskedData(t *testing.T) (dir string, c config.Config) {
	t.Helper()
	dir = t.TempDir()
	var table, mask strings.Builder
	table.WriteString("x,y\n")
	for i := range 60 {
		fmt.Fprintf(&table, "%d,%g\n", i, math.Sin(float64(i)/5))
		fmt.Fprintf(&mask, "%d\n", min(i%3, 1)^1)
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, "table.csv"), []byte(table.String()), 0o644))
	must.OK(t, os.WriteFile(filepath.Join(dir, "mask.csv"), []byte(mask.String()), 0o644))
	must.OK(t, os.WriteFile(filepath.Join(dir, "c.toml"), []byte(`[data]
path = "table.csv"
split_by = "mask"
mask = "mask.csv"
[kernels]
expressions = ["SE", "LIN"]
[sparse]
inducing = 6
[optimise]
starts = 1
[schedule]
steps = 4
evaluate_every = 0.5
refine = 0
`), 0o644))
	c, err := config.Load(filepath.Join(dir, "c.toml"), nil)
	must.OK(t, err)
	return dir, c
}

// OtherMask holds out other rows, as many as before.
func OtherMask(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "mask.csv")
	text, err := os.ReadFile(path)
	must.OK(t, err)
	if !bytes.HasPrefix(text, []byte("1\n0\n")) {
		t.Fatalf("the mask begins with %q", text[:8])
	}
	must.OK(t, os.WriteFile(path, append([]byte("0\n1\n"), text[4:]...), 0o644))
}
