// Package searches has what others than the paper search a space of kernels with: greedy
// steps in the grammar, and a model of the evidence of kernels that have not been trained.
package searches

import (
	"math"
	"slices"

	"example.com/kestrel/kernelspace"
)

// Greedy is compositional search (Duvenaud, Lloyd, Grosse, Tenenbaum and Ghahramani 2013,
// "Structure discovery in nonparametric regression through compositional kernel
// search"): it begins with the base kernels, takes the best kernel, trains all its
// neighbours, and goes on from the best of these as long as that is better.
type Greedy struct {
	Bases  []kernelspace.Expr // canonical
	Leaves int                // of a kernel, at most
}

// Bases are the leaves of the kernels of a space, in canonical order.
func Bases(space []kernelspace.Expr) (out []kernelspace.Expr) {
	for _, e := range space {
		for _, leaf := range e.Canonical().Leaves() {
			if leaf.IsLeaf() && !slices.ContainsFunc(out, leaf.Equal) {
				out = append(out, leaf)
			}
		}
	}
	slices.SortFunc(out, kernelspace.Compare)
	return out
}

// Next returns the kernels that are to be trained, the first one first, before the search can
// go on, from the scores of those that have been, by id, NaN where one failed; none where all
// around the best are known. The greatest score is the best.
func (s *Greedy) Next(scores map[string]float64) (out []kernelspace.Expr) {
	level := s.Bases
	best, most := kernelspace.Expr{}, math.Inf(-1)
	for {
		better := false
		for _, e := range level {
			v, trained := scores[e.ID()]
			if !trained {
				out = append(out, e)
			} else if v > most {
				best, most, better = e, v, true
			}
		}
		if len(out) > 0 || !better {
			return out
		}
		level = neighbourhood(best, s.Bases, s.Leaves)
	}
}

// neighbourhood lists the kernels that the grammar of compositional search makes
// of e in one step and that have at most so many leaves, canonical, without
// repetition and without e, in canonical order. With S a subexpression and B a
// base kernel the steps are
//
//	S → S + B,  S → S × B,  and B → B′ for a base kernel.
//
// The subexpressions are the whole, the terms of sums and factors of products,
// and so on inwards; some of the terms of a sum are none.
func neighbourhood(e kernelspace.Expr, bases []kernelspace.Expr, depth int) []kernelspace.Expr {
	seen := map[string]bool{e.ID(): true}
	var all []kernelspace.Expr
	for _, n := range steps(e.Canonical(), bases) {
		n = n.Canonical()
		if n.NumLeaves() <= depth && !seen[n.ID()] {
			seen[n.ID()] = true
			all = append(all, n)
		}
	}
	slices.SortFunc(all, kernelspace.Compare)
	return all
}

// steps makes one step at every place of e.
func steps(e kernelspace.Expr, bases []kernelspace.Expr) (all []kernelspace.Expr) {
	for _, b := range bases {
		all = append(all, kernelspace.Sum(e, b), kernelspace.Product(e, b))
		if e.IsLeaf() {
			all = append(all, b)
		}
	}
	terms := e.Terms()
	for i := range terms {
		for _, changed := range steps(terms[i], bases) {
			all = append(all, e.With(i, changed))
		}
	}
	return all
}
