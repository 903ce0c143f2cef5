package windows_test

import (
	"slices"
	"testing"

	"example.com/kestrel/vbks/windows"
)

// Inducing inputs for forecasts lie where they lay but for the last ones, which come closer and closer to the end; none
// coincides with another one.
func TestTowardsEnd(t *testing.T) {
	x := make([]float64, 1000)
	for i := range x {
		x[i] = float64(i)
	}
	for _, m := range []int{1, 3, 8, 40, 200} {
		z := make([]float64, m)
		for i := range z {
			z[i] = 999 * (float64(i) + .5) / float64(m)
		}
		got := windows.TowardsEnd(z, x)
		moved := min(8, m/4)
		if len(got) != m || !slices.Equal(got[:m-moved], z[:m-moved]) || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != m {
			t.Errorf("%d inducing inputs: %v", m, got)
		}
		if moved > 0 && got[m-1] != 999 {
			t.Errorf("%d inducing inputs end at %v", m, got[m-1])
		}
		for i := m - moved; i+2 < m && moved > 2; i++ {
			if got[i+1]-got[i] < got[i+2]-got[i+1] {
				t.Errorf("%d inducing inputs: steps of %v, then %v", m, got[i+1]-got[i], got[i+2]-got[i+1])
			}
		}
	}
}

// Halved has every input that there was and the middles between them.
func TestHalved(t *testing.T) {
	if got := windows.Halved([]float64{1, 2, 5}); !slices.Equal(got, []float64{1, 1.5, 2, 3.5, 5}) {
		t.Error(got)
	}
}
