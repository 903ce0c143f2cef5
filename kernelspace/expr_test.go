package kernelspace

import (
	"slices"
	"testing"
)

// Sums and products are commutative and associative, and nothing else is
// taken for equal.
func TestAlgebraLaws(t *testing.T) {
	r := newRand(2)
	same := func(a, b Expr) {
		t.Helper()
		if a.ID() != b.ID() || !a.Equal(b) || Compare(a, b) != 0 {
			t.Fatalf("%s is not %s", a.ID(), b.ID())
		}
	}
	for range 300 {
		a, b, c := randomExpr(r, 1+r.IntN(4)), randomExpr(r, 1+r.IntN(4)), randomExpr(r, 1+r.IntN(4))
		for _, op := range []func(...Expr) Expr{Sum, Product} {
			same(op(a, b), op(b, a))
			same(op(op(a, b), c), op(a, op(b, c)))
			same(op(a, b, c), op(c, op(a, b)))
			same(op(a.Canonical(), b), op(a, b.Canonical()))
			same(op(a), a)
		}
		if Sum(a, b).ID() == Product(a, b).ID() {
			t.Fatalf("%s: sum and product are the same", Sum(a, b))
		}
		if Compare(a, b) != -Compare(b, a) || (Compare(a, b) == 0) != (a.ID() == b.ID()) {
			t.Fatalf("order of %s and %s", a, b)
		}
	}
}

// Expressions that share subtrees must not see each other change.
func TestImmutable(t *testing.T) {
	a, b := parse(t, "SE+RQ"), parse(t, "LIN*PER")
	before := []string{a.Written(), b.Written()}
	s := Sum(a, b)
	s.Canonical()
	s.Simplifications()
	s.Replacements([]Expr{parse(t, "WN")})
	p := Product(a, b)
	p.Terms()[0] = b
	if got := []string{a.Written(), b.Written()}; !slices.Equal(got, before) {
		t.Errorf("%q became %q", before, got)
	}
	if s.Written() != "SE+RQ+LIN*PER" || p.Written() != "(SE+RQ)*LIN*PER" {
		t.Errorf("%s, %s", s.Written(), p.Written())
	}
}

func TestZeroExpr(t *testing.T) {
	var e Expr
	if !e.IsZero() || e.ID() != "" || e.String() != "" || e.Leaves() != nil || e.NumLeaves() != 0 || e.Terms() != nil ||
		e.IsLeaf() || e.IsSum() || e.IsProduct() || e.Base() != "" || !e.Canonical().IsZero() || e.Simplifications() != nil ||
		!e.Equal(Expr{}) || e.Equal(parse(t, "SE")) || Compare(e, parse(t, "SE")) >= 0 || Compare(e, e) != 0 {
		t.Error("the zero Expr is no expression")
	}
	if _, err := Compile(e, Options{Dim: 1}); err == nil {
		t.Error("the zero Expr compiles")
	}
}
