package conformance

import (
	"fmt"
	"math"
	"math/rand/v2"

	"example.com/kestrel/device"
)

var sizes = []int{1, 2, 15, 16, 17, 31, 64, 127, 200}

const large = 800

// product adds alpha op(a) op(b) to c (m x n, inner size k).
func product(transA, transB bool, m, n, k int, alpha float64, a, b, c []float64) {
	ai, al, bl, bj := k, 1, n, 1
	if transA {
		ai, al = 1, m
	}
	if transB {
		bl, bj = 1, k
	}
	for i := range m {
		for j := range n {
			s := 0.0
			for l := range k {
				s += a[i*ai+l*al] * b[l*bl+j*bj]
			}
			c[i*n+j] += alpha * s
		}
	}
}

func dims(t bool, rows, cols int) arg {
	if t {
		return in(cols, rows)
	}
	return in(rows, cols)
}

func times(beta float64, a []float64) {
	for i := range a {
		a[i] *= beta
		if beta == 0 {
			a[i] = 0
		}
	}
}

func testGemm(h *harness) {
	type shape struct{ m, n, k int }
	shapes := []shape{{16, 1, 31}, {1, 17, 16}, {64, 300, 16}, {15, 200, 64}, {16, 16, 300}, {70, 130, 65}}
	for _, n := range sizes {
		shapes = append(shapes, shape{n, n, n})
	}
	for _, s := range shapes {
		for i := range 8 {
			transA, transB, beta := i&1 != 0, i&2 != 0, []float64{0, -0.5}[i>>2]
			if s.m*s.n*s.k > 1e6 && i != 0 && i != 5 && i != 6 && i != 3 {
				continue // the naive product is slow
			}
			c := in(s.m, s.n)
			if beta == 0 {
				c = out(s.m, s.n)
			}
			h.verify(operation{
				name: fmt.Sprintf("Gemm(%v, %v, beta %v) %v", transA, transB, beta, s),
				args: []arg{dims(transA, s.m, s.k), dims(transB, s.k, s.n), c},
				run: func(sub []int, a []device.Array) {
					h.lane.Gemm(sub, transA, transB, 1.5, a[0], a[1], beta, a[2])
				},
				ref: func(a [][]float64) {
					times(beta, a[2])
					product(transA, transB, s.m, s.n, s.k, 1.5, a[0], a[1], a[2])
				},
			})
		}
	}
}

// testGemmLarge multiplies both sides with a vector.
func testGemmLarge(h *harness) {
	if h.Short() {
		h.Skip("large matrices are skipped with -short")
	}
	const n = large
	r := rand.New(rand.NewPCG(3, 1))
	x := normal(r, n, 1)
	a, b := normal(r, n, n), normal(r, n, n)
	for i := range 4 {
		transA, transB := i&1 != 0, i&2 != 0
		c := h.array(1, n, n)
		h.lane.Gemm([]int{0}, transA, transB, 1, h.upload([][]float64{a}, n, n), h.upload([][]float64{b}, n, n), 0, c)
		got, bx, want := make([]float64, n), make([]float64, n), make([]float64, n)
		product(false, false, n, 1, n, 1, h.read(c, 0), x, got)
		product(transB, false, n, 1, n, 1, b, x, bx)
		product(transA, false, n, 1, n, 1, a, bx, want)
		h.near(fmt.Sprintf("Gemm(%v, %v) %d", transA, transB, n), got, want, 1e-11)
	}
}

// testTriangularProducts covers GemmLower and MulLower.
func testTriangularProducts(h *harness) {
	for _, n := range sizes {
		for _, k := range []int{1, 17, 130} {
			if n > 127 && k > 17 {
				continue
			}
			for i := range 4 {
				transA, transB := i&1 != 0, i&2 != 0
				h.verify(operation{
					name: fmt.Sprintf("GemmLower(%v, %v) %d x %d", transA, transB, n, k),
					args: []arg{dims(transA, n, k), dims(transB, k, n), out(n, n)},
					run: func(sub []int, a []device.Array) {
						h.lane.GemmLower(sub, transA, transB, -0.5, a[0], a[1], a[2])
					},
					ref: func(a [][]float64) {
						clear(a[2])
						product(transA, transB, n, n, k, -0.5, a[0], a[1], a[2])
						for i := range n {
							clear(a[2][i*n+i+1 : (i+1)*n])
						}
					},
				})
			}
			for _, trans := range []bool{false, true} {
				h.verify(operation{
					name: fmt.Sprintf("MulLower(%v) %d x %d", trans, n, k),
					args: []arg{with(n, n, lower), in(n, k), out(n, k)},
					run: func(sub []int, a []device.Array) {
						h.lane.MulLower(sub, trans, a[0], a[1], a[2])
					},
					ref: func(a [][]float64) {
						clear(a[2])
						product(trans, false, n, k, n, 1, a[0], a[1], a[2])
					},
				})
			}
		}
	}
}

