//go:build cuda && unix

package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/internal/must"
)

// The check of a card whose numbers are wrong ends with exit code 1, the page on standard output and
// the reason on standard error. The card has memory for the first part only, which finds it, so that
// the others are soon done.
func TestDevicesCheckWrongCard(t *testing.T) {
	machines(t)() // skips without a compiler
	libraries := t.TempDir()
	must.OK(t, fake.Build(libraries))
	include, err := filepath.Abs("../device/cuda/source")
	must.OK(t, err)
	fake.Use(t, libraries, fake.Options{Include: include, Memory: 600 << 10,
		Bend: [3]string{"matrices.cu", "exp(-0.5 * rho)", "exp(-0.5 * rho) * (1 + 4e-16)"}})
	code, stdout, stderr := kestrel(t, "devices", "--check")
	t.Logf("code %d, stdout %s\nstderr %s", code, stdout, stderr)
	const reason = "generated code and the interpreter: wrong numbers"
	if code != exitFailed || !strings.Contains(stdout, "must not be used: ") || !strings.Contains(stdout, reason) ||
		!strings.Contains(stderr, "kestrel: card 0 (fake card 0): ") || !strings.Contains(stderr, reason) {
		t.Errorf("code %d, stdout %s\nstderr %s", code, stdout, stderr)
	}
}
