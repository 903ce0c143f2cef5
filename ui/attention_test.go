package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/settings"
)

// said are the raw texts of a command, what it would have the terminal told.
func said(cmd tea.Cmd) (all []string) {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			all = append(all, said(c)...)
		}
	case tea.RawMsg:
		all = append(all, fmt.Sprint(msg.Msg))
	}
	return all
}

// A bell rings where a run ends and nobody looks, once, and never for the end of a run of
// last week.
func TestBell(t *testing.T) {
	for _, c := range []struct {
		name  string
		wish  string
		away  bool
		age   time.Duration
		rings bool
	}{
		{"away", "", true, 0, true}, {"looked at", "", false, 0, false}, {"old", "", true, time.Hour, false},
		{"always", settings.Always, false, 0, true}, {"never", settings.Never, true, 0, false},
	} {
		a := testApp(t, 80, 24, demoEvents(t, "K12", 3))
		a.opts.Settings.Attention.Bell = c.wish
		if c.away {
			a.Update(tea.BlurMsg{})
		}
		a.bench.apply(&record.Event{Type: record.EventFinished, Time: a.opts.now().Add(-c.age),
			State: &record.StateChange{From: record.Running, To: record.Finished}})
		if rang := strings.Contains(strings.Join(said(a.rung()), ""), "\a"); rang != c.rings {
			t.Errorf("%s: rang %v", c.name, rang)
		}
		if a.rung() != nil {
			t.Errorf("%s: it rings twice", c.name)
		}
	}
}

// Only a terminal that is known to have a message is sent one, and tmux none.
func TestMessage(t *testing.T) {
	for env, want := range map[string]bool{"TERM_PROGRAM=ghostty": true, "TERM=xterm-kitty": true, "TERM=xterm": false,
		"TERM_PROGRAM=ghostty TMUX=x": false} {
		a := testApp(t, 80, 24, demoEvents(t, "K12", 3))
		a.opts.Env = envOf(env)
		a.ring = "kestrel: demo has finished"
		text := strings.Join(said(a.rung()), "")
		if strings.Contains(text, "\x1b]9;kestrel: demo has finished\x1b\\") != want || !strings.HasPrefix(text, "\a") {
			t.Errorf("%s: %q", env, text)
		}
	}
}

func envOf(text string) func(string) string {
	return func(name string) string {
		for _, word := range strings.Fields(text) {
			if v, ok := strings.CutPrefix(word, name+"="); ok {
				return v
			}
		}
		return ""
	}
}

// The task bar is told how far a run is, where the terminal has one; at its end it is
// cleared.
func TestProgressInTheTaskBar(t *testing.T) {
	for env, want := range map[string]bool{"": false, "WT_SESSION=1": true, "VTE_VERSION=7600": false, "VTE_VERSION=8003": true,
		"TERM_PROGRAM=WezTerm": true, "TERM_PROGRAM=WezTerm TMUX=/tmp/x": false} {
		a := testApp(t, 80, 24, demoEvents(t, "K12", 3))
		a.opts.Env = envOf(env)
		bar := a.View().ProgressBar
		if (bar != nil) != want {
			t.Errorf("%s: %+v", env, bar)
			continue
		}
		e := a.bench.hist.Evaluation
		if want && (bar.State != tea.ProgressBarDefault || bar.Value != 100*e.Index/e.Planned) {
			t.Errorf("%s: %+v after %d of %d", env, bar, e.Index, e.Planned)
		}
		a.opts.Settings.Attention.Progress = settings.Always
		if a.View().ProgressBar == nil {
			t.Errorf("%s: not always", env)
		}
		a.opts.Settings.Attention.Progress = settings.Never
		if a.View().ProgressBar != nil {
			t.Errorf("%s: not never", env)
		}
	}
	a := testApp(t, 80, 24, settle(demoEvents(t, "K12", 3), record.Finished, "done"))
	a.opts.Settings.Attention.Progress = settings.Always
	if bar := a.View().ProgressBar; bar != nil {
		t.Errorf("at the end: %+v", bar)
	}
	if !a.View().ReportFocus {
		t.Error("the terminal is not asked whether anybody looks")
	}
}

// C copies what was found, the table of kernels, or commands.
func TestCopying(t *testing.T) {
	a := testApp(t, 80, 24, demoEvents(t, "K12", 3))
	for key, want := range map[string]string{"s": a.bench.kernelName(a.bench.hist.Evaluation.Leader().ID),
		"t": "rank\tkernel\tq*", "c": "kestrel run runs/demo/config.toml", "o": "kestrel open runs/demo"} {
		a.bench.path = "runs/demo"
		press(a, "C")
		mustShow(t, screen(a), "Copy", "the table of kernels")
		_, cmd := a.Update(keyMsg(key))
		found := ""
		for _, c := range append(batched(cmd), cmd) {
			for _, c := range append(batched(c), c) {
				if msg := c(); msg != nil && strings.Contains(fmt.Sprintf("%T", msg), "lipboard") {
					found = fmt.Sprint(msg)
				}
			}
		}
		if !strings.Contains(found, want) {
			t.Errorf("%s: %q, want %q", key, found, want)
		}
		if a.prompt != nil {
			t.Errorf("%s: the card stays", key)
		}
	}
	if n := strings.Count(a.bench.copiedTable(), "\n"); n != len(ranked(a.bench.hist.Evaluation))+1 {
		t.Errorf("%d lines", n)
	}
	if cmd := toClipboard("it", strings.Repeat("x", mostCopied+1)); strings.Contains(fmt.Sprintf("%T", cmd()), "lipboard") {
		t.Error("too much is copied")
	}
}

// A key of the user's does what another one does, but is typed where text is.
func TestOwnKeys(t *testing.T) {
	a := testApp(t, 120, 36, demoEvents(t, "K12", 3))
	a.opts.Settings.Keys = map[string]string{"w": "6"}
	press(a, "w")
	if a.bench.at != 5 {
		t.Errorf("view %d", a.bench.at)
	}
	press(a, "1", "/", "w")
	if got := a.bench.main.table.filter; got != "w" {
		t.Errorf("typed %q", got)
	}
	press(a, "esc", "ctrl+z")
	if a.leaving {
		t.Error("ctrl+z leaves")
	}
}
