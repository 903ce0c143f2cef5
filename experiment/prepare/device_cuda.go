//go:build cuda

package prepare

import (
	"fmt"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/experiment/config"
)

const builtWithCUDA = true

// openCUDA makes a device of the first c.Lanes cards, or of all.
func openCUDA(c config.DeviceChoice) (device.Device, error) {
	d, err := driver.Open()
	if err != nil {
		return nil, err
	}
	var o cuda.Options
	for i := range d.Cards() {
		if c.Lanes == 0 || i < c.Lanes {
			o.Cards = append(o.Cards, i)
		}
	}
	dev, err := cuda.Open(o)
	if err != nil {
		return nil, err // not a nil *cuda.Device
	}
	return dev, nil
}

// cudaCards lists the cards without making anything on them.
func cudaCards() ([]DeviceStatus, error) {
	d, err := driver.Open()
	if err != nil {
		return nil, err
	}
	compiler := "no libnvrtc"
	if c, err := d.Compiler(); err == nil {
		compiler = "libnvrtc " + c.Version()
	}
	var list []DeviceStatus
	for _, c := range d.Cards() {
		s := DeviceStatus{
			Kind: "cuda", Name: c.Name, Lanes: 1, Memory: c.Memory,
			Details: fmt.Sprintf("card %d, compute capability %d.%d, %d multiprocessors, driver for CUDA %s, %s",
				c.Index, c.Major, c.Minor, c.Multiprocessors, d.Version(), compiler),
		}
		if err := cuda.Fits(c); err != nil {
			s.Missing, s.Lanes = err.Error(), 0
		}
		list = append(list, s)
	}
	return list, nil
}
