package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// eachLevel runs a test at every level that the machine has.
func eachLevel(t *testing.T, f func(t *testing.T, l Level)) {
	for l := Portable; l <= Best(); l++ {
		t.Run(l.String(), func(t *testing.T) { f(t, l) })
	}
}

var sizes = []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 97, 130, 200, 300}

func randomMatrix(r *rand.Rand, n int) []float64 {
	m := make([]float64, n)
	for i := range m {
		m[i] = r.NormFloat64()
	}
	return m
}

// lowerTriangle makes a well-conditioned one with stride ld and zeros above.
func lowerTriangle(r *rand.Rand, n, ld int) []float64 {
	m := make([]float64, n*ld)
	for i := range n {
		for j := range i {
			m[i*ld+j] = r.NormFloat64() / math.Sqrt(float64(n))
		}
		m[i*ld+i] = 1 + r.Float64()
	}
	return m
}

func at(m []float64, ld int, trans bool, i, j int) float64 {
	if trans {
		i, j = j, i
	}
	return m[i*ld+j]
}

// naive is op(a) op(b), in the plain order.
func naive(ta, tb bool, m, n, k int, a []float64, lda int, b []float64, ldb int) []float64 {
	c := make([]float64, m*n)
	for i := range m {
		for j := range n {
			s := 0.0
			for p := range k {
				s += at(a, lda, ta, i, p) * at(b, ldb, tb, p, j)
			}
			c[i*n+j] = s
		}
	}
	return c
}

func near(got, want, scale float64) bool { return math.Abs(got-want) <= 1e-12*scale }

func TestGemm(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		r := rand.New(rand.NewPCG(1, 2))
		var w Workspace
		for trial := range 400 {
			pick := func() int { return sizes[r.IntN(len(sizes)-4*(trial%2))] }
			m, n, k := pick(), pick(), pick()
			ta, tb := r.IntN(2) == 1, r.IntN(2) == 1
			part := Part(r.IntN(5))
			if part == LowerA || part == UpperA {
				k = m
			}
			ra, ca, rb, cb := m, k, k, n
			if ta {
				ra, ca = ca, ra
			}
			if tb {
				rb, cb = cb, rb
			}
			lda, ldb, ldc := ca+r.IntN(3), cb+r.IntN(3), n+r.IntN(3)
			a, b := randomMatrix(r, ra*lda), randomMatrix(r, rb*ldb)
			if part == LowerA || part == UpperA {
				for i := range m {
					for p := range k {
						if (part == LowerA) == (p > i) && p != i {
							if ta {
								a[p*lda+i] = 0
							} else {
								a[i*lda+p] = 0
							}
						}
					}
				}
			}
			c := randomMatrix(r, m*ldc)
			alpha, beta := []float64{1, -1, 0.7}[r.IntN(3)], []float64{0, 1, -0.3}[r.IntN(3)]
			old := append([]float64(nil), c...)
			if beta == 0 {
				for i := range c {
					c[i] = math.NaN() // must not be read
				}
			}
			l.Gemm(&w, part, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
			want := naive(ta, tb, m, n, k, a, lda, b, ldb)
			for i := range m {
				for j := range n {
					if part == LowerC && j > i || part == UpperC && j < i {
						continue
					}
					v := alpha*want[i*n+j] + beta*old[i*ldc+j]
					if !near(c[i*ldc+j], v, float64(k)+1) {
						t.Fatalf("m, n, k = %d, %d, %d, trans %v %v, part %d, alpha %v, beta %v: c[%d,%d] = %v, want %v",
							m, n, k, ta, tb, part, alpha, beta, i, j, c[i*ldc+j], v)
					}
				}
				for j := n; j < ldc; j++ {
					if got := c[i*ldc+j]; beta != 0 && got != old[i*ldc+j] || beta == 0 && !math.IsNaN(got) {
						t.Fatalf("n = %d: wrote behind the row", n)
					}
				}
			}
		}
	})
}

