package ui

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/launcher"
	"example.com/kestrel/ui/note"
)

// quit leaves, after asking if a run of this program would be stopped by it.
func (a *app) quit() tea.Cmd {
	if a.bench != nil && a.bench.owns() && !a.bench.settled() && a.prompt == nil {
		a.prompt = &question{title: "Quit?", ask: a.bench.parting("quit"), act: a.leave}
		return nil
	}
	return a.leave()
}

// parting says what becomes of the run when the screen is left.
func (b *bench) parting(verb string) func() (text, yes string) {
	return func() (text, yes string) {
		if s := b.state(); s.Settled() {
			return fmt.Sprintf("The run has %s meanwhile. Everything is written in %s", map[record.State]string{
				record.Stopped: "been stopped", record.Finished: "finished", record.Failed: "failed"}[s], b.path), verb
		}
		return "The run is going on. It will be stopped, with everything written so far in " + b.path, "stop and " + verb
	}
}

// leftMsg comes when the run has been brought to rest.
type leftMsg struct{}

func (a *app) leave() tea.Cmd {
	a.leaving = true
	if a.bench == nil || a.bench.session == nil {
		return tea.Quit
	}
	if a.busy = "stopping the run"; a.bench.settled() {
		a.busy = "closing the run"
	}
	run := a.bench.session.Run
	return func() tea.Msg {
		_ = run.Stop("stopped by the user") // its error is that the run has failed, which the log has
		return leftMsg{}
	}
}

// close gives everything back and waits for what is being begun or closed.
func (a *app) close() error {
	a.cancel()
	a.begun.mu.Lock()
	a.begun.over = true
	a.begun.mu.Unlock()
	a.pending.Wait()
	var err error
	for _, s := range a.begun.waiting {
		err = errors.Join(err, s.Close())
	}
	if a.bench != nil {
		err = errors.Join(a.bench.close(), err)
	}
	return err
}

// begun are the sessions that the screen has not been told of yet. Of commands
// that are under way when the program ends some are never carried out, and what
// others bring is lost.
type begun struct {
	mu      sync.Mutex
	over    bool // no more are begun
	waiting []*experiment.Session
}

// enter reports whether a session may be begun; then pending has it.
func (b *begun) enter(pending *sync.WaitGroup) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		pending.Add(1)
	}
	return !b.over
}

func (b *begun) put(s *experiment.Session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, s)
}

func (b *begun) take(s *experiment.Session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = slices.DeleteFunc(b.waiting, func(other *experiment.Session) bool { return other == s })
}

// beganMsg is a run ready to start, or why there is none.
type beganMsg struct {
	session *experiment.Session
	box     *mailbox
	drive   record.Course
	err     error
}

// wait says what is under way from now on.
func (a *app) wait(what string) {
	a.busy, a.since = what, a.opts.now()
	a.step.Store(prepare.Step{})
	a.sketch.Store(nil)
}

// begin prepares a run in the background.
func (a *app) begin(c config.Config, path string) tea.Cmd {
	if path == "" {
		path = rundir.DefaultPath(c.Name, a.opts.now())
	}
	c.Device.Cores = a.opts.Cores
	a.wait("loading " + c.Name)
	ctx := prepare.Telling(a.ctx, func(s prepare.Step) { a.step.Store(s) })
	ctx = inspect.Sketching(ctx, mostDrawn, a.sketch.Store)
	return a.prepare(a.opts.Drive, func(box *mailbox) (*experiment.Session, error) {
		return experiment.Begin(ctx, c, path, box)
	})
}

// resume prepares to go on with the run of a directory, once that has been given
// back: rest brings how it went, unless it is nil.
func (a *app) resume(path, data string, fromStart bool, rest <-chan error) tea.Cmd {
	a.wait("reading " + path)
	return a.prepare(record.Course{}, func(box *mailbox) (*experiment.Session, error) {
		if rest != nil {
			if err := <-rest; err != nil {
				return nil, err
			}
		}
		o := experiment.ResumeOptions{FromStart: fromStart, Data: data, Cores: a.opts.Cores, Past: box}
		return experiment.Resume(a.ctx, path, o, box)
	})
}

