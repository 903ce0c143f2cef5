package relevance

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Pairs whose effect is no sum are found, those that say nothing alone among them, also of levels, and in the
// order of how sure they are.
func TestPairs(t *testing.T) {
	other, share := 0, 0.0
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 3))
		const n, dim = 1500, 7
		var x, y []float64
		for range n {
			row := make([]float64, dim)
			for c := range row {
				row[c] = 2*r.Float64() - 1
			}
			row[6] = float64(r.IntN(4))
			x = append(x, row...)
			slope := []float64{-2, 0, 0, 2}[int(row[6])]
			y = append(y, 3*row[0]+2*math.Sin(3*row[1])+6*row[3]*row[4]+slope*row[1]+0.6*r.NormFloat64())
		}
		levels := []bool{6: true}
		alone := Order(x, dim, y, levels)
		got := Pairs(x, dim, y, levels, alone)
		if len(got) < 2 || !joins(got[0], 3, 4) || !joins(got[1], 1, 6) {
			t.Fatalf("seed %d: %+v, alone %+v", seed, got, alone)
		}
		// The variance of 6ab is 36/9, of s·b 2/3, of the rest 9/3, about 2.1 and noise .36.
		whole := 4 + 2./3 + 3 + 2*(1-math.Sin(6)/6) + 0.36
		share += got[0].Share * whole / 25
		other += len(got) - 2
	}
	// Four bins of equal numbers keep 15/16 of the variance of each factor.
	if want := 4 * 15. / 16 * 15 / 16; math.Abs(share-want) > 0.2 {
		t.Errorf("the first pair explains %v in the mean, not %v", share, want)
	}
	if other > 3 {
		t.Errorf("%d other pairs of 25 tables", other)
	}
}

func joins(p Pair, a, b int) bool { return p.A == a && p.B == b || p.A == b && p.B == a }

// Where the truth is a sum there are no pairs, but for one table in a hundred, though columns are
// correlated, uneven, or the same twice, and where noise has heavy tails.
func TestNoPairs(t *testing.T) {
	some := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4))
		const n, dim = 400, 6
		var x, y []float64
		for range n {
			a, b := r.NormFloat64(), r.NormFloat64()
			near := a + 0.3*r.NormFloat64()
			row := []float64{a, near, math.Exp(b), r.Float64(), a, float64(r.IntN(5))}
			x = append(x, row...)
			noise := 0.5 * r.NormFloat64()
			if seed%2 == 1 {
				noise /= math.Sqrt(0.2 + r.Float64())
			}
			y = append(y, 2*math.Sin(2*a)+math.Log1p(row[2])+row[5]+noise)
		}
		levels := []bool{5: true}
		if got := Pairs(x, dim, y, levels, Order(x, dim, y, levels)); len(got) > 0 {
			t.Logf("seed %d: %+v", seed, got)
			some++
		}
	}
	if some > 3 {
		t.Errorf("pairs in %d of 60 tables without any", some)
	}
	for name, y := range map[string][]float64{"constant": make([]float64, 40), "a sum without noise": sums(40)} {
		x := make([]float64, 0, 80)
		for i := range 40 {
			x = append(x, float64(i%2), float64(i/2%4))
		}
		levels := []bool{true, true}
		if got := Pairs(x, 2, y, levels, Order(x, 2, y, levels)); len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	x, y, levels := []float64{1, 2, 3}, []float64{1, 2, 4}, []bool{false}
	if got := Pairs(x, 1, y, levels, Order(x, 1, y, levels)); got != nil {
		t.Errorf("one column: %+v", got)
	}
}

// sums are targets that are a sum of two columns' effects.
func sums(n int) (y []float64) {
	for i := range n {
		y = append(y, 5*float64(i%2)+1./3*float64(i/2%4))
	}
	return y
}

// What a pair has explained no other pair explains again: of a column that is there twice, nearly, one is paired.
func TestPairsOfEqualColumns(t *testing.T) {
	more := 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 5))
		var x, y []float64
		for range 600 {
			a, b := 2*r.Float64()-1, 2*r.Float64()-1
			x = append(x, a, b, a+0.01*r.NormFloat64())
			y = append(y, 2*a*b+0.5*r.NormFloat64())
		}
		levels := make([]bool, 3)
		got := Pairs(x, 3, y, levels, Order(x, 3, y, levels))
		if len(got) == 0 || !joins(got[0], 0, 1) && !joins(got[0], 1, 2) {
			t.Fatalf("seed %d: %+v", seed, got)
		}
		more += len(got) - 1
	}
	if more > 2 {
		t.Errorf("%d pairs more of 20 tables", more)
	}
}

// The squares that a sum of two effects leaves, and their cells' means do not, are those of least squares, whatever
// the rows are distributed like.
func TestJointSquares(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	const n, across, down = 200, 3, 4
	var a, b []int
	values := mat.NewVecDense(n, nil)
	design := mat.NewDense(n, across+down-1, nil)
	for i := range n {
		g, h := r.IntN(across), 0
		for h < down-1 && r.Float64() < 0.3+0.2*float64(g) { // more rows in some cells than in others
			h++
		}
		a, b = append(a, g), append(b, h)
		design.Set(i, g, 1)
		if h > 0 {
			design.Set(i, across+h-1, 1)
		}
		values.SetVec(i, float64(g)-2*float64(h)+r.NormFloat64()+float64(g*h))
	}
	var effects, left mat.VecDense
	if err := effects.SolveVec(design, values); err != nil {
		t.Fatal(err)
	}
	left.MulVec(design, &effects)
	left.SubVec(values, &left)
	c := cross(values.RawVector().Data, a, b)
	within := mat.Dot(values, values) - c.explained
	if want, got := mat.Dot(&left, &left)-within, c.joint(); math.Abs(got-want) > 1e-6*want || want < 1 {
		t.Errorf("%v, by least squares %v", got, want)
	}
}
