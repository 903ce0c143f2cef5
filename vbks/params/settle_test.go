package params

import (
	"math"
	"math/rand/v2"
	"testing"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
)

// Settle must leave the kernel what it is and every fixed parameter 1.
func TestSettleKeepsTheKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	space, err := kernelspace.Set("K144")
	if err != nil {
		t.Fatal(err)
	}
	exprs := []string{}
	for _, e := range space {
		exprs = append(exprs, e.ID())
	}
	exprs = append(exprs, "POLY2*SE", "(CONST+LIN)*(WN+PER)*(SE+RQ)", "POLY3+LIN*LIN", "COS*(LIN*SE+PER)*MATERN32",
		"CP(LIN+PER,SE)*RQ", "LIN*CP(SE*PER,CP(LIN*LIN,POLY2))+RW", "(LIN+SE)*CP(LIN,SE)*CP(SE,LIN)")
	for _, opt := range []kernelspace.Options{{Dim: 1}, {Dim: 3}, {Dim: 3, ARD: true}} {
		for _, expr := range exprs {
			p := kernelspacetest.Program(t, expr, opt)
			raw := make([]float64, len(p.Params))
			for i := range raw {
				raw[i] = math.Exp(rng.NormFloat64())
			}
			settled := append([]float64(nil), raw...)
			Settle(p, settled)
			for i, q := range p.Params {
				if !q.Free && math.Abs(settled[i]-1) > 1e-12 {
					t.Errorf("%s dim %d ard %v: fixed %s of leaf %d is %g", expr, opt.Dim, opt.ARD, q.Name, q.Leaf, settled[i])
				}
			}
			for range 4 {
				x, y := make([]float64, opt.Dim), make([]float64, opt.Dim)
				for d := range x {
					x[d], y[d] = rng.NormFloat64(), rng.NormFloat64()
				}
				a, b := p.Eval(raw, x, y, false), p.Eval(settled, x, y, false)
				if math.Abs(a-b) > 1e-9*(1+math.Abs(a)) {
					t.Errorf("%s dim %d ard %v: kernel %g became %g", expr, opt.Dim, opt.ARD, a, b)
				}
			}
		}
	}
}

func TestFreeVectorRoundTrip(t *testing.T) {
	p := kernelspacetest.Program(t, "(PER+RQ)*LIN", kernelspace.Options{Dim: 1})
	raw := make([]float64, len(p.Params))
	for i := range raw {
		raw[i] = 0.5 + float64(i)
	}
	Settle(p, raw)
	x := Free(p, raw, 0.3, 1e-6)
	back, noise := Raw(p, x, 1e-6)
	if math.Abs(noise-0.3) > 1e-12 {
		t.Errorf("noise %g, want 0.3", noise)
	}
	for i := range raw {
		if math.Abs(back[i]-raw[i]) > 1e-12*raw[i] {
			t.Errorf("parameter %d: %g, want %g", i, back[i], raw[i])
		}
	}
}
