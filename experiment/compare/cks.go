package compare

import (
	"context"
	"math"
	"slices"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/kernelspace"
)

// cksSearch is greedy compositional search (Duvenaud, Lloyd, Grosse, Tenenbaum
// and Ghahramani 2013, "Structure discovery in nonparametric regression through
// compositional kernel search"): it begins with the base kernels, takes the best
// kernel by BIC, trains all its neighbours, and goes on from the best of these as
// long as that is better. The base kernels are the leaves of the space; with up
// to Depth of them, kernels outside of the space may be tried where that is a
// list and not all up to some depth.
type cksSearch struct {
	bases []kernelspace.Expr
	depth int
}

// cks runs the method with a seed.
func (m *Comparing) cks(ctx context.Context, run int, seed uint64) error {
	s := &cksSearch{depth: m.Config.Compare.Depth}
	for _, k := range m.space {
		for _, leaf := range k.Expr.Canonical().Leaves() {
			if leaf.IsLeaf() && !slices.ContainsFunc(s.bases, leaf.Equal) {
				s.bases = append(s.bases, leaf)
			}
		}
	}
	slices.SortFunc(s.bases, kernelspace.Compare)
	return m.search(ctx, config.MethodCKS, run, seed, s)
}

// score is −BIC/2 with the optimised local ELBO 𝓛 in the place of the maximal
// log likelihood, for p free hyperparameters (the noise included) and n rows:
//
//	BIC = −2𝓛 + p log n
func (*cksSearch) score(r *finishedRun) float64 {
	return r.ELBO - float64(r.Params)*math.Log(float64(r.Rows))/2
}

func (s *cksSearch) over(done []searchStep) bool { return s.following(done) == "" }

func (*cksSearch) prepare(context.Context, []searchStep) error { return nil }

func (s *cksSearch) next(_ context.Context, done []searchStep) (string, error) {
	return s.following(done), nil
}

// following is the kernel to train next, "" where all around the best are known.
func (s *cksSearch) following(done []searchStep) string {
	score := map[string]float64{}
	for _, d := range done {
		score[d.ID] = d.Score
	}
	level := s.bases
	best, most := kernelspace.Expr{}, math.Inf(-1)
	for {
		better := false
		for _, e := range level {
			v, trained := score[e.ID()]
			if !trained {
				return e.ID()
			}
			if v > most { // a failed one is NaN
				best, most, better = e, v, true
			}
		}
		if !better {
			return ""
		}
		level = neighbourhood(best, s.bases, s.depth)
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
