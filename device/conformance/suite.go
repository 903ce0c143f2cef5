// Package conformance is the suite that every device must pass: each operation
// against plain loops or finite differences of the naive kernels. Tests run it (package
// devicetest), and users on a card that nobody has seen yet.
package conformance

import "example.com/kestrel/device"

// T is told what is found, as *testing.T is.
type T interface {
	Helper()
	Cleanup(f func())
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)                 // does not return
	Fatalf(format string, args ...any) // does not return
	Skip(args ...any)                  // does not return
	Short() bool                       // leave out what takes long
	Run(name string, f func(T))        // a part, which may end by itself
}

// test is a part of the suite.
type test struct {
	name string
	run  func(h *harness)
}

var suite = [...]test{
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
	{"Inverse", testInverse},
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

// Parts names the parts of the suite in their order.
func Parts() []string {
	var names []string
	for _, c := range suite {
		names = append(names, c.name)
	}
	return names
}

// Run runs the parts of the suite that wanted names, all where it is nil, on the
// device's first lanes.
func Run(t T, dev device.Device, wanted func(part string) bool) {
	t.Helper()
	if i := dev.Info(); i.Kind == "" || i.Lanes < 1 {
		t.Fatalf("info %+v: want a kind and at least one lane", i)
	}
	for _, c := range suite {
		if wanted == nil || wanted(c.name) {
			t.Run(c.name, func(t T) { c.run(&harness{T: t, dev: dev, lane: dev.Lane(0)}) })
		}
	}
}
