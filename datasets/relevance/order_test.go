package relevance

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Of tables that are made up, the columns that the target is made of come first, in the
// order of what they explain, with about their share of its variance; others tell nothing, but
// for one in a hundred.
func TestOrder(t *testing.T) {
	mistaken := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		const n, dim = 400, 6
		var x, y []float64
		for range n {
			row := make([]float64, dim)
			for c := range row {
				row[c] = r.Float64()
			}
			row[2] = float64(r.IntN(3)) // levels, of which the middle one differs
			x = append(x, row...)
			v := 4*math.Abs(row[4]-0.5) + 0.4*r.NormFloat64() // of no correlation with column 4
			if row[2] == 1 {
				v += 2
			}
			y = append(y, v+0.8*row[1])
		}
		got := Order(x, dim, y, []bool{false, false, true, false, false, false})
		if got[0].Column != 2 || got[1].Column != 4 || !got[0].Tells || !got[1].Tells {
			t.Fatalf("seed %d: %v", seed, got)
		}
		// variances: levels 4·2/9, the fold 16/48, the line .64/12, noise .16
		whole := 8./9 + 1./3 + 0.64/12 + 0.16
		if math.Abs(got[0].Share-8./9/whole) > 0.1 || math.Abs(got[1].Share-1./3/whole) > 0.08 {
			t.Errorf("seed %d: shares %v", seed, got)
		}
		for _, f := range got[2:] {
			if f.Tells && f.Column != 1 {
				mistaken++
			}
		}
	}
	if mistaken > 4 {
		t.Errorf("%d of 120 columns that say nothing seem to", mistaken)
	}
	constant := Order([]float64{1, 1, 1, 1}, 1, []float64{1, 2, 3, 4}, []bool{false})
	if len(constant) != 1 || constant[0].Tells {
		t.Errorf("a constant column: %v", constant)
	}
}

// A column that leaves nothing of the target tells all of it, and what then is left, nothing
// or what rounding leaves, is nobody's.
func TestColumnThatTellsAll(t *testing.T) {
	for _, high := range []float64{1, 1. / 3} {
		for _, n := range []int{39, 40} {
			var x, y []float64
			for i := range n {
				x = append(x, float64(i*7%5), float64(i%2), float64(i%2))
				y = append(y, high*(2*float64(i%2)-1))
			}
			got := Order(x, 3, y, []bool{false, true, true})
			if got[0].Column != 1 || !got[0].Tells || math.Abs(got[0].Share-1) > 1e-12 || got[1].Tells || got[2].Tells {
				t.Errorf("±%v, %d rows: %+v", high, n, got)
			}
		}
	}
}

// A column that names every row explains any target, and so tells nothing, nor does it hide
// what others tell.
func TestNamesOfRowsTellNothing(t *testing.T) {
	var x, y []float64
	for i := range 40 {
		x = append(x, float64(i), float64(i%2))
		y = append(y, float64(i%2)+0.1*float64(i*7%5))
	}
	if got := Order(x, 2, y, []bool{true, true}); got[0].Column != 1 || !got[0].Tells || got[1].Tells {
		t.Errorf("%+v", got)
	}
}

// A column that is there twice, also in another unit, tells once: what the first has explained
// is then explained by nothing, which rounding has come out a little below nothing, too.
func TestEqualColumns(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		var x, y []float64
		for range 500 {
			v, other := float64(r.IntN(30)), r.NormFloat64()
			x = append(x, v, other, v, 1.8*v+32)
			y = append(y, math.Sin(v)+0.3*other+0.1*r.NormFloat64())
		}
		got := Order(x, 4, y, make([]bool, 4))
		told := 0
		for _, f := range got {
			if f.Tells && f.Column != 1 {
				told++
			}
		}
		if told != 1 || len(got) != 4 {
			t.Errorf("seed %d: of three equal columns %d tell something: %v", seed, told, got)
		}
	}
}
