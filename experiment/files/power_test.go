package files

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/inside/disktest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// Whenever the power fails, a file that is written aside is the old one or the new one,
// whole, and the new one once it has been placed.
func TestPowerFailsWhileFilesAreReplaced(t *testing.T) {
	base := t.TempDir()
	text := map[string][]byte{"a": bytes.Repeat([]byte("old"), 700), "b": nil}
	must.OK(t, os.WriteFile(filepath.Join(base, "a"), text["a"], 0o644))
	disk := disktest.New(t, base)
	var placed []map[string][]byte
	for _, now := range []string{"new", "newer"} {
		var both []*Aside
		for _, name := range []string{"a", "b"} {
			to, err := newAside(disk.Files(), filepath.Join(base, name))
			must.OK(t, err)
			defer to.Drop()
			_, err = to.Write(bytes.Repeat([]byte(now+name), 300))
			must.OK(t, err)
			both = append(both, to)
		}
		for _, to := range both {
			must.OK(t, to.Finish())
		}
		for _, to := range both {
			must.OK(t, to.Place())
		}
		placed = append(placed, map[string][]byte{"a": bytes.Repeat([]byte(now+"a"), 300), "b": bytes.Repeat([]byte(now+"b"), 300)})
		disk.Mark(len(placed))
	}
	must.OK(t, replaceWith(disk.Files(), filepath.Join(base, "c"), func(f inside.File) error {
		_, err := f.Write([]byte("c"))
		return err
	}))
	disk.Mark(len(placed) + 1)
	disk.MustBeAll()
	draws := 10_000 / thorough.OneIn(t, 20, "losses of power")
	states := disk.Draw(draws, 1, func(t *testing.T, _ string, left disktest.State, marks []any) {
		if len(marks) > 0 {
			n := min(marks[len(marks)-1].(int), len(placed))
			for name, old := range placed[n-1] {
				if n == len(placed) && !bytes.Equal(left[name], old) || len(left[name]) < len(old) {
					t.Errorf("%s has %d bytes; it was placed", name, len(left[name]))
				}
			}
			if _, ok := left["c"]; !ok && marks[len(marks)-1].(int) > len(placed) {
				t.Error("c was placed")
			}
		}
	})
	t.Logf("%d losses of power, %d states", draws, states)
}
