package prepare

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/internal/must"
)

// A trainer is told how long the gaps are that a mask holds out, and that rows drawn at random are single ones.
func TestGapsOfSubjects(t *testing.T) {
	dir, table, mask := t.TempDir(), "x,y\n", ""
	for i := range 90 {
		table += fmt.Sprintf("%d,%d\n", i, i*i%11)
		mask += fmt.Sprintf("%d\n", i%15/9) // six in a row, the last ones at the end
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, "data.csv"), []byte(table), 0o600))
	must.OK(t, os.WriteFile(filepath.Join(dir, "mask.csv"), []byte(mask), 0o600))
	for by, want := range map[string]int{"mask": 6, "random": 1} {
		text := fmt.Sprintf("name = \"r\"\n[data]\npath = %q\ntime = \"no\"\nsplit_by = %q\n"+
			"[kernels]\nexpressions = [\"SE\"]\n[sparse]\ninducing = 4\n", filepath.Join(dir, "data.csv"), by)
		if by == "mask" {
			text = strings.Replace(text, "[kernels]", fmt.Sprintf("mask = %q\n[kernels]", filepath.Join(dir, "mask.csv")), 1)
		}
		path := filepath.Join(dir, "c.toml")
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
		c, err := config.Load(path, nil)
		must.OK(t, err)
		j, err := Prepare(t.Context(), c)
		must.OK(t, err)
		if got := j.Subject.Train.Gap; got != want {
			t.Errorf("held out by %s: gaps of %d, want %d", by, got, want)
		}
		must.OK(t, j.Close())
	}
}
