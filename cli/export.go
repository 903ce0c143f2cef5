package cli

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"kestrel/experiment/history"
	"kestrel/experiment/output"
	"kestrel/experiment/rundir"
)

func newExport() *cobra.Command {
	var out, format string
	cmd := &cobra.Command{
		Use:   "export RUN",
		Short: "Write a run's results as CSV or JSON",
		Long: "Write posterior.csv, metrics.csv, kernels.csv and baselines.csv anew from a run's event log, the same bytes as the run " +
			"itself wrote; or everything as one JSON object.",
		Example: "kestrel export runs/fig1a-20260102T150405Z -o tables\n\nkestrel export runs/fig1a-20260102T150405Z --format json > run.json",
		Args:    one("the directory of a run", "kestrel export runs/…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "csv" && format != "json" {
				return fmt.Errorf("--format %s: must be csv or json", format)
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
	cmd.Flags().StringVarP(&out, "out", "o", "", "directory to write to; default RUN/export for CSV, standard output for JSON")
	cmd.Flags().StringVar(&format, "format", "csv", "format: csv or json")
	noErr(cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"csv", "json"}, cobra.ShellCompDirectiveNoFileComp)))
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
