// Package ui is the workbench in the terminal. The root, app, is the only Bubble
// Tea model; screens are structs that draw on a canvas and say what their keys
// do. Nothing here computes anything of the model: it asks experiment, in
// commands, never in Update or View.
package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"kestrel/experiment"
	"kestrel/ui/plot"
)

// Options say what the workbench shows first and where.
type Options struct {
	Config *experiment.Config // to run at once; nil with Open "": the launcher
	Out    string             // its run directory; "": experiment.DefaultPath
	Open   string             // run directory to show
	Drive  experiment.Drive   // what follows a run by itself
	Cores  int                // for optimising; 0: GOMAXPROCS

	Input  io.Reader // nil: standard input
	Output io.Writer // nil: standard output
	Env    func(string) string

	now func() time.Time // for tests
}

// Outcome is how the workbench was left.
type Outcome struct {
	Path        string // of the last run shown, "" if there was none
	State       experiment.State
	Own         bool // it was run here
	Interrupted bool // by a signal
}

// Run shows the workbench until the user leaves it or ctx ends; a run in flight
// is then stopped with everything written.
func Run(ctx context.Context, o Options) (Outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := newApp(ctx, o)
	restore := keepTerminal()
	defer restore()
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFilter(a.filter)}
	if o.Input != nil {
		options = append(options, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		options = append(options, tea.WithOutput(o.Output))
	}
	_, err := tea.NewProgram(a, options...).Run()
	out := Outcome{}
	if ctx.Err() != nil { // the program was ended from outside
		out.Interrupted, err = true, nil
	}
	if e := a.close(); err == nil {
		err = e
	}
	switch {
	case a.crash != nil:
		return out, a.crash
	case a.err != nil:
		return out, &InputError{a.err}
	}
	if b := a.bench; b != nil {
		out.Path, out.State = b.path, b.state()
		if b.session != nil {
			end := b.session.Run.Snapshot()
			out.Own, out.State = true, end.State
		}
	}
	return out, err
}

// InputError is a config, data or a directory that cannot be used.
type InputError struct{ err error }

func (e *InputError) Error() string { return e.err.Error() }
func (e *InputError) Unwrap() error { return e.err }

// app is the root model.
type app struct {
	ctx     context.Context
	cancel  context.CancelFunc // ends what was asked for and is not needed any more
	pending sync.WaitGroup     // runs being begun or closed
	opts    Options

	w, h   int
	theme  *theme
	mouse  bool
	canvas plot.Canvas
	frame  string
	dirty  bool
	drawn  int // frames, for tests

	launcher *launcher // shown; nil: the bench is
	kept     *launcher // with what was typed last
	bench    *bench
	busy     string // what is under way before a bench is there
	prompt   prompt // asks the user; nil: nobody asks
	help     *help
	tabs     []plot.Rect // of the views' names, for the mouse
	note     note

	watching bool // a tick is under way
	crash    *Crash
	err      error // why what the command line asked for cannot be shown
	leaving  bool
}

// note is one line about what happened last.
type note struct {
	text  string
	level level
	at    time.Time
}

type level int

const (
	good level = iota
	warning
	failure
)

func newApp(ctx context.Context, o Options) *app {
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.now == nil {
		o.now = time.Now
	}
	a := &app{opts: o, mouse: true, dirty: true}
	a.ctx, a.cancel = context.WithCancel(ctx)
	profile := colorprofile.TrueColor
	if o.Env("NO_COLOR") != "" {
		profile = colorprofile.ASCII
	}
	a.theme = newTheme(profile, true, glyphsFor(o.Env))
	return a
}

// Init implements tea.Model.
func (a *app) Init() tea.Cmd {
	cmds := []tea.Cmd{tea.RequestBackgroundColor}
	switch {
	case a.opts.Config != nil:
		cmds = append(cmds, a.begin(*a.opts.Config, a.opts.Out))
	case a.opts.Open != "":
		cmds = append(cmds, a.open(a.opts.Open))
	default:
		cmds = append(cmds, a.launch())
	}
	return tea.Batch(cmds...)
}

// filter drops mouse movements that nothing answers to, before they cause a
// frame.
func (a *app) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if m, ok := msg.(tea.MouseMotionMsg); ok && m.Button == tea.MouseNone {
		return nil
	}
	return msg
}

// Crash is a mistake of the program that ended the workbench. The run was
// stopped with everything written.
type Crash struct {
	Value any
	Stack []byte
}

