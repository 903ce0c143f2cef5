package files

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/internal/must"
)

// namesIn lists a folder.
func namesIn(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.OK(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// What a killed process has left of a file goes with the next write of its name;
// what is being written, what belongs to other names and what only looks alike
// stays.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	stays := []string{".out.csv.20240131", ".out.csv.kestrel-1", ".out.csv.kestrel-1-2-3", ".out.csv.kestrel-a-2", ".out.kestrel-1-2",
		".out.csv.components.kestrel-1-2", "out.csv.kestrel-1-2", ".out.csv.kestrel-3-4"}
	for _, name := range stays[:len(stays)-1] {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	must.OK(t, os.Mkdir(filepath.Join(dir, stays[len(stays)-1]), 0o755))
	left := filepath.Join(dir, ".out.csv.kestrel-4294967295-7")
	must.OK(t, os.WriteFile(left, []byte("half"), 0o644))
	writing, err := NewAside(path)
	must.OK(t, err)
	if _, err := os.Stat(left); err == nil {
		t.Error("the leftover is there")
	}
	must.OK(t, ReplaceFile(path, []byte("second")))
	_, err = io.WriteString(writing, "first")
	must.OK(t, err)
	must.OK(t, writing.Finish())
	must.OK(t, writing.Place()) // not taken for a leftover
	writing.Drop()
	if text, err := os.ReadFile(path); err != nil || string(text) != "first" {
		t.Errorf("%q, %v", text, err)
	}
	for _, name := range stays {
		must.OK(t, os.Remove(filepath.Join(dir, name)))
	}
	if names := namesIn(t, dir); names != "out.csv" {
		t.Error(names)
	}
}

// A write that fails leaves what was there, and nothing aside.
func TestReplaceWithFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	must.OK(t, ReplaceFile(path, []byte("old")))
	over := fmt.Errorf("over")
	if err := replaceWith(inside.Disk{}, path, func(inside.File) error { return over }); err != over {
		t.Error(err)
	}
	must.OK(t, os.Mkdir(filepath.Join(dir, "b"), 0o755))
	must.OK(t, os.WriteFile(filepath.Join(dir, "b", "c"), nil, 0o644))
	if err := ReplaceFile(filepath.Join(dir, "b"), nil); err == nil {
		t.Error("a folder has been replaced")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "old" || namesIn(t, dir) != "a b" {
		t.Errorf("%q, %v; %s", text, err, namesIn(t, dir))
	}
}

// Names as long as the file system takes them can be written, too, and their
// leftovers are told apart.
func TestAsideOfALongName(t *testing.T) {
	dir := t.TempDir()
	a, b := strings.Repeat("ü", 126)+"a", strings.Repeat("ü", 126)+"b"
	for _, name := range []string{a, b} {
		must.OK(t, ReplaceFile(filepath.Join(dir, name), []byte(name)))
	}
	if inside.AsidePrefix(a) == inside.AsidePrefix(b) || len(inside.AsidePrefix(a)) > 220 {
		t.Errorf("%s, %s", inside.AsidePrefix(a), inside.AsidePrefix(b))
	}
	if names := namesIn(t, dir); names != a+" "+b {
		t.Error(names)
	}
}

func TestLongAgo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	must.OK(t, os.WriteFile(path, nil, 0o644))
	for age, want := range map[time.Duration]bool{0: false, 23 * time.Hour: false, 25 * time.Hour: true} {
		at := time.Now().Add(-age)
		must.OK(t, os.Chtimes(path, at, at))
		info, err := os.Lstat(path)
		must.OK(t, err)
		if longAgo(info) != want {
			t.Errorf("%s: %v", age, !want)
		}
	}
}
