package conformance

import (
	"slices"
	"testing"

	"example.com/kestrel/kernelspace"
)

// TestExpressionsCoverTheTable checks that the suite has every base kernel alone,
// with its own columns and length scales, in a sum and in a product.
func TestExpressionsCoverTheTable(t *testing.T) {
	type use struct{ alone, columns, ard, sum, product bool }
	seen := map[string]use{}
	for _, text := range expressions() {
		e, err := kernelspace.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 3})
		if err != nil {
			t.Fatal(err)
		}
		terms := []kernelspace.Expr{e}
		if !e.IsLeaf() {
			terms = e.Terms()
		}
		for _, leaf := range terms {
			if !leaf.IsLeaf() {
				continue
			}
			u := seen[leaf.Base()]
			u.alone = u.alone || e.IsLeaf()
			u.sum = u.sum || e.IsSum()
			u.product = u.product || e.IsProduct()
			seen[leaf.Base()] = u
		}
		if e.IsLeaf() {
			u := seen[e.Base()]
			u.columns = u.columns || len(p.Instrs[0].Cols) == 1
			u.ard = u.ard || len(p.Instrs[0].Cols) == 3 && p.Instrs[0].NumScale != 1
			seen[e.Base()] = u
		}
	}
	bases := kernelspace.BaseKernels()
	for _, b := range bases {
		if u := seen[b.Name]; u != (use{true, true, true, true, true}) {
			t.Errorf("the suite uses %s so: %+v", b.Name, u)
		}
		delete(seen, b.Name)
	}
	if len(seen) > 0 || len(bases) == 0 || !slices.ContainsFunc(bases, func(b kernelspace.BaseKernel) bool { return b.Name == "SE" }) {
		t.Errorf("base kernels %v, others %v", bases, seen)
	}
}
