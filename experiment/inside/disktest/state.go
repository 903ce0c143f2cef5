package disktest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
)

// State is what is on a disk: files by their names, with slashes, and folders, whose
// names end in one.
type State map[string][]byte

// put adds what a folder holds.
func (s State) put(path string, folder *node, names func(*node) map[string]*node, text func(*node) []byte) {
	of := names(folder)
	for _, name := range slices.Sorted(maps.Keys(of)) { // so that chance has one order
		if n := of[name]; n.folder {
			s[path+name+"/"] = nil
			s.put(path+name+"/", n, names, text)
		} else {
			s[path+name] = text(n)
		}
	}
}

// read returns what is in a folder.
func read(t *testing.T, folder string) State {
	t.Helper()
	s := State{}
	must.OK(t, filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		name, _ := filepath.Rel(folder, path)
		if name = filepath.ToSlash(name); e.IsDir() {
			s[name+"/"] = nil
			return nil
		}
		s[name], err = os.ReadFile(path)
		return err
	}))
	return s
}

// differs returns the names that two states do not have alike.
func (s State) differs(other State) (names []string) {
	for name, text := range s {
		if is, ok := other[name]; !ok || !bytes.Equal(is, text) {
			names = append(names, name)
		}
	}
	for name := range other {
		if _, ok := s[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// String lists what there is, for people.
func (s State) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "\n  %s", name)
		if !strings.HasSuffix(name, "/") {
			fmt.Fprintf(&b, ", %d bytes", len(s[name]))
		}
	}
	return b.String()
}

