//go:build cuda

package prepare

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/experiment/config"
)

// Without a driver "auto" takes the CPU and says so once; "cuda" is refused.
func TestOpenDeviceWithoutDriver(t *testing.T) {
	t.Setenv(driver.CUDAVariable, "/nowhere/libcuda.so.1")
	if _, err := driver.Open(); err == nil {
		t.Skip("a driver is open in this process")
	}
	if _, err := OpenDevice(config.DeviceChoice{Kind: "cuda"}); !errors.Is(err, driver.ErrNoDriver) ||
		!strings.Contains(err.Error(), "device.kind") {
		t.Errorf("error %v", err)
	}
	c, err := config.Load("quickstart", nil)
	if err != nil {
		t.Fatal(err)
	}
	j, err := Prepare(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if kind := j.dev.Info().Kind; kind != "cpu" {
		t.Errorf("the run is on %s", kind)
	}
	said := 0
	for _, n := range j.Notices {
		if strings.Contains(n, "computing on the CPU") && strings.Contains(n, "no CUDA driver") {
			said++
		}
	}
	if said != 1 {
		t.Errorf("notices %q", j.Notices)
	}
}