func testSyrk(h *harness) {
	for _, n := range sizes {
		for _, k := range []int{1, 17, 300} {
			if n > 127 && k > 17 {
				continue
			}
			for _, beta := range []float64{0, 1, 0.5} {
				// c is symmetric, so that both triangles are scaled alike.
				c := with(n, n, definite)
				if beta == 0 {
					c = out(n, n)
				}
				h.verify(operation{
					name: fmt.Sprintf("Syrk(beta %v) %d x %d", beta, n, k),
					args: []arg{in(n, k), c},
					run: func(sub []int, a []device.Array) {
						h.lane.Syrk(sub, -0.7, a[0], beta, a[1])
					},
					ref: func(a [][]float64) {
						times(beta, a[1])
						product(false, true, n, n, k, -0.7, a[0], a[0], a[1])
					},
				})
			}
		}
	}
}

// factor is the textbook Cholesky factor of a (n x n), with zeros above.
func factor(a []float64, n int) {
	for j := range n {
		for k := range j {
			a[j*n+j] -= a[j*n+k] * a[j*n+k]
		}
		a[j*n+j] = math.Sqrt(a[j*n+j])
		for i := j + 1; i < n; i++ {
			for k := range j {
				a[i*n+j] -= a[i*n+k] * a[j*n+k]
			}
			a[i*n+j] /= a[j*n+j]
		}
		clear(a[j*n+j+1 : (j+1)*n])
	}
}

func testCholesky(h *harness) {
	for _, n := range sizes {
		h.verify(operation{
			name: fmt.Sprintf("Cholesky %d", n),
			args: []arg{with(n, n, func(r *rand.Rand, n, _ int) []float64 {
				// Only the lower triangle may be read.
				a := definite(r, n, n)
				for i := range n {
					for j := i + 1; j < n; j++ {
						a[i*n+j] = math.NaN()
					}
				}
				return a
			}), with(1, 1, zeros)},
			run: func(sub []int, a []device.Array) { h.lane.Cholesky(sub, a[0], a[1]) },
			ref: func(a [][]float64) { factor(a[0], n) },
		})
		h.verify(operation{
			name: fmt.Sprintf("LogDiag %d", n),
			args: []arg{with(n, n, lower), out(1, 1)},
			run:  func(sub []int, a []device.Array) { h.lane.LogDiag(sub, a[0], a[1]) },
			ref: func(a [][]float64) {
				a[1][0] = 0
				for i := range n {
					a[1][0] += math.Log(a[0][i*n+i])
				}
			},
		})
	}
}

func testCholeskyFailure(h *harness) {
	for _, n := range []int{1, 16, 100, 200} {
		bad := n * 7 / 10
		spoil := []float64{-1, 0, math.NaN(), math.Inf(1), math.Inf(-1)}
		count := len(spoil) + 3
		members := make([][]float64, count)
		info := make([]float64, count)
		for k := range members {
			members[k] = definite(rand.New(rand.NewPCG(uint64(k), 2)), n, n)
			if k < len(spoil) {
				members[k][bad*n+bad] = spoil[k]
			}
		}
		// A row that is not finite spoils its own pivot at the latest.
		members[len(spoil)][bad*n] = math.NaN()
		// What was recorded before stays.
		members[len(spoil)+1][0] = -1
		info[len(spoil)+1] = 42
		a := h.upload(members, n, n)
		f := h.scalar(info...)
		h.lane.Cholesky(all(count), a, f)
		identity := make([]float64, n*n)
		for i := range n {
			identity[i*n+i] = 1
		}
		for k := range members {
			want := float64(bad + 1)
			switch k {
			case len(spoil) + 1:
				want = 42
			case len(spoil) + 2:
				want = 0
			}
			if got := h.read(f, k)[0]; got != want {
				h.Errorf("size %d, member %d: info is %v, want %v", n, k, got, want)
			}
			if k < count-1 {
				h.equal("a matrix that has no factor", h.read(a, k), identity)
				continue
			}
			factor(members[k], n)
			h.near("the sound member", h.read(a, k), members[k], 1e-12)
		}
	}
}

