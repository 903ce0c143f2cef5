package vbks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// readGolden reads every file of a schema in the golden folder, by name.
func readGolden[T any](t *testing.T, schema string) map[string]*T {
	t.Helper()
	dir := os.Getenv("KESTREL_GOLDEN")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "golden")
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
