package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui"
)

// runFlags are the flags of run, which the bare program takes too.
type runFlags struct {
	headless     bool
	out          string
	set          []string
	repeat       int
	device       string
	seed         uint64
	target       string
	grow         bool
	pruneTop     int
	thenRefine   int
	thenInducing int
	quiet        bool
	json         bool
	estimate     bool
	clusterFlags
}

func (f *runFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&f.headless, "headless", false,
		"without the workbench, with plain progress lines; so without a terminal, with --repeat, --json or --quiet, too")
	fs.StringVarP(&f.out, "out", "o", "", "directory of the run; default runs/<name>-<time>")
	fs.StringArrayVar(&f.set, "set", nil, "override a key of the config: section.key=value; may be repeated")
	fs.IntVar(&f.repeat, "repeat", 1, "so many runs with seeds counting up, in 001, 002, … of the directory")
	fs.StringVar(&f.device, "device", "", "where to compute: "+strings.Join(config.DeviceKinds(), ", "))
	fs.Uint64Var(&f.seed, "seed", 0, "of everything random, instead of the config's")
	fs.StringVar(&f.target, "target", "", "column to explain, of a data file; default the last")
	fs.BoolVar(&f.grow, "grow", false, "let the space of kernels grow: the key kernels.grow")
	fs.IntVar(&f.pruneTop, "prune-top", 0, "at the end, keep the k kernels ranked first")
	fs.IntVar(&f.thenRefine, "then-refine", 0, "and go on with them for n evaluations")
	fs.IntVar(&f.thenInducing, "then-inducing", 0, "with m inducing inputs")
	fs.BoolVar(&f.quiet, "quiet", false, "no progress lines and no summary")
	fs.BoolVar(&f.json, "json", false, "write the summary as JSON")
	fs.BoolVar(&f.estimate, "estimate", false, "say how long the run would take and how much memory, and do not run")
	f.clusterFlags.register(fs, "; without the workbench")
}

// noErr is for errors that only a mistake in the commands' definition can
// cause.
func noErr(err error) {
	if err != nil {
		panic("cli: a flag is wrongly defined")
	}
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run CONFIG|FILE.csv",
		Short: "Run an experiment",
		Long: "Show the workbench, or with --headless plain progress lines, and run what a config says, a TOML file or a built-in one " +
			"(kestrel config list), or a data file with the default settings, - for one from standard input. The run's directory holds the " +
			"resolved config, an event log, and the results as CSV. Ctrl-C stops the run with everything written (exit code 130); a second one " +
			"ends it at once. " +
			"The same command with --repeat and --out of an earlier one goes on where that was cut, also with more runs.",
		Example: "kestrel run fig1a --headless\n\n" +
			"# other settings, same config\nkestrel run fig1a --set sparse.inducing=32 --set data.noise=0.1\n\n" +
			"# ten seeds, in DIR/001 to DIR/010\nkestrel run fig1a --repeat 10 --out results/fig1a\n\n" +
			"# a table that another program writes; the run keeps a copy\nquery | kestrel run - --target y\n\n" +
			"# how long would it take, and how much memory?\nkestrel run fig1c --estimate\n\n" +
			"# keep the best five kernels and go on with them\nkestrel run data.csv --target y --prune-top 5 --then-refine 3",
		Args:              one("a config or a data file", "kestrel run fig1a"),
		ValidArgsFunction: completeConfigs,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.register(cmd)
	return cmd
}

// config reads a config, or makes one for a data file.
func (f *runFlags) config(cmd *cobra.Command, name string) (config.Config, error) {
	set, err := config.ParseOverrides(f.set)
	if err != nil {
		return config.Config{}, err
	}
	stated := f.stated(cmd)
	for _, o := range stated {
		if err := contradicted(o, set); err != nil {
			return config.Config{}, err
		}
	}
	return library.ConfigFor(name, append(set, stated...))
}

