package disktest

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/internal/must"
)

// Disk is a folder whose files are written to through Files, and the journal of that.
// It is an inside.Watch.
type Disk struct {
	t    *testing.T
	base string

	mu    sync.Mutex
	steps []step
	root  *node
	first map[*node]map[string]*node // names when it began, all of them on the disk
}

// node is a file or a folder, whatever its name is.
type node struct {
	folder bool
	names  map[string]*node // of a folder, as the program sees it
	text   []byte           // of a file, when it began
	now    []byte           // as the program sees it
}

type kind int

const (
	wrote kind = iota
	cut
	synced // a file
	made
	moved
	removed
	named // the names of a folder were synced
	marked
)

func (k kind) String() string {
	return [...]string{"wrote", "cut", "synced", "made", "renamed", "removed", "synced names", "mark"}[k]
}

// step is what was done.
type step struct {
	kind     kind
	node     *node  // that it was done to
	at       int64  // wrote: from where; cut: the new size
	text     []byte // wrote: that; moved: what the file had in it
	from, to place  // moved: both; made, removed: from
	path     string // for people
	mark     any
}

// place is a name in a folder.
type place struct {
	folder *node
	name   string
}

// New watches a folder. What is in it is on the disk.
func New(t *testing.T, base string) *Disk {
	t.Helper()
	d := &Disk{t: t, base: base, first: map[*node]map[string]*node{}}
	d.root = d.read(base)
	return d
}

func (d *Disk) read(path string) *node {
	info, err := os.Lstat(path)
	must.OK(d.t, err)
	if !info.IsDir() {
		text, err := os.ReadFile(path)
		must.OK(d.t, err)
		return &node{text: text, now: slices.Clone(text)}
	}
	n := &node{folder: true, names: map[string]*node{}}
	entries, err := os.ReadDir(path)
	must.OK(d.t, err)
	for _, e := range entries {
		n.names[e.Name()] = d.read(filepath.Join(path, e.Name()))
	}
	d.first[n] = maps.Clone(n.names)
	return n
}

// Files is what the program is to write to.
func (d *Disk) Files() inside.Disk { return inside.Disk{Watch: d} }

// Mark writes down that the program has come so far, such as what it has promised.
func (d *Disk) Mark(what any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.steps = append(d.steps, step{kind: marked, mark: what})
}

// Steps is how many have been written down.
func (d *Disk) Steps() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.steps)
}

// look returns the place of a path, if its folder is there.
func (d *Disk) look(path string) (at place, ok bool) {
	name, err := filepath.Rel(d.base, path)
	if err != nil || strings.HasPrefix(name, "..") {
		d.t.Errorf("%s is not in %s", path, d.base)
		return at, false
	}
	at = place{folder: d.root, name: "."}
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if at.name != "." {
			if at.folder = at.node(); at.folder == nil || !at.folder.folder {
				return at, false
			}
		}
		at.name = part
	}
	return at, true
}

// find is look for a folder that must be there.
func (d *Disk) find(path string) place {
	at, ok := d.look(path)
	if !ok {
		d.t.Errorf("the disk was not told of the folder of %s", path)
		return place{&node{folder: true, names: map[string]*node{}}, "untold"}
	}
	return at
}

// node is what has a name; nil: nothing.
func (p place) node() *node {
	if p.name == "." {
		return p.folder
	}
	return p.folder.names[p.name]
}

// do writes a step down; path is for people.
func (d *Disk) do(path string, s step) {
	s.path, _ = filepath.Rel(d.base, path)
	d.steps = append(d.steps, s)
}

// Opened implements inside.Watch.
func (d *Disk) Opened(path string, f inside.File) inside.File {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.find(path)
	n := at.node()
	if n == nil {
		n = &node{}
		at.folder.names[at.name] = n
		d.do(path, step{kind: made, node: n, from: at})
	}
	return &file{File: f, disk: d, node: n, path: path}
}

// Made implements inside.Watch.
func (d *Disk) Made(folder string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.find(folder)
	n := &node{folder: true, names: map[string]*node{}}
	at.folder.names[at.name] = n
	d.do(folder, step{kind: made, node: n, from: at})
}

// Renamed implements inside.Watch.
func (d *Disk) Renamed(from, to string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, b := d.find(from), d.find(to)
	n := a.node()
	if n == nil {
		d.t.Errorf("the disk was not told of %s", from)
		return
	}
	delete(a.folder.names, a.name)
	b.folder.names[b.name] = n
	d.do(to, step{kind: moved, node: n, from: a, to: b, text: append([]byte{}, n.now...)})
}

// Removed implements inside.Watch.
func (d *Disk) Removed(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at, ok := d.look(path); ok { // or it was not there
		d.remove(path, at)
	}
}

func (d *Disk) remove(path string, at place) {
	n := at.node()
	if n == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(n.names)) {
		d.remove(filepath.Join(path, name), place{n, name})
	}
	delete(at.folder.names, at.name)
	d.do(path, step{kind: removed, node: n, from: at})
}

// Synced implements inside.Watch.
func (d *Disk) Synced(folder string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.find(folder).node(); n != nil && n.folder {
		d.do(folder, step{kind: named, node: n})
	}
}

// file writes down what is done to a file.
type file struct {
	inside.File
	disk *Disk
	node *node
	path string
}

// Write implements io.Writer.
func (f *file) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	at, err := f.File.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	n, err := f.File.Write(p)
	f.wrote(p[:n], at)
	return n, err
}

// WriteAt implements io.WriterAt.
func (f *file) WriteAt(p []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	n, err := f.File.WriteAt(p, at)
	f.wrote(p[:n], at)
	return n, err
}

func (f *file) wrote(p []byte, at int64) {
	s := step{kind: wrote, node: f.node, at: at, text: slices.Clone(p)}
	f.node.now = s.apply(f.node.now)
	f.disk.do(f.path, s)
}

// Truncate sets the size of the file.
func (f *file) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	err := f.File.Truncate(size)
	if err == nil {
		s := step{kind: cut, node: f.node, at: size}
		f.node.now = s.apply(f.node.now)
		f.disk.do(f.path, s)
	}
	return err
}

// Sync waits for the disk.
func (f *file) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	err := f.File.Sync()
	if err == nil {
		f.disk.do(f.path, step{kind: synced, node: f.node})
	}
	return err
}

// apply does to a text, which it may change, what a step does to a file.
func (s *step) apply(text []byte) []byte {
	end := s.at + int64(len(s.text))
	if s.kind == cut && end < int64(len(text)) {
		return slices.Clip(text[:end])
	}
	if grow := end - int64(len(text)); grow > 0 {
		text = append(text, make([]byte, grow)...)
	}
	if s.kind == wrote {
		copy(text[s.at:end], s.text)
	}
	return text
}

// MustBeAll fails the test if the journal does not lead to what is there: then something
// was written in another way.
func (d *Disk) MustBeAll() {
	d.t.Helper()
	if names := d.untold(); len(names) > 0 {
		d.t.Errorf("not as the disk was told: %s", strings.Join(names, ", "))
	}
}

func (d *Disk) untold() []string {
	is, told := read(d.t, d.base), State{}
	d.mu.Lock()
	defer d.mu.Unlock()
	told.put("", d.root, func(n *node) map[string]*node { return n.names }, func(n *node) []byte { return n.now })
	return told.differs(is)
}
