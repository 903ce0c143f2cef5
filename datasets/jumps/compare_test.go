package jumps

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// Innovations have the density of the values: that of a normal variable with the covariance of the dynamics.
func TestInnovations(t *testing.T) {
	const n = 7
	spread := []float64{1, 1, 2, 2, 3, 1, 0.5}
	rng := rand.New(rand.NewPCG(2, 1))
	for _, d := range []dynamics{{noise: 1}, {keep: 0.7, level: 0.3, noise: 0.5}, {keep: 1, level: 0.3, noise: 1},
		{keep: 1, level: 0.2, slope: 0.1, noise: 0.4}} {
		// What each shock adds to all values from its own on.
		var shocks [][]float64
		shock := func(from int, variance float64, of func(i int) float64) {
			shocks = append(shocks, made(n, func(i int) float64 {
				if i < from {
					return 0
				}
				return math.Sqrt(variance) * of(i-from)
			}))
		}
		for i, s := range spread {
			level, slope := 1., 1.
			if i > 0 {
				level = spread[i-1] * spread[i-1]
				slope = level
			} else if d.keep < 1 {
				level = 1 / (1 - d.keep*d.keep)
			}
			shock(i, d.noise*s*s, func(k int) float64 { return float64(max(0, 1-k)) })
			shock(i, d.level*level, func(k int) float64 { return math.Pow(d.keep, float64(k)) })
			shock(i, d.slope*slope, func(k int) float64 { return float64(k) })
			if i == 0 {
				shock(i, d.slope, func(int) float64 { return 1 })
			}
		}
		y := made(n, func(int) float64 { return rng.NormFloat64() })
		var of [n][n]float64
		for i := range of {
			for k := range of {
				for _, s := range shocks {
					of[i][k] += s[i] * s[k]
				}
			}
		}
		volume, squares := 0.0, 0.0 // by Cholesky's factor
		var white [n]float64
		for i := range n {
			for k := 0; k <= i; k++ {
				for l := range k {
					of[i][k] -= of[i][l] * of[k][l]
				}
				if k < i {
					of[i][k] /= of[k][k]
				}
			}
			of[i][i] = math.Sqrt(of[i][i])
			white[i] = y[i]
			for l := range i {
				white[i] -= of[i][l] * white[l]
			}
			white[i] /= of[i][i]
			volume += math.Log(of[i][i])
			squares += white[i] * white[i]
		}
		w, got := d.whitener(n, spread), make([]float64, n)
		w.whiten(y, got)
		if math.Abs(w.volume-volume) > 1e-9 || math.Abs(floats.Dot(got, got)-squares) > 1e-9 {
			t.Errorf("%+v: %g and %g, not %g and %g", d, w.volume, floats.Dot(got, got), volume, squares)
		}
	}
}

// What columns leave is the same by their products and by removing them one by one, and a column that others have
// all of changes nothing.
func TestWhatColumnsLeave(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	draw := func(int) float64 { return rng.NormFloat64() }
	y, a, b, c := made(30, draw), made(30, draw), made(30, draw), made(30, draw)
	both := made(30, func(i int) float64 { return a[i] - 2*b[i] })
	g := newProducts(30)
	numbers := []int{g.number(a), g.number(b), g.number(both), g.number(c), g.number(a)}
	if numbers[4] != numbers[0] {
		t.Error("a column has two numbers")
	}
	g.whiten(white.whitener(30, nil), y)
	left := made(30, func(i int) float64 { return y[i] })
	for _, q := range basis([][]float64{a, b, c}) {
		remove(left, q)
	}
	if got := g.left(numbers); math.Abs(got-floats.Dot(left, left)) > 1e-9 {
		t.Errorf("%g, not %g", got, floats.Dot(left, left))
	}
	factors := solved([][]float64{a, b, both, c}, y)
	for i, v := range y {
		v -= factors[0]*a[i] + factors[1]*b[i] + factors[2]*both[i] + factors[3]*c[i]
		if math.Abs(v-left[i]) > 1e-9 {
			t.Fatalf("factors %v leave %g of value %d, not %g", factors, v, i, left[i])
		}
	}
}

// Without a season and outliers values are what they were, but for the pattern.
func TestCleaned(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	var y, truth []float64
	var places []int
	for place := range 300 {
		if place%29 == 3 {
			continue
		}
		v := 0.1 * rng.NormFloat64()
		if place > 150 {
			v += 4
		}
		truth, places = append(truth, v), append(places, place)
		if v += 6 * float64(place%7); place%41 == 5 {
			v += 100
		}
		y = append(y, v-18)
	}
	for i, v := range cleaned(y, 7, places) {
		if math.Abs(v-truth[i]) > 1 {
			t.Errorf("value %d is %.2f, not %.2f", i, v, truth[i])
		}
	}
}
