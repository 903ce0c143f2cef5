//go:build !cuda

package experiment

import (
	"errors"

	"kestrel/device"
)

const builtWithCUDA = false

var errWithoutCUDA = errors.New("not in this build of the program; device/cuda/build.sh makes one with it")

func openCUDA(DeviceChoice) (device.Device, error) { return nil, errWithoutCUDA }

func cudaCards() ([]DeviceStatus, error) { return nil, errWithoutCUDA }
