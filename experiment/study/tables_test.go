package study

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// tableRows are rows of all kinds, with what came with more starts.
func tableRows() (rows, more []*Row) {
	at, low := 0.25, math.Copysign(0, -1)
	nan := files.Number(math.NaN())
	rows = []*Row{
		{Seed: 3, Rank: 2, Leader: "-SE", Gap: 1.0 / 3, SE: nan, Posterior: 0.1, Bayes: 1e-300, Tied: true, LeadFrom: &at, EarlyMax: &low,
			Violations: 1, Pairs: 2, Evaluations: 5, Seconds: 0.25, ExactGap: 1.0 / 7,
			ELBOs: []KernelELBO{{"-SE", -1.0 / 3}, {"LIN", math.Inf(-1)}}},
		{Seed: 1, Leader: "LIN", Gap: 2.5, ExactGap: nan, SE: nan, Posterior: nan, Bayes: nan, Failure: "=1, torn\nand \"so\" on"},
		{Seed: 2, Rank: 1, Leader: "LIN", Gap: 0, SE: 0, Posterior: 1, Bayes: 1, FirstAhead: &at, ELBOs: []KernelELBO{{"LIN", 7}}},
	}
	for _, r := range rows {
		r.Variant, r.Figure, r.Truth, r.Starts = "v", "f", "LIN", 4
		more = append(more, &Row{Variant: "v", Figure: "f", Seed: r.Seed, Starts: 8, Leader: r.Leader, ELBOs: r.ELBOs})
	}
	return rows, more
}

func toyCase() *Case {
	c := &Case{Variant: Variant{Name: "v"}, Figure: "f", Truth: "LIN"}
	c.Config.Settings.Starts = 4
	return c
}

// fill adds what the tables do not know yet.
func fill(t *testing.T, tables *Tables) {
	t.Helper()
	rows, more := tableRows()
	for i := range rows {
		must.OK(t, tables.Add(rows[i]))
		must.OK(t, tables.AddComparison(CompareStarts(rows[i], more[i]), more[i]))
	}
}

// shown is all of a row, whose numbers may be NaN.
func shown(t *testing.T, r *Row) string {
	t.Helper()
	text, err := json.Marshal(r)
	must.OK(t, err)
	return fmt.Sprintf("%s %v", text, r.ELBOs)
}

// Cut off at any byte of any file, tables know the rows before, all of them and as
// they were, and are filled up to what they were.
func TestTablesThatWereCut(t *testing.T) {
	thorough.Unraced(t)
	c := toyCase()
	whole := t.TempDir()
	tables, err := openTables(t, whole, c, true)
	must.OK(t, err)
	fill(t, tables)
	must.OK(t, tables.Close())
	want := map[string]string{}
	for _, name := range c.tableNames() {
		text, err := os.ReadFile(filepath.Join(whole, name))
		must.OK(t, err)
		want[name] = string(text)
	}
	rows, more := tableRows()
	for at, name := range c.tableNames() {
		header := strings.IndexByte(want[name], '\n') + 1
		for cut := header; cut <= len(want[name]); cut++ {
			dir := t.TempDir()
			for i, n := range c.tableNames() {
				text := want[n]
				switch {
				case i == at:
					text = text[:cut]
				case at == 1 && i == 0, at == 3 && i == 2: // the row comes behind its local ELBOs
					text = text[:strings.IndexByte(text, '\n')+1]
				}
				must.OK(t, os.WriteFile(filepath.Join(dir, n), []byte(text), 0o644))
			}
			must.OK(t, os.WriteFile(filepath.Join(dir, "."+name+".kestrel-1-123"), nil, 0o600))
			tables, err := openTables(t, dir, c, true)
			if err != nil {
				t.Fatalf("%s, %d bytes: %v", name, cut, err)
			}
			known, knownMore := 0, 0
			for i := range rows {
				r, m := tables.Known(rows[i].Seed)
				if r != nil {
					if known++; known != i+1 || shown(t, r) != shown(t, rows[i]) {
						t.Fatalf("%s, %d bytes: row %d is\n%s, was\n%s", name, cut, i, shown(t, r), shown(t, rows[i]))
					}
				}
				if m != nil {
					knownMore++
					a, b := CompareStarts(rows[i], m), CompareStarts(rows[i], more[i])
					if a.Changed != b.Changed || a.MostKernel != b.MostKernel || a.More != b.More || a.Kernels != b.Kernels {
						t.Fatalf("%s, %d bytes: comparison %d is %+v, was %+v", name, cut, i, a, b)
					}
				}
			}
			if all := cut == len(want[name]); at == 0 && (known == len(rows)) != all || at == 2 && (knownMore == len(rows)) != all {
				t.Fatalf("%s, %d bytes: %d rows, %d comparisons", name, cut, known, knownMore)
			}
			fill(t, tables)
			must.OK(t, tables.Close())
			left, err := os.ReadDir(dir)
			if err != nil || len(left) != len(want) {
				t.Fatalf("left: %v, %v", left, err)
			}
			for n := range want {
				text, err := os.ReadFile(filepath.Join(dir, n))
				if must.OK(t, err); string(text) != want[n] {
					t.Fatalf("%s, %d bytes: %s is\n%s\nwant\n%s", name, cut, n, text, want[n])
				}
			}
		}
	}
}

