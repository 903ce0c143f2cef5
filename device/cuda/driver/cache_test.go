//go:build cuda

package driver

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// The cache keeps what was read or written last, within its bound.
func TestCacheIsBounded(t *testing.T) {
	dir := t.TempDir()
	image := make([]byte, 1000)
	began := time.Now().Add(-time.Hour)
	for i, name := range []string{"a", "b", "c", "d"} {
		file := filepath.Join(dir, name)
		writeCache(file, image)
		at := began.Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if readCache(filepath.Join(dir, "a")) == nil {
		t.Fatal("what was written is not there")
	}
	left := func() (names []string) {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			names = append(names, f.Name())
		}
		return names
	}
	trimCache(dir, 5000)
	if got := left(); len(got) != 4 {
		t.Errorf("within the bound %q are left", got)
	}
	trimCache(dir, 2500) // of four of some 1050
	if got := left(); !slices.Equal(got, []string{"a", "d"}) {
		t.Errorf("%q are left, want a, read last, and d, written last", got)
	}
	trimCache(dir, 10)
	if got := left(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("%q are left, want the one used last", got)
	}
}