// stated are the keys of the config that have a flag of their own, as far as it is there.
func (f *runFlags) stated(cmd *cobra.Command) (set []config.Override) {
	if f.device != "" {
		set = append(set, config.Override{Key: "device.kind", Value: f.device, Flag: "--device " + f.device})
	}
	if cmd.Flags().Changed("seed") {
		s := strconv.FormatUint(f.seed, 10)
		set = append(set, config.Override{Key: "seed", Value: s, Flag: "--seed " + s})
	}
	if cmd.Flags().Changed("grow") { // --grow=false, too: the config may say true
		o := config.Override{Key: "kernels.grow", Value: strconv.FormatBool(f.grow), Flag: "--grow"}
		if !f.grow {
			o.Flag += "=false"
		}
		set = append(set, o)
	}
	if f.target != "" {
		set = append(set, config.Override{Key: "data.target", Value: f.target, Flag: "--target " + f.target})
	}
	return set
}

// contradicted says which --set asks for something else than the flag of the same key; of several the last counts.
func contradicted(flag config.Override, set []config.Override) error {
	for _, o := range slices.Backward(set) {
		if o.Key != flag.Key {
			continue
		}
		if strings.Trim(o.Value, `"'`) != flag.Value {
			return fmt.Errorf("%s and %s contradict each other; leave one out", flag.Flag, o.Flag)
		}
		return nil
	}
	return nil
}

func (f *runFlags) run(cmd *cobra.Command, name string) error {
	switch {
	case f.repeat < 1:
		return fmt.Errorf("--repeat %d: must be at least 1", f.repeat)
	case f.pruneTop < 0:
		return fmt.Errorf("--prune-top %d: must be at least 1", f.pruneTop)
	case f.thenRefine < 0:
		return fmt.Errorf("--then-refine %d: must be at least 1", f.thenRefine)
	case f.thenRefine > 0 && f.pruneTop == 0:
		return errors.New("--then-refine needs --prune-top k, the number of kernels to keep")
	case f.thenInducing < 0:
		return fmt.Errorf("--then-inducing %d: must be at least 1", f.thenInducing)
	case f.thenInducing > 0 && f.thenRefine == 0:
		return errors.New("--then-inducing needs --then-refine n, the number of evaluations")
	}
	if err := f.clusterFlags.check(); err != nil {
		return err
	}
	c, err := f.config(cmd, name)
	if err != nil {
		return err
	}
	base := f.out
	if base == "" {
		base = rundir.DefaultPath(c.Name, time.Now())
	}
	// A series may be of one run now.
	single := f.repeat == 1 && !(cmd.Flags().Changed("repeat") && series.IsBegun(base))
	screen := hasScreen
	if c.Data.Path == datasets.StandardInput {
		if !single {
			return errors.New("--repeat reads its table for every run, and standard input (-) can be read once; write it to a file first")
		}
		done, err := takeStandardInput(cmd, &c)
		if err != nil {
			return err
		}
		defer done()
		screen = hasOtherScreen
	}
	if f.estimate {
		return f.foretell(cmd, &c)
	}
	if single && f.cluster == "" && !f.headless && !f.json && !f.quiet && screen(cmd) {
		return workbench(cmd, ui.Options{Config: &c, Out: base, Drive: f.course()})
	}
	ctx := cmd.Context()
	if single {
		return f.one(ctx, cmd, c, base)
	}
	return f.repeats(ctx, cmd, c, name, base)
}

var errInterrupted = &exitError{exitInterrupted, errors.New("interrupted")}

// interrupts returns a context that ends at the first SIGINT, SIGTERM or SIGHUP; the
// second one ends the program.
func interrupts(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		signal.Notify(signals, syscall.SIGHUP)
	}
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case s := <-signals:
				if n > 0 && s != os.Interrupt {
					continue // a shell and the system both say that the terminal is gone
				}
				if n > 0 {
					fmt.Fprintln(os.Stderr, "kestrel: interrupted twice: ended at once, without the evaluation under way")
					os.Exit(exitInterrupted)
				}
				cancel(errInterrupted)
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

// one makes a run in a directory that has been checked.
func (f *runFlags) one(ctx context.Context, cmd *cobra.Command, c config.Config, path string) error {
	summary := &history.Summary{Dir: path}
	progress := &record.Progress{Out: cmd.ErrOrStderr(), Quiet: f.quiet}
	c.Unasked = true
	session, err := experiment.Begin(ctx, c, path, progress, summary)
	if err != nil {
		return err
	}
	session.TakeOrders()
	if !f.quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "results go to %s\n", path)
	}
	return f.finish(ctx, cmd, session, summary)
}

