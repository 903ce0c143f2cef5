package config

import (
	"fmt"
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// Undecided reports whether the kernels are left to the data, by which SettleData decides.
func (k KernelSpace) Undecided() bool { return k.Set == autoText }

// Candidates lists the kernels that a space holds, canonical and without
// repetition, with their prior weights.
func (k KernelSpace) Candidates() ([]vbks.Candidate, error) {
	var exprs []kernelspace.Expr
	var err error
	undecided := k.Undecided()
	if undecided { // until the data are known
		k.Set, k.Base, k.Depth = "", defaultBase(), defaultDepth
	}
	switch {
	case k.Set != "":
		exprs, err = kernelspace.Set(k.Set)
	case len(k.Expressions) > 0:
		exprs, err = ParseAll(k.Expressions)
	default:
		var base []kernelspace.Expr
		if base, err = ParseAll(k.Base); err == nil {
			exprs, err = kernelspace.Enumerate(base, k.Depth)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("kernels: %w", err)
	}
	weights := map[string]float64{}
	for text, w := range k.Weights {
		e, err := kernelspace.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("kernels.weights: %w", err)
		}
		weights[e.ID()] = w
	}
	seen := map[string]bool{}
	var space []vbks.Candidate
	for _, e := range exprs {
		e = e.Canonical()
		id := e.ID()
		if seen[id] {
			continue
		}
		seen[id] = true
		w, ok := weights[id]
		if !ok {
			w = 1
		}
		delete(weights, id)
		space = append(space, vbks.Candidate{Expr: e, Weight: w})
	}
	if len(weights) > 0 && !undecided {
		var ids []string
		for id := range weights {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		return nil, fmt.Errorf("kernels.weights: %s is not in the kernel space of %d; add it or remove its weight", ids[0], len(space))
	}
	return space, nil
}

// ParseAll reads expressions.
func ParseAll(texts []string) ([]kernelspace.Expr, error) {
	var out []kernelspace.Expr
	for _, t := range texts {
		e, err := kernelspace.Parse(t)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}
