package vbks

import (
	"os"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cpu/simd"
)

// onCPU is the CPU with so many lanes, on the instruction set that KESTREL_SIMD
// names.
func onCPU(lanes int) device.Device {
	level, err := simd.Choose(os.Getenv(simd.Variable))
	if err != nil {
		panic(err)
	}
	return cpu.New(cpu.Options{Lanes: lanes, Level: level})
}
