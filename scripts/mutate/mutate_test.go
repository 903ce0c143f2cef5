package main

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// A function with something for every operator.
const sample = `package p

const most = 3

func f(a []int, x float64) (n int, err error) {
	n += len(a[1:most])
	x = -x * .5
	if n < 2 && x > 0 || most == n {
		n = max(n, 1)
	}
	for _, v := range a {
		if !(v != 0) {
			continue
		}
		n++
	}
	println(n)
	g := func() bool { return true }
	g()
	return n, h()
}

func h() error { return nil }
`

// Every change is made once, where it says, gives a file that parses, and undoes itself
// in no case by being none.
func TestSitesChangeWhatTheySay(t *testing.T) {
	sites, err := sitesOf("p/p.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var operators []string
	for _, s := range sites {
		changed := string(s.change([]byte(sample)))
		if _, err := parser.ParseFile(token.NewFileSet(), "", changed, 0); err != nil {
			t.Errorf("%s: %v", s.text(), err)
		}
		if changed == sample || seen[changed] {
			t.Errorf("%s: no change, or one that was made before", s.text())
		}
		if joined := join(changed); !strings.Contains(joined, s.after) || !strings.Contains(join(sample), s.before) {
			t.Errorf("%s: the file has neither", s.text())
		}
		seen[changed] = true
		operators = append(operators, s.operator)
	}
	for _, o := range []string{"operator", "constant", "condition", "deleted", "assignment", "max, min", "no error", "bound"} {
		if !slices.Contains(operators, o) {
			t.Errorf("nothing for the operator %q", o)
		}
	}
}

// A draw is of a line each, and an edit elsewhere leaves the order of the others.
func TestEditMovesNoOtherLine(t *testing.T) {
	order := func(src string) (all []string) {
		m := module{root: t.TempDir(), path: "m", packs: map[string]pack{}, program: map[string]bool{"p": true}}
		m.packs["p"] = pack{ImportPath: "m/p", GoFiles: []string{"p.go"}}
		if err := errors.Join(os.Mkdir(m.at("p"), 0o777), os.WriteFile(m.at("p/p.go"), []byte(src), 0o666)); err != nil {
			t.Fatal(err)
		}
		sites, err := draw(m, "p", 1)
		if err != nil {
			t.Fatal(err)
		}
		lines := map[int]bool{}
		for _, s := range sites {
			if lines[s.line] {
				t.Errorf("line %d is drawn twice", s.line)
			}
			lines[s.line] = true
			all = append(all, s.function+" "+s.before+" "+s.after)
		}
		return all
	}
	whole := order(sample)
	moved := order(strings.Replace(sample, "\tn++\n", "\t\n\n", 1))
	want := slices.DeleteFunc(slices.Clone(whole), func(s string) bool { return strings.HasPrefix(s, "f n++") })
	if !slices.Equal(moved, want) {
		t.Errorf("\n%q\nwithout a line\n%q", whole, moved)
	}
	if len(whole) != len(moved)+1 {
		t.Errorf("%d and %d lines", len(whole), len(moved))
	}
}

// A test reaches the lines of its profile, a constant where its name is used, and all of
// a file that is another than it was.
func TestReaching(t *testing.T) {
	sites, err := sitesOf("p/p.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	uses := map[string]map[string][]int{}
	if err := findUses(uses, "p/p.go", []byte(sample)); err != nil {
		t.Fatal(err)
	}
	now := func(string) uint64 { return 1 }
	head := test{Reached: map[string]reached{"p/p.go": {1, [][2]int{{5, 7}}}}}
	tail := test{Reached: map[string]reached{"p/p.go": {1, [][2]int{{18, 20}}}}}
	old := test{Reached: map[string]reached{"p/p.go": {2, [][2]int{{19, 20}}}}}
	none := test{Reached: map[string]reached{"q/q.go": {1, [][2]int{{1, 99}}}}}
	for _, s := range sites {
		if s.outside {
			s.uses = uses[s.function]
		}
		early, late := s.begins >= 5 && s.begins <= 7 || s.outside, s.begins >= 18 && s.begins <= 20
		if head.reaches(s, now) != early || tail.reaches(s, now) != late || !old.reaches(s, now) || none.reaches(s, now) {
			t.Errorf("%s", s.text())
		}
	}
}

// A statement is reached where it begins: behind a function in it a profile has nothing,
// and of a case that was compared only what follows where it was so.
func TestStatementsAreReachedWhereTheyBegin(t *testing.T) {
	sites, err := sitesOf("p/p.go", []byte(`package p

func f(x int) []func() int {
	all := []func() int{
		func() int {
			return 4
		},
		of(8),
	}
	switch {
	case x == 11:
		return all[12:]
	}
	return all
}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"return 4": 6, "of(8),": 4, "case x == 11:": 10, "return all[12:]": 12}
	for _, s := range sites {
		if s.begins != want[s.before] {
			t.Errorf("%s: its statement begins in line %d, want %d", s.text(), s.begins, want[s.before])
		}
	}
	if len(sites) < len(want) {
		t.Errorf("%d sites", len(sites))
	}
}

// What was tried is read again, survivors not where they are asked for anew, but for
// those that somebody has named.
func TestTableGoesOn(t *testing.T) {
	dir := t.TempDir()
	sites, err := sitesOf("p/p.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	same := []known{{sites[1].file, sites[1].function, sites[1].before, sites[1].after, equivalent, "why"}}
	reopened := func(again bool) *table {
		tab, err := openTable(dir, again, same)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tab.file.Close() })
		return tab
	}
	tab := reopened(false)
	for i, verdict := range []string{killed, survived, survived, unreached, invalid} {
		if err := tab.add(row{sites[i], verdict, "by \"x\",\ny", 1.5}); err != nil {
			t.Fatal(err)
		}
	}
	if tab = reopened(false); len(tab.rows) != 5 {
		t.Errorf("%v", tab.rows)
	}
	var said strings.Builder
	tab.figures(&said, []string{"p", "q"})
	if !strings.Contains(join(said.String()), "p 4 1 1 1 0 1 33.3%") {
		t.Errorf("%s", said.String())
	}
	tab = reopened(true)
	for i, anew := range []bool{false, false, true, true, false} {
		if tab.anew[sites[i].key()] != anew {
			t.Errorf("%s is to be tried once more: %v", tab.rows[sites[i].key()].text(), !anew)
		}
	}
	if err := tab.add(row{sites[2], killed, "", 1}); err != nil {
		t.Fatal(err)
	}
	if tab = reopened(true); len(tab.rows) != 5 || tab.anew[sites[2].key()] || tab.rows[sites[2].key()].verdict != killed {
		t.Errorf("%v", tab.rows)
	}
}

// Tests of a package itself come first, then those of packages that import it, then
// those of packages that import these; those that cannot reach it are none.
func TestTheNearestTestFirst(t *testing.T) {
	m := module{path: "m", packs: map[string]pack{}}
	for name, imports := range map[string][]string{
		"low": {}, "middle": {"m/low"}, "high": {"m/middle", "fmt"}, "beside": {}, "untested": {"m/low"},
	} {
		m.packs[name] = pack{ImportPath: "m/" + name, Imports: imports, TestGoFiles: []string{"a_test.go"}}
	}
	bare := m.packs["untested"]
	bare.TestGoFiles = nil
	m.packs["untested"] = bare
	for name, want := range map[string][]string{"low": {"low", "middle", "high"}, "middle": {"middle", "high"}, "untested": nil} {
		if got := m.testers(name); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
