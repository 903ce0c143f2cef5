package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A test is what is known of one: how long it took, alone, and what it reached.
type test struct {
	Name    string
	Text    uint64 // a hash of it, as it was
	Seconds float64
	Failed  bool `json:",omitempty"` // with no change, and alone: it says nothing
	Reached map[string]reached
}

// reached are lines of a file, each stretch as its first and last.
type reached struct {
	File  uint64 // a hash of it, as it was
	Lines [][2]int
}

// reaches reports whether a test reaches a site. Of a file that has changed since it
// is held to reach all.
func (t test) reaches(s site, now func(string) uint64) bool {
	if !s.outside {
		return t.passes(s.file, s.begins, now)
	}
	for file, lines := range s.uses {
		for _, line := range lines {
			if t.passes(file, line, now) {
				return true
			}
		}
	}
	return false
}

func (t test) passes(file string, line int, now func(string) uint64) bool {
	r, ok := t.Reached[file]
	return ok && (r.File != now(file) || slices.ContainsFunc(r.Lines, func(l [2]int) bool { return l[0] <= line && line <= l[1] }))
}

// covered are the tests of a package, as they are now, with what they reach, first the
// quick ones. What is not known is found out, and kept at once.
func (w *workshop) covered(ctx context.Context, tester string) ([]test, error) {
	if tests, ok := w.known[tester]; ok {
		return tests, nil
	}
	name := filepath.Join(w.out, "covered", strings.ReplaceAll(tester, "/", "-")+".jsonl")
	kept, err := readTests(name)
	if err != nil {
		return nil, err
	}
	p := w.m.packs[tester]
	texts := map[string]uint64{}
	for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		if err := testsIn(filepath.Join(p.Dir, file), texts); err != nil {
			return nil, err
		}
	}
	var tests []test
	var missing []string
	for test, text := range texts {
		if t, ok := kept[test]; ok && t.Text == text {
			tests = append(tests, t)
		} else {
			missing = append(missing, test)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		fresh, err := w.cover(ctx, tester, missing, texts, name)
		if err != nil {
			return nil, err
		}
		tests = append(tests, fresh...)
	}
	tests = slices.DeleteFunc(tests, func(t test) bool { return t.Failed })
	slices.SortFunc(tests, func(a, b test) int {
		return cmp.Or(cmp.Compare(a.Seconds, b.Seconds), strings.Compare(a.Name, b.Name))
	})
	w.known[tester] = tests
	return tests, nil
}

// cover runs tests of a package alone, one by one.
func (w *workshop) cover(ctx context.Context, tester string, names []string, texts map[string]uint64, to string) ([]test, error) {
	var of []string
	for _, g := range groups {
		for _, name := range w.m.below(g) {
			of = append(of, w.m.packs[name].ImportPath)
		}
	}
	fmt.Printf("what %d tests of %s reach\n", len(names), tester)
	program, profile := filepath.Join(w.tmp, "covered.test"), filepath.Join(w.tmp, "profile")
	if said, err := w.compile(ctx, tester, program, "-covermode=set", "-coverpkg="+strings.Join(of, ",")); err != nil {
		return nil, fmt.Errorf("the tests of %s with no change: %w\n%s", tester, err, said)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var tests []test
	for _, name := range names {
		began := time.Now()
		said, err := w.start(ctx, tester, program, 20*time.Minute, "-test.run=^"+name+"$", "-test.coverprofile="+profile)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		t := test{Name: name, Text: texts[name], Seconds: time.Since(began).Seconds(), Failed: err != nil}
		if t.Failed {
			fmt.Printf("%s of %s fails alone, with no change:\n%s\n", name, tester, said)
		} else if t.Reached, err = w.readProfile(profile); err != nil {
			return nil, err
		}
		line, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(append(line, '\n')); err != nil {
			return nil, err
		}
		tests = append(tests, t)
	}
	return tests, f.Close()
}

// readTests reads what is kept of tests, of each the last.
func readTests(name string) (map[string]test, error) {
	tests := map[string]test{}
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		var t test
		if json.Unmarshal([]byte(line), &t) == nil { // the last may be half of one
			tests[t.Name] = t
		}
	}
	return tests, nil
}

// testsIn adds the tests, fuzz targets and examples of a file, with hashes of their text.
func testsIn(file string, texts map[string]uint64) error {
	src, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range f.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok || d.Recv != nil || d.Name.Name == "TestMain" {
			continue
		}
		for _, kind := range []string{"Test", "Fuzz", "Example"} {
			if strings.HasPrefix(d.Name.Name, kind) {
				texts[d.Name.Name] = hashOf(src[set.Position(d.Pos()).Offset:set.Position(d.End()).Offset])
			}
		}
	}
	return nil
}

// readProfile reads a profile as go test -coverprofile writes it.
func (w *workshop) readProfile(name string) (map[string]reached, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := map[string]reached{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		file, place, ok := strings.Cut(lines.Text(), ".go:")
		var from, to, column, statements, count int
		if !ok || strings.HasSuffix(place, " 0") {
			continue // the first line, or none that was reached
		}
		if _, err := fmt.Sscanf(place, "%d.%d,%d.%d %d %d", &from, &column, &to, &column, &statements, &count); err != nil {
			return nil, fmt.Errorf("%q in a profile: %w", lines.Text(), err)
		}
		file = w.m.short(file) + ".go"
		r := all[file]
		r.File = w.now(file)
		if n := len(r.Lines); n > 0 && r.Lines[n-1][0] <= from && from <= r.Lines[n-1][1]+1 {
			r.Lines[n-1][1] = max(r.Lines[n-1][1], to)
		} else {
			r.Lines = append(r.Lines, [2]int{from, to})
		}
		all[file] = r
	}
	return all, nil
}

// now is a hash of a file as it is.
func (w *workshop) now(file string) uint64 {
	if h, ok := w.hashes[file]; ok {
		return h
	}
	src, err := os.ReadFile(w.m.at(file))
	if err == nil {
		w.hashes[file] = hashOf(src)
	}
	return w.hashes[file]
}

func hashOf(src []byte) uint64 {
	h := fnv.New64a()
	h.Write(src)
	return h.Sum64()
}
