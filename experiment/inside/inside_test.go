//go:build unix

package inside

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/kestrel/internal/must"
)

// victimText is what nobody may change.
const victimText = "victim\n"

// place is a directory to look into, open, with a file and a folder that has one; and
// victims outside of it.
type place struct {
	*Dir
	victim, victims string // a file, and a folder with a file
}

func newPlace(t *testing.T) *place {
	t.Helper()
	base := t.TempDir()
	p := &place{victim: filepath.Join(base, "victim"), victims: filepath.Join(base, "victims")}
	dir := filepath.Join(base, "dir")
	for _, folder := range []string{dir, filepath.Join(dir, "folder"), filepath.Join(dir, "other"), p.victims} {
		must.OK(t, os.Mkdir(folder, 0o755))
	}
	for _, file := range []string{p.victim, filepath.Join(p.victims, "file"), filepath.Join(dir, "file"), filepath.Join(dir, "own"),
		filepath.Join(dir, "folder", "file"), filepath.Join(dir, "other", "file")} {
		must.OK(t, os.WriteFile(file, []byte(victimText), 0o644))
	}
	var err error
	p.Dir, err = Open(dir)
	must.OK(t, err)
	t.Cleanup(func() { p.Close() })
	return p
}

// unharmed looks whether all that lies elsewhere is what it was.
func (p *place) unharmed(t *testing.T, what string) {
	t.Helper()
	for _, file := range []string{p.victim, filepath.Join(p.victims, "file"), p.Join("own"), p.Join("other/file")} {
		if text, err := os.ReadFile(file); err != nil || string(text) != victimText {
			t.Errorf("%s: %s is now %q, %v", what, file, text, err)
		}
	}
	if entries, err := os.ReadDir(p.victims); err != nil || len(entries) != 1 {
		t.Errorf("%s: there are %v in the folder outside, %v", what, entries, err)
	}
}

// strange puts something else in the place of a file, and says what the refusal
// says of it.
func strange(t *testing.T, p *place) map[string]struct {
	put  func(path string) error
	says string
} {
	t.Helper()
	type kind = struct {
		put  func(path string) error
		says string
	}
	return map[string]kind{
		"a link outside":     {func(path string) error { return os.Symlink(p.victim, path) }, "is a link"},
		"a link inside":      {func(path string) error { return os.Symlink(p.Join("own"), path) }, "is a link"},
		"a relative link":    {func(path string) error { return os.Symlink("own", path) }, "is a link"},
		"a link to nothing":  {func(path string) error { return os.Symlink(p.Join("nothing"), path) }, "is a link"},
		"a link to itself":   {func(path string) error { return os.Symlink(filepath.Base(path), path) }, "is a link"},
		"a second name":      {func(path string) error { return os.Link(p.victim, path) }, "has a second name"},
		"a pipe":             {func(path string) error { return syscall.Mkfifo(path, 0o644) }, "is a pipe"},
		"a folder":           {func(path string) error { return os.Mkdir(path, 0o755) }, "is a folder"},
		"a link to a device": {func(path string) error { return os.Symlink(os.DevNull, path) }, "is a link"},
		"a socket": {func(path string) error {
			if len(path) > 100 {
				return errors.ErrUnsupported
			}
			l, err := net.Listen("unix", path)
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		}, "is a socket"},
	}
}

// inTime ends the test where f hangs.
func inTime(t *testing.T, what string, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(30 * time.Second):
		t.Fatalf("%s hangs", what)
		return nil
	}
}

func refused(err error, says string) bool {
	return errors.As(err, new(*Refused)) && strings.Contains(err.Error(), says) && !strings.Contains(err.Error(), "\n")
}

// closed drops a file that was opened.
func closed(f io.Closer, err error) error {
	if err == nil {
		f.Close()
	}
	return err
}

