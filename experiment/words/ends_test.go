package words

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestEnds(t *testing.T) {
	for _, c := range [][4]float64{
		{60.09512, 61.0349, 60.1, 61.03}, {2.0377, 426.6, 2.04, 427}, {0.60376, 1.0052, 0.604, 1.005}, {-3.14159, 2.71828, -3.14, 2.72},
		{5, 5, 5, 5}, {0, 1.2345, 0, 1.23}, {123456, 987654, 123000, 990000},
	} {
		if low, high := Ends(c[0], c[1]); low != c[2] || high != c[3] {
			t.Errorf("%g to %g: %g to %g, want %g to %g", c[0], c[1], low, high, c[2], c[3])
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		a := rng.NormFloat64() * math.Pow(10, 12*rng.Float64()-6)
		b := a + rng.ExpFloat64()*math.Pow(10, 12*rng.Float64()-6)
		low, high := Ends(a, b)
		if off := math.Max(math.Abs(low-a), math.Abs(high-b)); off > endShare/2*(b-a)*(1+1e-6)+1e-12 || low > high {
			t.Fatalf("%g to %g became %g to %g", a, b, low, high)
		}
	}
}
