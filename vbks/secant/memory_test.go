package secant

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// quadric is −½(x−c)ᵀA(x−c), whose gain from anywhere to its optimum is known.
type quadric struct {
	a *mat.SymDense
	c []float64
}

func newQuadric(n int, condition float64, rng *rand.Rand) quadric {
	var b mat.Dense
	b.CloneFrom(mat.NewDense(n, n, nil))
	for i := range n {
		for j := range n {
			b.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(&b)
	var q mat.Dense
	qr.QTo(&q)
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			v := 0.0
			for k := range n {
				v += q.At(i, k) * q.At(j, k) * math.Pow(condition, float64(k)/float64(n-1))
			}
			a.SetSym(i, j, v)
		}
	}
	c := make([]float64, n)
	for i := range c {
		c[i] = rng.NormFloat64()
	}
	return quadric{a, c}
}

func (q quadric) at(x []float64) (value float64, grad []float64) {
	n := len(x)
	d := mat.NewVecDense(n, nil)
	for i := range x {
		d.SetVec(i, x[i]-q.c[i])
	}
	var g mat.VecDense
	g.MulVec(q.a, d)
	grad = make([]float64, n)
	for i := range grad {
		grad[i] = -g.AtVec(i)
	}
	return -mat.Dot(d, &g) / 2, grad
}

// After steps in as many directions as there are, of exact line searches, which are
// conjugate, the gain is that to the optimum, −value, wherever the last step ends.
func TestGainOfAQuadric(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	const n = 6
	q := newQuadric(n, 1e4, rng)
	var eigen mat.EigenSym
	if !eigen.Factorize(q.a, true) {
		t.Fatal("no eigenvectors")
	}
	var v mat.Dense
	eigen.VectorsTo(&v)
	x := make([]float64, n)
	for i := range x {
		x[i] = 3 * rng.NormFloat64()
	}
	var m Memory
	if g := m.Gain(); g != 0 {
		t.Errorf("gain %v of nothing", g)
	}
	_, grad := q.at(x)
	m.Step(x, grad)
	for k := range n { // along eigenvectors, which are conjugate
		for i := range x {
			x[i] += 0.3 * v.At(i, k)
		}
		_, grad = q.at(x)
		m.Step(x, grad)
	}
	value, _ := q.at(x)
	if got := m.Gain(); math.Abs(got+value) > 1e-8*-value {
		t.Errorf("gain %v, want %v", got, -value)
	}
}

// Along the way of gonum's L-BFGS the gain is right within a factor of 20 where the way was
// stopped, and next to nothing at its end.
func TestGainOfAnAscent(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 7))
		const n = 7
		q := newQuadric(n, 1e3, rng)
		for _, iterations := range []int{12, 15, 200} {
			var m Memory
			best := math.Inf(-1)
			look := func(x []float64) (float64, []float64) {
				v, g := q.at(x)
				if v > best {
					best = v
					m.Step(x, g)
				}
				return v, g
			}
			start := make([]float64, n)
			_, err := optimize.Minimize(optimize.Problem{
				Func: func(x []float64) float64 { v, _ := look(x); return -v },
				Grad: func(dst, x []float64) {
					_, g := look(x)
					for i := range dst {
						dst[i] = -g[i]
					}
				},
			}, start, &optimize.Settings{MajorIterations: iterations, GradientThreshold: 1e-9}, &optimize.LBFGS{Store: 12})
			if err != nil && iterations < 200 {
				t.Fatal(err)
			}
			gain := m.Gain()
			if missing := -best; gain > 20*missing+1e-9 || gain < missing/20-1e-9 {
				t.Errorf("seed %d, %d iterations: %g nats are missing, the gain is %g", seed, iterations, missing, gain)
			}
		}
	}
}
