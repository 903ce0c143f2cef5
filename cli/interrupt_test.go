package cli

import (
	"bufio"
	"encoding/csv"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
)

// argsEnv holds the arguments with which a test runs this binary as the
// program.
const argsEnv = "KESTREL_TEST_ARGS"

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // collecting took a fifth of the time
	if args := os.Getenv(argsEnv); args != "" {
		os.Exit(Execute(strings.Fields(args), os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// Ctrl-C in the middle of an evaluation leaves whole, readable files and exit
// code 130.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent to another process here")
	}
	dir := filepath.Join(t.TempDir(), "run")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), argsEnv+"=run fig1a-authors --out "+dir+" --set schedule.evaluate_every=0.05")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var last string
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		last = lines.Text()
		if strings.HasPrefix(last, " 1/") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("ended with %v", err)
	}
	if want := "kestrel: interrupted; everything up to there is in " + dir; last != want {
		t.Errorf("last line %q, want %q", last, want)
	}
	f, err := os.Open(filepath.Join(dir, "posterior.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 13 || len(rows)%12 != 1 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	events, err := recordtest.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := historytest.Summarise(events)
	if s.State != record.Stopped || s.Made != (len(rows)-1)/12 {
		t.Errorf("%s after %d evaluations", s.State, s.Made)
	}
}
