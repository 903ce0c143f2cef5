package periods

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Of independent values the statistic is standard normal; of an autoregressive series
// with coefficient φ it is about √n φ.
func TestAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, times = 400, 300
	draw := func(phi float64) (mean, square float64) {
		x, r := make([]float64, n), make([]float64, n)
		for range times {
			last := 0.0
			for i := range n {
				x[i] = float64(i)
				last = phi*last + math.Sqrt(1-phi*phi)*rng.NormFloat64()
				r[i] = last
			}
			for i := range n { // the order of rows does not matter
				j := rng.IntN(i + 1)
				x[i], x[j], r[i], r[j] = x[j], x[i], r[j], r[i]
			}
			z := Alike(x, r)
			mean, square = mean+z/times, square+z*z/times
		}
		return mean, square
	}
	mean, square := draw(0)
	if math.Abs(mean) > 4/math.Sqrt(times) || math.Abs(square-1) > 0.35 {
		t.Errorf("independent: mean %.2f, mean square %.2f", mean, square)
	}
	if mean, _ := draw(0.3); math.Abs(mean-6) > 0.5 {
		t.Errorf("with a correlation of .3: %.2f, want about 6", mean)
	}
	if z := Alike([]float64{1, 2}, []float64{1, 1}); z != 0 {
		t.Errorf("two values: %v", z)
	}
}

// What changes from one row to the next is seen between those rows only that happen to be
// close, and independent values are not called alike for being looked at four ways.
func TestAlikeOfTheClosest(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n, times = 400, 300
	seen, taken := 0, 0
	for range times {
		x, rough, white := make([]float64, n), make([]float64, n), make([]float64, n)
		at := 0.0
		for i := range n {
			apart := rng.ExpFloat64()
			x[i] = at + apart
			phi := math.Exp(-apart / 0.15) // Ornstein and Uhlenbeck, a seventh of the spacing long
			rough[i], white[i] = rng.NormFloat64(), rng.NormFloat64()
			if i > 0 {
				rough[i] = phi*rough[i-1] + math.Sqrt(1-phi*phi)*rough[i]
			}
			at = x[i]
		}
		if Alike(x, rough) > 3 {
			seen++
		}
		if Alike(x, white) > 4 {
			taken++
		}
	}
	if seen < times*6/10 || taken > 1 {
		t.Errorf("of %d, %d rough functions are seen, and %d of white noise", times, seen, taken)
	}
}
