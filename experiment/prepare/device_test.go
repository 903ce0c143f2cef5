package prepare

import (
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
)

func TestOpenDevice(t *testing.T) {
	dev, notice, err := openDevice(config.DeviceChoice{Kind: "cpu", Lanes: 3, Cores: 2})
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
