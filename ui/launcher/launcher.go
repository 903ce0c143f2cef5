// Package launcher is the screen on which a run is chosen: a list of experiments,
// data files and past runs, and beside it what is under the cursor, with the
// settings that can be changed before it starts. What it needs of the workbench
// around it is Host.
package launcher

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/ui/asking"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/note"
	"example.com/kestrel/ui/plot"
)

// Launcher is the list with its filter, the choice under the cursor, and what is
// known of it so far.
type Launcher struct {
	ctx  context.Context
	host Host
	lib  knowledge
	list listing

	focus   focus
	part    part // with focus on the settings
	space   *spaceEditor
	filter  input.Field
	typed   input.Field // the path that is being written
	devices []string
	found   struct{ configs, files, tables []item } // the user's, from both lists
	choices map[string]*choice                      // by name

	resolving, previewing, estimating asking.Latest

	resolved   *resolved // nil: not yet
	dataKey    string    // of the preview that is there or asked for
	preview    *inspect.Preview
	previewErr error
	planned    *planned // what would be run; nil: not known yet
	reading    bool
	measuring  bool
	estimate   *prepare.Estimate
	estimErr   error

	edits    int  // counts changes
	settled  bool // nothing has changed for a moment
	starting bool // enter waits for an answer

	acted  time.Time // when the user last did something
	scroll int       // of the preview
	screen areas
	raster plot.Raster
}

// focus is what keys are for.
type focus int

const (
	onList focus = iota
	onFilter
	onTyped
	onParts
	onSpace // the editor of kernel spaces
)

// settleTime is how long nothing must change before an estimate is worth its
// time.
const settleTime = 300 * time.Millisecond

// Host is the workbench around the launcher.
type Host interface {
	Now() time.Time
	Cores() int // for optimising; 0: GOMAXPROCS
	// Keys are what keys do now, the launcher's and those that work everywhere.
	Keys() []input.Group
	// Note is what happened last.
	Note() note.Note
	// Begin and Open leave the launcher for a run.
	Begin(c config.Config, out string) tea.Cmd // out "": where runs go
	Open(path string) tea.Cmd
}

// New makes a launcher that knows nothing yet; what it asks ends with ctx.
func New(ctx context.Context, h Host) *Launcher {
	l := &Launcher{ctx: ctx, host: h, lib: newKnowledge(h), choices: map[string]*choice{}, devices: []string{"auto", "cpu"}}
	l.filter = input.NewField("", "a part of a name")
	l.typed = input.NewField("", "type or paste the path of a table or config")
	l.list.rebuild()
	return l
}

// Start begins to load the lists, or loads them again.
func (l *Launcher) Start() tea.Cmd {
	lib := l.lib
	return tea.Batch(
		func() tea.Msg { return choicesMsg{l, lib.configs()} },
		func() tea.Msg { return filesMsg{l, lib.files()} },
		func() tea.Msg {
			runs, err := lib.runs()
			return runsMsg{l, runs, err}
		},
		func() tea.Msg { return devicesMsg{l, lib.devices()} },
		l.changed(),
	)
}

// own are the user's tables, and the configs of both lists, each once.
func (l *Launcher) own() []item {
	out := append(slices.Clone(l.found.tables), l.found.configs...)
	for _, f := range l.found.files {
		known := false
		for _, c := range l.found.configs {
			known = known || c.name == f.name
		}
		if !known {
			out = append(out, f)
		}
	}
	return out
}

// listed changes the list; if another item has come under the cursor, it is
// looked at.
func (l *Launcher) listed(change func()) tea.Cmd {
	key := func() string {
		if i := l.list.current(); i != nil {
			return i.key()
		}
		return ""
	}
	before := key()
	change()
	if l.acted.IsZero() {
		l.list.begin()
	}
	if key() == before {
		return nil
	}
	return l.moved()
}

// chosen returns the choice under the cursor; nil for a run, or if nothing is
// there.
func (l *Launcher) chosen() *choice {
	i := l.list.current()
	if i == nil || i.run != nil {
		return nil
	}
	name := i.name
	if i.typed {
		if name = homePath(strings.TrimSpace(l.typed.Value())); name == "" {
			return nil
		}
	}
	c := l.choices[name]
	if c == nil {
		c = newChoice(name)
		l.choices[name] = c
	}
	return c
}

