package vbks

import (
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/exact"
)

// exactAt is what package exact says, without a prior.
func exactAt(t *testing.T, p *kernelspace.Program, raw []float64, noise float64, x, y []float64, dim int) float64 {
	t.Helper()
	rows, err := exact.New(onCPU(1), x, y, dim, exact.Options{})
	must.OK(t, err)
	k, err := rows.Kernel(p)
	must.OK(t, err)
	nats, ok, err := k.At(k.Free(raw, noise))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return nats
}

// With all rows as inducing inputs the local ELBO is the exact evidence, prior and
// all, and the optima are the same; with fewer it is less.
func TestExactEvidenceIsTheBound(t *testing.T) {
	data := trainingSeries(7, 60)
	for _, m := range []int{60, 6} {
		for _, prior := range []bool{true, false} {
			s := quickSettings("collapsed")
			s.Inducing, s.EvaluateEvery, s.ThetaPrior, s.Steps = m, 1, prior, 60
			tr := trainerOn(t, 1, nil, data, s, "SE+LIN", "PER*RQ", "MATERN32")
			e := next(t, tr)
			rows, err := exact.New(onCPU(1), data.X, data.Y, 1, exact.Options{NoiseFloor: s.NoiseFloor, ThetaPrior: prior})
			must.OK(t, err)
			for i, k := range tr.kernels {
				x, err := rows.Kernel(k.program)
				must.OK(t, err)
				at, ok, err := x.At(k.state.Free)
				if err != nil || !ok {
					t.Fatal(k.id, ok, err)
				}
				_, top, err := x.Climb(t.Context(), k.state.Free)
				must.OK(t, err)
				elbo := e.Kernels[i].ELBO
				if m == 60 && (at < elbo-1e-5 || at > elbo+1e-3 || top > at+0.1) || m == 6 && at < elbo+0.01 || top < at {
					t.Errorf("%s, M = %d, prior %v: ELBO %v, exact %v, climbed %v", k.id, m, prior, elbo, at, top)
				}
			}
		}
	}
}
