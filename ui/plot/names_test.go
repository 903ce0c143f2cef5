package plot

import (
	"slices"
	"testing"
)

func TestNamesThatDifferLookDifferent(t *testing.T) {
	table := []string{"PER[date] + LIN[date] + CAT[weather]", "PER[date] + SE[date] + CAT[weather]", "LIN[date] + CAT[weather]", "SE[depth]"}
	for _, c := range []struct {
		what  string
		names []string
		w     int
		want  []string
	}{
		{"room for all", table, 40, table},
		{"without spaces", []string{"PER + SE"}, 6, []string{"PER+SE"}},
		{"columns by their beginnings", table, 24,
			[]string{"PER[da]+LIN[da]+CAT[w]", "PER[da]+SE[da]+CAT[w]", "LIN[date] + CAT[weather]", "SE[depth]"}},
		{"a length for each column", []string{"MATERN32[age,batch,temp;ard]", "SE[age]"}, 24, []string{"MATERN32[a,b,t;ard]", "SE[age]"}},
		{"what differs stays", []string{"PER+LIN+CONST+SE+MATERN12+RW", "PER+LIN+CONST+RQ+MATERN12+RW", "RW"}, 12,
			[]string{"…ST+SE+MATE…", "…ST+RQ+MATE…", "RW"}},
		{"at the end", []string{"PER+LIN+CONST+SE+MATERN12+RW", "PER+LIN+CONST+SE+MATERN12+RQ"}, 8, []string{"PER+…+RW", "PER+…+RQ"}},
		{"one more summand", []string{"PER+LIN+CONST+SE", "PER+LIN+CONST+SE+RW"}, 9, []string{"PER+…T+SE", "PER+…E+RW"}},
		{"the same twice", []string{"PER+LIN+CONST+SE", "PER+LIN+CONST+SE"}, 8, []string{"PER+…+SE", "PER+…+SE"}},
	} {
		got := FitNames(c.names, c.w)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	// Whatever the width, none is wider, and none of these is written as another where eight
	// columns are there.
	all := append(slices.Clone(table), "PER[date]×SE[date] + SE[date] + CAT[weather]", "LIN[date] + MATERN12[date] + CAT[weather]",
		"LIN[date] + MATERN32[date] + CAT[weather]", "(CAT[weather] + CONST)×SE[date] + CAT[weather]", "核核[日]+核", "")
	for w := range 45 {
		seen := map[string]string{}
		for i, text := range FitNames(all, w) {
			if TextWidth(text) > w {
				t.Errorf("%q in %d columns is %q", all[i], w, text)
			}
			if before, ok := seen[text]; ok && w >= 8 {
				t.Errorf("in %d columns %q and %q are both %q", w, before, all[i], text)
			}
			seen[text] = all[i]
		}
	}
}
