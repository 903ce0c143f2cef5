//go:build linux || darwin

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/termios"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"example.com/kestrel/experiment/finding"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/thorough"
)

// terminal is the program in a pseudo-terminal.
type terminal struct {
	t   testing.TB
	cmd *exec.Cmd
	tty *os.File
	end chan struct{} // closed when the output has ended

	mu  sync.Mutex
	out bytes.Buffer
}

// patience is how long anything may take on a slow and busy machine; it is not
// reached unless something is broken.
const patience = 2 * time.Minute

func start(t testing.TB, args string, env ...string) *terminal {
	t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { ptmx.Close() })
	defer tty.Close() // the program's own keep it open
	return startOn(t, ptmx, tty, args, env...)
}

// startOn starts the program in a terminal that is there already.
func startOn(t testing.TB, ptmx, tty *os.File, args string, env ...string) *terminal {
	t.Helper()
	return startFed(t, ptmx, tty, tty, args, env...)
}

// startFed is startOn with another standard input.
func startFed(t testing.TB, ptmx, tty, in *os.File, args string, env ...string) *terminal {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Dir = t.TempDir()
	cmd.Env = append(append(os.Environ(), argsEnv+"="+args, "TERM=xterm-256color", "NO_COLOR=", "LANG=C.UTF-8"), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1} // standard output, in the child
	if err := pty.Setsize(ptmx, &pty.Winsize{Rows: 36, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &terminal{t: t, cmd: cmd, tty: ptmx, end: make(chan struct{})}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	go func() {
		defer close(p.end)
		buf := make([]byte, 1<<16)
		for {
			n, err := ptmx.Read(buf)
			p.mu.Lock()
			p.out.Write(buf[:n])
			p.mu.Unlock()
			// The program asks for the background's colour; a terminal answers.
			if bytes.Contains(buf[:n], []byte("\x1b]11;?")) {
				_, _ = io.WriteString(ptmx, "\x1b]11;rgb:ffff/ffff/ffff\x07")
			}
			_, _ = io.WriteString(ptmx, ofPictures(cmd.Environ(), string(buf[:n])))
			if err != nil {
				return
			}
		}
	}()
	return p
}

// ofPictures is what the terminal that env names answers to questions about pictures:
// kitty has its protocol, foot has sixels, others have none.
func ofPictures(env []string, asked string) (answer string) {
	if _, rest, ok := strings.Cut(asked, "\x1b_Ga=q"); ok && slices.Contains(env, "TERM=xterm-kitty") {
		_, id, _ := strings.Cut(rest, "i=")
		id, _, _ = strings.Cut(id, ";")
		answer = "\x1b_Gi=" + id + ";OK\x1b\\"
	}
	if strings.Contains(asked, "\x1b[16t") {
		answer += "\x1b[6;20;10t"
	}
	switch {
	case !strings.Contains(asked, "\x1b[c"):
	case slices.Contains(env, "TERM=foot"):
		answer += "\x1b[?62;4;22c"
	default:
		answer += "\x1b[?62;22c"
	}
	return answer
}

func (p *terminal) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// until waits for something to be so.
func (p *terminal) until(what string, so func() bool) {
	p.t.Helper()
	for began := time.Now(); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > patience {
			p.t.Fatalf("waited in vain for %s; the last output:\n%q", what, tail(p.output(), 3000))
		}
	}
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// keys types, one key after the other.
func (p *terminal) keys(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		if _, err := io.WriteString(p.tty, k); err != nil {
			p.t.Fatal(err)
		}
		time.Sleep(30 * time.Millisecond) // an escape must not join what follows
	}
}

// wait waits for the program's end and returns its exit code.
func (p *terminal) wait() int {
	p.t.Helper()
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	select {
	case err := <-done:
		select {
		case <-p.end:
		case <-time.After(time.Second): // macOS may keep it open
		}
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
		return 0
	case <-time.After(patience):
		p.t.Fatalf("the program does not end; the last output:\n%q", tail(p.output(), 3000))
	}
	return -1
}

// quit leaves the program. The screen may not know yet that the run is over,
// and ask.
func (p *terminal) quit() int {
	p.t.Helper()
	p.keys("q")
	_, _ = io.WriteString(p.tty, "\r") // fails where the program has ended
	return p.wait()
}

// restored checks that what was switched on in the terminal was switched off
// after.
func (p *terminal) restored() {
	p.t.Helper()
	out := p.output()
	for _, mode := range []struct{ name, on, off string }{
		{"the alternate screen", "\x1b[?1049h", "\x1b[?1049l"},
		{"the hidden cursor", "\x1b[?25l", "\x1b[?25h"},
		{"the mouse", "\x1b[?1002h", "\x1b[?1002l"},
		{"bracketed paste", "\x1b[?2004h", "\x1b[?2004l"},
	} {
		on, off := strings.LastIndex(out, mode.on), strings.LastIndex(out, mode.off)
		if on >= 0 && off < on {
			p.t.Errorf("%s was left on", mode.name)
		}
		if on < 0 && mode.name == "the alternate screen" {
			p.t.Error("the workbench was never shown")
		}
	}
}

// tells checks that what a run has found stands on the terminal once the workbench has
// left it.
func (p *terminal) tells(found string) {
	p.t.Helper()
	const left = "\x1b[?1049l"
	out := p.output()
	after := ansi.Strip(out[strings.LastIndex(out, left)+len(left):])
	in := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	if found == "" || !strings.Contains(in(after), in(found)) {
		p.t.Errorf("%q is not what stands on the terminal at the end:\n%s", found, after)
	}
}

func events(dir string) []record.Event {
	es, err := recordtest.Read(dir)
	if err != nil {
		return nil
	}
	return es
}

func count(es []record.Event, what record.EventType) int {
	n := 0
	for i := range es {
		if es[i].Type == what {
			n++
		}
	}
	return n
}

func finished(es []record.Event) bool {
	return len(es) > 0 && es[len(es)-1].Type == record.EventFinished
}

// shortRun makes fig1a-authors a matter of seconds.
const shortRun = " --set optimise.starts=1 --set schedule.steps=6 --set data.outputs=100 --set data.test=20 --set sparse.inducing=10"

// A table from standard input is shown in the workbench, whose keys come from the
// terminal; it is there again when the run is opened.
func TestWorkbenchOfStandardInput(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { ptmx.Close() })
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = w.WriteString(waveTable(60)); w.Close() }()
	p := startFed(t, ptmx, tty, r, "- --out "+dir+" --set kernels.expressions=SE,LIN --set schedule.steps=4 --set optimise.starts=1")
	tty.Close()
	r.Close()
	p.until("the end", func() bool { return finished(events(dir)) })
	if code := p.quit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p.restored()
	if kept, err := os.ReadFile(filepath.Join(dir, "table")); err != nil || string(kept) != waveTable(60) {
		t.Errorf("kept %d bytes, %v", len(kept), err)
	}
}

