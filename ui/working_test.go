package ui

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
)

// working drives a workbench with a run of its own, without a terminal. Its clock
// stands still: no note goes for its age.
type working struct {
	t    *testing.T
	a    *app
	msgs chan tea.Msg
}

func newWorking(t *testing.T, o Options) *working {
	t.Helper()
	now := time.Now()
	o.Env, o.now = func(string) string { return "" }, func() time.Time { return now }
	d := &working{t, newApp(t.Context(), o), make(chan tea.Msg, 1000)}
	t.Cleanup(func() {
		if err := d.a.close(); err != nil {
			t.Error(err)
		}
	})
	d.do(d.a.Init())
	d.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	return d
}

// do carries a command out beside the screen.
func (d *working) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				d.do(c)
			}
		default:
			select {
			case d.msgs <- msg:
			case <-d.a.ctx.Done():
			}
		}
	}()
}

func (d *working) send(msg tea.Msg) {
	_, cmd := d.a.Update(msg)
	d.do(cmd)
}

func (d *working) press(keys ...string) {
	for _, k := range keys {
		d.send(keyMsg(k))
	}
}

// until takes messages until something is so.
func (d *working) until(what string, is func() bool) {
	d.t.Helper()
	late := time.After(time.Minute)
	for !is() {
		select {
		case msg := <-d.msgs:
			d.send(msg)
		case <-late:
			d.t.Fatalf("waiting until %s; the screen is\n%s", what, screen(d.a))
		}
	}
}

func (d *working) untilState(s record.State) {
	d.t.Helper()
	d.until("the run is "+string(s), func() bool { return d.a.bench != nil && d.a.bench.state() == s })
}

func (d *working) untilShown(text string) {
	d.t.Helper()
	d.until("there is "+text, func() bool { return strings.Contains(screen(d.a), text) })
}

// longConfig is a run of many short evaluations.
func longConfig(t *testing.T) *config.Config {
	c := leakConfig(t)
	c.Settings.EvaluateEvery = 0.05
	return c
}

// carryOut makes a run without a screen, to its end.
func carryOut(t *testing.T, c *config.Config, path string) {
	t.Helper()
	s, err := experiment.Begin(t.Context(), *c, path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run.Drive(t.Context(), record.Course{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// beginWorking begins a run and waits for an evaluation.
func beginWorking(t *testing.T, c *config.Config) *working {
	t.Helper()
	t.Chdir(t.TempDir())
	d := newWorking(t, Options{Config: c, Out: filepath.Join(t.TempDir(), "run")})
	d.until("there is an evaluation", func() bool { return d.a.bench != nil && d.a.bench.hist.Made > 2 })
	return d
}

// screen is what is to be seen, also where the last message has changed nothing.
func (d *working) screen() string {
	d.a.fresh = false
	return screen(d.a)
}

// count counts the events of a type in the log.
func (d *working) count(what record.EventType) int {
	d.t.Helper()
	events, err := recordtest.Read(d.a.bench.path)
	if err != nil {
		d.t.Fatal(err)
	}
	n := 0
	for i := range events {
		if events[i].Type == what {
			n++
		}
	}
	return n
}
