package cpu_test

import (
	"testing"

	"kestrel/device"
	"kestrel/device/cpu"
	"kestrel/device/devicetest"
)

func TestConformance(t *testing.T) {
	devicetest.Run(t, func() (device.Device, error) { return cpu.New(cpu.Options{Lanes: 3}), nil })
}
