package starts

import (
	"slices"

	"example.com/kestrel/kernelspace"
)

// Relation says how a solution of one kernel of the space becomes a start for
// another.
type Relation struct {
	From  int   // place in the space of the kernel that gives
	Pairs []int // for each leaf of the taker, the giver's leaf, −1 for none
	Kind  RelationKind
	Label string // the giver's id
	// Shared are, of a taker that shares a leaf which the giver has twice, the giver's that is gone and the one that stands for it.
	Shared []int
	Part   string // the id of what they have in common, where that is neither of them
}

// RelationKind says which of two kernels has what the other has not.
type RelationKind uint8

// The kinds of relations, nearest first.
const (
	Lift        RelationKind = iota // the taker contains the giver
	Restriction                     // the giver contains the taker
	Replacement                     // one leaf differs
	Cousin                          // both contain something, which is most of the taker
)

// Kinship lists, for every kernel of a space, the relations through which it
// can take solutions, nearest first. The space holds canonical expressions.
func Kinship(space []kernelspace.Expr) [][]Relation {
	index := make(map[string]int, len(space))
	for i, e := range space {
		index[e.ID()] = i
	}
	bases := baseKernels(space)
	out := make([][]Relation, len(space))
	for g, e := range space {
		for _, s := range e.Simplifications() {
			special, ok := index[s.Expr.ID()]
			if !ok {
				continue
			}
			// s.Leaves maps the special case's leaves to the general one's.
			up := slices.Repeat([]int{-1}, len(e.Leaves()))
			for i, j := range s.Leaves {
				up[j] = i
			}
			if s.Kind == kernelspace.Shared { // both begin as the one that is shared
				up[s.Dropped[0]] = up[s.Kept]
			}
			out[g] = append(out[g], Relation{From: special, Pairs: up, Kind: Lift, Label: space[special].ID()})
			down := Relation{From: g, Pairs: s.Leaves, Kind: Restriction, Label: space[g].ID()}
			if s.Kind == kernelspace.Shared {
				down.Shared = []int{s.Dropped[0], s.Kept}
			}
			out[special] = append(out[special], down)
		}
		for _, s := range e.Replacements(bases) {
			giver, ok := index[s.Expr.ID()]
			if !ok {
				continue
			}
			pairs := slices.Repeat([]int{-1}, len(e.Leaves()))
			for i, j := range s.Leaves {
				pairs[j] = i
			}
			if !e.Leaves()[s.Leaf].IsLeaf() { // where a change point along another input is says nothing
				pairs[s.Leaf] = -1
			}
			out[g] = append(out[g], Relation{From: giver, Pairs: pairs, Kind: Replacement, Label: space[giver].ID()})
		}
	}
	returned(space, out)
	cousins(space, out)
	for g := range out {
		slices.SortStableFunc(out[g], func(a, b Relation) int {
			return int(a.Kind) - int(b.Kind)
		})
	}
	return out
}

// returned adds replacements the other way where only one is listed: a leaf on all columns takes the place of one on some,
// and not the other way round.
func returned(space []kernelspace.Expr, out [][]Relation) {
	type way struct{ taker, giver int }
	known := map[way]bool{}
	for taker := range out {
		for _, r := range out[taker] {
			known[way{taker, r.From}] = true
		}
	}
	for taker := range space {
		for _, r := range out[taker] {
			if r.Kind != Replacement || known[way{r.From, taker}] {
				continue
			}
			known[way{r.From, taker}] = true
			pairs := slices.Repeat([]int{-1}, space[r.From].NumLeaves())
			for i, j := range r.Pairs {
				if j >= 0 {
					pairs[j] = i
				}
			}
			out[r.From] = append(out[r.From], Relation{From: taker, Pairs: pairs, Kind: Replacement, Label: space[taker].ID()})
		}
	}
}

// cousins adds the relations between kernels that are not related otherwise but by
// what is left of both when one argument of a sum or product is dropped, if that is at least half of
// the taker's leaves. It need not be in the space: of LIN·RQ + LIN, PER·LIN·RQ takes LIN·RQ.
func cousins(space []kernelspace.Expr, out [][]Relation) {
	type piece struct {
		kernel int
		leaves []int
	}
	pieces := map[string][]piece{}
	own := make([][]kernelspace.Simplification, len(space))
	for g, e := range space {
		for _, s := range e.Simplifications() {
			if s.Kind == kernelspace.DropSum || s.Kind == kernelspace.DropFactor {
				own[g] = append(own[g], s)
				pieces[s.Expr.ID()] = append(pieces[s.Expr.ID()], piece{g, s.Leaves})
			}
		}
	}
	for g, e := range space {
		known := map[int]bool{g: true}
		for _, r := range out[g] {
			known[r.From] = true
		}
		listed := map[[2]any]bool{}
		for _, s := range own[g] {
			if 2*len(s.Leaves) < e.NumLeaves() {
				continue
			}
			for _, p := range pieces[s.Expr.ID()] {
				key := [2]any{p.kernel, s.Expr.ID()}
				if known[p.kernel] || listed[key] {
					continue
				}
				listed[key] = true
				pairs := slices.Repeat([]int{-1}, e.NumLeaves())
				for i, j := range s.Leaves {
					pairs[j] = p.leaves[i]
				}
				out[g] = append(out[g], Relation{From: p.kernel, Pairs: pairs, Kind: Cousin, Label: space[p.kernel].ID(), Part: s.Expr.ID()})
			}
		}
	}
}

// baseKernels returns the distinct base kernels of a space, and the steps of its change points.
func baseKernels(space []kernelspace.Expr) []kernelspace.Expr {
	seen := map[string]bool{}
	var out []kernelspace.Expr
	for _, e := range space {
		for _, l := range e.Leaves() {
			if id := l.ID(); !seen[id] {
				seen[id] = true
				out = append(out, l)
			}
		}
	}
	return out
}
