package cpu_test

import (
	"os"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cpu/simd"
	"example.com/kestrel/device/devicetest"
	"example.com/kestrel/internal/thorough"
)

// TestLevels runs the conformance suite with every instruction set that the
// machine has below its best, or with the one that simd.Variable names.
func TestLevels(t *testing.T) {
	thorough.Unraced(t)
	var levels []simd.Level
	for l := simd.Portable; l < simd.Best(); l++ { // the best is TestConformance's
		levels = append(levels, l)
	}
	if name := os.Getenv(simd.Variable); name != "" {
		l, err := simd.Choose(name)
		if err != nil {
			t.Skip(err)
		}
		levels = []simd.Level{l}
	}
	for _, l := range levels {
		t.Run(l.String(), func(t *testing.T) {
			devicetest.Run(t, func() (device.Device, error) { return cpu.New(cpu.Options{Lanes: 2, Level: l}), nil })
		})
	}
}