// substitute replaces b (n x m) by L⁻¹b or L⁻ᵀb.
func substitute(trans bool, n, m int, l, b []float64) {
	for s := range n {
		i := s
		if trans {
			i = n - 1 - s
		}
		for c := range m {
			v := b[i*m+c]
			if trans {
				for j := i + 1; j < n; j++ {
					v -= l[j*n+i] * b[j*m+c]
				}
			} else {
				for j := range i {
					v -= l[i*n+j] * b[j*m+c]
				}
			}
			b[i*m+c] = v / l[i*n+i]
		}
	}
}

func testSolve(h *harness) {
	for _, n := range sizes {
		for _, m := range []int{1, 2, 17, 200} {
			if n > 127 && m == 200 {
				m = 33
			}
			for _, trans := range []bool{false, true} {
				h.verify(operation{
					name: fmt.Sprintf("Solve(%v) %d x %d", trans, n, m),
					args: []arg{with(n, n, lower), in(n, m)},
					run:  func(sub []int, a []device.Array) { h.lane.Solve(sub, trans, a[0], a[1]) },
					ref:  func(a [][]float64) { substitute(trans, n, m, a[0], a[1]) },
				})
			}
		}
	}
}

func testInverse(h *harness) {
	for _, n := range sizes {
		h.verify(operation{
			name: fmt.Sprintf("Inverse %d", n),
			args: []arg{with(n, n, lower), in(n, n)},
			run:  func(sub []int, a []device.Array) { h.lane.Inverse(sub, a[0], a[1]) },
			ref: func(a [][]float64) {
				clear(a[1])
				for i := range n {
					a[1][i*n+i] = 1
				}
				substitute(false, n, n, a[0], a[1])
				substitute(true, n, n, a[0], a[1])
			},
		})
	}
}

func testSolveBoth(h *harness) {
	for _, n := range sizes {
		h.verify(operation{
			name: fmt.Sprintf("SolveBoth %d", n),
			args: []arg{with(n, n, lower), with(n, n, func(r *rand.Rand, n, _ int) []float64 {
				// Only the lower triangle may be read.
				a := normal(r, n, n)
				for i := range n {
					for j := i + 1; j < n; j++ {
						a[i*n+j] = math.NaN()
					}
				}
				return a
			})},
			run: func(sub []int, a []device.Array) { h.lane.SolveBoth(sub, a[0], a[1]) },
			ref: func(a [][]float64) {
				s := a[1]
				mirror := func() {
					for i := range n {
						for j := range i {
							s[j*n+i] = s[i*n+j]
						}
					}
				}
				mirror()
				substitute(true, n, n, a[0], s)
				for i := range n { // transpose
					for j := range i {
						s[i*n+j], s[j*n+i] = s[j*n+i], s[i*n+j]
					}
				}
				substitute(true, n, n, a[0], s)
				mirror()
			},
		})
	}
}

// testFactorLarge checks LLᵀx = Ax and L(L⁻¹B)x = Bx.
func testFactorLarge(h *harness) {
	if h.Short() {
		h.Skip("large matrices are skipped with -short")
	}
	const n = large
	r := rand.New(rand.NewPCG(5, 1))
	g := normal(r, n, n)
	sub := []int{0}
	a := h.array(1, n, n)
	h.lane.Syrk(sub, 1.0/n, h.upload([][]float64{g}, n, n), 0, a)
	h.lane.AddDiagonal(sub, a, 1)
	host := h.read(a, 0)
	x := normal(r, n, 1)
	gx, gg, ax := make([]float64, n), make([]float64, n), make([]float64, n)
	product(true, false, n, 1, n, 1, g, x, gx)
	product(false, false, n, 1, n, 1.0/n, g, gx, gg)
	for i := range gg {
		gg[i] += x[i]
	}
	product(false, false, n, 1, n, 1, host, x, ax)
	h.near("Syrk 800", ax, gg, 1e-12)

	info := h.scalar(0)
	h.lane.Cholesky(sub, a, info)
	if v := h.read(info, 0)[0]; v != 0 {
		h.Fatalf("info is %v", v)
	}
	l := h.read(a, 0)
	lx, llx := make([]float64, n), make([]float64, n)
	product(true, false, n, 1, n, 1, l, x, lx)
	product(false, false, n, 1, n, 1, l, lx, llx)
	h.near("Cholesky 800", llx, ax, 1e-12)

	for _, trans := range []bool{false, true} {
		b := h.upload([][]float64{g}, n, n)
		h.lane.Solve(sub, trans, a, b)
		bx, lbx, want := make([]float64, n), make([]float64, n), make([]float64, n)
		product(false, false, n, 1, n, 1, h.read(b, 0), x, bx)
		product(trans, false, n, 1, n, 1, l, bx, lbx)
		product(false, false, n, 1, n, 1, g, x, want)
		h.near("Solve 800", lbx, want, 1e-11)
	}
}