// Files are opened where they are files of one name; nothing else is opened, waited
// for, or changed.
func TestNoFileIsOpenedForAnother(t *testing.T) {
	kinds := strange(t, newPlace(t))
	for kind := range kinds {
		for _, name := range []string{"file", "folder/file"} {
			p := newPlace(t)
			k := strange(t, p)[kind]
			must.OK(t, os.Remove(p.Join(name)))
			if err := k.put(p.Join(name)); errors.Is(err, errors.ErrUnsupported) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			for what, do := range map[string]func() error{
				"Open":         func() error { return closed(p.Open(name)) },
				"OpenToWrite":  func() error { return closed(p.OpenToWrite(name)) },
				"OpenOrCreate": func() error { return closed(p.OpenOrCreate(name)) },
				"ReadFile":     func() error { _, err := p.ReadFile(name, 0); return err },
				"CheckFile":    func() error { return p.CheckFile(name) },
			} {
				if err := inTime(t, what, do); !refused(err, k.says) || !strings.Contains(err.Error(), name) {
					t.Errorf("%s, %s: %v", kind, what, err)
				}
			}
			if err := closed(p.Create(name)); !errors.Is(err, fs.ErrExist) {
				t.Errorf("%s: made anew: %v", kind, err)
			}
			p.unharmed(t, kind)
			if kind == "a folder" {
				continue
			}
			// What replaces it goes nowhere else.
			must.OK(t, p.ReplaceFile(name, []byte("new")))
			if info, err := p.Lstat(name); err != nil || !info.Mode().IsRegular() {
				t.Errorf("%s: replaced by %v, %v", kind, info, err)
			}
			p.unharmed(t, kind+", replaced")
			must.OK(t, p.Remove(name))
			must.OK(t, k.put(p.Join(name)))
			must.OK(t, p.RemoveAll(name))
			p.unharmed(t, kind+", removed")
		}
	}
}

// Nothing leads through a folder that is a link, or none.
func TestNoWayLeadsThroughALink(t *testing.T) {
	for kind, put := range map[string]func(p *place, path string) error{
		"outside":   func(p *place, path string) error { return os.Symlink(p.victims, path) },
		"relative":  func(_ *place, path string) error { return os.Symlink("../victims", path) },
		"inside":    func(_ *place, path string) error { return os.Symlink("other", path) },
		"itself":    func(_ *place, path string) error { return os.Symlink("folder", path) },
		"to a file": func(p *place, path string) error { return os.Symlink(p.victim, path) },
		"a pipe":    func(_ *place, path string) error { return syscall.Mkfifo(path, 0o644) },
	} {
		p := newPlace(t)
		must.OK(t, os.RemoveAll(p.Join("folder")))
		must.OK(t, put(p, p.Join("folder")))
		for what, do := range map[string]func() error{
			"Open":         func() error { return closed(p.Open("folder/file")) },
			"OpenToWrite":  func() error { return closed(p.OpenToWrite("folder/file")) },
			"OpenOrCreate": func() error { return closed(p.OpenOrCreate("folder/new")) },
			"Create":       func() error { return closed(p.Create("folder/new")) },
			"ReplaceFile":  func() error { return p.ReplaceFile("folder/file", nil) },
			"Lstat":        func() error { _, err := p.Lstat("folder/file"); return err },
			"Rename from":  func() error { return p.Rename("folder/file", "got") },
			"Rename to":    func() error { return p.Rename("file", "folder/file") },
			"Remove":       func() error { return p.Remove("folder/file") },
			"RemoveAll":    func() error { return p.RemoveAll("folder/file") },
			"Mkdir":        func() error { return p.MkdirAll("folder/new") },
			"MkdirAll":     func() error { return p.MkdirAll("folder") },
			"MkdirTemp":    func() error { _, err := p.MkdirTemp("folder/x"); return err },
			"ReadDir":      func() error { _, err := p.ReadDir("folder"); return err },
			"Sub":          func() error { _, err := p.Sub("folder"); return err },
			"CheckFolder":  func() error { return p.CheckFolder("folder") },
		} {
			if err := inTime(t, what, do); !refused(err, "folder in ") {
				t.Errorf("%s, %s: %v", kind, what, err)
			}
		}
		p.unharmed(t, kind)
		must.OK(t, p.RemoveAll("folder")) // the link itself
		p.unharmed(t, kind+", removed")
	}
}

// No name leads out of the directory.
func TestNoNameLeadsOut(t *testing.T) {
	p := newPlace(t)
	for _, name := range []string{"../victim", "folder/../../victim", p.victim} {
		for what, do := range map[string]func() error{
			"Open":        func() error { return closed(p.Open(name)) },
			"ReplaceFile": func() error { return p.ReplaceFile(name, nil) },
			"RemoveAll":   func() error { return p.RemoveAll(name) },
		} {
			if do() == nil {
				t.Errorf("%s of %s", what, name)
			}
		}
	}
	p.unharmed(t, "out")
}

