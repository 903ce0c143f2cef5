//go:build unix

package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/creack/pty"

	"example.com/kestrel/experiment/prepare"
)

// onTerminal runs the program with a terminal for its output and its errors and
// returns what the terminal was sent.
func onTerminal(t *testing.T, args ...string) (sent string, code int) {
	t.Helper()
	screen, tty, err := pty.Open()
	if err != nil {
		t.Skip("needs a pseudo-terminal:", err)
	}
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(screen) // ends in an error once the other side is closed
		read <- string(text)
	}()
	code = Execute(args, tty, tty)
	tty.Close()
	sent = <-read
	screen.Close()
	return sent, code
}

// steering is what must not come through: a colour, the title of a window, a
// bell, the 8-bit form of ESC [, a reversal of the order of writing, and bytes
// that are no UTF-8.
const steering = "\x1b[31m\x1b]0;title\x07\u009b2J\u202ereversed\xff"

// Whatever stands in a file, or is its name, a terminal is sent none of it that
// would steer it.
func TestNothingSteersTheTerminal(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Skipf("a file of such a name cannot be made here: %v", err)
		}
		return path
	}
	var rows strings.Builder
	for i := range 20 {
		rows.WriteString(string(rune('0'+i%10)) + "," + string(rune('1'+i%7)) + ",text" + steering + "\n")
	}
	name := "a" + strings.ReplaceAll(steering, "/", "") + ".csv"
	table := write(name, "x"+steering+",y"+steering+",z"+steering+"\n"+rows.String())
	wrong := write("wrong"+name, "x,y\n1,"+steering+"\n2,3\n")
	config := write("c.toml", "name = 'a'\n[data]\npath = '"+strings.ReplaceAll(strings.ToValidUTF8(steering, ""), "\x1b", "")+"'\n")
	run := filepath.Join(dir, "run"+steering)
	if err := os.Mkdir(run, 0o755); err != nil {
		t.Fatal(err)
	}
	quoted := `\u001b[31m\u001b]0;title\u0007` + "\u009b2J\u202e"
	events := `{"v":1,"type":"run-started","time":"2026-01-02T15:04:05Z","seconds":0,"start":{"name":"NAME","device":"NAME",` +
		`"data":{"name":"NAME","kernel":"NAME","columns":[]},"kernels":[{"id":"NAME","name":"NAME"}]}}
{"v":1,"type":"evaluation","time":"2026-01-02T15:04:05Z","seconds":0,"evaluation":{"index":1,"planned":1,` +
		`"kernels":[{"id":"NAME","status":"live","fit":{"rank":1}}]}}
{"v":1,"type":"metrics","time":"2026-01-02T15:04:05Z","seconds":0,"metrics":[{"method":"NAME"}]}
{"v":1,"type":"state","time":"2026-01-02T15:04:05Z","seconds":0,"state":{"from":"running","to":"failed","reason":"NAME"}}
`
	if err := os.WriteFile(filepath.Join(run, "events.jsonl"), []byte(strings.ReplaceAll(events, "NAME", quoted)), 0o644); err != nil {
		t.Fatal(err)
	}
	quick := []string{"--set", "schedule.evaluate_every=1", "--set", "schedule.refine=0",
		"--set", "schedule.steps=1", "--set", "optimise.starts=1",
		"--set", "kernels.expressions=SE, LIN[1]", "--set", "sparse.inducing=4", "--target", "2", "--set", "data.test=4"}
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"data", "info", table, "--target", "2"}, exitDone},
		{[]string{"data", "info", table, "--target", "2", "--json"}, exitDone},
		{[]string{"data", "info", table, "--target", "no" + steering}, exitUsage},
		{[]string{"data", "info", wrong}, exitUsage},
		{[]string{"data", "info", filepath.Join(dir, "none"+name)}, exitUsage},
		{append([]string{"run", table, "--headless", "--out", filepath.Join(dir, "out"+steering)}, quick...), exitDone},
		{[]string{"run", config, "--headless"}, exitUsage},
		{[]string{"config", "check", config}, exitUsage},
		{[]string{"config", "show", config, "--set", "data.name=" + steering}, exitUsage},
		{[]string{"kernels", "SE[a]+" + steering}, exitUsage},
		{[]string{"kernels", `SE["` + "a\x1b" + `"]`}, exitDone},
		{[]string{"open", run, "--summary"}, exitDone},
		{[]string{"open", run, "--json"}, exitDone},
		{[]string{"open", run + "none", "--summary"}, exitUsage},
		{[]string{"export", run, "-o", filepath.Join(dir, "export"+steering)}, exitDone},
		{[]string{"export", run, "--format", "json"}, exitDone},
		{[]string{steering}, exitUsage},
		{[]string{"run", "fig1a", "--" + steering}, exitUsage},
	} {
		sent, code := onTerminal(t, c.args...)
		if code != c.code {
			t.Errorf("%q: exit code %d, want %d: %q", c.args, code, c.code, sent)
		}
		if sent == "" {
			t.Errorf("%q: nothing is written", c.args)
		}
		for _, r := range sent {
			if unicode.IsControl(r) && !strings.ContainsRune("\r\n\t", r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("%q: %q comes through: %q", c.args, r, sent)
				break
			}
		}
	}
}