// finish lets a run take its course and says what came out.
func (f *runFlags) finish(ctx context.Context, cmd *cobra.Command, session *experiment.Session, summary *history.Summary) error {
	keep(cmd)
	path := session.Path
	leave, err := f.serve(ctx, cmd, session)
	if err != nil {
		return errors.Join(err, session.Close())
	}
	end, runErr := f.drive(ctx, session)
	closed := session.Close()
	leave(runErr == nil && end.State == record.Finished)
	if e := closed; runErr == nil && e != nil {
		runErr = failed(e)
	}
	if end.State == record.Failed {
		if gone(path) {
			return failed(fmt.Errorf("the run failed: %s", end.Reason))
		}
		return failed(fmt.Errorf("the run failed: %s; what was done is in %s", end.Reason, path))
	}
	if e := f.conclude(cmd, summary, path); runErr == nil && e != nil {
		runErr = failed(e)
	}
	switch {
	case errors.Is(runErr, errInterrupted):
		return interruptedIn(path)
	case runErr == nil && end.State == record.Stopped: // no signal: an order of another process
		return &exitError{exitInterrupted, fmt.Errorf("stopped by an order; everything up to there is in %s", path)}
	}
	return runErr
}

// interruptedIn is the error of an interrupted run.
func interruptedIn(path string) error {
	text := "interrupted; everything up to there is in " + path
	if gone(path) {
		text = fmt.Sprintf("interrupted; everything up to there was in %s, which was moved or removed", path)
	}
	return &exitError{exitInterrupted, errors.New(text)}
}

// gone reports whether a directory is not in its place any more; a run goes on where
// it was moved to.
func gone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// drive lets a run take its course, and stops it when ctx ends.
func (f *runFlags) drive(ctx context.Context, session *experiment.Session) (experiment.Snapshot, error) {
	run := session.Run
	end, err := run.Drive(ctx, f.course())
	if err == nil {
		session.RefuseOrders()
		end, err = run.Wait(ctx) // the last order may have come after the end
	}
	switch {
	case err == nil:
		return end, nil
	case ctx.Err() == nil:
		return end, failed(err)
	}
	if stopErr := run.Stop("interrupted by the user"); stopErr != nil {
		return run.Snapshot(), failed(stopErr)
	}
	if end = run.Snapshot(); end.State == record.Finished {
		err = nil
	}
	return end, err
}

// course is what follows by itself.
func (f *runFlags) course() record.Course {
	return record.Course{PruneTop: f.pruneTop, ThenRefine: f.thenRefine, Inducing: f.thenInducing}
}

// conclude says what came out and where it is.
func (f *runFlags) conclude(cmd *cobra.Command, s *history.Summary, path string) error {
	out := cmd.OutOrStdout()
	if f.json {
		return writeJSON(out, s)
	}
	if f.quiet {
		return nil
	}
	fmt.Fprintln(cmd.ErrOrStderr())
	s.Wide = terminalWidth(out)
	if err := s.WriteText(out, time.Now()); err != nil {
		return err
	}
	text := "results in " + path
	if gone(path) {
		text = fmt.Sprintf("results were in %s, which was moved or removed", path)
	}
	_, err := fmt.Fprintf(out, "\n%s\n", text)
	return err
}

// foretell says what the runs would take, by kernels of the space timed on rows that are made up.
func (f *runFlags) foretell(cmd *cobra.Command, c *config.Config) error {
	d, _, err := prepare.LoadData(cmd.Context(), c)
	if err != nil {
		return err
	}
	c.SettleTask(d)
	var estimator prepare.Estimator
	e, err := estimator.Run(cmd.Context(), *c, len(d.Train), d.Dim)
	if err = errors.Join(err, estimator.Close()); err != nil {
		return err
	}
	runs := float64(f.repeat)
	e.Seconds, e.Low, e.High = runs*e.Seconds, runs*e.Low, runs*e.High
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{
			"seconds": e.Seconds, "seconds_low": e.Low, "seconds_high": e.High, "bytes": e.Bytes})
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s, %s of %s: %s\n", c.Name, words.Count(f.repeat, "run"), words.Count(len(d.Train), "row"), e)
	return err
}
