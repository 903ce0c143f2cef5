package starts

import (
	"slices"

	"kestrel/kernelspace"
)

// Relation says how a solution of one kernel of the space becomes a start for
// another.
type Relation struct {
	From  int   // place in the space of the kernel that gives
	Pairs []int // for each leaf of the taker, the giver's leaf, −1 for none
	Kind  RelationKind
	Label string // the giver's id
}

// RelationKind says which of two kernels has what the other has not.
type RelationKind uint8

// The kinds of relations, nearest first.
const (
	Lift        RelationKind = iota // the taker contains the giver
	Restriction                     // the giver contains the taker
	Replacement                     // one leaf differs
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
			out[g] = append(out[g], Relation{From: special, Pairs: up, Kind: Lift, Label: space[special].ID()})
			out[special] = append(out[special], Relation{From: g, Pairs: s.Leaves, Kind: Restriction, Label: space[g].ID()})
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
			out[g] = append(out[g], Relation{From: giver, Pairs: pairs, Kind: Replacement, Label: space[giver].ID()})
		}
	}
	for g := range out {
		slices.SortStableFunc(out[g], func(a, b Relation) int {
			return int(a.Kind) - int(b.Kind)
		})
	}
	return out
}

// baseKernels returns the distinct base kernels of a space.
func baseKernels(space []kernelspace.Expr) []kernelspace.Expr {
	seen := map[string]bool{}
	var out []kernelspace.Expr
	for _, e := range space {
		for _, l := range e.Leaves() {
			if id := l.ID(); l.IsLeaf() && !seen[id] {
				seen[id] = true
				out = append(out, l)
			}
		}
	}
	return out
}
