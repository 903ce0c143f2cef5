package ui

import (
	"context"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/finding"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/ui/settings"
	"example.com/kestrel/ui/terminal"
)

// Options say what the workbench shows first and where.
type Options struct {
	Config *config.Config // to run at once; nil with Open "": the launcher
	Out    string         // its run directory; "": rundir.DefaultPath
	Open   string         // run directory to show
	Resume string         // run directory to go on with
	Drive  record.Course  // what follows a run by itself
	Cores  int            // for optimising; 0: GOMAXPROCS

	Settings settings.Settings // the user's wishes
	Remark   string            // to be told at first

	Data      string // with Resume: where the run's table is now, or one with more rows; "": where it was
	FromStart bool   // with Resume: begin again with the first evaluation

	Input  io.Reader // nil: standard input
	Output io.Writer // nil: standard output
	Env    func(string) string

	now func() time.Time // for tests
}

// Outcome is how the workbench was left.
type Outcome struct {
	Path        string // of the last run shown, "" if there was none
	State       record.State
	Own         bool   // it was run here
	Interrupted bool   // by a signal
	Found       string // what it has found, in a few sentences
}

// patience is how long the screen may take to end when it is told to.
const patience = 3 * time.Second

// Run shows the workbench until the user leaves it or ctx ends; a run in flight
// is then stopped with everything written.
func Run(ctx context.Context, o Options) (Outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := newApp(ctx, o)
	restore := terminal.Keep()
	defer restore()
	hard, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	options := []tea.ProgramOption{tea.WithContext(hard), tea.WithoutSignalHandler(), tea.WithFilter(a.filter)}
	if o.Input != nil {
		options = append(options, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		options = append(options, tea.WithOutput(o.Output))
	}
	p := tea.NewProgram(a, options...)
	// When ctx ends the program quits as if the user had quit it: a program that
	// is killed does not wait for its reader, which would go on reading the
	// terminal and take what others wait for.
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(patience, kill) // where the terminal takes no output any more
		p.Quit()
	})()
	_, err := p.Run()
	a.forgetPictures()
	out := Outcome{}
	if ctx.Err() != nil { // the program was ended from outside
		out.Interrupted, err = true, nil
	}
	a.blame()
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
		state := out.State
		if b.crashed() {
			state = rundir.Crashed
		}
		out.Found = finding.As(&b.hist.Standing, state, b.path).Text()
	}
	return out, err
}

// InputError is a config, data or a directory that cannot be used.
type InputError struct{ err error }

func (e *InputError) Error() string { return e.err.Error() }

func (e *InputError) Unwrap() error { return e.err }

// Crash is a mistake of the program that ended the workbench. The run was
// stopped with everything written.
type Crash struct {
	Value any
	Stack []byte
}

func (c *Crash) Error() string { return fmt.Sprintf("internal error: %v", c.Value) }
