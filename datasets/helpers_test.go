package datasets

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// writeFile puts text into a file of a fresh folder and returns its path.
func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// mustLoad loads or fails.
func mustLoad(t testing.TB, s Spec) *Dataset {
	t.Helper()
	d, err := Load(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// loadText loads a table given as text.
func loadText(t testing.TB, text string, s Spec) *Dataset {
	t.Helper()
	s.Path = writeFile(t, "data.csv", text)
	return mustLoad(t, s)
}

// sharedData returns the path of a file of the shared data, or skips.
func sharedData(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv(dataEnv)
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs %s in ../shared/data or $%s, which is not there", name, dataEnv)
	}
	return path
}

func equalFloats(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
