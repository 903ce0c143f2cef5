package covariance_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device/cpu"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
	"example.com/kestrel/vbks/covariance"
)

// The factor's square is the covariance, entry by entry, and so are its values.
func TestFactor(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const n, noise = 70, 0.03
	dev := cpu.New(cpu.Options{Lanes: 1})
	for _, e := range []string{"PER*SE+LIN", "RQ[1]+PER[2]*SE[1]", "WN+SE", "CP(LIN,PER)"} {
		p := kernelspacetest.Program(t, e, kernelspace.Options{Dim: 2})
		x, raw := make([]float64, n*p.Dim), make([]float64, len(p.Params))
		for i := range x {
			x[i] = 3 * rng.NormFloat64()
		}
		for i := range raw {
			raw[i] = math.Exp(0.5 * rng.NormFloat64())
		}
		u, err := covariance.Factor(dev, dev.Lane(0), x, p, raw, noise)
		must.OK(t, err)
		values, err := covariance.Values(dev, dev.Lane(0), x, p, raw)
		must.OK(t, err)
		var k mat.Dense
		k.Mul(u.T(), u)
		for i := range n {
			for j := range i + 1 {
				a, b := x[i*p.Dim:(i+1)*p.Dim], x[j*p.Dim:(j+1)*p.Dim]
				want := p.Eval(raw, a, b, i == j)
				if got := values[i*n+j]; math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
					t.Fatalf("%s: entry %d, %d is %v itself, want %v", e, i, j, got, want)
				}
				if i == j {
					want += noise
				}
				if math.Abs(k.At(i, j)-want) > 1e-12*(1+math.Abs(want)) {
					t.Fatalf("%s: entry %d, %d is %v, want %v", e, i, j, k.At(i, j), want)
				}
			}
		}
	}
}

// There is none where rows are equal and nothing is noise.
func TestNoFactor(t *testing.T) {
	dev := cpu.New(cpu.Options{Lanes: 1})
	p := kernelspacetest.Program(t, "SE", kernelspace.Options{Dim: 1})
	u, err := covariance.Factor(dev, dev.Lane(0), []float64{1, 1, 2}, p, []float64{1, 1}, 0)
	must.OK(t, err)
	if u != nil {
		t.Errorf("a factor %v", u.RawTriangular().Data)
	}
}