func (c *Crash) Error() string { return fmt.Sprintf("internal error: %v", c.Value) }

// caught notes a panic.
func (a *app) caught(p any) {
	if a.crash == nil {
		a.crash = &Crash{p, debug.Stack()}
	}
}

// Update implements tea.Model.
func (a *app) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer func() {
		if p := recover(); p != nil {
			a.caught(p)
		}
		if a.crash != nil {
			cmd = tea.Quit
		}
	}()
	cmd = a.handle(msg)
	if a.bench != nil {
		cmd = tea.Batch(cmd, a.bench.refresh())
	}
	return a, tea.Batch(cmd, a.watch())
}

func (a *app) handle(msg tea.Msg) tea.Cmd {
	a.dirty = true
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.w, a.h = msg.Width, msg.Height
	case tea.ColorProfileMsg:
		if a.opts.Env("NO_COLOR") == "" {
			a.theme = newTheme(msg.Profile, a.theme.dark, a.theme.glyphs)
		}
	case tea.BackgroundColorMsg:
		a.theme = newTheme(a.theme.profile, msg.IsDark(), a.theme.glyphs)
	case tea.KeyPressMsg:
		return a.key(msg)
	case tea.PasteMsg:
		if a.prompt != nil {
			return a.prompt.update(msg)
		}
		if a.bench == nil && a.launcher != nil {
			return a.launcher.paste(msg)
		}
	case tea.MouseMsg:
		return a.mouseEvent(msg)
	case tickMsg:
		a.watching = false
		if a.bench != nil {
			return a.bench.observe()
		}
	case beganMsg:
		return a.began(msg)
	case openedMsg:
		return a.opened(msg)
	case noteMsg:
		a.note = note{msg.text, msg.level, a.opts.now()}
		if msg.then != nil {
			return msg.then
		}
	case leftMsg:
		return tea.Quit
	default:
		l := a.launcher
		if l == nil {
			l = a.kept // not shown, but its questions must end
		}
		if l != nil {
			if cmd, ok := l.message(msg); ok {
				return cmd
			}
		}
		if a.bench != nil {
			return a.bench.message(msg)
		}
		a.dirty = false
	}
	return nil
}

// noteMsg tells the user what came of an order.
type noteMsg struct {
	text  string
	level level
	then  tea.Cmd
}

// say makes a command of a note.
func say(l level, format string, args ...any) tea.Cmd {
	text := fmt.Sprintf(format, args...)
	return func() tea.Msg { return noteMsg{text: text, level: l} }
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

// groups returns what keys do now, the most particular first.
func (a *app) groups() []bindingGroup {
	var gs []bindingGroup
	switch {
	case a.busy != "" && a.bench == nil: // nothing but to wait or to leave
	case a.bench != nil:
		gs = a.bench.groups()
	case a.launcher != nil:
		gs = a.launcher.groups()
	}
	return append(gs, bindingGroup{globalKeys, []binding{
		{keys: []string{"?", "f1"}, label: "?", short: "help", about: "show or hide this help", do: a.toggleHelp},
		{keys: []string{"L"}, label: "L", about: "launcher: another run", off: a.bench == nil, do: a.toLauncher},
		{keys: []string{"g"}, label: "g", about: "characters: braille, blocks, plain ASCII", do: a.nextGlyphs},
		{keys: []string{"m"}, label: "m", about: "mouse on or off; off, the terminal selects text for copying", do: a.toggleMouse},
		{keys: []string{"ctrl+l"}, label: "ctrl+l", about: "draw the screen anew", do: func() tea.Cmd { return tea.ClearScreen }},
		{keys: []string{"q", "ctrl+c"}, label: "q", short: "quit", about: "quit; a run in flight is stopped with everything written", do: a.quit},
	}})
}

func (a *app) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if a.leaving {
		return nil
	}
	if a.prompt != nil {
		switch key {
		case "esc":
			a.prompt = nil
			return nil
		case "ctrl+c":
			if q, ok := a.prompt.(*question); ok { // pressed again: it is meant
				a.prompt = nil
				return q.act()
			}
			a.prompt = nil
			return a.quit()
		case "enter":
			cmd, done := a.prompt.accept()
			if done {
				a.prompt = nil
			}
			return cmd
		}
		return a.prompt.update(msg)
	}
	if a.help != nil {
		if a.help.key(key) {
			a.help = nil
		}
		return nil
	}
	if a.bench != nil && a.bench.at == 0 && a.bench.main.table.typing != nil && key != "enter" && key != "esc" && key != "ctrl+c" {
		a.bench.main.typed(msg)
		return nil
	}
	if a.bench == nil && a.launcher != nil {
		if cmd, taken := a.launcher.key(msg); taken {
			return cmd
		}
	}
	if cmd, ok := dispatch(a.groups(), key); ok {
		return cmd
	}
	a.dirty = false
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
	case a.launcher != nil:
		return a.launcher.mouse(msg)
	}
	return nil
}

