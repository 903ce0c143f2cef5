package grow

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
)

func parse(t testing.TB, texts ...string) (out []kernelspace.Expr) {
	t.Helper()
	for _, text := range texts {
		e, err := kernelspace.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e.Canonical())
	}
	return out
}

func grammar(t testing.TB, o Options, texts ...string) *Grammar {
	t.Helper()
	g, err := New(parse(t, texts...), o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// closure is every kernel that steps lead to from the first ones, by leaves.
func closure(g *Grammar, from ...kernelspace.Expr) [][]kernelspace.Expr {
	out := make([][]kernelspace.Expr, g.Leaves()+1)
	seen := map[string]bool{}
	for left := from; len(left) > 0; left = left[1:] {
		e := left[0]
		if seen[e.ID()] {
			continue
		}
		seen[e.ID()] = true
		out[e.NumLeaves()] = append(out[e.NumLeaves()], e)
		for _, n := range g.Neighbours(e) {
			left = append(left, n.Expr)
		}
	}
	return out
}

// listed is every kernel of the leaves by trying all trees of two, naively.
func listed(g *Grammar) [][]kernelspace.Expr {
	out := make([][]kernelspace.Expr, g.Leaves()+1)
	seen := map[string]bool{}
	add := func(e kernelspace.Expr) {
		e = e.Canonical()
		if n := e.NumLeaves(); n <= g.Leaves() && !seen[e.ID()] {
			seen[e.ID()] = true
			out[n] = append(out[n], e)
		}
	}
	for _, l := range g.leaves {
		add(l)
	}
	for n := 2; n <= g.Leaves(); n++ {
		for i := 1; i < n; i++ {
			for _, a := range out[i] {
				for _, b := range out[n-i] {
					add(kernelspace.Sum(a, b))
					add(kernelspace.Product(a, b))
				}
				for _, s := range g.steps {
					for _, b := range out[max(0, n-1-i)] {
						add(kernelspace.Change(s, a, b))
					}
				}
			}
		}
	}
	return out
}

func ids(all []kernelspace.Expr) (out []string) {
	for _, e := range all {
		out = append(out, e.ID())
	}
	slices.Sort(out)
	return out
}

// The grammar's counts and prior are those of a list made by trying all trees, steps
// lead from one kernel to all of them, and to no others.
func TestGrammarIsWhatCanBeListed(t *testing.T) {
	thorough.Unraced(t)
	for name, g := range map[string]*Grammar{
		"four to four":      grammar(t, Options{Leaves: 4, Ratio: .5}, "SE", "RQ", "LIN", "PER"),
		"changes":           grammar(t, Options{Leaves: 5, Ratio: .3, Change: true}, "SE", "LIN"),
		"columns":           grammar(t, Options{Leaves: 3, Ratio: 1, Columns: []string{"a", "b c"}}, "SE", "LIN[a]", "CAT[a]"),
		"changes, columns":  grammar(t, Options{Leaves: 4, Ratio: .7, Columns: []string{"x", "y"}, Change: true}, "SE[x]", "SE[y]"),
		"one kind to seven": grammar(t, Options{Leaves: 7, Ratio: .5}, "SE"),
		"stated":            grammar(t, Options{Leaves: 4, Ratio: .5, Stated: .3}, "SE", "SE+LIN", "LIN*SE+PER", "PER+SE*LIN"),
	} {
		t.Run(name, func(t *testing.T) {
			want := listed(g)
			reached := closure(g, g.Kinds()[0])
			sum, total := 0.0, new(big.Int)
			for n := 1; n <= g.Leaves(); n++ {
				if got := g.counts[n].Int64(); got != int64(len(want[n])) {
					t.Errorf("%d kernels of %d leaves are counted, %d are listed", got, n, len(want[n]))
				}
				if !slices.Equal(ids(reached[n]), ids(want[n])) {
					t.Errorf("of %d leaves steps lead to %d kernels, %d are listed", n, len(reached[n]), len(want[n]))
				}
				for _, e := range want[n] {
					sum += math.Exp(g.LogPrior(e))
				}
				total.Add(total, g.counts[n])
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("the prior sums to %v", sum)
			}
			if g.Count().Cmp(total) != 0 {
				t.Errorf("%v kernels in all, by leaves %v", g.Count(), total)
			}
		})
	}
}

// The paper's K144 are the kernels of the four bases to three leaves.
func TestGrammarHasK144(t *testing.T) {
	g := grammar(t, Options{Leaves: 3, Ratio: .5}, "SE", "RQ", "LIN", "PER")
	if got := g.Count().Int64(); got != 144 {
		t.Errorf("%d kernels, want 144", got)
	}
	space, err := kernelspace.Set("K144")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range space {
		if math.IsInf(g.LogPrior(e), -1) {
			t.Errorf("%s is not in the grammar", e.ID())
		}
	}
}

// A constant is one on all columns, and of older runs, which had one on each, such are of the grammar, too.
func TestConstantsHaveNoColumns(t *testing.T) {
	g := grammar(t, Options{Leaves: 3, Ratio: .5, Columns: []string{"a", "b"}}, "SE", "CONST")
	if want := grammar(t, Options{Leaves: 3, Ratio: .5}, "SE", "SE[a]", "SE[b]", "CONST"); g.Count().Cmp(want.Count()) != 0 {
		t.Errorf("%v kernels, want %v", g.Count(), want.Count())
	}
	e := parse(t, "SE[a]+CONST", "SE[a]+CONST[b]")
	if p := g.LogPrior(e[0]); math.IsInf(p, 0) || p != g.LogPrior(e[1]) {
		t.Errorf("priors e^%v and e^%v", p, g.LogPrior(e[1]))
	}
}

// Whoever has a neighbour is its neighbour, by the step back.
func TestNeighboursAreMutual(t *testing.T) {
	thorough.Unraced(t)
	back := map[string]string{Add: Remove, Multiply: Remove, ToChange: Remove, Replace: Replace, Column: Column}
	for _, g := range []*Grammar{
		grammar(t, Options{Leaves: 4, Ratio: .5}, "SE", "LIN", "PER"),
		grammar(t, Options{Leaves: 4, Ratio: .5, Change: true, Columns: []string{"x", "y"}}, "SE[x]", "SE[y]", "LIN[x]"),
	} {
		for n, all := range listed(g) {
			if n > 3 && len(all) > 60 {
				all = all[:60]
			}
			for _, e := range all {
				seen := map[string]bool{e.ID(): true}
				for _, f := range g.Neighbours(e) {
					if f.Kind == Share { // no step leads back
						continue
					}
					if seen[f.Expr.ID()] {
						t.Fatalf("%s has %s twice, or is its own", e.ID(), f.Expr.ID())
					}
					seen[f.Expr.ID()] = true
					again := g.Neighbours(f.Expr)
					i := slices.IndexFunc(again, func(b Neighbour) bool { return b.Expr.Equal(e) })
					if i < 0 {
						t.Fatalf("%s has %s (%s) beside it, but not the other way", e.ID(), f.Expr.ID(), f.Step())
					}
					if want := back[f.Kind]; want != "" && again[i].Kind != want {
						t.Errorf("from %s to %s it is %q, back %q", e.ID(), f.Expr.ID(), f.Step(), again[i].Step())
					}
				}
			}
		}
	}
}

// A move is what a leaf less and the same leaf elsewhere make of a kernel, found by looking through all of the grammar.
func TestMovesAreWhatCanBeListed(t *testing.T) {
	thorough.Unraced(t)
	g := grammar(t, Options{Leaves: 4, Ratio: .5}, "SE", "LIN", "PER")
	all := listed(g)
	// less has, of each kernel of n leaves, those of one less that a leaf is taken away to, by what is taken.
	less := func(e kernelspace.Expr) map[string]bool {
		out := map[string]bool{}
		for _, f := range g.Neighbours(e) {
			if f.Kind == Remove {
				out[f.Leaf+" of "+f.Expr.ID()] = true
			}
		}
		return out
	}
	moves := 0
	for n := 2; n <= 4; n++ {
		some := all[n]
		if len(some) > 300 {
			some = some[:300]
		}
		by := make([]map[string]bool, len(some))
		for i, e := range some {
			by[i] = less(e)
		}
		for i, e := range some {
			got := map[string]bool{}
			for _, m := range g.Moves(e) {
				if got[m.Expr.ID()] || m.Kind != Move || m.Step() != "move "+m.Leaf || m.Expr.NumLeaves() != n {
					t.Fatalf("%s: %+v", e.ID(), m)
				}
				got[m.Expr.ID()] = true
			}
			near := map[string]bool{e.ID(): true}
			for _, f := range g.Neighbours(e) {
				near[f.Expr.ID()] = true
			}
			for j, f := range some {
				want := false
				for id := range by[i] {
					want = want || by[j][id] && !near[f.ID()]
				}
				if got[f.ID()] != want {
					t.Fatalf("from %s to %s: move %v, want %v", e.ID(), f.ID(), got[f.ID()], want)
				}
				if want {
					moves++
				}
			}
		}
	}
	if moves < 100 {
		t.Errorf("only %d moves", moves)
	}
}

// More leaves have less of the prior, and what is not in the grammar none.
func TestPriorPaysForSize(t *testing.T) {
	g := grammar(t, Options{Leaves: 5, Ratio: .5}, "SE", "LIN")
	last := math.Inf(1)
	for _, e := range parse(t, "SE", "SE+LIN", "SE*LIN+SE", "(SE+LIN)*LIN+SE", "SE+SE+SE+SE+SE") {
		if p := g.LogPrior(e); !(p < last) {
			t.Errorf("%s has %v, a smaller one %v", e.ID(), p, last)
		} else {
			last = p
		}
	}
	for _, e := range parse(t, "PER", "SE[2]", "CP(SE,LIN)", "SE+SE+SE+SE+SE+SE") {
		if p := g.LogPrior(e); !math.IsInf(p, -1) {
			t.Errorf("%s has %v", e.ID(), p)
		}
	}
	if a, b := g.LogPrior(parse(t, "SE+LIN*SE")[0]), g.LogPrior(parse(t, "LIN*SE+SE")[0]); a != b {
		t.Errorf("one kernel written twice has %v and %v", a, b)
	}
}

// Kernels that are stated have their share together, each the same of it, and all others the rest as they had it.
func TestPriorOfWhatIsStated(t *testing.T) {
	space := []string{"SE", "LIN", "SE+LIN", "SE*LIN*LIN"}
	plain, g := grammar(t, Options{Leaves: 4, Ratio: .5}, space...), grammar(t, Options{Leaves: 4, Ratio: .5, Stated: .4}, space...)
	for i, e := range parse(t, "SE+LIN", "LIN*SE*LIN", "SE", "LIN", "SE+SE", "SE*SE+LIN") {
		want := .6 * math.Exp(plain.LogPrior(e))
		if i < 2 {
			want += .4 / 2
		}
		if got := math.Exp(g.LogPrior(e)); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s has %v, want %v", e.ID(), got, want)
		}
	}
	// Leaves are what a grammar is made of.
	leaves := grammar(t, Options{Leaves: 4, Ratio: .5, Stated: .4}, "SE", "LIN")
	for _, e := range parse(t, "SE", "SE+LIN") {
		if got := leaves.LogPrior(e); got != plain.LogPrior(e) {
			t.Errorf("%s has %v, want %v", e.ID(), got, plain.LogPrior(e))
		}
	}
}

// A sum with a term for each of many columns is one of a grammar, which goes beyond it where nobody says how far, and its
// neighbours are as many as its terms, not as the groups of these.
func TestSumOfManyColumns(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"}
	texts := make([]string, len(names))
	for i, c := range names {
		texts[i] = "SE[" + c + "]"
	}
	sum := parse(t, strings.Join(texts, "+"))[0]
	g, err := New([]kernelspace.Expr{sum}, Options{Columns: names, Ratio: .5, Stated: .5})
	if err != nil {
		t.Fatal(err)
	}
	n := len(names)
	if g.Leaves() != n+2 {
		t.Errorf("up to %d leaves", g.Leaves())
	}
	kinds := map[string]int{}
	for _, e := range g.Neighbours(sum) {
		kinds[e.Kind]++
		if e.Kind == Multiply || e.Kind == Add {
			if !slices.ContainsFunc(g.Neighbours(e.Expr), func(n Neighbour) bool { return n.Expr.Equal(sum) }) {
				t.Errorf("%s leads to %s and not back", sum.ID(), e.Expr.ID())
			}
		}
	}
	// Each leaf, or the whole, by each kind; each leaf on another column.
	want := map[string]int{Add: n, Multiply: n*n + n, Column: n * (n - 1), Remove: n}
	if !maps.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
	if p := g.LogPrior(sum); !(p < 0 && p > -10) { // half of all
		t.Errorf("the prior of what is stated is e^%v", p)
	}
	if g, err := New([]kernelspace.Expr{sum}, Options{Columns: names, Leaves: 4, Ratio: .5}); err != nil || g.Leaves() != n {
		t.Errorf("up to %d leaves, %v", g.Leaves(), err)
	}
}

func TestNewRefuses(t *testing.T) {
	se := parse(t, "SE")
	for name, o := range map[string]Options{
		"ratio 0": {Leaves: 3}, "above 1": {Leaves: 3, Ratio: 1.5}, "too many": {Leaves: 13, Ratio: .5},
		"all of it": {Leaves: 3, Ratio: .5, Stated: 1}, "less than nothing": {Leaves: 3, Ratio: .5, Stated: -.1},
	} {
		if _, err := New(se, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := New(nil, Options{Leaves: 3, Ratio: .5}); err == nil {
		t.Error("no error of an empty space")
	}
	var wide []string
	for i := range 200 {
		wide = append(wide, fmt.Sprintf("SE[c%d]", i))
	}
	if _, err := New(parse(t, strings.Join(wide, "+")), Options{Ratio: .5}); err == nil || !strings.Contains(err.Error(), "fewer columns") {
		t.Errorf("a sum over 200 columns: %v", err)
	}
	g, err := New(parse(t, "SE+SE+SE", "CP(SE,SE)"), Options{Leaves: 2, Ratio: .5})
	if err != nil || g.Leaves() != 3 || len(g.steps) != 1 {
		t.Errorf("a space of three leaves with a change point gives %+v, %v", g, err)
	}
}

// Products that have the same leaf are one step from where they share it.
func TestNeighboursShareALeaf(t *testing.T) {
	g := grammar(t, Options{Leaves: 6, Ratio: .5}, "RQ", "PER", "LIN")
	for from, want := range map[string]string{"(PER*RQ+PER*RQ)*RQ": "(PER+PER)*RQ*RQ", "PER*LIN+LIN*RQ+RQ": "(PER+RQ)*LIN+RQ"} {
		e := parse(t, from, want)
		i := slices.IndexFunc(g.Neighbours(e[0]), func(n Neighbour) bool { return n.Expr.Equal(e[1].Canonical()) })
		if i < 0 {
			t.Fatalf("%s is no neighbour of %s", want, from)
		}
		if n := g.Neighbours(e[0])[i]; n.Kind != Share || n.From != "" || !strings.HasPrefix(n.Step(), "share ") {
			t.Errorf("%s to %s: %+v, %s", from, want, n, n.Step())
		}
	}
}
