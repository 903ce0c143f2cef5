//go:build cuda && unix

package cli

import (
	"strings"
	"testing"

	"example.com/kestrel/device/cuda/driver/fake"
)

// The check of a card whose numbers are wrong ends with exit code 1, the page on standard output and
// the reason on standard error. That the others are soon done the card has memory for the first part
// only, which finds it, and its compiler refuses kernels of one column, all of K144.
func TestDevicesCheckWrongCard(t *testing.T) {
	libraries, include := fakes(t)
	t.Setenv("KESTREL_FAKE_CXXFLAGS", "-O1 -ffp-contract=off")
	fake.Use(t, libraries, fake.Options{Include: include, Memory: 600 << 10, Refuse: "dynamic = 0, columns = 1 };",
		Bend: [3]string{"matrices.cu", "exp(-0.5 * rho)", "exp(-0.5 * rho) * (1 + 4e-16)"}})
	code, stdout, stderr := kestrel(t, "devices", "--check")
	const reason = "generated code and the interpreter: wrong numbers"
	if code != exitFailed || !strings.Contains(stdout, "must not be used: ") || !strings.Contains(stdout, reason) ||
		!strings.Contains(stderr, "kestrel: card 0 (fake card 0): ") || !strings.Contains(stderr, reason) {
		t.Errorf("code %d, stdout %s\nstderr %s", code, stdout, stderr)
	}
}