func TestSolve(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		r := rand.New(rand.NewPCG(3, 4))
		var w Workspace
		for _, n := range sizes {
			for _, m := range []int{1, 2, 7, 8, 16, 17, 33, 200} {
				for _, trans := range []bool{false, true} {
					ldl, ldb := n+r.IntN(2), m+r.IntN(2)
					lo := lowerTriangle(r, n, ldl)
					x := randomMatrix(r, n*ldb)
					b := make([]float64, n*ldb)
					copy(b, x)
					p := naive(trans, false, n, m, n, lo, ldl, x, ldb)
					for i := range n {
						copy(b[i*ldb:i*ldb+m], p[i*m:(i+1)*m])
					}
					for i := range n { // entries above the diagonal are not read
						for j := i + 1; j < n; j++ {
							lo[i*ldl+j] = math.NaN()
						}
					}
					l.Solve(&w, trans, n, m, lo, ldl, b, ldb)
					for i := range n {
						for j := range ldb {
							if math.Abs(b[i*ldb+j]-x[i*ldb+j]) > 1e-9 || j >= m && b[i*ldb+j] != x[i*ldb+j] {
								t.Fatalf("n, m = %d, %d, trans %v: x[%d,%d] = %v, want %v", n, m, trans, i, j, b[i*ldb+j], x[i*ldb+j])
							}
						}
					}
				}
			}
		}
	})
}

func TestSolveVector(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, n := range sizes {
			for _, trans := range []bool{false, true} {
				lo, x := lowerTriangle(r, n, n), randomMatrix(r, n)
				b := naive(trans, false, n, 1, n, lo, n, x, 1)
				l.SolveVector(trans, n, lo, n, b)
				for i := range x {
					if math.Abs(b[i]-x[i]) > 1e-9 {
						t.Fatalf("n = %d, trans %v: %v, want %v", n, trans, b[i], x[i])
					}
				}
			}
		}
	})
}

// TestSolveBoth holds LᵀGL against the symmetric matrix that G came from.
func TestSolveBoth(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		r := rand.New(rand.NewPCG(7, 8))
		var w Workspace
		for _, n := range sizes {
			lo := lowerTriangle(r, n, n)
			g := randomMatrix(r, n*n)
			for i := range n {
				for j := range i {
					g[j*n+i] = g[i*n+j]
				}
			}
			s := naive(true, false, n, n, n, lo, n, naive(false, false, n, n, n, g, n, lo, n), n)
			for i := range n {
				for j := i + 1; j < n; j++ {
					s[i*n+j] = math.NaN()
				}
			}
			l.SolveBoth(&w, n, lo, n, s, n)
			for i := range s {
				if math.Abs(s[i]-g[i]) > 1e-8 {
					t.Fatalf("n = %d, entry %d: %v, want %v", n, i, s[i], g[i])
				}
			}
		}
	})
}

// TestInverse holds LLᵀ against what it is the inverse of.
func TestInverse(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		r := rand.New(rand.NewPCG(7, 9))
		var w Workspace
		for _, n := range append(slices.Clone(sizes), 97, 200, 333) {
			ldl, lds := n+r.IntN(3), n+r.IntN(3)
			lo := lowerTriangle(r, n, ldl)
			s := make([]float64, n*lds)
			for i := range s {
				s[i] = math.NaN()
			}
			l.Inverse(&w, n, lo, ldl, s, lds)
			square := naive(false, true, n, n, n, lo, ldl, lo, ldl)
			one := naive(false, false, n, n, n, s, lds, square, n)
			for i := range n {
				for j := range n {
					want := 0.0
					if i == j {
						want = 1
					}
					if math.Abs(one[i*n+j]-want) > 1e-8 || s[i*lds+j] != s[j*lds+i] {
						t.Fatalf("n = %d, entry %d, %d: %v, want %v", n, i, j, one[i*n+j], want)
					}
				}
			}
		}
	})
}

