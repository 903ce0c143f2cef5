package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// shuffler does parts one after the other, in any order, on so many cores as occurs to it.
type shuffler struct {
	r     *rand.Rand
	own   Workspace
	parts int // done
}

func (s *shuffler) Cores() int { return []int{1, 2, 3, 5, 7, 16, 100}[s.r.IntN(7)] }

func (s *shuffler) Divide(n int, p Parts) {
	for _, i := range s.r.Perm(n) {
		p.Part(&s.own, i)
		s.parts++
	}
}

// However an operation is divided, no bit of its result changes.
func TestPartsChangeNoBit(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		r := rand.New(rand.NewPCG(21, 22))
		divider := &shuffler{r: r}
		var alone Workspace
		divided := Workspace{Divider: divider}
		trials := 24
		if l == Portable {
			trials = 6 // it is slow
		}
		for trial := range trials {
			pick := func() int { return 100 + r.IntN(100<<(trial%2)) }
			n, m, k := pick(), pick(), pick()
			size := max(n, m, k)
			lda, ldb, ldc := size+r.IntN(3), size+r.IntN(3), size+r.IntN(3)
			a, b, c := randomMatrix(r, size*lda), randomMatrix(r, size*ldb), randomMatrix(r, size*ldc)
			lo := lowerTriangle(r, n, lda)
			s := make([]float64, n*ldc)
			l.Gemm(&alone, Full, false, true, n, n, n, 1, lo, lda, lo, lda, 0, s, ldc)
			ta, tb := r.IntN(2) == 1, r.IntN(2) == 1
			for _, o := range []struct {
				name string
				to   []float64
				half int // 1: what is below the diagonal counts, 2: what is above
				do   func(w *Workspace, to []float64)
			}{
				{"product", c, 0, func(w *Workspace, c []float64) {
					l.Gemm(w, Full, ta, tb, m, n, k, 0.7, a, lda, b, ldb, float64(trial%3), c, ldc)
				}},
				{"lower product", c, 1, func(w *Workspace, c []float64) {
					l.Gemm(w, LowerC, ta, tb, n, n, k, -1, a, lda, b, ldb, 1, c, ldc)
				}},
				{"upper product", c, 2, func(w *Workspace, c []float64) {
					l.Gemm(w, UpperC, ta, tb, n, n, k, 1, a, lda, b, ldb, 0, c, ldc)
				}},
				{"product with a triangle", c, 0, func(w *Workspace, c []float64) {
					part := LowerA
					if ta {
						part = UpperA
					}
					l.Gemm(w, part, ta, tb, n, m, n, 1, lo, lda, b, ldb, 0, c, ldc)
				}},
				{"solve", c, 0, func(w *Workspace, c []float64) { l.Solve(w, ta, n, m, lo, lda, c, ldc) }},
				{"solve on both sides", s, 0, func(w *Workspace, s []float64) { l.SolveBoth(w, n, lo, lda, s, ldc) }},
				{"inverse", s, 0, func(w *Workspace, s []float64) { l.Inverse(w, n, lo, lda, s, ldc) }},
				{"factor", s, 0, func(w *Workspace, s []float64) {
					if failed := l.Cholesky(w, n, s, ldc); failed != 0 {
						t.Fatalf("not positive definite at %d", failed)
					}
				}},
				{"mirror up", c, 0, func(w *Workspace, c []float64) { l.MirrorUp(w, n, c, ldc) }},
				{"mirror down", c, 0, func(w *Workspace, c []float64) { l.MirrorDown(w, n, c, ldc) }},
			} {
				want, got := slices.Clone(o.to), slices.Clone(o.to)
				o.do(&alone, want)
				o.do(&divided, got)
				for i := range want {
					if row, col := i/ldc, i%ldc; o.half == 1 && col > row || o.half == 2 && col < row {
						continue
					}
					if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
						t.Fatalf("%s, m, n, k = %d, %d, %d, trans %v %v: entry %d, %d is %v, else %v",
							o.name, m, n, k, ta, tb, i/ldc, i%ldc, got[i], want[i])
					}
				}
			}
		}
		if divider.parts < 3*trials {
			t.Errorf("only %d parts", divider.parts)
		}
	})
}