func (a *app) toggleHelp() tea.Cmd {
	if a.help == nil {
		a.help = &help{groups: a.groups()}
	} else {
		a.help = nil
	}
	return nil
}

func (a *app) nextGlyphs() tea.Cmd {
	next := map[plot.Glyphs]plot.Glyphs{plot.Braille: plot.Blocks, plot.Blocks: plot.Halves, plot.Halves: plot.ASCII, plot.ASCII: plot.Braille}
	a.theme = newTheme(a.theme.profile, a.theme.dark, next[a.theme.glyphs])
	return say(good, "charts in %s", map[plot.Glyphs]string{plot.Braille: "braille", plot.Blocks: "blocks", plot.Halves: "half blocks", plot.ASCII: "plain ASCII"}[a.theme.glyphs])
}

func (a *app) toggleMouse() tea.Cmd {
	a.mouse = !a.mouse
	if a.mouse {
		return say(good, "mouse on")
	}
	return say(good, "mouse off: the terminal selects text; m turns it on again")
}

// quit leaves, after asking if a run of this program would be stopped by it.
func (a *app) quit() tea.Cmd {
	if a.bench != nil && a.bench.owns() && !a.bench.settled() && a.prompt == nil {
		a.prompt = &question{
			title: "Quit?",
			lines: []string{"The run is going on. It will be stopped, with everything", "written so far in " + a.bench.path},
			yes:   "stop and quit", act: a.leave,
		}
		return nil
	}
	return a.leave()
}

// leftMsg comes when the run has been brought to rest.
type leftMsg struct{}

func (a *app) leave() tea.Cmd {
	a.leaving = true
	if a.bench == nil || a.bench.session == nil {
		return tea.Quit
	}
	a.busy = "stopping the run"
	run := a.bench.session.Run
	return func() tea.Msg {
		_ = run.Stop("stopped by the user") // its error is that the run has failed, which the log has
		return leftMsg{}
	}
}

// close gives everything back and waits for what is being begun or closed.
func (a *app) close() error {
	a.cancel()
	a.pending.Wait()
	if a.bench == nil {
		return nil
	}
	return a.bench.close()
}

// beganMsg is a run ready to start, or why there is none.
type beganMsg struct {
	session *experiment.Session
	box     *mailbox
	err     error
}

// begin prepares a run in the background.
func (a *app) begin(c experiment.Config, path string) tea.Cmd {
	if path == "" {
		path = experiment.DefaultPath(c.Name, a.opts.now())
	}
	c.Device.Cores = a.opts.Cores
	a.busy = "loading " + c.Name
	a.pending.Add(1)
	return func() tea.Msg {
		defer a.pending.Done()
		box := newMailbox()
		s, err := experiment.Begin(a.ctx, c, path, box)
		if err == nil && a.ctx.Err() != nil { // nobody takes it any more
			return beganMsg{err: errors.Join(a.ctx.Err(), s.Close())}
		}
		return beganMsg{session: s, box: box, err: err}
	}
}

func (a *app) began(msg beganMsg) tea.Cmd {
	a.busy = ""
	if msg.err != nil && a.bench == nil && a.launcher == nil { // what the command line asked for
		a.err = msg.err
		return tea.Quit
	}
	if msg.err != nil {
		return tea.Batch(say(failure, "%v", msg.err), a.launch())
	}
	a.show(newBench(a, msg.session.Path, msg.session, msg.box))
	run, drive := msg.session.Run, a.opts.Drive
	return tea.Batch(a.bench.start(), func() tea.Msg {
		if _, err := drive.Run(a.ctx, run); err != nil && a.ctx.Err() == nil {
			return noteMsg{text: err.Error(), level: failure}
		}
		return nil
	})
}