// moved looks at what has come under the cursor.
func (l *Launcher) moved() tea.Cmd {
	l.scroll = 0
	l.resolved = nil
	l.dataKey, l.preview, l.previewErr, l.reading = "", nil, nil, false
	l.previewing.Drop()
	return l.changed()
}

// changed asks anew what the choice comes to.
func (l *Launcher) changed() tea.Cmd {
	l.edits++
	l.settled, l.starting = false, false
	l.estimate, l.estimErr, l.measuring, l.planned = nil, nil, false, nil
	l.estimating.Drop()
	c := l.chosen()
	if c == nil {
		l.resolving.Drop()
		return nil
	}
	return tea.Batch(l.resolve(c), l.lib.after(settleTime, settleMsg{l, l.edits}))
}

func (l *Launcher) resolve(c *choice) tea.Cmd {
	d := c.draft()
	if l.list.current().typed {
		d.typed = l.typed.Value()
	}
	return l.resolving.Ask(l.ctx, func(ctx context.Context, serial int) tea.Msg {
		return resolvedMsg{l, serial, resolve(ctx, d)}
	})
}

func (l *Launcher) wasResolved(msg resolvedMsg) tea.Cmd {
	fresh, next := l.resolving.Done(msg.serial)
	c := l.chosen()
	if !fresh || c == nil {
		return next
	}
	l.resolved = &msg.resolved
	if msg.base != nil && c.base == nil {
		c.adopt(msg.base, msg.columns)
		if d := c.draft(); d.key() != msg.draft.key() {
			starting := l.starting
			cmd := l.changed()
			l.starting = starting
			return tea.Batch(next, cmd)
		}
	}
	if msg.err != nil || msg.run != nil {
		return tea.Batch(next, l.goOn())
	}
	again := l.starting && l.previewErr != nil // the file may have been mended
	if key := dataKey(&msg.config); key != l.dataKey || again {
		l.dataKey, l.reading = key, true
		config := msg.config
		next = tea.Batch(next, l.previewing.Ask(l.ctx, func(ctx context.Context, serial int) tea.Msg {
			p, err := l.lib.preview(ctx, config)
			return previewMsg{l, serial, p, err}
		}))
		if again {
			return next
		}
	}
	return tea.Batch(next, l.goOn())
}

// planned is a config as it would be run, what it leaves to its data decided.
type planned struct {
	config  config.Config
	kernels int
	decided bool // the data have decided on the kernels
}

// plan finds out what the choice comes to with the data that are there.
func (l *Launcher) plan() {
	l.planned = nil
	if !l.ready() || l.reading || l.preview == nil {
		return
	}
	c := l.preview.Settled(l.resolved.config)
	if space, err := c.Kernels.Candidates(); err == nil {
		l.planned = &planned{c, len(space), l.resolved.config.Kernels.Undecided()}
	}
}

// goOn does what an answer has made possible.
func (l *Launcher) goOn() tea.Cmd {
	l.plan()
	if cmd := l.maybeStart(); cmd != nil {
		return cmd
	}
	return l.measure()
}

func (l *Launcher) wasPreviewed(msg previewMsg) tea.Cmd {
	fresh, next := l.previewing.Done(msg.serial)
	if !fresh {
		return next
	}
	l.reading = false
	l.preview, l.previewErr = msg.preview, msg.err
	if c := l.chosen(); c != nil && msg.err == nil {
		c.takeTexts(msg.preview.Summary)
	}
	return tea.Batch(next, l.goOn())
}

// measure asks for an estimate when the choice has come to rest.
func (l *Launcher) measure() tea.Cmd {
	if !l.settled || l.planned == nil || l.measuring || l.estimate != nil {
		return nil
	}
	l.measuring = true
	config, rows, dim := l.planned.config, l.preview.Summary.Train, len(l.preview.Summary.Columns)-1
	config.Device.Cores = l.host.Cores()
	return l.estimating.Ask(l.ctx, func(ctx context.Context, serial int) tea.Msg {
		e, err := l.lib.estimate(ctx, config, rows, dim)
		return estimateMsg{l, serial, e, err}
	})
}

// ready reports whether it is known what the choice as it stands comes to, and
// that it can be run.
func (l *Launcher) ready() bool {
	r := l.resolved
	return !l.resolving.Busy() && r != nil && r.err == nil && r.run == nil
}

