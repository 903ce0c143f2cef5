// Package golden reads values that tests compare with, computed elsewhere.
package golden

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Read reads every file of a schema in the golden folder, by name. The folder is
// beside the module's own, or $KESTREL_GOLDEN. Without such files the test is
// skipped.
func Read[T any](t *testing.T, schema string) map[string]*T {
	t.Helper()
	dir := os.Getenv("KESTREL_GOLDEN")
	if dir == "" {
		dir = filepath.Join(Module(t), "..", "shared", "golden")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*T{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var head struct{ Schema string }
		if json.Unmarshal(text, &head) != nil || head.Schema != schema {
			continue
		}
		f := new(T)
		if err := json.Unmarshal(text, f); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out[filepath.Base(path)] = f
	}
	if len(out) == 0 {
		t.Skipf("no golden values of schema %s in %s; set KESTREL_GOLDEN", schema, dir)
	}
	return out
}

// Module is the root of the module in which a test runs.
func Module(t *testing.T) string {
	t.Helper()
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at
		}
		up := filepath.Dir(at)
		if up == at {
			t.Fatal("no go.mod above the test")
		}
		at = up
	}
}
