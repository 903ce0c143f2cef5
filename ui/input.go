package ui

import (
	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/note"
	"example.com/kestrel/ui/plot"
)

// filter drops mouse movements that nothing answers to, before they cause a
// frame.
func (a *app) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if m, ok := msg.(tea.MouseMotionMsg); ok && m.Button == tea.MouseNone {
		return nil
	}
	return msg
}

// groups returns what keys do now, the most particular first.
func (a *app) groups() []input.Group {
	var gs []input.Group
	switch {
	case a.waiting():
		gs = a.waitingKeys()
	case a.bench != nil:
		gs = a.bench.groups()
	case a.launcher != nil:
		gs = a.launcher.Groups()
	}
	return append(gs, input.Group{Name: globalKeys, All: []input.Binding{
		{Keys: []string{"?", "f1"}, Label: "?", Short: "help", About: "what the words mean and what keys do, of each view; f1 where " +
			"letters are typed", Do: a.toggleHelp},
		{Keys: []string{"L"}, Label: "L", Short: "runs", About: "launcher: another run", Off: a.bench == nil, Do: a.toLauncher},
		{Keys: []string{"g"}, Label: "g", About: "characters: braille, blocks, plain ASCII", Do: a.nextGlyphs},
		{Keys: []string{"m"}, Label: "m", About: "mouse on or off; off, the terminal selects text for copying", Do: a.toggleMouse},
		{Keys: []string{"ctrl+z"}, Do: a.noSuspending},
		{Keys: []string{"ctrl+l"}, Label: "ctrl+l", About: "draw the screen anew",
			Do: func() tea.Cmd { return tea.Sequence(tea.ClearScreen, a.screenCleared()) }},
		{Keys: []string{"q", "ctrl+c"}, Label: "q", Short: "quit", About: "quit; a run in flight is stopped with everything written", Do: a.quit},
	}})
}

// waitingKeys are keys of a bench or launcher that is not there yet: they say so.
func (a *app) waitingKeys() []input.Group {
	return []input.Group{{Name: "while a run is prepared", All: []input.Binding{
		{Keys: []string{"L"}, Do: func() tea.Cmd {
			return note.Say(note.Warning, "other runs can be looked at once this one has been prepared; q leaves without it")
		}},
	}}}
}

// key does what a key is for, and reports whether it is for anything.
func (a *app) key(msg tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	key := msg.String()
	if a.leaving {
		return nil, true
	}
	if a.prompt != nil {
		switch key {
		case "esc":
			a.prompt = nil
			return nil, true
		case "ctrl+c":
			if q, ok := a.prompt.(*question); ok { // pressed again: it is meant
				a.prompt = nil
				return q.act(), true
			}
			a.prompt = nil
			return a.quit(), true
		case "enter":
			cmd, done := a.prompt.accept()
			if done {
				a.prompt = nil
			}
			return cmd, true
		}
		return a.prompt.update(msg), true
	}
	if a.help != nil {
		if a.help.key(key) {
			a.help = nil
		}
		return nil, true
	}
	if t := a.typist(); t != nil && key != "enter" && key != "esc" && key != "ctrl+c" {
		t.typed(msg)
		return nil, true
	}
	if a.bench == nil && a.launcher != nil && a.busy == "" {
		if cmd, taken := a.launcher.Key(msg); taken {
			return cmd, true
		}
	}
	return input.Dispatch(a.groups(), a.opts.Settings.Key(key))
}

// typist is a view with a line of text in it.
type typist interface {
	// typing reports whether keys go into that line.
	typing() bool
	// typed takes a key or pasted text.
	typed(msg tea.Msg)
}

// typist is the view that keys are typed into, nil if there is none.
func (a *app) typist() typist {
	if a.bench != nil {
		if t, ok := a.bench.views[a.bench.at].(typist); ok && t.typing() {
			return t
		}
	}
	return nil
}

// paste takes pasted text to where keys go.
func (a *app) paste(msg tea.PasteMsg) tea.Cmd {
	switch {
	case a.leaving:
	case a.prompt != nil:
		return a.prompt.update(msg)
	case a.help != nil:
	case a.typist() != nil:
		a.typist().typed(msg)
	case a.bench == nil && a.launcher != nil && a.busy == "":
		return a.launcher.Paste(msg)
	}
	return nil
}

func (a *app) mouseEvent(msg tea.MouseMsg) tea.Cmd {
	switch {
	case a.prompt != nil || a.leaving:
		return nil
	case a.help != nil:
		if w, ok := msg.(tea.MouseWheelMsg); ok {
			a.help.wheel(w.Button == tea.MouseWheelDown)
		}
		return nil
	case a.bench != nil:
		return a.bench.mouse(msg)
	case a.launcher != nil && a.busy == "":
		return a.launcher.Mouse(msg)
	}
	return nil
}

func (a *app) toggleHelp() tea.Cmd {
	if a.help == nil {
		a.help = &help{groups: a.groups(), title: "launcher", terms: launcherTerms()}
		if b := a.bench; b != nil {
			a.help.title, a.help.terms = b.views[b.at].name(), b.terms()
		} else if a.waiting() {
			a.help.title, a.help.terms = "please wait", waitingTerms()
		}
	} else {
		a.help = nil
	}
	return nil
}

func (a *app) nextGlyphs() tea.Cmd {
	next := map[plot.Glyphs]plot.Glyphs{plot.Braille: plot.Blocks, plot.Blocks: plot.Halves, plot.Halves: plot.ASCII, plot.ASCII: plot.Braille}
	a.theme = a.newTheme(a.theme.Profile, a.theme.Dark, next[a.theme.Glyphs])
	return note.Say(note.Good, "charts in %s", map[plot.Glyphs]string{plot.Braille: "braille", plot.Blocks: "blocks",
		plot.Halves: "half blocks", plot.ASCII: "plain ASCII"}[a.theme.Glyphs])
}

func (a *app) toggleMouse() tea.Cmd {
	a.mouse = !a.mouse
	if a.mouse {
		return note.Say(note.Good, "mouse on")
	}
	return note.Say(note.Good, "mouse off: the terminal selects text; m turns it on again")
}
