package rundir

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/internal/must"
)

// What a killed process was writing aside goes; what is named alike is the user's.
func TestRemoveTemporary(t *testing.T) {
	dir := t.TempDir()
	gone := []string{".config.toml.kestrel-7-8", ".kernels.csv.kestrel-1-2", ".events.jsonl.kestrel-1-2", ".config.toml.123",
		".kernels.csv.9", "state/.checkpoint.npz.kestrel-3-4", "state/.checkpoint.npz.55", "state/.tables123/posterior.csv"}
	stay := []string{".config.toml.swp", ".config.toml", ".config.toml.", ".config.toml.kestrel-mine",
		".kernels.csv-mine/a", ".kernels.csv.5/a",
		".kernels.csv~", "state/.checkpoint.npz.bak", "state/.checkpoint.npz", "state/.tables", "state/.tables-of-mine/a", "state/.tables5x"}
	for _, name := range slices.Concat(gone, stay) {
		name = filepath.Join(dir, name)
		must.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.OK(t, os.WriteFile(name, []byte("text"), 0o644))
	}
	d, err := inside.Open(dir)
	must.OK(t, err)
	defer d.Close()
	removeTemporary(d)
	for _, name := range gone {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "state", ".tables123")); err == nil {
		t.Error("the folder is still there")
	}
	for _, name := range stay {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}
