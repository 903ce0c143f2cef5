//go:build !cuda

package prepare

import (
	"context"
	"errors"

	"example.com/kestrel/device"
	"example.com/kestrel/experiment/config"
)

const builtWithCUDA = false

var errWithoutCUDA = errors.New("not in this build of the program; device/cuda/build.sh makes one with it")

func openCUDA(context.Context, config.DeviceChoice, Load) (device.Device, string, error) {
	return nil, "", errWithoutCUDA
}

func cudaCards() ([]DeviceStatus, error) { return nil, errWithoutCUDA }
