package conformance

import (
	"math"
	"math/rand/v2"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

// noisy returns kernels for the operations that read only the noise variance,
// and the length of their theta.
func (h *harness) noisy(count int) (device.Kernels, int) {
	h.Helper()
	p := h.compile("SE", kernelspace.Options{Dim: 1})
	programs := make([]*kernelspace.Program, count)
	for k := range programs {
		programs[k] = p
	}
	ks := h.kernels(programs...)
	return ks, ks.Params()
}

func positive(r *rand.Rand, rows, cols int) []float64 {
	a := normal(r, rows, cols)
	for i := range a {
		a[i] = math.Exp(0.3 * a[i])
	}
	return a
}

// fused runs an operation that needs kernels: the right ones for the batch's size.
func (h *harness) fused(o operation, run func(ks device.Kernels, sub []int, a []device.Array)) {
	h.Helper()
	three, _ := h.noisy(3)
	one, _ := h.noisy(1)
	o.run = func(sub []int, a []device.Array) {
		ks := three
		if n, _, _ := a[0].Shape(); n == 1 {
			ks = one
		}
		run(ks, sub, a)
	}
	h.verify(o)
}

// last returns the noise variance of a theta.
func last(theta []float64) *float64 { return &theta[len(theta)-1] }

var shapes = [][2]int{{1, 1}, {2, 17}, {15, 16}, {16, 31}, {17, 64}, {64, 200}, {31, 127}}

func testSVGP(h *harness) {
	l := h.lane
	const n = 1000.0
	_, params := h.noisy(1)
	theta := with(1, params, positive)
	for _, s := range shapes {
		m, b := s[0], s[1]
		h.verify(operation{
			name: "Predict",
			args: []arg{in(m, b), in(m, b), in(m, 1), in(1, b), out(1, b), out(1, b)},
			run:  func(sub []int, a []device.Array) { l.Predict(sub, a[0], a[1], a[2], a[3], a[4], a[5]) },
			ref: func(a [][]float64) {
				for j := range b {
					mu, v := 0.0, a[3][j]
					for i := range m {
						x, y := a[0][i*b+j], a[1][i*b+j]
						mu += x * a[2][i]
						v += y*y - x*x
					}
					a[4][j], a[5][j] = mu, v
				}
			},
		})
		h.fused(operation{
			name: "ABar", args: []arg{theta, in(m, 1), in(1, b), in(m, b), in(m, b)},
			ref: func(a [][]float64) {
				w := n / (float64(b) * *last(a[0]))
				for i := range m {
					for j := range b {
						a[4][i*b+j] = w * (a[1][i]*a[2][j] + a[3][i*b+j] - a[4][i*b+j])
					}
				}
			},
		}, func(ks device.Kernels, sub []int, a []device.Array) {
			l.ABar(sub, ks, a[0], n, a[1], a[2], a[3], a[4])
		})
		h.fused(operation{
			name: "Weight", args: []arg{theta, in(m, b)},
			ref: func(a [][]float64) {
				for i := range a[1] {
					a[1][i] *= -0.5 * n / (32 * *last(a[0]))
				}
			},
		}, func(ks device.Kernels, sub []int, a []device.Array) {
			l.Weight(sub, ks, a[0], n, 32, -0.5, a[1])
		})
	}
}

// testTargets covers the operations that read the targets, by range and by index.
func testTargets(h *harness) {
	l := h.lane
	const n = 1000.0
	_, params := h.noisy(1)
	theta := with(1, params, positive)
	r := rand.New(rand.NewPCG(8, 8))
	y := normal(r, 300, 1)
	d := h.data(normal(r, 300, 2), y, 2)
	for i, s := range shapes {
		m, b := s[0], s[1]
		x := device.Points{Data: d, From: 5, To: 5 + b}
		target := func(j int) float64 { return y[5+j] }
		if i%2 == 1 {
			rows := make([]int32, b+3)
			for j := range rows {
				rows[j] = int32(r.IntN(300))
			}
			x = device.Points{Data: d, Index: h.index(rows...), From: 2, To: 2 + b}
			target = func(j int) float64 { return y[rows[2+j]] }
		}
		density := func(s2, mu, v, y float64) float64 {
			return -0.5*math.Log(2*math.Pi*s2) - (y-mu)*(y-mu)/(2*s2) - v/(2*s2)
		}
		likelihood := operation{
			name: "Likelihood",
			args: []arg{theta, in(1, b), with(1, b, positive), out(1, b), in(1, 1), in(1, params)},
			ref: func(a [][]float64) {
				s2 := *last(a[0])
				for j := range b {
					res := target(j) - a[1][j]
					a[3][j] = res
					a[4][0] += n / float64(b) * density(s2, a[1][j], a[2][j], target(j))
					*last(a[5]) += n / float64(b) * ((res*res+a[2][j])/(2*s2*s2) - 1/(2*s2))
				}
			},
		}
		h.fused(likelihood, func(ks device.Kernels, sub []int, a []device.Array) {
			l.Likelihood(sub, ks, a[0], x, n, a[1], a[2], a[3], a[4], a[5])
		})
		with := likelihood.ref
		likelihood.ref = func(a [][]float64) {
			grad := *last(a[5])
			with(a)
			*last(a[5]) = grad
		}
		h.fused(likelihood, func(ks device.Kernels, sub []int, a []device.Array) {
			l.Likelihood(sub, ks, a[0], x, n, a[1], a[2], a[3], a[4], nil)
		})
		h.fused(operation{
			name: "RowLikelihood", args: []arg{theta, in(1, b), in(1, b), out(1, b)},
			ref: func(a [][]float64) {
				for j := range b {
					a[3][j] = density(*last(a[0]), a[1][j], a[2][j], target(j))
				}
			},
		}, func(ks device.Kernels, sub []int, a []device.Array) {
			l.RowLikelihood(sub, ks, a[0], x, a[1], a[2], a[3])
		})
		for _, beta := range []float64{0, 0.5} {
			c := in(m, 1)
			if beta == 0 {
				c = out(m, 1)
			}
			h.verify(operation{
				name: "MulTargets", args: []arg{in(m, b), c},
				run: func(sub []int, a []device.Array) { l.MulTargets(sub, -2, a[0], x, beta, a[1]) },
				ref: func(a [][]float64) {
					times(beta, a[1])
					for i := range m {
						for j := range b {
							a[1][i] -= 2 * a[0][i*b+j] * target(j)
						}
					}
				},
			})
		}
		h.verify(operation{
			name: "Residual", args: []arg{in(m, b), in(m, 1), out(1, b)},
			run: func(sub []int, a []device.Array) { l.Residual(sub, x, a[0], a[1], a[2]) },
			ref: func(a [][]float64) {
				for j := range b {
					a[2][j] = target(j)
					for i := range m {
						a[2][j] -= a[0][i*b+j] * a[1][i]
					}
				}
			},
		})
	}
}

func testGaussKL(h *harness) {
	l := h.lane
	for _, n := range []int{1, 2, 15, 16, 31, 64} {
		// inverse is C⁻ᵀ, whose diagonal is all of its lower triangle.
		ref := func(a [][]float64) {
			m, c := a[0], a[1]
			inverse := make([]float64, n*n)
			for i := range n {
				inverse[i*n+i] = 1
			}
			substitute(true, n, n, c, inverse)
			logdet, trace := 0.0, 0.0
			for i := range n {
				logdet += math.Log(c[i*n+i] * c[i*n+i])
				for j := range i + 1 {
					trace += c[i*n+j] * c[i*n+j]
					a[4][i*n+j] -= c[i*n+j] - inverse[i*n+j]
				}
				trace += m[i] * m[i]
				a[3][i] -= m[i]
			}
			a[2][0] -= 0.5 * (trace - float64(n) - logdet)
		}
		args := []arg{in(n, 1), with(n, n, func(r *rand.Rand, n, _ int) []float64 {
			c := lower(r, n, n)
			c[0] = -c[0] // a root may have any sign
			return c
		}), in(1, 1), in(n, 1), in(n, n)}
		h.verify(operation{
			name: "GaussKL", args: args, ref: ref,
			run: func(sub []int, a []device.Array) { l.GaussKL(sub, a[0], a[1], a[2], a[3], a[4]) },
		})
		h.verify(operation{
			name: "GaussKL without gradients", args: args[:3],
			run: func(sub []int, a []device.Array) { l.GaussKL(sub, a[0], a[1], a[2], nil, nil) },
			ref: func(a [][]float64) { ref(append(a, make([]float64, n), make([]float64, n*n))) },
		})
	}
}

func testCollapsed(h *harness) {
	l := h.lane
	_, params := h.noisy(1)
	theta := with(1, params, positive)
	for _, s := range shapes {
		m, b := s[0], s[1]
		h.fused(operation{
			name: "Precision", args: []arg{theta, with(m, m, definite), out(m, m)},
			ref: func(a [][]float64) {
				for i := range m {
					for j := range m {
						a[2][i*m+j] = 1.5 * a[1][i*m+j] / *last(a[0])
						if i == j {
							a[2][i*m+j]++
						}
					}
				}
			},
		}, func(ks device.Kernels, sub []int, a []device.Array) {
			l.Precision(sub, ks, a[0], 1.5, a[1], a[2])
		})
		const n, yy = 500, 77.0
		h.fused(operation{
			name: "Bound",
			args: []arg{theta, with(m, m, lower), in(m, 1), with(m, m, definite), in(1, 1), in(1, 1)},
			ref: func(a [][]float64) {
				s2 := *last(a[0])
				v := -n/2*math.Log(2*math.Pi*s2) - yy/(2*s2) - a[4][0]/(2*s2)
				for i := range m {
					v += -math.Log(a[1][i*m+i]) + a[2][i]*a[2][i]/(2*s2*s2) + a[3][i*m+i]/(2*s2)
				}
				a[5][0] += v
			},
		}, func(ks device.Kernels, sub []int, a []device.Array) {
			l.Bound(sub, ks, a[0], n, yy, a[1], a[2], a[3], a[4], a[5])
		})
		h.fused(operation{
			name: "BarKzx", args: []arg{theta, in(m, 1), in(1, b), in(m, b)},
			ref: func(a [][]float64) {
				for i := range m {
					for j := range b {
						a[3][i*b+j] = (a[1][i]*a[2][j] + a[3][i*b+j]) / *last(a[0])
					}
				}
			},
		}, func(ks device.Kernels, sub []int, a []device.Array) {
			l.BarKzx(sub, ks, a[0], a[1], a[2], a[3])
		})
	}
	h.fused(operation{
		name: "NoiseGrad", args: []arg{theta, in(1, 1), in(1, 1), in(1, params)},
		ref: func(a [][]float64) {
			s2 := *last(a[0])
			*last(a[3]) += (a[1][0]+a[2][0])/(2*s2*s2) - 40/(2*s2)
		},
	}, func(ks device.Kernels, sub []int, a []device.Array) {
		l.NoiseGrad(sub, ks, a[0], 40, a[1], a[2], a[3])
	})
}
