package exact

import (
	"math"
	"math/rand/v2"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
)

// CAT in a balanced table is the model of one random effect, whose evidence has a closed
// form (Searle, Casella and McCulloch, Variance Components, 1992, 4.2): with a levels of r
// rows each, λ = σ² + rσ_a², level means ȳ_i, and SSW the squares within levels,
//
//	−½ (n log 2π + a log λ + (n − a) log σ² + r Σ ȳ_i²/λ + SSW/σ²)
//
// And it is what LIN of columns that are 1 on a level each, 0 on others, with one length
// scale is. Correlated levels, CAT+CONST, have one eigenvalue more.
func TestCategoryIsARandomEffect(t *testing.T) {
	const levels, each, n = 5, 7, 35
	rng := rand.New(rand.NewPCG(8, 9))
	var x, hot, y []float64
	mean, within := make([]float64, levels), 0.0
	for i := range n {
		l := i % levels
		x = append(x, float64(l))
		for c := range levels {
			hot = append(hot, map[bool]float64{true: 1, false: 0}[c == l])
		}
		y = append(y, float64(l%3)-1+0.6*rng.NormFloat64())
		mean[l] += y[i] / each
	}
	for i, v := range y {
		within += (v - mean[i%levels]) * (v - mean[i%levels])
	}
	for _, c := range []struct{ own, common, noise float64 }{{0.8, 0, 0.4}, {2.5, 0, 0.05}, {0.3, 1.7, 0.5}} {
		grand, squares := 0.0, 0.0
		for _, m := range mean {
			grand += m / levels
		}
		for _, m := range mean {
			squares += (m - grand) * (m - grand)
		}
		lambda := c.noise + each*c.own // of what levels differ in
		all := lambda + n*c.common     // of what they have in common
		want := -0.5 * (n*math.Log(2*math.Pi) + (levels-1)*math.Log(lambda) + math.Log(all) + (n-levels)*math.Log(c.noise) +
			each*squares/lambda + n*grand*grand/all + within/c.noise)
		expr, linear, raw := "CAT", "LIN", []float64{c.own}
		if c.common > 0 {
			expr, linear, raw = "CAT+CONST", "LIN+CONST", append(raw, c.common)
		}
		p := kernelspacetest.Program(t, expr, kernelspace.Options{Dim: 1})
		k := ready(t, p, x, y, Options{})
		_, _, _, hi := k.Prior(p)
		free := k.Free(raw, c.noise)
		got, ok, err := k.At(free)
		must.OK(t, err)
		if !ok || free[0] > hi[0] || math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s %v: %v, in closed form %v", expr, c, got, want)
		}
		q := kernelspacetest.Program(t, linear, kernelspace.Options{Dim: levels})
		lin := ready(t, q, hot, y, Options{})
		theta := []float64{c.own, 1}
		if c.common > 0 {
			theta = append(theta, c.common)
		}
		if same, ok, err := lin.At(lin.Free(theta, c.noise)); err != nil || !ok || math.Abs(same-got) > 1e-9*math.Abs(got) {
			t.Errorf("%s of columns of 0 and 1: %v, %s %v", linear, same, expr, got)
		}
	}
}
