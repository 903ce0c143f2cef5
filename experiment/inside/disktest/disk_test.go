package disktest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/internal/must"
)

// What POSIX lets a disk hold after a loss of power is what is drawn of it: nothing
// else, and all of that. There is a file a, "old", and a folder d before each of these.
func TestWhatIsLeft(t *testing.T) {
	write := func(t *testing.T, d *inside.Dir, name, text string, sync bool) {
		f, err := d.OpenOrCreate(name)
		must.OK(t, err)
		_, err = f.Seek(0, 2)
		must.OK(t, err)
		_, err = f.Write([]byte(text))
		must.OK(t, err)
		if sync {
			must.OK(t, f.Sync())
		}
		must.OK(t, f.Close())
	}
	for what, c := range map[string]struct {
		do   func(t *testing.T, d *inside.Dir)
		left []string // but for a=old d/
	}{
		"nothing": {func(*testing.T, *inside.Dir) {}, []string{"a=old d/"}},
		"replaced": {func(t *testing.T, d *inside.Dir) {
			write(t, d, "x", "new", true)
			must.OK(t, d.Rename("x", "a"))
		}, []string{"a=old d/", "a=old d/ x=new", "a=new d/"}},
		"replaced and its name synced": {func(t *testing.T, d *inside.Dir) {
			write(t, d, "x", "new", true)
			must.OK(t, d.Rename("x", "a"))
			must.OK(t, d.Sync("."))
		}, []string{"a=new d/"}},
		"replaced by what was not synced": {func(t *testing.T, d *inside.Dir) {
			write(t, d, "x", "new", false)
			must.OK(t, d.Rename("x", "a"))
			must.OK(t, d.Sync("."))
		}, []string{"a= d/", "a=n d/", "a=ne d/", "a=new d/", "a=000 d/"}},
		"appended twice": {func(t *testing.T, d *inside.Dir) {
			write(t, d, "a", "12", false)
			write(t, d, "a", "3", false)
		}, []string{"a=old d/", "a=old1 d/", "a=old12 d/", "a=old123 d/", "a=old00 d/", "a=old000 d/", "a=old120 d/"}},
		"appended and synced": {func(t *testing.T, d *inside.Dir) {
			write(t, d, "a", "12", false)
			write(t, d, "a", "3", true)
		}, []string{"a=old123 d/"}},
		"synced, then appended": {func(t *testing.T, d *inside.Dir) {
			write(t, d, "a", "12", true)
			write(t, d, "a", "3", false)
		}, []string{"a=old12 d/", "a=old123 d/", "a=old120 d/"}},
		"cut": {func(t *testing.T, d *inside.Dir) {
			f, err := d.OpenToWrite("a")
			must.OK(t, err)
			must.OK(t, f.Truncate(1))
			must.OK(t, f.Close())
		}, []string{"a=old d/", "a=o d/", "a=o00 d/"}},
		"two made": {func(t *testing.T, d *inside.Dir) {
			write(t, d, "p", "1", true)
			write(t, d, "q", "2", true)
		}, []string{"a=old d/", "a=old d/ p=1", "a=old d/ q=2", "a=old d/ p=1 q=2"}},
		"one made, synced, and one more": {func(t *testing.T, d *inside.Dir) {
			write(t, d, "p", "1", true)
			must.OK(t, d.Sync("."))
			write(t, d, "q", "2", true)
		}, []string{"a=old d/ p=1", "a=old d/ p=1 q=2"}},
		"made in a folder": {func(t *testing.T, d *inside.Dir) {
			write(t, d, "d/p", "1", true)
			must.OK(t, d.Sync("."))
		}, []string{"a=old d/", "a=old d/ d/p=1"}},
		"a folder and what is in it": {func(t *testing.T, d *inside.Dir) {
			name, err := d.MkdirTemp("e")
			must.OK(t, err)
			write(t, d, name+"/p", "1", true)
			must.OK(t, d.Sync(name))
			must.OK(t, d.Rename(name, "e"))
		}, []string{"a=old d/", "a=old d/ E/ E/p=1", "a=old d/ e/ e/p=1"}},
		"folders that wait for the disk": {func(t *testing.T, d *inside.Dir) {
			must.OK(t, d.MkdirAll("e/f"))
		}, []string{"a=old d/ e/ e/f/"}},
		"moved elsewhere": {func(t *testing.T, d *inside.Dir) {
			must.OK(t, d.Rename("a", "d/b"))
		}, []string{"a=old d/", "d/ d/b=old"}},
		"removed and made again": {func(t *testing.T, d *inside.Dir) {
			must.OK(t, d.Remove("a"))
			write(t, d, "a", "n", true)
		}, []string{"a=old d/", "d/", "a=n d/"}},
		"a folder removed": {func(t *testing.T, d *inside.Dir) {
			must.OK(t, d.RemoveAll("d"))
		}, []string{"a=old d/", "a=old"}},
	} {
		t.Run(what, func(t *testing.T) {
			base := t.TempDir()
			must.OK(t, os.WriteFile(filepath.Join(base, "a"), []byte("old"), 0o644))
			must.OK(t, os.Mkdir(filepath.Join(base, "d"), 0o755))
			disk := New(t, base)
			d, err := disk.Files().Open(base)
			must.OK(t, err)
			defer d.Close()
			c.do(t, d)
			disk.MustBeAll()
			chance, drawn := rand.New(rand.NewPCG(1, 1)), map[string]bool{}
			for range 500 {
				left, _, _ := disk.crash(chance, disk.Steps())
				var text []string
				for _, name := range slices.Sorted(maps.Keys(left)) {
					shown := strings.NewReplacer("\x00", "0").Replace(string(left[name]))
					if name[0] == 'e' && len(name) > 2 && name[1] >= '0' && name[1] <= '9' { // drawn by MkdirTemp
						_, rest, _ := strings.Cut(name, "/")
						name = "E/" + rest
					}
					if !strings.HasSuffix(name, "/") {
						name = fmt.Sprintf("%s=%s", name, shown)
					}
					text = append(text, name)
				}
				drawn[strings.Join(text, " ")] = true
			}
			if got := slices.Sorted(maps.Keys(drawn)); !slices.Equal(got, slices.Sorted(slices.Values(c.left))) {
				t.Errorf("left are %q, may be %q", got, c.left)
			}
		})
	}
}