// In the launcher enter keeps a column that has been ticked, of which the screen says at once what it costs; where letters are
// typed f1 is help, and q closes that alone.
func TestTicksAndHelpOfTheLauncher(t *testing.T) {
	p := start(t, " ") // no arguments
	var table strings.Builder
	table.WriteString("when,sky,load\n")
	for i := range 30 {
		fmt.Fprintf(&table, "2024-01-%02d,%s,%d\n", i+1, []string{"sun", "rain"}[i*i%3%2], i*i%5)
	}
	p.until("the launcher", func() bool { return strings.Contains(p.output(), "what to run") })
	if err := os.WriteFile(filepath.Join(p.cmd.Dir, "a.csv"), []byte(table.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	// On another size all is drawn anew, so that words stand in one piece.
	rows := uint16(36)
	shows := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			p.until(text, func() bool {
				before := len(p.output())
				rows = 36 + (rows+1)%3
				if err := pty.Setsize(p.tty, &pty.Winsize{Rows: rows, Cols: 120}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(150 * time.Millisecond)
				return strings.Contains(ansi.Strip(p.output()[before:]), text)
			})
		}
	}
	p.keys("\x12") // ctrl+r
	shows("a.csv")
	p.keys("\x1b[H", "\x1b[B") // home, behind the line for a path
	shows("▸ a.csv", "[ ] sky", "enter starts the run")
	p.keys("i", "\x1b[C", " ")
	shows("[x] sky", "no forecast beyond the end with more inputs than when", "on this line, or after esc, enter starts the run")
	p.keys("\r", "\t") // on, past what is held out
	shows("[x] sky", "f1 help")
	p.keys("\x1bOP") // f1
	shows("Help: ", "close this help only")
	p.keys("q")
	shows("[x] sky", "f1 help")
	p.keys("\x1b")
	shows("q quit")
	if code := p.quit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p.restored()
}

// A session: start, wait for the first points, prune to three, re-optimise,
// export, quit. What is in the files is what was ordered.
func TestSession(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	p := start(t, "run fig1a-authors --out "+dir+shortRun)
	p.until("two evaluations", func() bool { return made(dir) >= 2 })
	// The log is ahead of the screen, which offers what it knows of.
	p.until("the screen", func() bool { return strings.Contains(p.output(), "prune") })
	p.keys("p", "\x7f", "\x7f", "3", "\r")
	p.until("the pruning", func() bool { return logged(dir, record.EventPruned) == 1 })
	// A fast run has ended before the last key: then nothing but the pruning follows the end.
	p.until("the end", func() bool { return logged(dir, record.EventFinished) > 0 })
	before := len(events(dir))
	p.keys("r", "\r")
	p.until("the second end", func() bool { es := events(dir); return len(es) > before && finished(es) })
	p.keys("e")
	exported := filepath.Join(dir, "export")
	p.until("the export", func() bool {
		_, err := os.Stat(filepath.Join(exported, "posterior.txt"))
		return err == nil
	})
	for _, name := range []string{"2", "3", "4", "5", "6", "1", "?"} {
		p.keys(name)
	}
	// On another size all is drawn anew, so that words stand in one piece.
	before = len(p.output())
	if err := pty.Setsize(p.tty, &pty.Winsize{Rows: 40, Cols: 130}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Help: bench", "how much a kernel is believed in, of 1 in all", "no kernel tried may overtake it"} {
		p.until("the words", func() bool { return strings.Contains(ansi.Strip(p.output()[before:]), text) })
	}
	p.keys("?")
	if code := p.quit(); code != 0 {
		t.Errorf("exit code %d; the last output:\n%q", code, tail(p.output(), 2000))
	}
	p.restored()

	es := events(dir)
	p.tells(finding.Of(&historytest.Summarise(es).Standing, dir).Text())
	if n := count(es, record.EventReoptimised); n != 1 {
		t.Errorf("%d re-optimisations", n)
	}
	s := historytest.Summarise(es)
	live := 0
	for i := range s.Evaluation.Kernels {
		if s.Evaluation.Kernels[i].Fit != nil {
			live++
		}
	}
	if live != 3 || s.State != record.Finished {
		t.Errorf("%d live kernels, %s", live, s.State)
	}
	for _, name := range []string{"posterior.csv", "metrics.csv", "kernels.csv"} {
		ours, err := os.ReadFile(filepath.Join(exported, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if theirs, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(ours, theirs) {
			t.Errorf("%s exported differs from the run's own (%v)", name, err)
		}
	}
	for _, name := range []string{"posterior.svg", "posterior.png"} {
		if f, err := os.Stat(filepath.Join(exported, name)); err != nil || f.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The same run in the workbench and without it: the same posterior.csv, byte
// for byte.
func TestWorkbenchAndHeadlessAgree(t *testing.T) {
	thorough.Unraced(t)
	shown, headless := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	p := start(t, "run fig1a-authors --out "+shown+shortRun)
	p.until("the end", func() bool { return logged(shown, record.EventFinished) > 0 && finished(events(shown)) })
	if code := p.quit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	var out, errs bytes.Buffer
	if code := Execute(strings.Fields("run fig1a-authors --headless --quiet --out "+headless+shortRun), &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	a, errA := os.ReadFile(filepath.Join(shown, "posterior.csv"))
	b, errB := os.ReadFile(filepath.Join(headless, "posterior.csv"))
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("they differ: %v, %v", errA, errB)
	}
}

// A closed terminal (SIGHUP) ends the run with everything written.
func TestHangup(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("hangups are ignored here, as nohup does, and so in programs started from here")
	}
	dir := filepath.Join(t.TempDir(), "run")
	p := start(t, "run fig1a-authors --set schedule.refine=500 --out "+dir)
	p.until("an evaluation", func() bool { return made(dir) >= 1 })
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	p.restored()
	// Nobody is there to answer a question any more.
	_, after, _ := strings.Cut(p.output(), "\x1b[?1049l")
	if strings.Contains(after, "\x1b]11;?") || strings.Contains(after, "\x1b[c") {
		t.Errorf("the terminal is asked after the screen was left: %q", after)
	}
	if s := historytest.Summarise(events(dir)); s.State != record.Stopped {
		t.Errorf("the run was left %s", s.State)
	}
}

// After a run was killed its directory opens in the same terminal, says so, and
// leaves the terminal as it was before the run: with echo, lines and signals.
func TestOpenAfterKill(t *testing.T) {
	thorough.Unraced(t)
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer ptmx.Close()
	defer tty.Close()
	modes := func() *unix.Termios {
		m, err := termios.GetTermios(int(tty.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	before := modes()
	dir := filepath.Join(t.TempDir(), "run")
	p := startOn(t, ptmx, tty, "run fig1a-authors --out "+dir)
	p.until("an evaluation", func() bool { return made(dir) >= 1 })
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	if now := modes(); now.Lflag == before.Lflag {
		t.Error("the killed program left the terminal as it was: the test says nothing")
	}
	made := count(events(dir), record.EventEvaluation)
	q := startOn(t, ptmx, tty, "open "+dir)
	// Both read the terminal now; either may get it.
	both := func() string { return p.output() + q.output() }
	q.until("the news", func() bool { return strings.Contains(both(), "crashed") })
	if code := q.quit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if now := modes(); now.Lflag != before.Lflag || now.Iflag != before.Iflag || now.Oflag != before.Oflag {
		t.Errorf("modes %x %x %x, before %x %x %x", now.Iflag, now.Oflag, now.Lflag, before.Iflag, before.Oflag, before.Lflag)
	}
	if n := count(events(dir), record.EventEvaluation); n != made {
		t.Errorf("opening changed the log: %d evaluations, %d before", n, made)
	}
}

// A run of another process is shown while it goes on, and is not disturbed by
// that.
func TestOpenRunning(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	p := start(t, "run fig1a-authors --headless --out "+dir+shortRun)
	p.until("an evaluation", func() bool { return made(dir) >= 1 })
	q := start(t, "open "+dir)
	q.until("the screen", func() bool { return strings.Contains(q.output(), "Kernel posterior") })
	if code := p.wait(); code != 0 {
		t.Errorf("the run: exit code %d", code)
	}
	q.until("the end", func() bool { return strings.Contains(q.output(), "finished") })
	if code := q.quit(); code != 0 {
		t.Errorf("the viewer: exit code %d", code)
	}
}

// What cannot be run is said in one line, without a screen left behind.
func TestWorkbenchBadInput(t *testing.T) {
	p := start(t, "nowhere.csv")
	if code := p.wait(); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
	out := strings.TrimSpace(p.output())
	if i := strings.LastIndex(out, "kestrel: "); i < 0 || !strings.Contains(out[i:], "nowhere.csv") {
		t.Errorf("said %q", tail(out, 500))
	}
}
