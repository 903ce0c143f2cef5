// Package cli is the command line: one file for each command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"

	"example.com/kestrel/configs"
	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/ui"
)

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2 // bad usage or input
	exitInterrupted = 130
)

// exitError is an error with an exit code of its own; all others are bad usage
// or input.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func failed(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitFailed, err}
}

// Execute runs the program with its arguments and returns its exit code.
func Execute(args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintln(words.PlainWriter(stderr), "kestrel: "+crash(p, debug.Stack()))
			code = exitFailed
		}
	}()
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	completeCompletion(root)
	build := record.ReadBuild()
	// fang asks the terminal for its colours before it reports an error, and
	// waits for an answer; after a hangup none comes. So what a command returns
	// is kept from it.
	var runErr error
	keepErrors(root, &runErr)
	err := fang.Execute(context.Background(), root,
		fang.WithoutManpage(), fang.WithVersion(build.Version), fang.WithCommit(build.Commit),
		fang.WithErrorHandler(func(_ io.Writer, _ fang.Styles, err error) { complain(stderr, err) }))
	if runErr != nil {
		complain(stderr, runErr)
		err = runErr
	}
	if err == nil {
		return exitDone
	}
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	var mistake *guard.PanicError
	if errors.As(err, &mistake) {
		return exitFailed
	}
	return exitUsage
}

// keepErrors lets the commands below cmd leave their errors in *to.
func keepErrors(cmd *cobra.Command, to *error) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			keepPlain(cmd)
			*to = interruptible(cmd, leaveAfter, func() error { return run(cmd, args) })
			return nil
		}
	}
	for _, c := range cmd.Commands() {
		keepErrors(c, to)
	}
}

// complain writes an error: one line of what, where and what to do, and below it
// a kernel expression that cannot be read with a caret under the column.
func complain(w io.Writer, err error) {
	line := words.PlainLine(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	var mistake *guard.PanicError
	if errors.As(err, &mistake) {
		line = words.PlainLine(crash(mistake.Value, mistake.Stack))
	}
	for _, usage := range []string{"unknown flag", "unknown shorthand", "flag needs"} {
		if strings.HasPrefix(line, usage) {
			line += "; kestrel --help tells more"
			break
		}
	}
	fmt.Fprintln(w, "kestrel: "+shorten(line))
	var s *kernelspace.SyntaxError
	if errors.As(err, &s) && strings.TrimSpace(s.Input) != "" {
		fmt.Fprintln(w, s.Caret())
	}
}

// crash writes what is known about a mistake of the program to a file, and says
// where.
func crash(value any, stack []byte) string {
	name := filepath.Join(os.TempDir(), "kestrel-crash-"+time.Now().UTC().Format("20060102T150405Z")+".log")
	text := fmt.Sprintf("kestrel %s\n%s\n%v\n\n%s", record.ReadBuild(), strings.Join(os.Args, " "), value, stack)
	if err := files.ReplaceFile(name, []byte(text)); err != nil {
		return fmt.Sprintf("internal error: %v; please report it", value)
	}
	return fmt.Sprintf("internal error: %v; please report it with the file %s", value, name)
}

func newRoot() *cobra.Command {
	var f runFlags
	root := &cobra.Command{
		Use:   "kestrel [CONFIG | FILE.csv]",
		Short: "Select kernels for Gaussian process regression",
		Long: "kestrel finds out which kernels explain a series or a table of numbers: variational Bayesian kernel selection for sparse " +
			"Gaussian process regression (Teng, Chen, Zhang and Low, AAAI 2020). Every kernel of a space is optimised on a growing part of the " +
			"data, and a belief over the kernels is kept beside.\n\n" +
			"In a terminal it opens the workbench: with a config or a data file it starts the run, as kestrel run does; with nothing it shows " +
			"the launcher, which lists experiments, data files and earlier runs. Without a terminal it writes plain progress lines.",
		Example: "# the launcher\nkestrel\n\n" +
			"# a first look, a few seconds\nkestrel quickstart\n\n" +
			"# your own table; the last column is the target unless you say so\nkestrel sales.csv --target revenue\n\n" +
			"# an experiment of the paper, with another seed\nkestrel run fig1a --seed 7 --out results/fig1a-7\n\n" +
			"# what came out\nkestrel open results/fig1a-7",
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "quickstart"
			if len(args) == 1 {
				name = args[0]
			} else if !f.headless && !f.quiet && !f.json && hasScreen(cmd) {
				if cmd.Flags().NFlag() > 0 {
					return errors.New("these flags are about a run; name a config or a data file, or start kestrel without flags for the launcher")
				}
				return workbench(cmd, ui.Options{})
			} else if !f.quiet {
				fmt.Fprintln(cmd.ErrOrStderr(), "no config or data file given, and no terminal for the workbench: "+
					"running the built-in quickstart with plain progress lines; kestrel --help tells what else there is")
			}
			return f.run(cmd, name)
		},
	}
	f.register(root)
	root.SetFlagErrorFunc(wrongFlag)
	root.AddCommand(newRun(), newOpen(), newResume(), newOrder(), newExport(), newPredict(), newModel(), newReport(),
		newKernels(), newData(), newConfig(), newStudy(), newCompare(), newBacktest(), newFigures(), newBench(), newDevices(),
		newServe(), newWorker(), newCluster(), newMan(), newVersion())
	completeAll(root)
	return root
}

// known says what was meant by a word that is neither a command nor a config
// nor a file.
func known(cmd *cobra.Command, name string) error {
	if _, err := os.Stat(name); err == nil || name == datasets.StandardInput || library.IsTable(name) || strings.ContainsAny(name, "./\\") {
		return nil
	}
	if _, ok := configs.Read(name); ok {
		return nil
	}
	words := configs.Names()
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			words = append(words, c.Name())
		}
	}
	if near := config.Nearest(name, words); near != "" {
		return fmt.Errorf("%q is no command, config or file; did you mean %s?", name, near)
	}
	return fmt.Errorf("%q is no command, config or file; kestrel --help lists commands, kestrel config list the configs", name)
}
