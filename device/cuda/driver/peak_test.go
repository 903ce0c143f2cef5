//go:build cuda

package driver_test

import (
	"math"
	"testing"

	"example.com/kestrel/device/cuda/driver"
)

// Peaks are those of the makers' data sheets, in TFLOP/s: V100 SXM2 7.8, A100 19.5 by
// tensor cores, H100 SXM 67, T4 0.25, RTX 4090 1.29.
func TestPeak(t *testing.T) {
	for _, c := range []struct {
		name                   string
		major, minor, sm, each int
		ghz, want              float64
		slow                   bool
	}{
		{"V100", 7, 0, 80, 2, 1.53, 7.8, false}, {"A100", 8, 0, 108, 2, 1.41, 19.5, false}, {"H100", 9, 0, 132, 2, 1.98, 67, false},
		{"T4", 7, 5, 40, 32, 1.59, 0.25, true}, {"RTX 4090", 8, 9, 128, 64, 2.52, 1.29, true},
	} {
		info := driver.CardInfo{Major: c.major, Minor: c.minor, Multiprocessors: c.sm, Ratio: c.each, Clock: c.ghz * 1e9}
		if got := info.Peak() / 1e12; math.Abs(got/c.want-1) > 0.03 || info.Slow() != c.slow {
			t.Errorf("%s: %.3g TFLOP/s, slow %v; want %.3g, %v", c.name, got, info.Slow(), c.want, c.slow)
		}
	}
	if p := (driver.CardInfo{Multiprocessors: 10, Clock: 1e9}).Peak(); p != 0 {
		t.Errorf("where the driver does not say: %g", p)
	}
}
