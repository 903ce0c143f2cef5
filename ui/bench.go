package ui

import (
	"context"
	"errors"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/steer"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/note"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// view is one of the screens of a bench, below its header.
type view interface {
	name() string
	// groups returns what keys do in it.
	groups() []input.Group
	draw(c *plot.Canvas, r plot.Rect, t *theme.Theme)
	// refresh asks for what the view lacks; it is called after every message
	// while the view is shown.
	refresh() tea.Cmd
	mouse(msg tea.MouseMsg) tea.Cmd
}

// bench shows one run: its own, which it can give orders, or one of another
// process or of the past, which it follows in the event log.
type bench struct {
	app     *app
	path    string
	session *experiment.Session // nil: followed only
	box     *mailbox
	ctx     context.Context
	cancel  context.CancelFunc

	hist     history.History
	palette  chart.Palette
	version  int // of hist: counts the events
	finding  foundAt
	snapshot experiment.Snapshot
	looking  bool          // a snapshot is under way
	snapped  bool          // there has been a look
	owner    rundir.Owner  // of a followed run, at the last look
	remote   *steer.Remote // what takes its orders; nil: nobody does from here
	why      error         // why not
	tried    time.Time     // when that was found out
	failure  error
	taken    []string // pruned last, to be taken back

	waiting   map[string]bool // restored, but without numbers before the next evaluation
	restoring bool            // an order is under way
	released  bool            // the session has been closed, or is about to be
	shut      sync.Once
	shutErr   error

	inspect inspection
	first   firstMinute

	at    int // index into views
	views []view
	main  *mainView
}

func newBench(a *app, path string, session *experiment.Session, box *mailbox) *bench {
	b := &bench{app: a, path: path, session: session, box: box}
	b.ctx, b.cancel = context.WithCancel(a.ctx)
	b.main = newMainView(b)
	b.views = []view{b.main, newKernelView(b), newFitView(b), newSimilarView(b), newCompareView(b), newLogView(b), newGrowthView(b)}
	return b
}

// start begins to take events.
func (b *bench) start() tea.Cmd { return b.box.next(b.ctx) }

// followPoll is how often the event log of another process is looked at.
const followPoll = 200 * time.Millisecond

// endedMsg says why an event log is not followed any more.
type endedMsg struct {
	from *mailbox
	err  error
}

// follow reads the event log as it grows.
func (b *bench) follow() tea.Cmd {
	return func() tea.Msg {
		err := history.Follow(b.ctx, b.path, followPoll, b.box.put)
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return endedMsg{b.box, err}
	}
}

func (b *bench) close() error {
	b.cancel()
	b.inspect.close()
	return b.closeSession()
}

func (b *bench) closeSession() error {
	b.shut.Do(func() {
		if b.session != nil {
			b.shutErr = b.session.Close()
		}
	})
	return b.shutErr
}

// owns reports whether orders can be given.
func (b *bench) owns() bool { return b.session != nil && !b.released }

// steered is what takes the user's orders: the run, or the process that carries it
// out. It is nil where it is only watched.
func (b *bench) steered() steer.Run {
	switch {
	case b.owns():
		return b.session.Run
	case b.session == nil && b.remote != nil && !b.crashed():
		return b.remote
	}
	return nil
}

// settled reports whether the run is at rest, as far as is known.
func (b *bench) settled() bool { return b.state().Settled() }

func (b *bench) state() record.State {
	if b.hist.State == "" {
		return record.Ready
	}
	return b.hist.State
}

// moving reports whether something changes without events.
func (b *bench) moving() bool {
	s := b.state()
	return !s.Settled() && s != record.Paused || b.remote != nil || b.inspect.busy || b.app.opts.now().Sub(b.app.note.At) < note.Stay+tickTime
}

func (b *bench) name() string {
	if s := b.hist.Start; s != nil {
		return s.Name
	}
	return b.path
}

// snapMsg is a look at the run.
type snapMsg struct {
	of       *bench
	snapshot experiment.Snapshot
	owner    rundir.Owner
	remote   *steer.Remote
	why      error
	tried    time.Time
}

// reachPoll is how often it is tried to reach a process that cannot be reached.
const reachPoll = 2 * time.Second

// observe looks at the run's clock and its progress within an evaluation.
func (b *bench) observe() tea.Cmd {
	if b.looking || b.settled() && (b.session != nil || b.snapped && b.remote == nil) {
		return nil
	}
	b.looking = true
	before, now := snapMsg{of: b, owner: b.owner, remote: b.remote, why: b.why, tried: b.tried}, b.app.opts.now()
	return func() tea.Msg {
		if b.session != nil {
			return snapMsg{of: b, snapshot: b.session.Run.Snapshot()}
		}
		return before.again(b.path, now)
	}
}

// again looks once more at the process that writes a run.
func (m snapMsg) again(path string, now time.Time) snapMsg {
	was := m.owner
	m.owner, _ = rundir.OwnerOf(path)
	another := m.owner.PID != was.PID || m.owner.Socket != was.Socket || m.owner.Alive != was.Alive || m.owner.NoOrders != was.NoOrders
	if another || m.remote == nil && now.Sub(m.tried) >= reachPoll {
		m.remote, m.why = steer.Reach(m.owner)
		m.tried = now
	}
	if m.remote == nil {
		return m
	}
	s, err := m.remote.Status()
	if err != nil { // it may be in the midst of something long
		m.remote, m.why = steer.Reach(m.owner)
		m.tried = now
	}
	m.snapshot.Elapsed, m.snapshot.Progress, m.snapshot.Workers = s.Elapsed, s.Progress, s.Workers
	return m
}

// message takes a message in, and reports whether it could change what is shown.
func (b *bench) message(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	switch msg := msg.(type) {
	case frameMsg:
		if msg.from != b.box {
			return nil, false
		}
		for i := range msg.events {
			b.apply(&msg.events[i])
		}
		return b.box.next(b.ctx), true
	case snapMsg:
		if msg.of == b {
			b.looking, b.snapped = false, true
			b.snapshot, b.owner = msg.snapshot, msg.owner
			b.first.meter.Take(msg.snapshot.Progress.Phase, msg.snapshot.Progress.Done, b.app.opts.now())
			if b.early() {
				b.main.version = -1 // the table has what is known so far
			}
			reached := b.remote == nil && msg.remote != nil
			b.remote, b.why, b.tried = msg.remote, msg.why, msg.tried
			if reached {
				return note.Say(note.Good, "process %d carries this run out, and takes your orders", b.owner.PID), true
			}
		}
	case dataMsg:
		if msg.of == b {
			b.first.column, b.first.points = msg.column, msg.points
		}
	case endedMsg:
		if msg.from == b.box {
			b.failure = msg.err
			if msg.err != nil {
				return note.Say(note.Failure, "%v", msg.err), true
			}
		}
	case answerMsg:
		return nil, b.answered(msg)
	case forecastMsg:
		return msg.of.forecasted(msg), true
	case compareMsg:
		for _, v := range b.views {
			if c, ok := v.(*compareView); ok {
				c.loaded(msg)
			}
		}
	default:
		return nil, false
	}
	return nil, true
}

// apply takes an event in.
func (b *bench) apply(e *record.Event) {
	b.hist.Apply(e)
	b.version++
	b.takeOrders(e)
	b.app.ended(b, e)
	if e.Evaluation != nil {
		b.palette.Focus(b.leaders())
		if l := e.Evaluation.Leader(); l != nil && !b.main.table.held {
			b.main.table.cursor = l.ID
		}
	}
}

// focusKernels is how many kernels have colours of their own in a chart.
const focusKernels = 8

// refresh asks for what the view lacks.
func (b *bench) refresh() tea.Cmd { return b.views[b.at].refresh() }

// Names of the groups of keys that every view has.
const (
	runKeys    = "run"
	globalKeys = "everywhere"
)

func (b *bench) groups() []input.Group {
	gs := b.views[b.at].groups()
	if b.steered() == nil {
		gs = append(gs, input.Group{Name: runKeys, All: []input.Binding{
			{Keys: []string{"space", "s", "p", "u", "r"}, Do: b.onlyWatched},
			b.again(b.state() == record.Finished),
			{Keys: []string{"e"}, Label: "e", Short: "export",
				About: "write all traces as CSV, and the chart as SVG, PNG and text", Off: b.hist.Start == nil, Do: b.export},
		}})
	} else {
		gs = append(gs, b.orders())
	}
	views := input.Group{Name: "views", All: nil}
	for i, v := range b.views {
		if !b.offers(i) {
			continue
		}
		n := string(rune('1' + i))
		views.All = append(views.All, input.Binding{Keys: []string{n}, Label: n, About: v.name(), Do: func() tea.Cmd { b.at = i; return nil }})
	}
	views.All = append(views.All, input.Binding{Keys: []string{"C"}, Label: "C",
		About: "copy what was found, the table or a command to the clipboard", Off: b.hist.Start == nil, Do: b.askCopy})
	views.All = append(views.All, input.Binding{Keys: []string{"esc"}, Label: "esc",
		About: "back to the bench", Off: b.at == 0, Do: func() tea.Cmd { b.at = 0; return nil }})
	return append(gs, views)
}

// offers reports whether a view is one of this run: growth is where kernels come and go, or where it is looked at.
func (b *bench) offers(i int) bool {
	_, growth := b.views[i].(*growthView)
	return !growth || i == b.at || b.hist.Grows()
}

// orders are the keys that steer the run.
func (b *bench) orders() input.Group {
	run := b.settled
	return input.Group{Name: runKeys, All: []input.Binding{
		b.again(!b.broken()),
		{Keys: []string{"space"}, Label: "space", Short: b.pauseWord(), About: "pause or resume the run", Off: run(), Do: b.pause},
		{Keys: []string{"s"}, Label: "s", Short: "stop", About: "stop the run; R goes on with it", Off: run(), Do: b.stop},
		{Keys: []string{"p"}, Label: "p", Short: "prune",
			About: "prune: keep the first kernels, or a mass of belief; with a preview", Off: !b.canRevise(), Do: b.askPrune},
		{Keys: []string{"u"}, Label: "u", Short: "restore",
			About: "restore the kernels pruned last, or all", Off: !b.canRevise() || b.restoring || len(b.pruned()) == 0, Do: b.restore},
		{Keys: []string{"r"}, Label: "r", Short: "re-optimise",
			About: "go on with more evaluations, steps, inducing inputs or another batch size", Off: !b.canRevise(), Do: b.askReoptimise},
		{Keys: []string{"G"}, Label: "G",
			About: "let the space of kernels grow by neighbours of the best, or grow no more", Off: !b.canRevise(), Do: b.grow},
		{Keys: []string{"e"}, Label: "e", Short: "export",
			About: "write all traces as CSV, and the chart as SVG, PNG and text", Off: b.hist.Start == nil, Do: b.export},
	}}
}

func (b *bench) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	if _, ok := msg.(tea.MouseClickMsg); ok {
		for i, r := range b.app.tabs {
			if r.Contains(m.X, m.Y) {
				b.at = i
				return nil
			}
		}
	}
	return b.views[b.at].mouse(msg)
}
