package local

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/internal/thorough"
)

// someTable is a table of n rows: two numbers, a category of three levels, and a number that says
// nothing; and f, what its targets are but for noise of sd .1.
func someTable(rng *rand.Rand, n int) (x, y, f []float64) {
	for range n {
		a, b, c, d := rng.Float64()*4-2, rng.Float64()*4-2, float64(rng.IntN(3)), rng.NormFloat64()
		v := math.Sin(2*a)*math.Cos(b) + 0.5*a + []float64{0, 1, -0.5}[int(c)]
		x, f = append(x, a, b, c, d), append(f, v)
		y = append(y, v+0.1*rng.NormFloat64())
	}
	return x, y, f
}

var tableLevels = []bool{false, false, true, false}

// alikeFormula is the kernel as its doc comment writes it.
func alikeFormula(theta []float64, levels []bool, x, y []float64) float64 {
	square := 0.0
	for d := range x {
		e := math.Abs(x[d] - y[d])
		if levels[d] {
			e = min(1, e*1e9)
		}
		square += math.Pow(e/math.Exp(theta[4+d]), 2)
	}
	r := math.Sqrt(square)
	five := (1 + math.Sqrt(5)*r + 5*r*r/3) * math.Exp(-math.Sqrt(5)*r)
	r *= math.Exp(theta[3])
	return math.Exp(theta[1])*five + math.Exp(theta[2])*(1+math.Sqrt(3)*r)*math.Exp(-math.Sqrt(3)*r)
}

var alikeTheta = []float64{-2.5, -0.4, -1.2, 0.8, 0.1, 0.6, -0.3, 2}

// With all rows for neighbours a row of a table is what the whole Gaussian process says of it.
func TestAllRowsOfATable(t *testing.T) {
	x, y, _ := someTable(rand.New(rand.NewPCG(1, 1)), 60)
	m := &Table{
		X: x, Y: y, Level: 0.3, Slopes: []float64{0.5, -0.2, 0, 0.1}, Kernel: Alike{tableLevels, alikeTheta}, Near: 60,
		Checked: Checked{Widths: []Width{{0.5, 1}, {3, 1.5}}},
	}
	at := []float64{0.1, 0.2, 1, 0, 1.9, -1.9, 0, 3, x[4], x[5], x[6], x[7]}
	got, err := m.Predict(at)
	if err != nil {
		t.Fatal(err)
	}
	row := func(x []float64, i int) []float64 { return x[4*i : 4*i+4] }
	mean := func(r []float64) float64 { return 0.3 + 0.5*r[0] - 0.2*r[1] + 0.1*r[3] }
	noise := math.Exp(alikeTheta[0]) + 1e-8*(math.Exp(alikeTheta[1])+math.Exp(alikeTheta[2]))
	k := mat.NewDense(60, 60, nil)
	rest := mat.NewVecDense(60, nil)
	for i := range 60 {
		for j := range 60 {
			k.Set(i, j, alikeFormula(alikeTheta, tableLevels, row(x, i), row(x, j)))
		}
		k.Set(i, i, k.At(i, i)+noise)
		rest.SetVec(i, y[i]-mean(row(x, i)))
	}
	for p := range 3 {
		c := mat.NewVecDense(60, nil)
		away := math.Inf(1)
		for i := range 60 {
			c.SetVec(i, alikeFormula(alikeTheta, tableLevels, row(x, i), row(at, p)))
			square := 0.0
			for d := range 4 {
				e := row(x, i)[d] - row(at, p)[d]
				if d == 2 && e != 0 {
					e = 1
				}
				square += math.Pow(e/math.Exp(alikeTheta[4+d]), 2)
			}
			away = min(away, math.Sqrt(square))
		}
		var b mat.VecDense
		if err := b.SolveVec(k, c); err != nil {
			t.Fatal(err)
		}
		f := 1.0
		if away > 0.5 {
			f = 1.5
		}
		wantMean := mean(row(at, p)) + mat.Dot(&b, rest)
		wantVariance := f * f * (math.Exp(alikeTheta[1]) + math.Exp(alikeTheta[2]) - mat.Dot(&b, c))
		g := got[p]
		if math.Abs(g.Mean-wantMean) > 1e-10 || math.Abs(g.Variance-wantVariance) > 1e-10 || math.Abs(g.Away-away) > 1e-12 ||
			math.Abs(g.Noise-f*f*noise) > 1e-12 {
			t.Errorf("row %d: %+v, want %v %v, %v away", p, g, wantMean, wantVariance, away)
		}
	}
}

func TestTableObjectiveAndItsDerivatives(t *testing.T) {
	x, y, _ := someTable(rand.New(rand.NewPCG(2, 1)), 80)
	m := (&Alike{tableLevels, alikeTheta}).made()
	o := newTableObjective(newTree(&m, x, 4), tableLevels, func(i int) float64 { return y[i] }, []int{3, 50, 7, 22, 79, 0}, 9)
	grad := make([]float64, len(alikeTheta))
	if _, err := o.value(alikeTheta, grad); err != nil {
		t.Fatal(err)
	}
	want := fd.Gradient(nil, func(theta []float64) float64 {
		v, err := o.value(theta, make([]float64, len(theta)))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}, alikeTheta, &fd.Settings{Formula: fd.Central})
	for i := range grad {
		if math.Abs(grad[i]-want[i]) > 1e-5*(1+math.Abs(want[i])) {
			t.Errorf("derivative %d: %v, differences %v", i, grad[i], want[i])
		}
	}
}

