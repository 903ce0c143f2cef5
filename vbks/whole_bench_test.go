package vbks

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
)

// BenchmarkWhole is the bound with more and more inducing inputs, and with all rows.
func BenchmarkWhole(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{300, 500, 1000} {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = 20*rng.Float64()-10, rng.NormFloat64()
		}
		p := kernelspacetest.Program(b, "PER*SE+RQ", kernelspace.Options{Dim: 1})
		for _, m := range []int{128, 256, 512, n} {
			if m > n {
				continue
			}
			bound, rows := testBound(b, []*kernelspace.Program{p}, x, y, x[:m], 1, device.Jitter{Relative: 1e-9}, 1e-3, true)
			if m == n {
				bound.common.whole = n
			}
			for _, grad := range []bool{false, true} {
				b.Run(fmt.Sprintf("rows=%d/M=%d/gradient=%v", n, m, grad), func(b *testing.B) {
					bound.setFree(0, make([]float64, len(p.Free)+1))
					for b.Loop() {
						if err := bound.eval([]int{0}, rows, sumSquares(y), grad, nil); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
