package disktest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
)

// Draw lets the power fail n times, at random moments, and has what is left of the disk
// judged: check is given a folder that holds it and may be changed, and the marks that
// had been made. States that were judged already, after the same marks, are not again.
// The same seed draws the same states. It returns how many different ones there were.
func (d *Disk) Draw(n int, seed uint64, check func(t *testing.T, folder string, left State, marks []any)) (states int) {
	d.t.Helper()
	chance := rand.New(rand.NewPCG(seed, 0))
	type seen struct {
		state [sha256.Size]byte
		marks int
	}
	known := map[seen]bool{}
	f := folder(inMemory(d.t))
	for i := range n {
		at := chance.IntN(d.Steps() + 1)
		left, names, marks := d.crash(chance, at)
		if is := (seen{left.sum(), len(marks)}); known[is] {
			continue
		} else {
			known[is] = true
		}
		f.hold(d.t, left)
		if torn := d.torn(left, names); len(torn) > 0 {
			d.t.Errorf("torn, but put in its place whole: %s", strings.Join(torn, ", "))
		}
		check(d.t, string(f), left, marks)
		if d.t.Failed() {
			d.t.Fatalf("draw %d of seed %d: the power failed after %s\nleft are %s", i, seed, d.moment(at), left)
		}
	}
	return len(known)
}

// moment tells what was done last, for people.
func (d *Disk) moment(at int) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := fmt.Sprintf("%d of %d steps, the last of which are", at, len(d.steps))
	for _, s := range d.steps[max(0, at-12):at] {
		text += fmt.Sprintf("\n  %-14s %s", s.kind, s.path)
		switch s.kind {
		case wrote, cut:
			text += fmt.Sprintf(" from %d, %d bytes", s.at, len(s.text))
		case marked:
			text += fmt.Sprintf("%.200s", fmt.Sprintf("%+v", s.mark))
		}
	}
	return text
}

// inMemory makes a folder for the test, in memory where the system has a place for that:
// what is there need not last, and many states are written.
func inMemory(t *testing.T) string {
	path, err := os.MkdirTemp("/dev/shm", "kestrel-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(path); err != nil {
			t.Error(err)
		}
	})
	return path
}

// folder holds one state after the other.
type folder string

// Write makes the files of a state in a folder, in the place of what is there.
func (s State) Write(t *testing.T, path string) {
	t.Helper()
	folder(path).hold(t, s)
}

// hold makes the files of a state. What is there already is not written again.
func (f folder) hold(t *testing.T, s State) {
	t.Helper()
	is := read(t, string(f))
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(is))) { // what is in folders before these
		if _, stays := s[name]; !stays {
			must.OK(t, os.Remove(filepath.Join(string(f), filepath.FromSlash(name))))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		path := filepath.Join(string(f), filepath.FromSlash(name))
		if text, there := is[name]; there && bytes.Equal(text, s[name]) {
			continue
		} else if strings.HasSuffix(name, "/") {
			must.OK(t, os.Mkdir(path, 0o755))
		} else {
			must.OK(t, os.WriteFile(path, s[name], 0o644))
		}
	}
}
