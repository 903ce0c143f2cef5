package starts

import (
	"slices"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/kernelspace/kernelspacetest"
	"example.com/kestrel/vbks/params"
)

// Every step of a growing space of several columns, those that change a leaf's columns among them, leads from its parent's
// solution, whichever of the two is the parent.
func TestEveryStepHasAStart(t *testing.T) {
	var space []kernelspace.Expr
	for _, s := range []string{"SE", "LIN", "PER"} {
		e, err := kernelspace.Parse(s)
		must.OK(t, err)
		space = append(space, e)
	}
	g, err := grow.New(space, grow.Options{Columns: []string{"a", "b"}, Change: true, Leaves: 5, Ratio: 0.5})
	must.OK(t, err)
	kinds := map[string]int{}
	for _, s := range []string{"SE", "SE[a] + LIN", "SE * LIN[b] + PER", "CP(SE, LIN)[a]", "CP(SE + PER[a], LIN[a])[b]"} {
		e, err := kernelspace.Parse(s)
		must.OK(t, err)
		e = e.Canonical()
		for _, n := range g.Neighbours(e) {
			for _, pair := range [][]kernelspace.Expr{{e, n.Expr}, {n.Expr, e}} {
				if len(Kinship(pair)[1]) == 0 {
					t.Errorf("%s: nothing from %s", pair[1].ID(), pair[0].ID())
				}
			}
			kinds[n.Kind]++
		}
	}
	for _, k := range []string{grow.Add, grow.Multiply, grow.Replace, grow.Column, grow.Remove, grow.ToChange} {
		if kinds[k] == 0 {
			t.Errorf("no step %s", k)
		}
	}
}

// A leaf on one column takes the length that a leaf on several has along it; one on another column takes that which there is,
// and the other way round.
func TestLengthsByColumn(t *testing.T) {
	for _, c := range []struct {
		giver, taker string
		from, want   []float64 // variance, lengths
	}{
		{"SE[a,b;ard]", "SE[b]", []float64{2, 3, 5}, []float64{2, 5}},
		{"SE[a,b;ard]", "SE[a]", []float64{2, 3, 5}, []float64{2, 3}},
		{"SE[a]", "SE[b]", []float64{2, 3}, []float64{2, 3}},
		{"SE[b]", "SE[a,b;ard]", []float64{2, 3}, []float64{2, 3, 7}},
		{"PER[a,b;ard]", "PER[b]", []float64{2, 3, 5, 8, 13}, []float64{2, 5, 13}},
	} {
		opt := kernelspace.Options{Dim: 2, Columns: []string{"a", "b"}}
		giver, taker := kernelspacetest.Program(t, c.giver, opt), kernelspacetest.Program(t, c.taker, opt)
		to := []float64{7, 7, 7, 7, 7}[:len(taker.Params)]
		copyLeaf(giver, taker, params.Leaves(giver)[0], params.Leaves(taker)[0], c.from, to)
		if !slices.Equal(to, c.want) {
			t.Errorf("%s from %s %v: %v, want %v", c.taker, c.giver, c.from, to, c.want)
		}
	}
}
