package cpu_test

import (
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/devicetest"
)

func TestConformance(t *testing.T) {
	devicetest.Run(t, func() (device.Device, error) { return cpu.New(cpu.Options{Lanes: 3}), nil })
}