// sum tells states apart.
func (s State) sum() [sha256.Size]byte {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(h, "%q %d\n", name, len(s[name]))
		h.Write(s[name])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// crash draws what is left of the disk if the power fails after so many steps, and
// returns its names by folder, and the marks that had been made.
func (d *Disk) crash(chance *rand.Rand, at int) (left State, names map[*node]map[string]*node, marks []any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	steps := d.steps[:at]
	names = d.names(chance, steps)
	of := map[*node][]step{}
	for _, s := range steps {
		switch s.kind {
		case marked:
			marks = append(marks, s.mark)
		case wrote, cut, synced:
			of[s.node] = append(of[s.node], s)
		}
	}
	left = State{}
	left.put("", d.root, func(n *node) map[string]*node { return names[n] }, func(n *node) []byte { return contents(chance, n, of[n]) })
	return left, names, marks
}

// names draws what of the changes of names is left, and returns those of each folder.
func (d *Disk) names(chance *rand.Rand, steps []step) map[*node]map[string]*node {
	stays := make([]bool, len(steps))
	synced, needed := map[*node]bool{}, map[place]bool{}
	for i := len(steps) - 1; i >= 0; i-- {
		s := &steps[i]
		if s.kind == named {
			synced[s.node] = true
		}
		for _, p := range s.places() {
			stays[i] = stays[i] || synced[p.folder] || needed[p]
		}
		if stays[i] { // and what came before of these names
			for _, p := range s.places() {
				needed[p] = true
			}
		}
	}
	likely := map[*node]float64{} // by folder, so that one may be far ahead of another
	lost := map[place]bool{}
	all := map[*node]map[string]*node{}
	for n, names := range d.first {
		all[n] = maps.Clone(names)
	}
	for i := range steps {
		s := &steps[i]
		places := s.places()
		if len(places) == 0 {
			continue
		}
		last := places[len(places)-1].folder
		if _, ok := likely[last]; !ok {
			likely[last] = float64(chance.IntN(5)) / 4
		}
		if !stays[i] && (chance.Float64() >= likely[last] || slices.ContainsFunc(places, func(p place) bool { return lost[p] })) {
			for _, p := range places {
				lost[p] = true
			}
			continue
		}
		s.rename(all)
	}
	return all
}

// rename does to names what a step does.
func (s *step) rename(all map[*node]map[string]*node) {
	of := func(p place) map[string]*node {
		if all[p.folder] == nil {
			all[p.folder] = map[string]*node{}
		}
		return all[p.folder]
	}
	switch s.kind {
	case made:
		of(s.from)[s.from.name] = s.node
	case removed:
		delete(of(s.from), s.from.name)
	case moved:
		delete(of(s.from), s.from.name)
		of(s.to)[s.to.name] = s.node
	}
}

// places are the names that a step changes.
func (s *step) places() []place {
	switch s.kind {
	case made, removed:
		return []place{s.from}
	case moved:
		return []place{s.from, s.to}
	}
	return nil
}

// block is what a disk writes at once, in bytes.
const block = 512

// contents draws what is in a file.
func contents(chance *rand.Rand, n *node, steps []step) []byte {
	sure := 0
	for i := range steps {
		if steps[i].kind == synced {
			sure = i + 1
		}
	}
	text := slices.Clone(n.text)
	for i := range steps[:sure] {
		text = steps[i].apply(text)
	}
	loose := steps[sure:]
	if len(loose) == 0 {
		return text
	}
	switch chance.IntN(4) {
	case 0: // nothing
	case 1: // all
		for i := range loose {
			text = loose[i].apply(text)
		}
	case 2: // up to a byte of a step
		to := chance.IntN(len(loose))
		for i := range loose[:to] {
			text = loose[i].apply(text)
		}
		torn := loose[to]
		torn.text = torn.text[:chance.IntN(len(torn.text)+1)]
		if torn.kind == wrote || chance.IntN(2) == 0 {
			text = torn.apply(text)
		}
	default:
		text = blocks(chance, text, loose)
	}
	return text
}

// blocks draws for each block of a file, and for its size, how many of the steps it has
// seen.
func blocks(chance *rand.Rand, text []byte, loose []step) []byte {
	size, seen := int64(len(text)), chance.IntN(len(loose)+1)
	most, left := size, size
	for i := range loose {
		s := &loose[i]
		if s.kind == cut {
			size = s.at
		} else {
			size = max(size, s.at+int64(len(s.text)))
		}
		if most = max(most, size); i < seen {
			left = size
		}
	}
	text = append(text, make([]byte, most-int64(len(text)))...)
	have := make([]int, most/block+1)
	for b := range have {
		have[b] = chance.IntN(len(loose) + 1)
	}
	for i := range loose {
		s := &loose[i]
		for b := range have {
			if i >= have[b] {
				continue
			}
			from, to := int64(b)*block, min(int64(b+1)*block, most)
			if s.kind == cut {
				if from = max(from, s.at); from < to {
					clear(text[from:to])
				}
				continue
			}
			if from, to = max(from, s.at), min(to, s.at+int64(len(s.text))); from < to {
				copy(text[from:to], s.text[from-s.at:])
			}
		}
	}
	return text[:left]
}

// torn returns the names of files in a state that were put in their places whole, by
// renaming them, and are not: such a file has what one in that place had when it was
// renamed, or when it all began. Files that were written to in their places are left out.
func (d *Disk) torn(left State, names map[*node]map[string]*node) (torn []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	whole, at, written := map[place][][]byte{}, map[*node]place{}, map[place]bool{}
	for i := range d.steps {
		switch s := &d.steps[i]; s.kind {
		case moved:
			if at[s.node] = s.to; !s.node.folder {
				whole[s.to] = append(whole[s.to], s.text)
			}
		case wrote, cut:
			if p, ok := at[s.node]; ok {
				written[p] = true
			}
		}
	}
	var walk func(path string, folder *node)
	walk = func(path string, folder *node) {
		for name, n := range names[folder] {
			p := place{folder, name}
			if n.folder {
				walk(path+name+"/", n)
			}
			if n.folder || whole[p] == nil || written[p] {
				continue
			}
			all := whole[p]
			if old := d.first[folder][name]; old != nil {
				all = append(all, old.text)
			}
			if !slices.ContainsFunc(all, func(v []byte) bool { return bytes.Equal(v, left[path+name]) }) {
				torn = append(torn, path+name)
			}
		}
	}
	walk("", d.root)
	slices.Sort(torn)
	return torn
}

// Seen returns what the program saw of the disk when it made a mark, from 0: what is left
// of it when the program is killed there.
func (d *Disk) Seen(mark int) State {
	d.mu.Lock()
	defer d.mu.Unlock()
	names, texts := map[*node]map[string]*node{}, map[*node][]byte{}
	for n, of := range d.first {
		names[n] = maps.Clone(of)
		for _, in := range of {
			texts[in] = slices.Clone(in.text)
		}
	}
	for i := range d.steps {
		s := &d.steps[i]
		switch s.kind {
		case wrote, cut:
			texts[s.node] = s.apply(texts[s.node])
		case marked:
			mark--
		default:
			s.rename(names)
		}
		if mark < 0 {
			break
		}
	}
	left := State{}
	left.put("", d.root, func(n *node) map[string]*node { return names[n] }, func(n *node) []byte { return texts[n] })
	return left
}

// Marks are all that were made.
func (d *Disk) Marks() (all []any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.steps {
		if d.steps[i].kind == marked {
			all = append(all, d.steps[i].mark)
		}
	}
	return all
}
