package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/experiment/words"
)

// repeats makes the runs of --repeat that are not there yet.
func (f *runFlags) repeats(ctx context.Context, cmd *cobra.Command, c config.Config, name, dir string) (err error) {
	say := oneByOne(func(line string) {
		if !f.quiet {
			fmt.Fprintln(cmd.ErrOrStderr(), line)
		}
	})
	runs, err := series.BeginRepeats(ctx, c, f.course(), f.repeat, dir, say)
	if err != nil {
		return err
	}
	keep(cmd)
	defer func() {
		if e := runs.Close(); err == nil {
			err = failed(e)
		}
	}()
	if done := runs.Done(); runs.Known && done < runs.N {
		say(series.GoesOn(done, runs.N))
	}
	leave := func(bool) {}
	if runs.Crew, leave, err = f.crew(ctx, cmd, dir, f.quiet, c.Device, c.Cluster, say); err != nil {
		return failed(err)
	}
	defer func() { leave(err == nil) }()
	var there []bool
	for i := range runs.N {
		there = append(there, runs.Finished(i+1))
	}
	made, end := f.maker(ctx, cmd, runs)
	defer end()
	for i := 1; i <= runs.N; i++ {
		err := f.repeated(cmd, runs, i, say, there[i-1], made)
		if errors.Is(err, errInterrupted) {
			return &exitError{exitInterrupted, fmt.Errorf("interrupted; %d of %d runs finished; %s goes on",
				runs.Done(), runs.N, again(cmd, dir, name))}
		}
		if err != nil {
			return fmt.Errorf("run %d of %d: %w", i, runs.N, err)
		}
	}
	return nil
}

// maker returns what makes a run, or waits for one that others make: see ahead.
func (f *runFlags) maker(ctx context.Context, cmd *cobra.Command, runs *series.Repeats) (one func(i int) error, end func()) {
	if runs.Crew == nil {
		return func(i int) error {
			return runs.Make(ctx, i, &record.Progress{Out: cmd.ErrOrStderr(), Quiet: f.quiet})
		}, func() {}
	}
	runs.Crew.Alone(true)
	var missing []int
	for i := 1; i <= runs.N; i++ {
		if !runs.Finished(i) {
			missing = append(missing, i)
		}
	}
	wait, end := ahead(ctx, missing, func(ctx context.Context, i int) (struct{}, error) { return struct{}{}, runs.Make(ctx, i) })
	return func(i int) error { _, err := wait(i); return err }, end
}

// repeated makes one of several runs, unless it is there, and says what came out.
func (f *runFlags) repeated(cmd *cobra.Command, runs *series.Repeats, i int, say func(string), there bool, made func(i int) error) error {
	path := runs.Place(i)
	line := fmt.Sprintf("run %d of %d, seed %d", i, runs.N, runs.Seed(i))
	if there {
		say(line + ": finished already, in " + path)
	} else {
		say(line)
		err := made(i)
		if begun := (*series.BegunError)(nil); errors.As(err, &begun) {
			return failed(err)
		}
		if err != nil {
			return err
		}
	}
	summary, err := history.ReadSummary(path)
	switch {
	case err != nil:
		return failed(err)
	case summary.State == record.Failed:
		return failed(fmt.Errorf("the run failed: %s; what was done is in %s, remove it to try again", summary.Reason, path))
	case there && !f.json:
		return nil
	}
	return failed(f.conclude(cmd, summary, path))
}

// again is the command that was given, with its output in a directory.
func again(cmd *cobra.Command, dir string, args ...string) string {
	line := strings.Fields(cmd.CommandPath())
	for _, a := range args {
		line = append(line, words.Shell(a))
	}
	flag := func(f *pflag.Flag, value string) {
		if f.Value.Type() == "bool" {
			value = "=" + value
		} else {
			value = " " + words.Shell(value)
		}
		line = append(line, "--"+f.Name+strings.TrimSuffix(value, "=true"))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch list, ok := f.Value.(pflag.SliceValue); {
		case f.Name == "out":
		case ok && f.Value.Type() == "stringArray":
			for _, v := range list.GetSlice() {
				flag(f, v)
			}
		case ok:
			flag(f, strings.Join(list.GetSlice(), ","))
		default:
			flag(f, f.Value.String())
		}
	})
	return strings.Join(append(line, "--out "+words.Shell(dir)), " ")
}
