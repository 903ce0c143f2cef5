package kernelspace

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func parse(t testing.TB, s string) Expr {
	t.Helper()
	e, err := Parse(s)
	if err != nil {
		t.Fatalf("Parse(%q): %v", s, err)
	}
	return e
}

func compile(t testing.TB, e Expr, opt Options) *Program {
	t.Helper()
	p, err := Compile(e, opt)
	if err != nil {
		t.Fatalf("Compile(%s): %v", e.Written(), err)
	}
	return p
}

func set(t testing.TB, name string) []Expr {
	t.Helper()
	space, err := Set(name)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// randomTheta draws raw parameters around 1.
func randomTheta(r *rand.Rand, p *Program) []float64 {
	theta := make([]float64, len(p.Params))
	for i := range theta {
		theta[i] = math.Exp(0.5 * r.NormFloat64())
	}
	return theta
}

func randomRows(r *rand.Rand, n, dim int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, dim)
		for d := range rows[i] {
			rows[i][d] = 2 * r.NormFloat64()
		}
	}
	return rows
}

// randomExpr draws a tree of up to leaves base kernels, in no canonical order.
func randomExpr(r *rand.Rand, leaves int) Expr {
	if leaves == 1 {
		scopes := []string{"", "", "", "[1]", "[2,3]", "[;ard]", "[3,1;iso]", "[temp,\"a,b\"]", "[;iso]", "[\"λ\"]"}
		name := base(r.IntN(int(numBases))).info().name
		e, err := Parse(name + scopes[r.IntN(len(scopes))])
		if err != nil {
			panic(err)
		}
		return e
	}
	if leaves > 3 && r.IntN(6) == 0 {
		left := 1 + r.IntN(leaves-2)
		e, err := Parse(
			"CP(" + randomExpr(r, left).Written() + "," + randomExpr(r, leaves-1-left).Written() + ")" + []string{"", "[2]"}[r.IntN(2)],
		)
		if err != nil {
			panic(err)
		}
		return e
	}
	left := 1 + r.IntN(leaves-1)
	a, b := randomExpr(r, left), randomExpr(r, leaves-left)
	if r.IntN(2) == 0 {
		return Sum(a, b)
	}
	return Product(a, b)
}

// allBases is one leaf of every base kernel.
func allBases(t testing.TB) []Expr {
	var all []Expr
	for _, b := range BaseKernels() {
		all = append(all, parse(t, b.Name))
	}
	return all
}

// testSpace is K144 and kernels beyond the paper.
func testSpace(t testing.TB) []Expr {
	space := append(set(t, "K144"), allBases(t)...)
	for _, s := range []string{
		"LIN*(SE+PER*(RQ+WN))", "(SE+CONST)*(LIN+WN)*(PER+MATERN12)", "POLY2*(MATERN32+COS)", "COS*MATERN52+POLY3",
		"(CONST+PER*LIN)*(SE*POLY2+RQ)", "CONST*WN+LIN*LIN*POLY4", "SE*(LIN*(PER+CONST)+RQ)+WN", "CP(SE+PER,LIN*RQ)",
		"CP(CONST,CP(LIN,SE*PER)+WN)*(SE+LIN)+RQ", "SE*CP(LIN,LIN)*PER",
	} {
		space = append(space, parse(t, s))
	}
	return space
}

// relative is |a−b| over the larger of both and floor.
func relative(a, b, floor float64) float64 {
	return math.Abs(a-b) / math.Max(floor, math.Max(math.Abs(a), math.Abs(b)))
}

func contains(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%q does not contain %q", got, w)
		}
	}
}
