package starts

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSummarise(t *testing.T) {
	// Columns: shuffled quarter steps with repetitions and one large gap; constant; two values.
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 401
	x := make([]float64, 0, 3*n)
	y := make([]float64, n)
	for i, p := range rng.Perm(n) {
		x = append(x, -3+0.25*float64(p/2), 7, float64(p%2))
		y[i] = 1e6 + float64(p%2)
	}
	x[0] = 1000
	s := Summarise(x, y, 3)
	for d, want := range [][3]float64{{1003, 0.25, 0}, {1, 1, 7}, {1, 1, math.Sqrt(200. / 401)}} {
		if math.Abs(s.Span[d]-want[0]) > 1e-12 || math.Abs(s.Spacing[d]-want[1]) > 1e-12 {
			t.Errorf("column %d: span %g, spacing %g, want %g, %g", d, s.Span[d], s.Spacing[d], want[0], want[1])
		}
		if d == 1 && s.RMS[d] != 7 || d == 2 && math.Abs(s.RMS[d]-want[2]) > 0.02 {
			t.Errorf("column %d: root mean square %g, want %g", d, s.RMS[d], want[2])
		}
	}
	// 201 zeros and 200 ones on a large mean.
	if want := 201. * 200 / (401 * 401); math.Abs(s.YVar-want) > 1e-9 {
		t.Errorf("variance %g, want %g", s.YVar, want)
	}
	if got, want := secondMoment([]float64{3, -4, 5}), 50./3; math.Abs(got-want) > 1e-12 {
		t.Errorf("second moment %g, want %g", got, want)
	}
}

func TestSummariseDegenerate(t *testing.T) {
	s := Summarise(nil, nil, 2)
	if len(s.Span) != 2 || s.Span[1] != 1 || s.Spacing[1] != 1 || s.YVar != 0 || secondMoment(nil) != 0 {
		t.Errorf("no rows: %+v", s)
	}
	s = Summarise([]float64{1, math.NaN(), 2, math.Inf(1), 3}, []float64{1, 1, 1, 1, 1}, 1)
	if s.Span[0] != 2 || s.Spacing[0] != 1 || s.YVar != 0 {
		t.Errorf("not finite: %+v", s)
	}
	// Rounding errors are no distinct values.
	s = Summarise([]float64{0.3, 0.1 + 0.2, 1.3, 1.3 + 1e-13, 2.3}, []float64{0, 1, 0, 1, 0}, 1)
	if math.Abs(s.Spacing[0]-1) > 1e-9 {
		t.Errorf("ties up to rounding: spacing %g, want 1", s.Spacing[0])
	}
}

func BenchmarkSummarise(b *testing.B) {
	x, y := normalRows(1000000, 3, 1), normalRows(1000000, 1, 2)
	for b.Loop() {
		Summarise(x, y, 3)
	}
}

func normalRows(n, dim int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 2))
	x := make([]float64, n*dim)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}