// Rows are found as by looking at all of them, two levels of a category being as far apart as any other two; rows that
// are as near are found in their order.
func TestNearestRowsOfATable(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	x, _, _ := someTable(rng, 500)
	for i := range x {
		if i%4 != 2 {
			x[i] = math.Round(4*x[i]) / 4 // many are equal
		}
	}
	m := (&Alike{tableLevels, alikeTheta}).made()
	tree := newTree(&m, x, 4)
	for range 40 {
		self := int32(rng.IntN(500))
		got, away := tree.nearest(tree.row(self), 20, self, nil)
		var all []int32
		for i := range int32(500) {
			if i != self {
				all = append(all, i)
			}
		}
		square := func(i int32) float64 { return m.square(tree.row(self), tree.row(i)) }
		slices.SortStableFunc(all, func(a, b int32) int {
			if square(a) < square(b) {
				return -1
			}
			if square(a) > square(b) {
				return 1
			}
			return 0
		})
		if away != math.Sqrt(square(all[0])) {
			t.Fatalf("nearest is %v away, want %v", away, math.Sqrt(square(all[0])))
		}
		for i, r := range got {
			if r != all[i] {
				t.Fatalf("neighbour %d is row %d, %v away, want %d, %v", i, r, square(r), all[i], square(all[i]))
			}
		}
	}
}

// What a table is made of is found, to nearly its noise; a column that says nothing has a long
// length; intervals hold; and the same once more is the same.
func TestTableIsLearned(t *testing.T) {
	thorough.Unraced(t)
	const n = 1500
	x, y, f := someTable(rand.New(rand.NewPCG(4, 1)), n+600)
	fit := func(n int) *Table {
		m, err := FitTable(t.Context(), x[:4*n], y[:n], tableLevels, rand.New(rand.NewPCG(4, 2)))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := fit(n)
	got, err := m.Predict(x[4*n:])
	if err != nil {
		t.Fatal(err)
	}
	off, within := 0.0, 0.0
	for i, p := range got {
		off += math.Pow(p.Mean-f[n+i], 2) / 600
		if math.Abs(p.Mean-y[n+i]) < 1.96*math.Sqrt(p.Variance+p.Noise) {
			within += 1. / 600
		}
	}
	// A plane and levels leave .5; of 1,500 rows in [-2, 2]² x 3 some 8 share a length.
	if off = math.Sqrt(off); off > 0.05 || within < 0.93 || within > 0.97 {
		t.Errorf("f is off by %.3f, %.3f of the rows are within 95 %%", off, within)
	}
	if l := m.Kernel.Theta[shared:]; !(l[3] > l[0]+1.5) || !(l[3] > l[1]+1.5) {
		t.Errorf("lengths %v", l)
	}
	if noise := math.Exp(m.Kernel.Theta[0] / 2); math.Abs(noise-0.1) > 0.02 {
		t.Errorf("noise of %v", noise)
	}
	if a, b := fit(Fewest), fit(Fewest); !slices.Equal(a.Kernel.Theta, b.Kernel.Theta) || !slices.Equal(a.Widths, b.Widths) {
		t.Error("a second fit differs")
	}
}

// Rows that are there several times, of a function without noise, are no matrices that cannot be factorised.
func TestEqualRowsOfATable(t *testing.T) {
	thorough.Unraced(t)
	rng := rand.New(rand.NewPCG(5, 1))
	var x, y []float64
	for range 200 {
		a, b := rng.Float64(), rng.Float64()
		for range 3 {
			x, y = append(x, a, b), append(y, math.Sin(5*a)+b*b)
		}
	}
	m, err := FitTable(t.Context(), x, y, []bool{false, false}, rng)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range got {
		if math.Abs(p.Mean-y[i]) > 1e-3 || !(p.Variance >= 0) {
			t.Fatalf("row %d: %+v, want %v", i, p, y[i])
		}
	}
}

// Neighbours predict as far as they surely are better: what may be chance counts for nothing, and
// a group of rows where they are not ends it.
func TestBetter(t *testing.T) {
	for _, v := range []struct {
		gains  []float64 // of groups of 200 rows, the nearest first, with deviations of 1: ± .07
		within float64
	}{{[]float64{0.5, 0.5}, 2}, {[]float64{0.5, 0}, 1}, {[]float64{0, 0.5}, 0}, {[]float64{0.06}, 0}, {[]float64{-1}, 0}} {
		var c Checked
		for g, gain := range v.gains {
			c.Widths = append(c.Widths, Width{Away: float64(g + 1), Factor: 1})
			for i := range 200 {
				c.Checks = append(c.Checks, Check{Away: float64(g) + 0.5, LogDensity: gain + float64(2*(i%2)-1)})
			}
		}
		within, nats := c.Better(make([]float64, len(c.Checks)))
		if within != v.within || within > 0 && math.Abs(nats-0.5) > 1e-12 || within == 0 && nats != 0 {
			t.Errorf("of gains %v: within %v, %v nats", v.gains, within, nats)
		}
	}
}
