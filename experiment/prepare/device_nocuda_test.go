//go:build !cuda

package prepare

import (
	"testing"

	"example.com/kestrel/experiment/config"
)

// A build without CUDA does not look for cards, and says nothing of it.
func TestOpenDeviceWithoutCUDA(t *testing.T) {
	dev, notice, err := openDevice(t.Context(), config.DeviceChoice{Kind: "auto", Cores: 2}, Load{})
	if err != nil || notice != "" {
		t.Fatalf("notice %q, error %v", notice, err)
	}
	defer dev.Close()
	if info := dev.Info(); info.Kind != "cpu" || info.Lanes != 2 {
		t.Errorf("device %+v", info)
	}
	if _, err := OpenDevice(config.DeviceChoice{Kind: "cuda"}); err == nil {
		t.Error("a device without CUDA")
	}
}