// openedMsg is a run directory found to be readable, or why not.
type openedMsg struct {
	path string
	err  error
}

// open shows the run of a directory, which may be another process's.
func (a *app) open(path string) tea.Cmd {
	a.busy = "reading " + path
	return func() tea.Msg {
		return openedMsg{path, experiment.CheckRun(path)}
	}
}

func (a *app) opened(msg openedMsg) tea.Cmd {
	a.busy = ""
	if msg.err != nil {
		return tea.Batch(say(failure, "%v", msg.err), a.launch())
	}
	box := newMailbox()
	a.show(newBench(a, msg.path, nil, box))
	return tea.Batch(a.bench.start(), a.bench.follow())
}

// show makes a bench the screen; the one before is closed.
func (a *app) show(b *bench) {
	if old := a.bench; old != nil {
		a.pending.Add(1)
		go func() {
			defer a.pending.Done()
			_ = old.close() // the log has what failed
		}()
	}
	a.bench, a.launcher = b, nil
}

// launch shows the launcher.
func (a *app) launch() tea.Cmd {
	if a.kept == nil {
		a.kept = newLauncher(a)
	}
	a.launcher = a.kept
	return a.launcher.start()
}

// toLauncher goes back to the launcher, after asking if that stops a run.
func (a *app) toLauncher() tea.Cmd {
	leave := func() tea.Cmd {
		old := a.bench
		a.bench = nil
		a.pending.Add(1)
		return tea.Batch(a.launch(), func() tea.Msg {
			defer a.pending.Done()
			if err := old.close(); err != nil {
				return noteMsg{text: err.Error(), level: failure}
			}
			return nil
		})
	}
	if a.bench.owns() && !a.bench.settled() {
		a.prompt = &question{
			title: "Leave this run?",
			lines: []string{"The run is going on. It will be stopped, with everything", "written so far in " + a.bench.path},
			yes:   "stop and go to the launcher", act: leave,
		}
		return nil
	}
	return leave()
}

// View implements tea.Model. The frame is drawn anew only if something changed.
func (a *app) View() tea.View {
	if a.dirty {
		a.dirty = false
		a.drawn++
		a.canvas.Reset(a.w, a.h)
		a.drawSafely()
		a.frame = a.canvas.Render()
	}
	v := tea.NewView(a.frame)
	v.AltScreen = true
	v.WindowTitle = "kestrel"
	if a.bench != nil {
		v.WindowTitle = "kestrel · " + sanitise(a.bench.name())
	}
	if a.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

// drawSafely draws, and leaves a line where that goes wrong; the next message
// then ends the program.
func (a *app) drawSafely() {
	defer func() {
		if p := recover(); p != nil {
			a.caught(p)
			a.canvas.Reset(a.w, a.h)
			a.canvas.Text(1, 0, "internal error; any key ends the program", a.theme.bad)
		}
	}()
	a.draw(&a.canvas)
}

const (
	leastWidth  = 30
	leastHeight = 8
)

func (a *app) draw(c *plot.Canvas) {
	r := c.Bounds()
	if r.W < leastWidth || r.H < leastHeight {
		a.tooSmall(c)
		return
	}
	switch {
	case a.busy != "" && a.bench == nil:
		c.TextFit(2, r.H/2, r.W-4, a.busy+" …", a.theme.text)
	case a.bench != nil:
		a.bench.draw(c, r)
	case a.launcher != nil:
		a.launcher.draw(c, r)
	}
	if a.leaving {
		c.Fill(plot.Rect{Y: r.H - 1, W: r.W, H: 1}, ' ', plot.Style{})
		c.TextFit(1, r.H-1, r.W-2, a.busy+" …", a.theme.warn)
	}
	if a.help != nil {
		a.help.draw(c, r, a.theme)
	}
	if a.prompt != nil {
		a.prompt.draw(c, r, a.theme)
	}
}

// tooSmall says how large the terminal must be, as far as there is room.
func (a *app) tooSmall(c *plot.Canvas) {
	r := c.Bounds()
	lines := []string{"too small", fmt.Sprintf("%dx%d", r.W, r.H), fmt.Sprintf("needs %dx%d", leastWidth, leastHeight)}
	y := max(0, (r.H-len(lines))/2)
	for i, l := range lines {
		c.TextFit(max(0, (r.W-plot.TextWidth(l))/2), y+i, r.W, l, a.theme.text)
	}
}
