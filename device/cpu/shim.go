package cpu

import (
	gonum "gonum.org/v1/gonum/blas/gonum"

	"kestrel/device/cpu/simd"
)

// blasImpl is called directly, not through the exchangeable blas64.
var blasImpl gonum.Implementation

func mirror(a []float64, n int) { simd.Best().MirrorUp(n, a, n) }
