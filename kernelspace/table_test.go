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
			cs = append(cs, TableColumn{Name: fmt.Sprintf("kind%d", i), Levels: true, Tells: i < 4})
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
		texts := Table(cs)
		if len(texts) < c.least || len(texts) > 60 {
			t.Errorf("%+v: %d kernels", c, len(texts))
		}
		seen := map[string]bool{}
		for _, text := range texts {
			e := parse(t, text)
			if _, err := Compile(e, Options{Columns: names}); err != nil || seen[e.ID()] {
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
	// Along time a pattern may hide what another column says: that is tried beside the pattern, too.
	cs := []TableColumn{
		{Name: "when", Quantity: true, Time: true, Tells: true}, {Name: "kind", Levels: true, Tells: true}, {Name: "warm", Quantity: true},
	}
	for _, want := range []string{"SE[when]+SE[warm]+CAT[kind]", "LIN[when]+PER[when]+SE[warm]+CAT[kind]"} {
		if texts := Table(cs); !slices.Contains(texts, parse(t, want).Canonical().ID()) {
			t.Errorf("no %s in %q", want, texts)
		}
	}
	cs, _ = columns(3, 0, 1, false)
	if texts := Table(cs); !slices.Contains(texts, parse(t, `LIN["number, 1"]+SE["number, 0"]+SE["number, 2"]+CAT[kind0]`).Canonical().ID()) {
		t.Errorf("no sum of curves, a line and levels in %q", texts)
	}
	// What all quantities say together may be greater or less by a column of levels.
	cs, _ = columns(2, 0, 1, false)
	want := parse(t, `SE["number, 0","number, 1";ard]*(CAT[kind0]+CONST)+CAT[kind0]`).Canonical().ID()
	if texts := Table(cs); !slices.Contains(texts, want) {
		t.Errorf("no curve of all quantities whose height goes by levels in %q", texts)
	}
}
