//go:build !amd64

package simd

// Elsewhere there is no assembly, Best is Portable, and none of the
// microkernels is reached; the functions on rows leave everything to their
// callers.

const noAssembly = "simd: no assembly on this architecture"

func (l Level) product(rows, k int, a *float64, ars, acs int, b *float64, brs int, c *float64, crs, cols int, alpha float64, add bool) {
	panic(noAssembly)
}

func (l Level) solve(rows, k int, a *float64, ars, acs int, inv, b *float64, brs, cols int) {
	panic(noAssembly)
}

func (l Level) transposeBlock(dst []float64, ldd int, src []float64, lds int) { panic(noAssembly) }

func (l Level) peak(n int) (flops float64) { panic(noAssembly) }

func (l Level) adam(x, g, m, v []float64, b1, b2, rate, c1, c2 float64) int { return 0 }

func (l Level) dot(x, y []float64) (sum float64, n int) { return 0, 0 }

func (l Level) axpy(alpha float64, x, y []float64) int { return 0 }

func (l Level) axpby(alpha, beta float64, x, y []float64) int { return 0 }

func (l Level) marginals(m float64, a, ca, mu, v []float64) int { return 0 }

func (l Level) abar(w, m float64, r, a, sa []float64) int { return 0 }

func (l Level) panel(n int, dst, src *float64, srs int) { panic(noAssembly) }
