package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/output"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/script"
)

func newExport() *cobra.Command {
	var out, format, library, data string
	var top int
	cmd := &cobra.Command{
		Use:   "export RUN",
		Short: "Write a run's results as CSV or JSON",
		Long: "Write posterior.csv, metrics.csv, kernels.csv and baselines.csv anew from a run's event log, the same bytes as the run " +
			"itself wrote; or everything as one JSON object; or, with --format python, the best kernel as a program for one of the libraries of " +
			"Gaussian processes: FILE.py, and beside it FILE.csv with the rows that the run learned from. It conditions on all of them, beyond " +
			"2,000 rows by the run's inducing inputs (numpy, gpflow), at the most probable hyperparameters, and prints what it predicts at three " +
			"points beside kestrel's own. The one for numpy needs nothing else and has all kernels.",
		Example: "kestrel export runs/fig1a-20260102T150405Z -o tables\n\n" +
			"kestrel export runs/fig1a-20260102T150405Z --format json > run.json\n\n" +
			"# the two best kernels for scikit-learn\nkestrel export runs/… --format python --library sklearn --top 2 -o best.py && python best.py",
		Args: one("the directory of a run", "kestrel export runs/…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"library", "top", "data"} {
				if cmd.Flags().Changed(name) && format != "python" {
					return fmt.Errorf("--%s is about --format python", name)
				}
			}
			switch format {
			case "csv", "json":
			case "python":
				return exportPython(cmd, args[0], data, out, library, top)
			default:
				return fmt.Errorf("--format %s: must be csv, json or python", format)
			}
			if out == "" && format == "csv" {
				out = filepath.Join(args[0], rundir.ExportDir)
			}
			if out != "" {
				if err := output.CheckFolder(out); err != nil {
					return fmt.Errorf("-o %w", err)
				}
			}
			if format == "json" {
				run, err := history.ReadJSON(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return exportJSON(cmd, run, out)
			}
			if err := rundir.Export(args[0], out); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), out)
			return failed(err)
		},
	}
	cmd.Flags().
		StringVarP(&out, "out", "o", "", "directory to write to; default RUN/export for CSV, standard output for JSON; with --format python "+
			"the program, default RUN/export/LIBRARY.py")
	cmd.Flags().StringVar(&format, "format", "csv", "format: csv, json or python")
	cmd.Flags().StringVar(&library, "library", script.Libraries()[0], "of --format python: "+strings.Join(script.Libraries(), ", "))
	cmd.Flags().StringVar(&data, "data", "", "of --format python: the run's table, where it is not where it was")
	cmd.Flags().IntVar(&top, "top", 1, "of --format python: so many kernels, the highest-ranked ones")
	noErr(
		cmd.RegisterFlagCompletionFunc(
			"format",
			cobra.FixedCompletions([]string{"csv", "json", "python"}, cobra.ShellCompDirectiveNoFileComp),
		),
	)
	noErr(cmd.RegisterFlagCompletionFunc("library", cobra.FixedCompletions(script.Libraries(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func exportJSON(cmd *cobra.Command, run *history.JSONExport, out string) error {
	if out == "" {
		return failed(run.Write(cmd.Context(), cmd.OutOrStdout()))
	}
	if err := output.MakeFolder(out); err != nil {
		return err
	}
	const name = "run.json"
	err := output.WriteFolder(out, []string{name}, func(to []io.Writer) error { return run.Write(cmd.Context(), to[0]) })
	if err == nil {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), filepath.Join(out, name))
	}
	return failed(err)
}

// exportPython writes a program, and the rows that it conditions on beside it.
func exportPython(cmd *cobra.Command, run, data, out, library string, top int) error {
	if err := script.Check(library); err != nil {
		return fmt.Errorf("--library: %w", err)
	}
	if top < 1 {
		return fmt.Errorf("--top %d: must be at least 1", top)
	}
	if err := rundir.CheckRun(run); err != nil {
		return err
	}
	if out == "" {
		out = filepath.Join(run, rundir.ExportDir, library+".py")
		if err := output.MakeFolder(filepath.Dir(out)); err != nil {
			return err
		}
	}
	if filepath.Ext(out) != ".py" {
		return fmt.Errorf("-o %q: must end in .py", out)
	}
	rows := strings.TrimSuffix(out, ".py") + ".csv"
	for _, name := range []string{out, rows} {
		if err := output.Check(name, run); err != nil {
			return fmt.Errorf("-o %w", err)
		}
	}
	of, err := inspect.OpenSolved(cmd.Context(), run, data, top)
	if err != nil {
		return orMoved(err)
	}
	s, err := script.New(library, of)
	if err != nil {
		return err
	}
	err = output.WriteAll([]string{out, rows}, func(to []io.Writer) error {
		if err := s.Write(to[0], filepath.Base(filepath.Clean(run)), filepath.Base(out), filepath.Base(rows)); err != nil {
			return err
		}
		return s.WriteRows(to[1])
	})
	if err == nil {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), out)
	}
	return failed(err)
}
