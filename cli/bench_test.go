package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"example.com/kestrel/internal/thorough"
)

func TestBenchErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	for args, want := range map[string]string{
		"--work f":                           `--work "f": must be a, b, c, d or e`,
		"--step a":                           `--step "a": must be adam, theta, frozen, posterior, predict or bound`,
		"--kernels k13":                      `--kernels "k13": must be one, k12 or k144, or expressions separated by semicolons: `,
		"--threads 0":                        "--threads 0: must be at least 1",
		"--seconds 0":                        "--seconds 0: must be above 0",
		"--rounds 2":                         "--rounds needs --against, the command to compare with",
		"--against true --work a --rounds 0": "--rounds 0: must be at least 1",
		"--against true": "--against is for one combination, not 3; " +
			"name one workload, kernel list, step and number of threads",
		"--profile p": "--profile is for one combination, not 3; " +
			"name one workload, kernel list, step and number of threads",
		"--device moon --work a":    `unknown device "moon"; devices are auto, cpu, cuda`,
		"--work a --step posterior": "--step posterior: one kernel has no posterior to fit; choose --kernels k12 or k144",
		"--out x":                   "--out needs --learn, the config whose data are learnt from",
		"--learn quickstart --json": "--json does not go with --learn, which traces one kernel on a config's data as CSV; " +
			"leave it out",
		"--learn quickstart --work a":                 "--work does not go with --learn",
		"--learn quickstart --against true":           "--against does not go with --learn",
		"--learn quickstart --rounds 2":               "--rounds does not go with --learn",
		"--learn quickstart --profile p":              "--profile does not go with --learn",
		"--learn quickstart":                          "--learn needs one kernel, such as --kernels 'PER*SE+SE', and one number of --threads",
		"--learn quickstart --kernels SE+":            `kernel expression "SE+"`,
		"--learn quickstart --seconds 0":              "--seconds 0: must be above 0",
		"--learn quickstart --kernels SE --threads 0": "--threads 0: must be at least 1",
		"a": `bench takes no argument, not "a"`,
	} {
		code, stdout, stderr := kestrel(t, append([]string{"bench"}, strings.Fields(args)...)...)
		line, _, _ := strings.Cut(stderr, "\n")
		if code != 2 || stdout != "" || !strings.HasPrefix(line, "kestrel: "+want) {
			t.Errorf("%s: code %d, %s%s", args, code, stdout, stderr)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

func TestBench(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, stderr := kestrel(t, "bench", "--work", "a", "--step", "adam,frozen", "--threads", "1,2", "--seconds", "0.01", "--json")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != 0 || len(lines) != 4 {
		t.Fatal(code, stdout, stderr)
	}
	for i, want := range []struct {
		Step    string
		Threads int
	}{{"adam", 1}, {"adam", 2}, {"frozen", 1}, {"frozen", 2}} {
		got := want
		got.Step, got.Threads = "", 0
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil || got != want {
			t.Errorf("%v: %s", err, lines[i])
		}
	}
	code, stdout, stderr = kestrel(t, "bench", "--work", "a", "--kernels", "SE;LIN", "--seconds", "0.01", "--profile", "p")
	if lines := strings.Split(stdout, "\n"); code != 0 || len(lines) != 4 || !strings.HasPrefix(lines[1], "a     SE;LIN ") {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
	if i, err := os.Stat("p"); err != nil || i.Size() == 0 {
		t.Errorf("profile: %v, %v", i, err)
	}
}

// A trace of each kind of step begins at the same local ELBO; what cannot be
// written is a failure, not bad usage.
func TestBenchLearn(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "c.toml", "[data]\nsource = \"synthetic\"\nkernel = \"SE\"\noutputs = 30\n[sparse]\ninducing = 4\n[schedule]\nbatch = 5\n")
	args := []string{"bench", "--learn", "c.toml", "--kernels", "SE", "--seconds", "1e-9"}
	code, stdout, stderr := kestrel(t, append(args, "--out", "start")...)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != 0 || stderr != "" || len(lines) != 5 || lines[0] != "program,step,rate,steps,seconds,elbo_per_row" {
		t.Fatal(code, stdout, stderr)
	}
	theta, ok := strings.CutPrefix(lines[1], "kestrel,theta,0.01,0,0.000000,")
	if adam, also := strings.CutPrefix(lines[3], "kestrel,adam,0.01,0,0.000000,"); !ok || !also || theta != adam {
		t.Errorf("%s", stdout)
	}
	write(t, "file", "")
	if code, _, stderr := kestrel(t, append(args, "--out", "file")...); code != exitFailed ||
		!strings.HasPrefix(stderr, `kestrel: output directory "file" cannot be written`) {
		t.Errorf("%d %s", code, stderr)
	}
}

// The program is started afresh for each of its rounds: here that is the test's
// own program, which takes its arguments from the environment.
func TestBenchAgainst(t *testing.T) {
	thorough.Unraced(t)
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("the peer is written for sh")
	}
	const ours = "bench --work a --kernels one --step adam --threads 1 --seconds 0.01 --json"
	t.Setenv(argsEnv, ours)
	code, stdout, stderr := kestrel(t, "bench", "--work", "a", "--seconds", "0.01", "--rounds", "2", "--json",
		"--against", `echo '{"ms_min": 1000, "elbo_start": -13941.377664995}'`)
	var got struct {
		Work    string
		Ratio   float64
		Ours    []float64 `json:"ours_ms"`
		Peer    []float64 `json:"peer_ms"`
		Warning string
	}
	if err := json.Unmarshal([]byte(stdout), &got); code != 0 || err != nil {
		t.Fatal(code, err, stdout, stderr)
	}
	if got.Work != "a" || len(got.Ours) != 2 || len(got.Peer) != 2 || !(got.Ratio > 10) || got.Warning != "" {
		t.Errorf("%s", stdout)
	}
	code, stdout, _ = kestrel(t, "bench", "--work", "a", "--seconds", "0.01", "--rounds", "1",
		"--against", `echo '{"ms_min": 1000, "elbo_start": -13900}'`)
	if code != 0 || !strings.Contains(stdout, "\nwarning      the ELBOs at the start differ by 3.0e-03 relative") {
		t.Errorf("%d %s", code, stdout)
	}
	code, _, stderr = kestrel(t, "bench", "--work", "a", "--seconds", "0.01", "--against", "echo no such module >&2; exit 1")
	if code != 1 || stderr != "kestrel: --against failed (exit status 1): no such module\n" {
		t.Errorf("%d %s", code, stderr)
	}
}
