// Package ui is the workbench in the terminal. The root, app, is the only Bubble
// Tea model; screens are structs that draw on a canvas and say what their keys
// do. Nothing here computes anything of the model: it asks experiment, in
// commands, never in Update or View.
package ui

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/launcher"
	"example.com/kestrel/ui/note"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// app is the root model.
type app struct {
	ctx     context.Context
	cancel  context.CancelFunc // ends what was asked for and is not needed any more
	pending sync.WaitGroup     // runs being begun or closed
	begun   begun
	opts    Options

	w, h   int
	theme  *theme.Theme
	mouse  bool
	canvas plot.Canvas
	frame  string
	fresh  bool // frame shows how things stand; set by Update and View alone
	drawn  int  // frames, for tests

	launcher *launcher.Launcher // shown; nil: the bench is
	kept     *launcher.Launcher // with what was typed last
	bench    *bench
	busy     string                         // what is under way before a bench is there
	since    time.Time                      // when that began, where it may take long
	step     atomic.Value                   // prepare.Step: what of it is being done
	meter    record.Meter                   // of that
	sketch   atomic.Pointer[inspect.Sketch] // of the data of the run that is being prepared; nil: not read yet
	raster   plot.Raster                    // of that
	prompt   prompt                         // asks the user; nil: nobody asks
	help     *help
	tabs     []plot.Rect // of the views' names, for the mouse
	pictures pictures
	note     note.Note

	away bool   // the terminal has told that nobody looks
	ring string // what is to be told of the end of a run, to whom does not look

	watching bool // a tick is under way
	crash    *Crash
	err      error // why what the command line asked for cannot be shown
	leaving  bool
}

func newApp(ctx context.Context, o Options) *app {
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.now == nil {
		o.now = time.Now
	}
	a := &app{opts: o, mouse: true}
	a.ctx, a.cancel = context.WithCancel(ctx)
	profile := colorprofile.TrueColor
	if o.Env("NO_COLOR") != "" {
		profile = colorprofile.ASCII
	}
	a.theme = a.newTheme(profile, true, o.Settings.Glyphs(o.Env))
	return a
}

// newTheme is a theme in the user's colours.
func (a *app) newTheme(profile colorprofile.Profile, dark bool, glyphs plot.Glyphs) *theme.Theme {
	t := theme.New(profile, a.opts.Settings.Dark(dark), glyphs)
	a.opts.Settings.Paint(t)
	return t
}

// Init implements tea.Model.
func (a *app) Init() tea.Cmd {
	cmds := []tea.Cmd{tea.RequestBackgroundColor, a.askPictures()}
	if a.opts.Remark != "" {
		cmds = append(cmds, note.Say(note.Warning, "%s", a.opts.Remark))
	}
	switch {
	case a.opts.Config != nil:
		cmds = append(cmds, a.begin(*a.opts.Config, a.opts.Out))
	case a.opts.Resume != "":
		cmds = append(cmds, a.resume(a.opts.Resume, a.opts.Data, a.opts.FromStart, nil))
	case a.opts.Open != "":
		cmds = append(cmds, a.open(a.opts.Open))
	default:
		cmds = append(cmds, a.launch())
	}
	return catching(tea.Batch(cmds...))
}

// Update implements tea.Model.
func (a *app) Update(msg tea.Msg) (model tea.Model, cmd tea.Cmd) {
	model = a // also after a panic
	defer func() {
		if p := recover(); p != nil {
			a.caught(p)
			a.fresh = false
		}
		if a.crash != nil {
			cmd = tea.Quit
		}
	}()
	cmd, changed := a.handle(msg)
	a.fresh = a.fresh && !changed
	a.note.Age()
	if p, ok := a.prompt.(*prunePrompt); ok {
		cmd = tea.Batch(cmd, p.renew())
	}
	if a.bench != nil {
		cmd = tea.Batch(cmd, a.bench.refresh())
	}
	if !a.fresh {
		cmd = tea.Batch(cmd, a.showPictures())
	}
	return model, catching(tea.Batch(cmd, a.watch(), a.rung()))
}

// handle takes a message in, and reports whether it could change what is shown.
func (a *app) handle(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.w, a.h = msg.Width, msg.Height
		cmd = a.screenCleared()
	case tea.ColorProfileMsg:
		if a.opts.Env("NO_COLOR") == "" {
			a.theme = a.newTheme(msg.Profile, a.theme.Dark, a.theme.Glyphs)
		}
	case tea.BackgroundColorMsg:
		a.theme = a.newTheme(a.theme.Profile, msg.IsDark(), a.theme.Glyphs)
		a.pictures.ground = msg.Color
	case pictureMsg:
		return a.renewPicture(), false
	case paintedMsg:
		return a.painted(msg), false
	case tea.FocusMsg:
		a.away = false
		return nil, false
	case tea.BlurMsg:
		a.away = true
		return nil, false
	case tea.KeyPressMsg:
		return a.key(msg)
	case tea.PasteMsg:
		cmd = a.paste(msg)
	case tea.MouseMsg:
		cmd = a.mouseEvent(msg)
	case tickMsg:
		a.watching = false
		if a.bench != nil {
			cmd = a.bench.observe()
		} else if s, ok := a.step.Load().(prepare.Step); ok {
			a.meter.Take(s.Doing, s.Done, a.opts.now())
		}
	case beganMsg:
		cmd = a.began(msg)
	case openedMsg:
		cmd = a.opened(msg)
	case note.Msg:
		a.heed(msg)
	case benchNoteMsg:
		a.heedOf(msg)
	case crashMsg:
		a.crashed(msg.crash)
	case leftMsg:
		cmd = tea.Quit
	default:
		return a.pass(msg)
	}
	return cmd, true
}

// pass gives a message on to the screen it may be of.
func (a *app) pass(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	if a.pictures.terminal.Hear(msg) {
		return nil, true
	}
	l := a.launcher
	if l == nil {
		l = a.kept // not shown, but its questions must end
	}
	if l != nil {
		if cmd, ok := l.Message(msg); ok {
			return cmd, true
		}
	}
	if a.bench != nil {
		return a.bench.message(msg)
	}
	return nil, false
}

// tickMsg comes while something moves without events: the clock, the progress
// within an evaluation.
type tickMsg struct{}

const tickTime = 250 * time.Millisecond

// watch keeps the clock going while a run goes on.
func (a *app) watch() tea.Cmd {
	if a.watching || a.leaving || a.bench == nil && a.busy == "" || a.bench != nil && !a.bench.moving() {
		return nil
	}
	a.watching = true
	return tea.Tick(tickTime, func(time.Time) tea.Msg { return tickMsg{} })
}
