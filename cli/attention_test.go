//go:build linux || darwin

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
)

// What a terminal offers is used: the task bar while the run goes on, the clipboard, a bell
// at the end while nobody looks, keys from a file; and all of it is taken back.
func TestWhatTerminalsOffer(t *testing.T) {
	wishes := filepath.Join(t.TempDir(), "workbench.toml")
	must.OK(t, os.WriteFile(wishes, []byte("[keys]\n\"ctrl+p\" = \"space\"\n"), 0o644))
	dir := filepath.Join(t.TempDir(), "run")
	p := start(t, "run fig1a-authors --set schedule.refine=5000 --out "+dir+shortRun, "WT_SESSION=1", "TMUX=", "TERM_PROGRAM=", "VTE_VERSION=",
		"KESTREL_WORKBENCH="+wishes)
	said := func(text string) func() bool { return func() bool { return strings.Contains(p.output(), text) } }
	p.until("two evaluations", func() bool { return count(events(dir), record.EventEvaluation) >= 2 })
	p.until("progress", said("\x1b]9;4;1;"))
	p.until("the question whether anybody looks", said("\x1b[?1004h"))
	p.until("the offer of a pause", said("pause")) // the log is ahead of the screen
	p.keys("\x10")
	p.until("a pause, by the file's key", func() bool { // which the tables of the evaluation before may follow
		return slices.ContainsFunc(events(dir), func(e record.Event) bool { return e.State != nil && e.State.To == record.Paused })
	})
	p.until("a halted task bar", said("\x1b]9;4;4;"))
	p.keys("\x10", "C", "t")
	p.until("the clipboard", said("\x1b]52;c;"))
	p.keys("\x1a")
	p.until("why not", said("no suspending"))
	if strings.Contains(strings.ReplaceAll(p.output(), "\x1b]52;c;", ""), "\x1b]9;kestrel") {
		t.Error("a message is sent to a terminal that is not known to have any")
	}
	p.keys("\x1b[O") // nobody looks
	before := strings.Count(p.output(), "\a")
	p.keys("s")
	p.until("the bell", func() bool { return finished(events(dir)) && strings.Count(p.output(), "\a") > before })
	p.until("the end in the task bar", said("\x1b]9;4;0"))
	p.keys("\x1b[I")
	if code := p.quit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p.restored()
	if out := p.output(); strings.LastIndex(out, "\x1b[?1004l") < strings.LastIndex(out, "\x1b[?1004h") {
		t.Error("reports of the focus were left on")
	}
}