func TestCholesky(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		r := rand.New(rand.NewPCG(9, 10))
		var w Workspace
		for _, n := range sizes {
			ld := n + r.IntN(3)
			lo := lowerTriangle(r, n, n)
			p := naive(false, true, n, n, n, lo, n, lo, n)
			a := make([]float64, n*ld)
			for i := range n {
				for j := range n {
					a[i*ld+j] = p[i*n+j]
					if j > i {
						a[i*ld+j] = math.NaN()
					}
				}
			}
			if failed := l.Cholesky(&w, n, a, ld); failed != 0 {
				t.Fatalf("n = %d: failed at %d", n, failed)
			}
			for i := range n {
				for j := range n {
					if math.Abs(a[i*ld+j]-lo[i*n+j]) > 1e-10 {
						t.Fatalf("n = %d: L[%d,%d] = %v, want %v", n, i, j, a[i*ld+j], lo[i*n+j])
					}
				}
			}
			// The first pivot that is not positive is named.
			for i := range n {
				for j := range n {
					a[i*ld+j] = p[i*n+j]
				}
			}
			bad := r.IntN(n)
			a[bad*ld+bad] = -1
			if failed := l.Cholesky(&w, n, a, ld); failed != bad+1 {
				t.Fatalf("n = %d: failed at %d, want %d", n, failed, bad+1)
			}
		}
	})
}

func TestTransposes(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		r := rand.New(rand.NewPCG(11, 12))
		var w Workspace
		for _, n := range sizes {
			for _, m := range []int{1, 5, 8, 37} {
				src, dst := randomMatrix(r, n*m), make([]float64, n*m)
				l.Transpose(n, m, dst, n, src, m)
				for i := range n {
					for j := range m {
						if dst[j*n+i] != src[i*m+j] {
							t.Fatalf("%d x %d: entry %d, %d", n, m, i, j)
						}
					}
				}
			}
			a := randomMatrix(r, n*n)
			up, down := append([]float64(nil), a...), append([]float64(nil), a...)
			l.MirrorUp(&w, n, up, n)
			l.MirrorDown(&w, n, down, n)
			for i := range n {
				for j := range n {
					if up[i*n+j] != a[max(i, j)*n+min(i, j)] || down[i*n+j] != a[min(i, j)*n+max(i, j)] {
						t.Fatalf("n = %d: entry %d, %d", n, i, j)
					}
				}
			}
		}
	})
}

func TestRowOperations(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		r := rand.New(rand.NewPCG(13, 14))
		for n := range 70 {
			x, y, z, u := randomMatrix(r, n), randomMatrix(r, n), randomMatrix(r, n), randomMatrix(r, n)
			dot := 0.0
			for i := range x {
				dot += x[i] * y[i]
			}
			if got := l.Dot(x, y); !near(got, dot, 100) {
				t.Errorf("n = %d: dot %v, want %v", n, got, dot)
			}
			check := func(what string, got []float64, want func(i int) float64) {
				t.Helper()
				for i := range got {
					if w := want(i); !near(got[i], w, 10+math.Abs(w)) {
						t.Errorf("n = %d: %s[%d] = %v, want %v", n, what, i, got[i], w)
					}
				}
			}
			clone := func(x []float64) []float64 { return append([]float64(nil), x...) }
			c := clone(y)
			l.Axpy(0.3, x, c)
			check("axpy", c, func(i int) float64 { return y[i] + 0.3*x[i] })
			c = clone(y)
			l.Axpby(0.3, -1.2, x, c)
			check("axpby", c, func(i int) float64 { return -1.2*y[i] + 0.3*x[i] })
			mu, v := clone(z), clone(u)
			l.Marginals(0.7, x, y, mu, v)
			check("mean", mu, func(i int) float64 { return z[i] + 0.7*x[i] })
			check("variance", v, func(i int) float64 { return u[i] + y[i]*y[i] - x[i]*x[i] })
			c = clone(z)
			l.ABar(1.5, -0.4, x, y, c)
			check("Ā", c, func(i int) float64 { return 1.5 * (-0.4*x[i] + y[i] - z[i]) })
			px, pm, pv := clone(x), clone(z), clone(u)
			for i := range pv {
				pv[i] = math.Abs(pv[i])
			}
			l.Adam(NewAdam(3, 0.01), nil, px, y, pm, pv)
			check("Adam's x", px, func(i int) float64 {
				m := 0.9*z[i] + 0.1*y[i]
				v := 0.999*math.Abs(u[i]) + 0.001*y[i]*y[i]
				return x[i] + 0.01*(m/(1-0.729))/(math.Sqrt(v/(1-math.Pow(0.999, 3)))+1e-8)
			})
		}
	})
}

