//go:build !cuda

package cli

import (
	"strings"
	"testing"
)

func TestBuiltWithoutCUDA(t *testing.T) {
	code, _, stderr := kestrel(t, "run", "quickstart", "--device", "cuda")
	if code != exitUsage || !strings.Contains(stderr, `device cuda is not in this build of the program; use device.kind = "cpu" or "auto"`) {
		t.Errorf("code %d, %q", code, stderr)
	}
}