func (a *app) prepare(drive record.Course, session func(*mailbox) (*experiment.Session, error)) tea.Cmd {
	return func() tea.Msg {
		if !a.begun.enter(&a.pending) {
			return nil
		}
		defer a.pending.Done()
		box := newMailbox()
		s, err := session(box)
		if err == nil && s.Course != (record.Course{}) {
			drive = s.Course
		}
		if err == nil && a.ctx.Err() != nil { // nobody takes it any more
			return beganMsg{err: errors.Join(a.ctx.Err(), s.Close())}
		}
		if err == nil {
			s.TakeOrders()
			a.begun.put(s)
		}
		return beganMsg{session: s, box: box, drive: drive, err: err}
	}
}

func (a *app) began(msg beganMsg) tea.Cmd {
	a.busy = ""
	a.begun.take(msg.session)
	if msg.err != nil && a.bench == nil && a.launcher == nil { // what the command line asked for
		a.err = msg.err
		return tea.Quit
	}
	if msg.err != nil && a.bench != nil && a.launcher == nil { // a run that cannot be resumed is still shown
		return note.Say(note.Failure, "%v", msg.err)
	}
	if msg.err != nil {
		return tea.Batch(note.Say(note.Failure, "%v", msg.err), a.launch())
	}
	a.show(newBench(a, msg.session.Path, msg.session, msg.box))
	run, drive := msg.session.Run, msg.drive
	return tea.Batch(a.bench.start(), func() tea.Msg {
		if _, err := run.Drive(a.ctx, drive); err != nil && a.ctx.Err() == nil {
			return note.Msg{Text: err.Error(), Level: note.Failure}
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
	a.wait("reading " + path)
	return func() tea.Msg {
		return openedMsg{path, rundir.CheckRun(path)}
	}
}

func (a *app) opened(msg openedMsg) tea.Cmd {
	a.busy = ""
	if msg.err != nil {
		return tea.Batch(note.Say(note.Failure, "%v", msg.err), a.launch())
	}
	box := newMailbox()
	a.show(newBench(a, msg.path, nil, box))
	return tea.Batch(a.bench.start(), a.bench.follow(), a.bench.observe())
}

// show makes a bench the screen; the one before is closed.
func (a *app) show(b *bench) {
	if old := a.bench; old != nil {
		a.pending.Add(1)
		go func() {
			defer a.pending.Done()
			_ = closeGuarded(old) // the log has what failed
		}()
	}
	if old := a.bench; old != nil && old.path == b.path { // the same run, gone on with
		b.at = old.at
	}
	a.bench, a.launcher, a.note = b, nil, note.Note{}
}

// closeGuarded closes a bench outside of the screen's goroutine, where a panic would
// end the program.
func closeGuarded(b *bench) error {
	_, err := guarded(func() (any, error) { return nil, b.close() })
	return err
}

// launch shows the launcher.
func (a *app) launch() tea.Cmd {
	if a.kept == nil {
		a.kept = launcher.New(a.ctx, launcherHost{a})
	}
	a.launcher, a.note = a.kept, note.Note{}
	return a.launcher.Start()
}

// toLauncher goes back to the launcher, after asking if that stops a run.
func (a *app) toLauncher() tea.Cmd {
	leave := func() tea.Cmd {
		old := a.bench
		a.bench = nil
		closed := make(chan error, 1)
		a.pending.Add(1)
		go func() { // the command may never be carried out
			defer a.pending.Done()
			closed <- closeGuarded(old)
		}()
		return tea.Batch(a.launch(), func() tea.Msg {
			if err := <-closed; err != nil {
				return note.Msg{Text: err.Error(), Level: note.Failure}
			}
			return nil
		})
	}
	if a.bench.owns() && !a.bench.settled() {
		a.prompt = &question{
			title: "Leave this run?", ask: a.bench.parting("go to the launcher"), act: leave,
		}
		return nil
	}
	return leave()
}

// launcherHost is the workbench as the launcher sees it.
type launcherHost struct{ a *app }

func (h launcherHost) Now() time.Time                            { return h.a.opts.now() }
func (h launcherHost) Cores() int                                { return h.a.opts.Cores }
func (h launcherHost) Keys() []input.Group                       { return h.a.groups() }
func (h launcherHost) Note() note.Note                           { return h.a.note }
func (h launcherHost) Begin(c config.Config, out string) tea.Cmd { return h.a.begin(c, out) }
func (h launcherHost) Open(path string) tea.Cmd                  { return h.a.open(path) }
