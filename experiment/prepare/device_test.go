package prepare

import (
	"errors"
	"strings"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/vbks"
)

func TestOpenDevice(t *testing.T) {
	dev, notice, err := openDevice(t.Context(), config.DeviceChoice{Kind: "cpu", Lanes: 3, Cores: 2}, Load{})
	if err != nil || notice != "" {
		t.Fatalf("notice %q, error %v", notice, err)
	}
	if info := dev.Info(); info.Kind != "cpu" || info.Lanes != 3 {
		t.Errorf("device %+v", info)
	}
	dev.Close()
	if _, err := OpenDevice(config.DeviceChoice{Kind: "moon"}); err == nil || !strings.Contains(err.Error(), "auto, cpu, cuda") {
		t.Errorf("error %v", err)
	}
}

func TestDevices(t *testing.T) {
	list, err := Devices()
	if err != nil || len(list) < 2 || list[0].Kind != "cpu" || list[0].Missing != "" {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, d := range list[1:] {
		if d.Kind != "cuda" || (d.Name == "") != (d.Missing != "") {
			t.Errorf("device %+v", d)
		}
	}
}

// A device that keeps no weights is left for the CPU where some are asked for, with a line
// that says so, or refused where it is the one that is meant.
func TestDeviceForWeights(t *testing.T) {
	plain := func() device.Device { return struct{ device.Device }{cpu.New(cpu.Options{Lanes: 1})} }
	c := config.Default()
	if dev, notice, err := forWeights(&c, plain(), "as before"); err != nil || notice != "as before" {
		t.Errorf("%v, %q, %v", dev, notice, err)
	}
	for _, ask := range []func(c *config.Config){
		func(c *config.Config) { c.Data.NoiseColumn = "sd" },
		func(c *config.Config) { c.Data.NoiseBy = "room" },
		func(c *config.Config) { c.Settings.Likelihood = vbks.StudentLikelihood },
	} {
		c := config.Default()
		ask(&c)
		dev, notice, err := forWeights(&c, plain(), "")
		if err != nil || !strings.Contains(notice, "computing on the CPU") {
			t.Fatalf("%q, %v", notice, err)
		}
		if _, ok := dev.(device.Scaler); !ok {
			t.Error("it keeps no weights either")
		}
		c.Device.Kind = "cpu" // as if the other were cuda
		if _, _, err := forWeights(&c, plain(), ""); !errors.Is(err, device.ErrScales) {
			t.Errorf("error %v", err)
		}
	}
}

// Few rows are computed with all of them as inducing inputs in the end, by bounds; many by steps, with the number of
// inducing inputs that the run says.
func TestLoadOf(t *testing.T) {
	c := config.Default()
	for _, want := range []struct {
		rows int
		load Load
	}{{300, Load{12, 300, true}}, {1_000_000, Load{12, 0, false}}} {
		if got := loadOf(&c, 12, want.rows); got != want.load {
			t.Errorf("%d rows: %+v, want %+v", want.rows, got, want.load)
		}
	}
	c.Settings.Inducing = 40
	if got := loadOf(&c, 12, 300); got != (Load{12, 40, true}) {
		t.Errorf("40 inducing inputs: %+v", got)
	}
	c.Settings.Optimizer = "adam"
	if got := loadOf(&c, 12, 300); got != (Load{12, 40, false}) {
		t.Errorf("Adam: %+v", got)
	}
}