// What comes between the look and the opening is not taken for what was looked at,
// and a pipe not waited for.
func TestReplacedWhileOpened(t *testing.T) {
	kinds := strange(t, newPlace(t))
	for kind := range kinds {
		p := newPlace(t)
		before, err := p.Lstat("file")
		must.OK(t, err)
		must.OK(t, os.Rename(p.Join("file"), p.Join("was"))) // so that its inode is not used again
		if err := strange(t, p)[kind].put(p.Join("file")); errors.Is(err, errors.ErrUnsupported) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		for _, flag := range []int{os.O_RDONLY, os.O_RDWR} {
			if err := inTime(t, kind, func() error { return closed(p.openAs("file", flag, before)) }); err == nil {
				t.Errorf("%s was opened with %d", kind, flag)
			}
		}
		p.unharmed(t, kind)
	}
	// The same file, with a name more.
	p := newPlace(t)
	before, err := p.Lstat("file")
	must.OK(t, err)
	must.OK(t, os.Link(p.Join("file"), p.Join("second")))
	if err := closed(p.openAs("file", os.O_RDWR, before)); !refused(err, "has a second name") {
		t.Error(err)
	}
}

// The directory itself may be named by a link; a pipe in its place is not waited for.
func TestOpen(t *testing.T) {
	p := newPlace(t)
	link := p.victim + ".link"
	must.OK(t, os.Symlink(p.Path(), link))
	d, err := Open(link)
	must.OK(t, err)
	defer d.Close()
	if text, err := d.ReadFile("folder/file", 7); err != nil || string(text) != victimText {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := d.ReadFile("file", 6); err == nil {
		t.Error("more was read than is allowed")
	}
	if text, err := ReadFile(link, "file", 0); err != nil || string(text) != victimText {
		t.Errorf("%q, %v", text, err)
	}
	must.OK(t, syscall.Mkfifo(p.victim+".pipe", 0o644))
	for _, path := range []string{p.victim, p.victim + ".pipe", p.victim + ".none"} {
		if err := inTime(t, path, func() error { _, err := Open(path); return err }); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
}

// Files are made, replaced and gone on with.
func TestFilesInside(t *testing.T) {
	p := newPlace(t)
	must.OK(t, p.MkdirAll("a/b"))
	must.OK(t, p.MkdirAll("a/b"))
	f, err := p.Create("a/b/c")
	must.OK(t, err)
	_, err = io.WriteString(f, "one\n")
	must.OK(t, err)
	must.OK(t, f.Close())
	f, err = p.OpenOrCreate("a/b/c")
	must.OK(t, err)
	_, err = f.Seek(0, 2)
	must.OK(t, err)
	_, err = io.WriteString(f, "two\n")
	must.OK(t, err)
	must.OK(t, f.Close())
	must.OK(t, p.Rename("a/b/c", "a/d"))
	if text, err := p.ReadFile("a/d", 0); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("%q, %v", text, err)
	}
	failure := errors.New("no")
	if err := p.Replace("a/d", func(File) error { return failure }); !errors.Is(err, failure) {
		t.Error(err)
	}
	must.OK(t, p.ReplaceFile("a/e", []byte("e")))
	temp, err := p.MkdirTemp("a/t")
	must.OK(t, err)
	s, err := p.Sub(temp)
	must.OK(t, err)
	must.OK(t, s.ReplaceFile("x", nil))
	must.OK(t, s.Close())
	must.OK(t, p.RemoveAll(temp))
	entries, err := p.ReadDir("a")
	must.OK(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"b", "d", "e"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// An open directory knows when its path leads elsewhere, and when it is gone.
func TestMovedAndGone(t *testing.T) {
	p := newPlace(t)
	if p.Moved() || p.Gone() {
		t.Error("it is where it was")
	}
	there := p.Path() + ".moved"
	must.OK(t, os.Rename(p.Path(), there))
	if !p.Moved() || p.Gone() {
		t.Error("it was moved")
	}
	must.OK(t, p.ReplaceFile("file", []byte("new")))
	if text, err := os.ReadFile(filepath.Join(there, "file")); err != nil || string(text) != "new" {
		t.Errorf("%q, %v", text, err)
	}
	must.OK(t, os.Mkdir(p.Path(), 0o755))
	if !p.Moved() || p.Gone() {
		t.Error("another one has its place")
	}
	must.OK(t, os.RemoveAll(there))
	if !p.Moved() || !p.Gone() {
		t.Error("it was removed")
	}
}
