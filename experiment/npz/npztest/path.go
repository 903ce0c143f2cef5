// Package npztest reads and writes checkpoints by their paths, for tests that change
// them.
package npztest

import (
	"path/filepath"
	"testing"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/npz"
	"example.com/kestrel/vbks"
)

// Load reads a checkpoint file.
func Load(t testing.TB, path string) (map[string]vbks.Tensor, error) {
	t.Helper()
	return npz.Load(open(t, path), filepath.Base(path))
}

// Save replaces a checkpoint file.
func Save(t testing.TB, path string, arrays map[string]vbks.Tensor) error {
	t.Helper()
	return npz.Save(open(t, path), filepath.Base(path), arrays)
}

func open(t testing.TB, path string) *inside.Dir {
	t.Helper()
	d, err := inside.Open(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}
