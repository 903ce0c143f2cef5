package kernelspace

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Spaces of tables have 20 to 60 kernels however many columns there are, all of which
// compile on them, and PER is on time alone; few columns have fewer.
func TestTableSpace(t *testing.T) {
	columns := func(quantities, few, levels int, time bool) (cs []TableColumn, names []string) {
		for i := range quantities {
			cs = append(cs, TableColumn{Name: fmt.Sprintf("number, %d", i), Quantity: true, Tells: i < 6})
		}
		for i := range few {
			cs = append(cs, TableColumn{Name: fmt.Sprintf("few%d", i), Quantity: true, Levels: true, Tells: i < 2})
		}
		for i := range levels {
			cs = append(cs, TableColumn{Name: fmt.Sprintf("kind%d", i), Levels: true, Tells: i < 4, Alike: i > 0})
		}
		if time {
			cs = append(cs, TableColumn{Name: "when", Quantity: true, Time: true, Tells: true})
		}
		for _, c := range cs {
			names = append(names, c.Name)
		}
		return cs, names
	}
	for _, c := range []struct {
		quantities, few, levels int
		time                    bool
		least                   int
	}{
		{2, 0, 0, false, 15}, {1, 0, 1, true, 20}, {3, 1, 1, true, 20}, {4, 0, 2, true, 20}, {30, 5, 8, true, 20}, {200, 0, 0, false, 20},
		{0, 0, 2, false, 3}, {1, 0, 1, false, 10},
	} {
		cs, names := columns(c.quantities, c.few, c.levels, c.time)
		texts := Table(cs, nil)
		if len(texts) < c.least || len(texts) > 60 {
			t.Errorf("%+v: %d kernels", c, len(texts))
		}
		seen := map[string]bool{}
		for _, text := range texts {
			e := parse(t, text)
			o := Options{Columns: names, Levels: func(int) []float64 { return []float64{0, 1, 2} }}
			if _, err := Compile(e, o); err != nil || seen[e.ID()] {
				t.Errorf("%s: %v, twice: %v", text, err, seen[e.ID()])
			}
			seen[e.ID()] = true
			for _, l := range e.Leaves() {
				if id := l.ID(); strings.HasPrefix(id, "PER") && id != "PER[when]" {
					t.Errorf("%s repeats along what is no time", text)
				}
			}
		}
	}
	// Of the first category whose levels may be alike these have a length each.
	alike := []TableColumn{{Name: "n", Quantity: true, Tells: true}, {Name: "few", Quantity: true, Levels: true, Tells: true},
		{Name: "kind", Levels: true, Tells: true, Alike: true}, {Name: "other", Levels: true, Tells: true, Alike: true}}
	var with []string
	for _, text := range Table(alike, nil) {
		if strings.Contains(text, "[kind;ard]") {
			with = append(with, text)
		}
		if strings.Contains(text, "CAT[other;ard]") || strings.Contains(text, "CAT[few;ard]") {
			t.Errorf("%s has lengths of levels that are not alike, or of another category", text)
		}
	}
	for i, want := range []string{"SE[n]+CAT[few]+CAT[kind;ard]+CAT[other]", "SE[n]*CAT[kind;ard]+SE[n]+CAT[few]+CAT[kind]+CAT[other]",
		"SE[few,n;ard]*CAT[kind;ard]"} {
		if i >= len(with) || !parse(t, want).Equal(parse(t, with[i])) || len(with) != 3 {
			t.Errorf("kernels with lengths for levels are %q, want %s", with, want)
		}
	}
	// Along time a pattern may hide what another column says: that is tried beside the pattern, too.
	cs := []TableColumn{
		{Name: "when", Quantity: true, Time: true, Tells: true}, {Name: "kind", Levels: true, Tells: true}, {Name: "warm", Quantity: true},
	}
	for _, want := range []string{"SE[when]+SE[warm]+CAT[kind]", "LIN[when]+PER[when]+SE[warm]+CAT[kind]"} {
		if texts := Table(cs, nil); !slices.Contains(texts, parse(t, want).Canonical().ID()) {
			t.Errorf("no %s in %q", want, texts)
		}
	}
	cs, _ = columns(3, 0, 1, false)
	sum := parse(t, `LIN["number, 1"]+SE["number, 0"]+SE["number, 2"]+CAT[kind0]`).Canonical().ID()
	if texts := Table(cs, nil); !slices.Contains(texts, sum) {
		t.Errorf("no sum of curves, a line and levels in %q", texts)
	}
	// What all quantities say together may be greater or less by a column of levels.
	cs, _ = columns(2, 0, 1, false)
	want := parse(t, `SE["number, 0","number, 1";ard]*(CAT[kind0]+CONST)+CAT[kind0]`).Canonical().ID()
	if texts := Table(cs, nil); !slices.Contains(texts, want) {
		t.Errorf("no curve of all quantities whose height goes by levels in %q", texts)
	}
}

// Columns that say something together are products, one by one, then more and more of
// them, of three columns where each two of them are such a pair, and beside what each column says by itself;
// then no others are tried, and there are not more than 60 kernels.
func TestTableOfPairs(t *testing.T) {
	var cs []TableColumn
	for i := range 12 {
		cs = append(cs, TableColumn{Name: fmt.Sprintf("c%d", i), Quantity: true, Tells: i < 5})
	}
	cs = append(cs, TableColumn{Name: "kind", Levels: true, Tells: true}, TableColumn{Name: "n", Levels: true, Quantity: true, Tells: true})
	var names []string
	for _, c := range cs {
		names = append(names, c.Name)
	}
	texts := Table(cs, [][2]int{{7, 8}, {0, 1}, {1, 12}, {0, 12}, {5, 6}, {2, 13}})
	if len(texts) > 60 {
		t.Errorf("%d kernels", len(texts))
	}
	own := "SE[c0]+SE[c1]+SE[c2]+SE[c3]+SE[c4]+CAT[kind]+CAT[n]"
	all := own + "+SE[c7]+SE[c8]+SE[c7]*SE[c8]+SE[c0]*SE[c1]+SE[c1]*CAT[kind]+SE[c0]*CAT[kind]"
	for _, want := range []string{
		own,
		own + "+SE[c7]+SE[c8]+SE[c7]*SE[c8]",
		own + "+SE[c7]+SE[c8]+LIN[c7]*SE[c8]",
		own + "+SE[c0]*SE[c1]",
		own + "+SE[c1]*CAT[kind]",
		own + "+SE[c7]+SE[c8]+SE[c7]*SE[c8]+SE[c0]*SE[c1]",
		all,
		all + "+SE[c5]+SE[c6]+SE[c5]*SE[c6]+SE[c2]*CAT[n]",
		all + "+SE[c5]+SE[c6]+SE[c5]*SE[c6]+SE[c2]*CAT[n]+SE[c0]*SE[c1]*CAT[kind]",
	} {
		if !slices.Contains(texts, parse(t, want).Canonical().ID()) {
			t.Errorf("no %s in %q", want, texts)
		}
	}
	for _, text := range texts {
		if strings.Contains(text, "SE[c0]*SE[c2]") || strings.Contains(text, "SE[c1]*SE[c2]") {
			t.Errorf("%s has a product that seems to say nothing", text)
		}
		if _, err := Compile(parse(t, text), Options{Columns: names}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
