// Package devicetest is the conformance suite that every device must pass: each
// operation against plain loops or finite differences of the naive kernels.
package devicetest

import (
	"testing"

	"example.com/kestrel/device"
)

// Run runs the suite on the device that open returns. The device is opened
// once and closed at the end.
func Run(t *testing.T, open func() (device.Device, error)) {
	dev, err := open()
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if i := dev.Info(); i.Kind == "" || i.Lanes < 1 {
		t.Fatalf("info %+v: want a kind and at least one lane", i)
	}
	tests := []struct {
		name string
		run  func(h *harness)
	}{
		{"Arrays", testArrays},
		{"Elementwise", testElementwise},
		{"Gemm", testGemm},
		{"GemmLarge", testGemmLarge},
		{"Syrk", testSyrk},
		{"TriangularProducts", testTriangularProducts},
		{"Cholesky", testCholesky},
		{"CholeskyFailure", testCholeskyFailure},
		{"Solve", testSolve},
		{"SolveBoth", testSolveBoth},
		{"FactorLarge", testFactorLarge},
		{"KernelSpace1D", testKernelSpace},
		{"Kernel3D", testKernel3D},
		{"KernelLevels", testKernelLevels},
		{"KernelPoints", testKernelPoints},
		{"KernelWide", testKernelWide},
		{"KernelFarPeriods", testFarPeriods},
		{"KernelSubset", testKernelSubset},
		{"KernelWithoutCode", testKernelWithoutCode},
		{"KernelNotFinite", testKernelNotFinite},
		{"Jitter", testJitter},
		{"Expand", testExpand},
		{"SVGP", testSVGP},
		{"Targets", testTargets},
		{"GaussKL", testGaussKL},
		{"Collapsed", testCollapsed},
		{"Adam", testAdam},
		{"LogPrior", testLogPrior},
		{"Sample", testSample},
		{"Lanes", testLanes},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			c.run(&harness{T: t, dev: dev, lane: dev.Lane(0)})
		})
	}
}