// What is damaged and not torn is told, and not cut.
func TestDamagedTables(t *testing.T) {
	c := toyCase()
	for what, spoil := range map[string]struct{ of, to, want string }{
		"a number":     {"v,f,2,", "v,f,x,", "line 4: "},
		"a cell less":  {"v,f,3,LIN,", "v,f,3,", "line 2: "},
		"other header": {"variant,figure", "figure,variant", "has other columns"},
	} {
		dir := t.TempDir()
		tables, err := openTables(t, dir, c, false)
		must.OK(t, err)
		rows, _ := tableRows()
		for _, r := range rows {
			must.OK(t, tables.Add(r))
		}
		must.OK(t, tables.Close())
		file := filepath.Join(dir, c.tableNames()[0])
		text, err := os.ReadFile(file)
		must.OK(t, err)
		bad := strings.Replace(string(text), spoil.of, spoil.to, 1)
		must.OK(t, os.WriteFile(file, []byte(bad), 0o644))
		tables, err = openTables(t, dir, c, false)
		if err == nil || tables != nil || !strings.Contains(err.Error(), spoil.want) || !strings.Contains(err.Error(), file) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != bad {
			t.Errorf("%s: it was changed: %v", what, err)
		}
	}
}

func TestMoreSeeds(t *testing.T) {
	for _, c := range []struct {
		was, is string
		more    bool
	}{
		{"1..3", "1,2,3", true}, {"1..3", "1..10", true}, {"1..3", "1..2", false}, {"1..3", "2..4", false}, {"1", "2,1", false},
		{"x", "1", false},
	} {
		if MoreSeeds(c.was, c.is) != c.more {
			t.Errorf("%s, then %s: %v", c.was, c.is, !c.more)
		}
	}
}

// What is refused leaves all files of all cases as they were: none is cut, made or
// swept away, be it before or behind the one that is damaged.
func TestRefusedTablesAreLeft(t *testing.T) {
	first, second := toyCase(), toyCase()
	second.Figure = "g"
	cases := []*Case{first, second}
	for at := range 8 { // the damaged file
		dir := t.TempDir()
		all, err := OpenTables(opened(t, dir), cases, true)
		must.OK(t, err)
		for _, tables := range all {
			fill(t, tables)
			must.OK(t, tables.Close())
		}
		names := append(first.tableNames(), second.tableNames()...)
		missing := names[(at+1)%8]
		before := map[string]string{}
		for i, name := range names {
			text, err := os.ReadFile(filepath.Join(dir, name))
			must.OK(t, err)
			torn := string(text) + "torn"
			if i == at {
				torn = string(text) + "a,b,c,d,e\n"
			}
			before[name] = torn
			before["."+name+".kestrel-1-123"] = ""
		}
		must.OK(t, os.Remove(filepath.Join(dir, missing)))
		delete(before, missing)
		for name, text := range before {
			must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
		if all, err := OpenTables(opened(t, dir), cases, true); err == nil || all != nil || !strings.Contains(err.Error(), names[at]) {
			t.Fatalf("%s: %v", names[at], err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != len(before) {
			t.Errorf("%s: left %v, %v", names[at], left, err)
		}
		for name, text := range before {
			if now, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(now) != text {
				t.Errorf("%s is damaged, and %s was changed: %v", names[at], name, err)
			}
		}
	}
}

// openTables opens those of one case.
func openTables(t *testing.T, dir string, c *Case, compare bool) (*Tables, error) {
	t.Helper()
	all, err := OpenTables(opened(t, dir), []*Case{c}, compare)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// opened opens a directory for the time of a test.
func opened(t *testing.T, dir string) *inside.Dir {
	t.Helper()
	d, err := inside.Open(dir)
	must.OK(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}