// enter starts or opens what is under the cursor. A config is read again, as it
// may have been edited meanwhile.
func (l *Launcher) enter() tea.Cmd {
	i := l.list.current()
	switch {
	case i == nil:
		return nil
	case i.run != nil:
		return l.open(i.run.Path)
	}
	c := l.chosen()
	if c == nil {
		l.focus = onTyped
		return nil
	}
	l.starting = true
	return l.resolve(c)
}

// maybeStart does what enter has been waiting for.
func (l *Launcher) maybeStart() tea.Cmd {
	r := l.resolved
	if !l.starting || r == nil {
		return nil
	}
	l.starting = false
	switch {
	case r.run != nil:
		return l.open(r.run.Path)
	case r.err != nil:
		l.lookAt(r.part)
		return note.Say(note.Failure, "not started: %s", oneLine(r.reason()))
	case l.previewErr != nil:
		return note.Say(note.Failure, "not started: %v", l.previewErr)
	}
	l.rest()
	return l.lib.begin(r.config, r.draft.out)
}

// lookAt puts the cursor on a part that is wrong.
func (l *Launcher) lookAt(p part) {
	if p != noPart {
		l.focus, l.part = onParts, p
	}
}

func (l *Launcher) open(path string) tea.Cmd {
	l.rest()
	return l.lib.open(path)
}

// rest ends all that is under way.
func (l *Launcher) rest() {
	l.resolving.Drop()
	l.previewing.Drop()
	l.estimating.Drop()
	l.dataKey, l.reading = "", false
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Key takes a key, and reports whether it is the launcher's.
func (l *Launcher) Key(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	l.acted = l.host.Now()
	key := msg.String()
	if cmd, ok := input.Dispatch(l.Groups(), key); ok {
		return cmd, true
	}
	f := l.editing()
	if f == nil || key == "ctrl+c" || key == "ctrl+z" || key == "ctrl+l" || key == "f1" {
		return nil, false
	}
	return l.edit(f, msg), true
}

// turn changes a setting that is chosen among several.
func (l *Launcher) turn(p part, by int) tea.Cmd {
	c := l.chosen()
	if c == nil || c.base == nil {
		return nil
	}
	switch p {
	case targetPart:
		c.turnTarget(by)
	case inputsPart:
		c.moveColumn(by)
		return nil
	case calendarPart:
		c.calendarAt = max(0, min(c.calendarAt+by, len(calendarNames())-1))
		return nil
	case splitPart:
		c.turnSplit(by)
	case timePart:
		c.turnTime(by)
	case growthPart:
		c.grows = !c.grows
	case devicePart:
		c.turnDevice(l.devices, by)
	}
	return l.changed()
}

// toggle takes an input in or out.
func (l *Launcher) toggle() tea.Cmd {
	c := l.chosen()
	if c == nil || c.base == nil {
		return nil
	}
	switch l.part {
	case inputsPart:
		c.toggleInput()
	case calendarPart:
		c.toggleCalendar()
	default:
		return nil
	}
	return l.changed()
}

// turnType takes the column under the cursor for something else.
func (l *Launcher) turnType() tea.Cmd {
	c := l.chosen()
	if c == nil || c.base == nil {
		return nil
	}
	c.turnType()
	return l.changed()
}

// toParts goes to the settings, at p or at the first.
func (l *Launcher) toParts(p part) tea.Cmd {
	parts := l.chosen().parts()
	if len(parts) == 0 {
		return nil
	}
	l.focus, l.part = onParts, parts[0]
	for _, q := range parts {
		if q == p {
			l.part = p
		}
	}
	if c := l.chosen(); l.part == inputsPart && !c.usable(c.column) {
		c.column = -1
		c.moveColumn(1)
		c.column = max(0, c.column)
	}
	return nil
}

// nextPart goes on to another setting, and beyond them back to the list.
func (l *Launcher) nextPart(by int, around bool) tea.Cmd {
	parts := l.chosen().parts()
	at := -1
	for i, p := range parts {
		if p == l.part {
			at = i
		}
	}
	at += by
	switch {
	case at >= 0 && at < len(parts):
		return l.toParts(parts[at])
	case around:
		l.focus = onList
	}
	return nil
}

// move moves the cursor of the list.
func (l *Launcher) move(by int) tea.Cmd {
	before := l.list.cursor
	l.list.move(by)
	if l.list.cursor == before {
		return nil
	}
	return l.moved()
}