func TestNoAllocation(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		r := rand.New(rand.NewPCG(15, 16))
		var w Workspace
		const n = 200
		lo, a, b, c := lowerTriangle(r, n, n), randomMatrix(r, n*n), randomMatrix(r, n*n), make([]float64, n*n)
		work := func() {
			l.Gemm(&w, Full, false, true, n, n, n, 1, a, n, b, n, 0, c, n)
			l.Gemm(&w, Full, true, false, n, n, n, 1, a, n, b, n, 0, c, n)
			l.Solve(&w, true, n, n, lo, n, c, n)
			l.SolveBoth(&w, n, lo, n, c, n)
			l.Inverse(&w, n, lo, n, b, n)
			l.Gemm(&w, LowerC, false, true, n, n, n, 1, lo, n, lo, n, 0, c, n)
			if l.Cholesky(&w, n, c, n) != 0 {
				t.Fatal("not positive definite")
			}
		}
		work()
		if got := testing.AllocsPerRun(2, work); got != 0 {
			t.Errorf("%v allocations", got)
		}
	})
}

func TestChoose(t *testing.T) {
	if l, err := Choose(""); err != nil || l != Best() {
		t.Errorf("Choose: %v, %v", l, err)
	}
	if l, err := Choose("PORTABLE"); err != nil || l != Portable {
		t.Errorf("Choose: %v, %v", l, err)
	}
	if _, err := Choose("mmx"); err == nil {
		t.Error("no error for mmx")
	}
}

func BenchmarkDense(b *testing.B) {
	for l := Portable; l <= Best(); l++ {
		peak := l.Peak(20e6)
		for _, n := range []int{16, 64, 200, 800} {
			r := rand.New(rand.NewPCG(1, 1))
			lo, x, y, c := lowerTriangle(r, n, n), randomMatrix(r, n*n), randomMatrix(r, n*n), make([]float64, n*n)
			spd := make([]float64, n*n)
			var w Workspace
			l.Gemm(&w, Full, false, true, n, n, n, 1, lo, n, lo, n, 0, spd, n)
			cube := float64(n) * float64(n) * float64(n)
			for _, k := range []struct {
				name  string
				flops float64
				f     func()
			}{
				{"GemmNN", 2 * cube, func() { l.Gemm(&w, Full, false, false, n, n, n, 1, x, n, y, n, 0, c, n) }},
				{"GemmTN", 2 * cube, func() { l.Gemm(&w, Full, true, false, n, n, n, 1, x, n, y, n, 0, c, n) }},
				{"GemmNT", 2 * cube, func() { l.Gemm(&w, Full, false, true, n, n, n, 1, x, n, y, n, 0, c, n) }},
				{"GemmLowerC", cube, func() { l.Gemm(&w, LowerC, false, true, n, n, n, 1, x, n, y, n, 0, c, n) }},
				{"GemmUpperA", cube, func() { l.Gemm(&w, UpperA, true, false, n, n, n, 1, lo, n, y, n, 0, c, n) }},
				{"Cholesky", cube / 3, func() { copy(c, spd); l.Cholesky(&w, n, c, n) }},
				{"Solve", cube, func() { copy(c, x); l.Solve(&w, false, n, n, lo, n, c, n) }},
				{"SolveT", cube, func() { copy(c, x); l.Solve(&w, true, n, n, lo, n, c, n) }},
				{"SolveBoth", 4 * cube / 3, func() { copy(c, spd); l.SolveBoth(&w, n, lo, n, c, n) }},
				{"Inverse", 2 * cube / 3, func() { l.Inverse(&w, n, lo, n, c, n) }},
			} {
				b.Run(fmt.Sprintf("%s/%s/%d", l, k.name, n), func(b *testing.B) {
					for b.Loop() {
						k.f()
					}
					g := k.flops * float64(b.N) / float64(b.Elapsed().Nanoseconds())
					b.ReportMetric(g, "gflops")
					if peak > 0 {
						b.ReportMetric(100*g/peak, "%peak")
					}
				})
			}
		}
	}
}
