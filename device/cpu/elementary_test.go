package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// ulps is the distance in units in the last place of want.
func ulps(got, want float64) float64 {
	if got == want || math.IsNaN(got) && math.IsNaN(want) {
		return 0
	}
	return math.Abs(got-want) / (math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want))
}

func TestExpScaled(t *testing.T) {
	x := []float64{0, 1e-300, -1e-20, 1, -1, 706.9, -706.9, 707.1, -720, -745.2, 800, math.Inf(1), math.Inf(-1), math.NaN()}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		x = append(x, 30*r.NormFloat64(), r.NormFloat64(), -math.Exp(8*r.NormFloat64()))
	}
	v := append([]float64(nil), x...)
	expScaled(v, 1)
	for j := range x {
		if e := ulps(v[j], math.Exp(x[j])); !(e <= 2) {
			t.Fatalf("exp(%v) = %v, want %v", x[j], v[j], math.Exp(x[j]))
		}
	}
	v = []float64{-1}
	expScaled(v, -3)
	if v[0] != -3*math.Exp(-1) && ulps(v[0], -3*math.Exp(-1)) > 2 {
		t.Errorf("-3 exp(-1) = %v", v[0])
	}
}

func TestLog1pInto(t *testing.T) {
	q := []float64{0, 5e-324, 1e-300, 1e-17, 1e-16, 1, math.Sqrt2 - 1, 0x1p53, 1e299, 1e301, math.Inf(1), math.NaN(), -0.5}
	r := rand.New(rand.NewPCG(1, 3))
	for range 100000 {
		q = append(q, math.Exp(10*r.NormFloat64()), r.Float64(), r.ExpFloat64())
	}
	v := make([]float64, len(q))
	log1pInto(v, q, 1)
	for j := range q {
		if e := ulps(v[j], math.Log1p(q[j])); !(e <= 2) {
			t.Fatalf("log1p(%v) = %v, want %v", q[j], v[j], math.Log1p(q[j]))
		}
	}
}

func TestSinHalf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 100000 {
		u := (r.Float64() - 0.5) * math.Exp(-2*r.ExpFloat64())
		if got, want := sinHalf(u), math.Sin(math.Pi/2*u); ulps(got, want) > 2 {
			t.Fatalf("sin(pi %v / 2) = %v, want %v", u, got, want)
		}
	}
}

func TestReduce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for range 100000 {
		d, p := math.Exp(15*r.NormFloat64())*(r.Float64()-0.5), math.Exp(3*r.NormFloat64())
		got, want := reduce(d, p, 1/p), math.Remainder(d, p)/p
		// Half a period away either side is right.
		if diff := math.Abs(got - want); diff > 1e-15 && math.Abs(diff-1) > 1e-6 || math.Abs(got) > 0.5000001 {
			t.Fatalf("%v/%v has the remainder %v, want %v", d, p, got, want)
		}
	}
	for _, d := range []float64{math.Inf(1), math.NaN()} {
		if got := reduce(d, 1, 1); !math.IsNaN(got) {
			t.Errorf("reduce(%v) = %v", d, got)
		}
	}
	if got := reduce(1e300, 3e-200, 1/3e-200); !(math.Abs(got) <= 0.5) {
		t.Errorf("reduce far away = %v", got)
	}
}
