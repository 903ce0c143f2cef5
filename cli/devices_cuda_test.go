//go:build cuda && unix

package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/internal/must"
)

// The check of a card whose numbers are wrong ends with exit code 1, the page on standard output and
// the reason on standard error. That the others are soon done the card has memory for the first part
// only, which finds it, and its compiler refuses kernels of one column, all of K144.
func TestDevicesCheckWrongCard(t *testing.T) {
	libraries, include := fakes(t)
	t.Setenv("KESTREL_FAKE_CXXFLAGS", "-O1 -ffp-contract=off")
	fake.Use(t, libraries, fake.Options{Include: include, Memory: 600 << 10, Refuse: "dynamic = 0, columns = 1 };",
		Bend: [3]string{"matrices.cu", "exp(-0.5 * rho)", "exp(-0.5 * rho) * (1 + 4e-16)"}})
	cmd := exec.Command(os.Args[0]) // a driver that was opened stays open in its process
	cmd.Env = append(os.Environ(), argsEnv+"=devices --check")
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	must.OK(t, cmd.Start())
	cmd.Wait()
	code, stdout, stderr := cmd.ProcessState.ExitCode(), out.String(), said.String()
	const reason = "generated code and the interpreter: wrong numbers"
	if code != exitFailed || !strings.Contains(stdout, "must not be used: ") || !strings.Contains(stdout, reason) ||
		!strings.Contains(stderr, "kestrel: card 0 (fake card 0): ") || !strings.Contains(stderr, reason) {
		t.Errorf("code %d, stdout %s\nstderr %s", code, stdout, stderr)
	}
}