// A report is one line of a length that can be read.
func TestReportIsShort(t *testing.T) {
	var b bytes.Buffer
	complain(&b, errors.New("begin\n"+strings.Repeat("é", 100_000)+"\nend"))
	if s := b.String(); len(s) > 3000 || strings.Count(s, "\n") != 1 || !strings.HasPrefix(s, "kestrel: begin; é") ||
		!strings.HasSuffix(s, "é; end\n") {
		t.Errorf("%d bytes: %.100q", len(s), s)
	}
}

// What is waited for is told with what is left of it; lines that stay stand alone.
func TestWaiting(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var out strings.Builder
	w := &waiting{out: &out, began: began}
	if got := w.text(began.Add(3 * time.Second)); got != "reading; 0:03 so far" {
		t.Error(got)
	}
	at := func(s int, done int) string {
		w.step = prepare.Step{Doing: "kernels predict", Of: "kernel", Done: done, Total: 10}
		w.meter.Take(w.step.Doing, done, began.Add(time.Duration(s)*time.Second))
		return w.text(began.Add(time.Duration(s) * time.Second))
	}
	for _, c := range []struct {
		s, done int
		want    string
	}{{10, 0, "kernels predict, kernel 0 of 10; 0:10 so far"},
		{16, 2, "kernels predict, kernel 2 of 10; 0:16 so far, this step about 0:24 more"},
		{40, 10, "kernels predict, kernel 10 of 10; 0:40 so far"}} {
		if got := at(c.s, c.done); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	w.line("a line")
	w.width = func() int { return 80 }
	w.line("another")
	if got := out.String(); got != "a line\n\r\x1b[Kanother\n" {
		t.Errorf("%q", got)
	}
}

// On a terminal predictions are a table for reading, unless a format is asked for.
func TestPredictionsOnATerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	tinyRun(t, "run")
	write(t, "new.csv", "x\n0.5\n")
	sent, code := onTerminal(t, "predict", "run", "--data", "new.csv", "--quiet")
	if lines := strings.Split(sent, "\r\n"); code != 0 || strings.Join(strings.Fields(lines[0]), " ") != "row x mean 5 % 95 %" {
		t.Errorf("code %d\n%s", code, sent)
	}
	if sent, code := onTerminal(t, "predict", "run", "--data", "new.csv", "--quiet", "--format", "csv"); code != 0 ||
		!strings.HasPrefix(sent, "row,x,mean,sd_f,sd_y,f_q0.05,") {
		t.Errorf("code %d\n%s", code, sent)
	}
}
