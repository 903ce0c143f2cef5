package exact

import (
	"math"
	"math/rand/v2"
	"strings"
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

// Levels with a length each are SE over columns of 0 and 1 with ARD lengths: the same evidence and the
// same gradient at the same hyperparameters.
func TestLevelsHaveLengths(t *testing.T) {
	const levels, n = 4, 40
	rng := rand.New(rand.NewPCG(3, 9))
	var x, hot, y []float64
	for i := range n {
		l, at := rng.IntN(levels), rng.NormFloat64()
		x, hot = append(x, at, float64(l)/3), append(hot, make([]float64, levels+1)...)
		hot[i*(levels+1)], hot[i*(levels+1)+1+l] = at, 1
		y = append(y, float64(l%2)*math.Sin(at)+0.3*rng.NormFloat64())
	}
	o := kernelspace.Options{Dim: 2, Levels: func(int) []float64 { return []float64{0, 1. / 3, 2. / 3, 1} }}
	for _, e := range []string{"CAT[2;ard]", "SE[1]*CAT[2;ard]+SE[1]", "CAT[2;ard]*LIN[1]"} {
		p := kernelspacetest.Program(t, e, o)
		text := strings.ReplaceAll(e, "CAT[2;ard]", "SE[2,3,4,5;ard]")
		same := kernelspacetest.Program(t, text, kernelspace.Options{Dim: levels + 1})
		a, b := ready(t, p, x, y, Options{}), ready(t, same, hot, y, Options{})
		raw := make([]float64, len(p.Params))
		for i, q := range p.Params {
			if raw[i] = 1; q.Free {
				raw[i] = math.Exp(0.4 * rng.NormFloat64())
			}
			if same.Params[i].Name != q.Name || same.Params[i].Free != q.Free {
				t.Fatalf("%s and %s are in another order", e, text)
			}
		}
		grad, other := make([]float64, len(p.Free)+1), make([]float64, len(p.Free)+1)
		got, ok, err := a.eval(a.Free(raw, 0.2), grad)
		must.OK(t, err)
		want, fine, err := b.eval(b.Free(raw, 0.2), other)
		must.OK(t, err)
		if !ok || !fine || math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: %v, %s %v", e, got, text, want)
		}
		for i := range grad {
			if math.Abs(grad[i]-other[i]) > 1e-8*(1+math.Abs(other[i])) {
				t.Errorf("%s: gradient %v, %s %v", e, grad, text, other)
				break
			}
		}
	}
}
