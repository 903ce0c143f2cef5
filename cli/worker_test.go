package cli

import (
	"context"
	"runtime"
	"testing"

	"example.com/kestrel/cluster"
	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/internal/must"
)

// elsewhere is a device of another kind.
type elsewhere struct{ *cpu.Device }

func (d elsewhere) Info() device.Info {
	info := d.Device.Info()
	info.Kind = "cuda"
	return info
}

// A worker of fewer lanes than cores keeps to as many cores, but not one whose lanes are not on the CPU.
func TestWorkersKeepToTheirLanes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, c := range []struct {
		dev  device.Device
		want int
	}{
		{elsewhere{cpu.New(cpu.Options{Lanes: 1})}, 3}, {cpu.New(cpu.Options{Lanes: 4}), 3}, {cpu.New(cpu.Options{Lanes: 2}), 2},
	} {
		open := confined(func(context.Context) (device.Device, cluster.Class, error) {
			return c.dev, cluster.Class{Kind: "k"}, nil
		})
		dev, class, err := open(t.Context())
		must.OK(t, err)
		if got := runtime.GOMAXPROCS(0); got != c.want || dev != c.dev || class.Kind != "k" {
			t.Errorf("%s with %d lanes: %d cores, %v", c.dev.Info().Kind, c.dev.Info().Lanes, got, class)
		}
		must.OK(t, c.dev.Close())
	}
}
