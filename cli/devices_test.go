package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"example.com/kestrel/experiment/prepare"
)

func TestDevices(t *testing.T) {
	code, stdout, stderr := kestrel(t, "devices")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != exitDone || stderr != "" || len(lines) < 2 || !strings.HasPrefix(lines[0], "cpu") {
		t.Fatalf("code %d, stderr %q, stdout %q", code, stderr, stdout)
	}
	for _, line := range lines[1:] {
		if !strings.HasPrefix(line, "cuda") {
			t.Errorf("line %q", line)
		}
	}
	code, stdout, stderr = kestrel(t, "devices", "--json")
	var list []prepare.DeviceStatus
	if err := json.Unmarshal([]byte(stdout), &list); code != exitDone || stderr != "" || err != nil {
		t.Fatalf("code %d, stderr %q, %v: %q", code, stderr, err, stdout)
	}
	if len(list) != len(lines) || list[0].Kind != "cpu" || list[0].Lanes < 1 || list[0].Missing != "" {
		t.Errorf("list %+v", list)
	}
	for _, d := range list[1:] {
		if d.Kind != "cuda" || (d.Missing == "") != (d.Lanes == 1) {
			t.Errorf("device %+v", d)
		}
	}
}

func TestDeviceLine(t *testing.T) {
	for want, d := range map[string]prepare.DeviceStatus{
		"cpu    amd64, 2 cores; 2 lanes; FP64 on avx512": {Kind: "cpu", Name: "amd64, 2 cores", Lanes: 2, Details: "FP64 on avx512"},
		"cuda   NVIDIA H200; 1 lane; 139.8 GiB; card 0": {Kind: "cuda", Name: "NVIDIA H200", Lanes: 1, Memory: 150_110_000_000,
			Details: "card 0"},
		"cuda   none: no CUDA driver: no such file; install it": {Kind: "cuda", Missing: "no CUDA driver: no such file; install it"},
	} {
		if got := deviceLine(d); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// Without cards there is nothing to check, which is no success.
func TestDevicesCheckWithoutCards(t *testing.T) {
	t.Setenv("KESTREL_CUDA_LIBRARY", "/nowhere/libcuda.so.1")
	code, stdout, stderr := kestrel(t, "devices", "--check")
	if code != exitFailed || stdout != "" || strings.Count(stderr, "\n") != 1 ||
		!strings.Contains(stderr, "card") && !strings.Contains(stderr, "CUDA") {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