// What the disk was not told of is noticed.
func TestWrittenOtherwise(t *testing.T) {
	for what, do := range map[string]func(base string) error{
		"a file":         func(base string) error { return os.WriteFile(filepath.Join(base, "b"), nil, 0o644) },
		"a file changed": func(base string) error { return os.WriteFile(filepath.Join(base, "a"), nil, 0o644) },
		"a file removed": func(base string) error { return os.Remove(filepath.Join(base, "a")) },
		"a folder":       func(base string) error { return os.Mkdir(filepath.Join(base, "d"), 0o755) },
	} {
		base := t.TempDir()
		must.OK(t, os.WriteFile(filepath.Join(base, "a"), []byte("old"), 0o644))
		disk := New(t, base)
		must.OK(t, do(base))
		if diff := disk.untold(); len(diff) != 1 {
			t.Errorf("%s: %q", what, diff)
		}
	}
}

// A file that is put in its place by renaming it is torn if it is nothing that was.
func TestTorn(t *testing.T) {
	base := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(base, "a"), []byte("old"), 0o644))
	disk := New(t, base)
	d, err := disk.Files().Open(base)
	must.OK(t, err)
	defer d.Close()
	must.OK(t, d.ReplaceFile("a", []byte("new")))
	must.OK(t, d.ReplaceFile("b", []byte("1")))
	f, err := d.OpenToWrite("b") // which goes on where it is
	must.OK(t, err)
	_, err = f.Write([]byte("2"))
	must.OK(t, err)
	must.OK(t, f.Close())
	at := func(name string) map[*node]map[string]*node {
		return map[*node]map[string]*node{disk.root: {name: disk.root.names["a"], "b": disk.root.names["b"]}}
	}
	for text, want := range map[string]bool{"old": false, "new": false, "": true, "ne": true, "newer": true} {
		if got := disk.torn(State{"a": []byte(text), "b": []byte("x")}, at("a")); len(got) > 0 != want {
			t.Errorf("%q: torn are %q", text, got)
		}
		if got := disk.torn(State{"c": []byte(text), "b": []byte("x")}, at("c")); len(got) > 0 {
			t.Errorf("elsewhere: torn are %q", got)
		}
	}
}
