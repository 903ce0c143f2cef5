//go:build linux || darwin

package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/thorough"
)

// resumeRun is a run of twelve evaluations, which takes about a second.
const resumeRun = "run quickstart --quiet --set schedule.evaluate_every=0.1 --set schedule.refine=1 " +
	"--set kernels.expressions=SE,LIN,PER,SE+LIN --set sparse.inducing=8 --set optimise.starts=1 --set schedule.steps=6 " +
	"--set data.outputs=80 --set data.support=40 --prune-top 3 --then-refine 1 --out "

// A run that is killed with SIGKILL, and killed again while it is resumed, ends
// with the files of one that was not.
func TestResumeAfterKill(t *testing.T) {
	thorough.Unraced(t)
	execute := func(args string) (string, int) {
		var out, errs bytes.Buffer
		code := Execute(strings.Fields(args), &out, &errs)
		return out.String() + errs.String(), code
	}
	want := filepath.Join(t.TempDir(), "run")
	if said, code := execute(resumeRun + want); code != 0 {
		t.Fatal(said)
	}
	for _, kills := range [][]int{{1}, {4, 9}, {10, 11}} {
		dir := filepath.Join(t.TempDir(), "run")
		args := resumeRun + dir
		for _, at := range kills {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), argsEnv+"="+args)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for began := time.Now(); made(dir) < at && logged(dir, record.EventFinished) == 0; time.Sleep(5 * time.Millisecond) {
				if time.Since(began) > patience {
					t.Fatalf("waited in vain for evaluation %d", at)
				}
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Logf("evaluation %d: it had ended before it was killed", at)
			}
			args = "resume --quiet " + dir
		}
		before, err := recordtest.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		said, code := execute("resume --json --quiet " + dir)
		if strings.Contains(said, "needs no resuming") {
			t.Logf("kills %v: too late", kills)
		} else {
			var s history.Summary
			if err := json.Unmarshal([]byte(said), &s); code != 0 || err != nil {
				t.Fatalf("exit code %d, %v: %s", code, err, said)
			}
			if s.State != record.Finished || s.Made != 12 || s.Start == nil ||
				float64(s.Seconds) < float64(before[len(before)-1].Seconds)/2 {
				t.Errorf("the summary: %s after %d evaluations and %v s", s.State, s.Made, s.Seconds)
			}
		}
		for _, name := range []string{"posterior.csv", "kernels.csv"} {
			a, errA := os.ReadFile(filepath.Join(want, name))
			b, errB := os.ReadFile(filepath.Join(dir, name))
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("kills %v: %s differs (%v, %v)", kills, name, errA, errB)
			}
		}
		if said, code := execute("resume --headless " + dir); code != exitUsage || !strings.Contains(said, "needs no resuming") ||
			strings.Count(strings.TrimSpace(said), "\n") > 0 {
			t.Errorf("resumed again: exit code %d, %q", code, said)
		}
	}
}

// made counts the evaluations in a log that is being written.
func made(dir string) int { return logged(dir, record.EventEvaluation) }

// logged counts the events of a type in such a log, which is asked again and again: to read all
// of it would take as long as the run.
func logged(dir string, what record.EventType) int {
	text, _ := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	return bytes.Count(text, []byte(`"type":"`+string(what)+`"`))
}

// In the workbench a stopped run goes on by the command, and a crashed one by a
// key on its screen.
func TestResumeInTheWorkbench(t *testing.T) {
	want := filepath.Join(t.TempDir(), "run")
	var out, errs bytes.Buffer
	if code := Execute(strings.Fields(resumeRun+want), &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	for _, how := range []string{"resume ", "open "} {
		dir := filepath.Join(t.TempDir(), "run")
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), argsEnv+"="+resumeRun+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); made(dir) < 3; time.Sleep(5 * time.Millisecond) {
			if time.Since(began) > patience {
				t.Fatal("waited in vain for an evaluation")
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		p := start(t, how+dir)
		if how == "open " {
			p.until("the news", func() bool { return strings.Contains(p.output(), "crashed") })
			p.keys("R")
		}
		p.until("the end", func() bool {
			return logged(dir, record.EventReoptimised) == 1 && finished(events(dir))
		})
		if code := p.quit(); code != 0 {
			t.Errorf("%s: exit code %d", how, code)
		}
		p.restored()
		a, errA := os.ReadFile(filepath.Join(want, "posterior.csv"))
		b, errB := os.ReadFile(filepath.Join(dir, "posterior.csv"))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: posterior.csv differs (%v, %v)", how, errA, errB)
		}
	}
}
