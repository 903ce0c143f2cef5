package ui

import (
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/note"
	"example.com/kestrel/ui/settings"
)

// showsProgress reports whether a terminal is known to take OSC 9;4, progress in the
// task bar. Others show it as a message, over and over, or do nothing.
func showsProgress(env func(string) string) bool {
	if env("TMUX") != "" || strings.HasPrefix(env("TERM"), "screen") { // it keeps it for itself
		return false
	}
	vte, _ := strconv.Atoi(env("VTE_VERSION"))
	return env("WT_SESSION") != "" || env("ConEmuANSI") == "ON" || vte >= 8000 ||
		env("TERM_PROGRAM") == "ghostty" || env("TERM_PROGRAM") == "WezTerm" || env("TERM_PROGRAM") == "mintty"
}

// progressBar is what the task bar is told; nil: nothing.
func (a *app) progressBar() *tea.ProgressBar {
	switch a.opts.Settings.Attention.Progress {
	case settings.Never:
		return nil
	case settings.Always:
	default:
		if !showsProgress(a.opts.Env) {
			return nil
		}
	}
	b := a.bench
	if b == nil || b.hist.Start == nil || b.settled() || b.crashed() {
		return nil
	}
	planned := b.hist.Start.Planned
	if e := b.hist.Evaluation; e != nil {
		planned = e.Planned
	}
	if planned <= 0 {
		return tea.NewProgressBar(tea.ProgressBarIndeterminate, 0)
	}
	bar := tea.NewProgressBar(tea.ProgressBarDefault, min(100, 100*b.made()/planned))
	if b.state() == record.Paused {
		bar.State = tea.ProgressBarWarning
	}
	return bar
}

// freshEnd is how old the end of a followed run may be that is told as news.
const freshEnd = 10 * time.Second

// ended rings where a run has come to its end while nobody looks, as far as the terminal
// tells.
func (a *app) ended(b *bench, e *record.Event) {
	if e.Type != record.EventFinished || e.State == nil || b != a.bench || a.opts.now().Sub(e.Time) > freshEnd {
		return
	}
	switch a.opts.Settings.Attention.Bell {
	case settings.Never:
		return
	case settings.Always:
	default:
		if !a.away {
			return
		}
	}
	a.ring = "kestrel: " + words.PlainLine(b.name()) + " has " + map[record.State]string{record.Finished: "finished",
		record.Stopped: "been stopped", record.Failed: "failed"}[e.State.To]
}

// rung is the command of a bell that is to be rung: the bell itself, and a message where
// the terminal is known to show one.
func (a *app) rung() tea.Cmd {
	if a.ring == "" {
		return nil
	}
	text := "\a"
	switch term := a.opts.Env("TERM_PROGRAM"); {
	case a.opts.Env("TMUX") != "":
	case term == "iTerm.app", term == "WezTerm", term == "ghostty", a.opts.Env("TERM") == "xterm-kitty":
		text += "\x1b]9;" + a.ring + "\x1b\\"
	}
	a.ring = ""
	return tea.Raw(text)
}

// noSuspending says why ctrl+z does nothing.
func (a *app) noSuspending() tea.Cmd {
	if b := a.bench; b != nil && b.owns() && !b.settled() {
		return note.Say(note.Warning, "no suspending: the run computes in this program; with --headless it needs no terminal, "+
			"and kestrel open steers it")
	}
	if a.waiting() {
		return note.Say(note.Warning, "no suspending: the run is prepared in this program; q leaves, and with --headless it needs no terminal")
	}
	return note.Say(note.Warning, "no suspending; q leaves, and kestrel open shows a run again")
}
