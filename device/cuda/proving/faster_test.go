//go:build cuda

package proving

import (
	"math"
	"testing"
)

// A card that needs 1 ms and 0.01 ms a kernel, and cores that need 0.1 ms a kernel, are equal at
// 11 kernels and a bit; with more inducing inputs others are measured.
func TestFaster(t *testing.T) {
	v := Verdict{Speeds: []Speed{
		{Inducing: 16, Kernels: 12, Card: 1.12, CPU: 1.2}, {Inducing: 16, Kernels: 144, Card: 2.44, CPU: 14.4},
		{Inducing: 200, Kernels: 12, Card: 10, CPU: 5},
	}}
	for _, c := range []struct {
		kernels, inducing int
		want              float64
	}{
		{144, 16, 14.4 / 2.44}, {12, 16, 1.2 / 1.12}, {112, 20, 11.2 / 2.12}, {2, 1, 0.2 / 1.02}, {1000, 16, 100 / 11.0},
		{12, 200, 0.5}, {144, 800, 0.5}, {144, 0, 0.5}, {144, 57, 0.5}, {144, 56, 14.4 / 2.44},
	} {
		got, ok := v.Faster(c.kernels, c.inducing, false)
		if !ok || math.Abs(got/c.want-1) > 1e-12 {
			t.Errorf("%d kernels, %d inducing inputs: %g, %v; want %g", c.kernels, c.inducing, got, ok, c.want)
		}
	}
	// Steps stand for bounds until these are measured; from then on each goes by its own.
	if got, ok := v.Faster(12, 500, true); !ok || math.Abs(got/0.5-1) > 1e-12 {
		t.Errorf("bounds by steps: %g, %v", got, ok)
	}
	v.Speeds = append(v.Speeds, Speed{Bound: true, Inducing: 500, Kernels: 12, Card: 2, CPU: 6})
	for bound, want := range map[bool]float64{true: 3, false: 0.5} {
		if got, ok := v.Faster(12, 500, bound); !ok || math.Abs(got/want-1) > 1e-12 {
			t.Errorf("bound: %v: %g, %v; want %g", bound, got, ok, want)
		}
	}
	if _, ok := (&Verdict{}).Faster(144, 16, true); ok {
		t.Error("faster without a figure")
	}
}
