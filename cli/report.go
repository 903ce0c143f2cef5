package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/output"
	"example.com/kestrel/experiment/report"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/words"
)

func newReport() *cobra.Command {
	var out, data string
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Write a page about a run",
		Long: "Write one page of HTML about a run, whether it has finished, was stopped, was cut off or is still going on: traces, ranked " +
			"kernels with their hyperparameters and a sentence each, the fit, residuals, calibration, what was pruned or failed, notices, " +
			"settings, versions, and how to make it again. The page needs no other file, no script and no network, and can be printed.",
		Example: "kestrel report runs/fig1a-20260102T150405Z\n\nkestrel report runs/fig1a-20260102T150405Z -o fig1a.html",
		Args:    one("the directory of a run", "kestrel report runs/…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := rundir.CheckRun(args[0]); err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join(args[0], "report.html")
			}
			if err := output.Check(out, args[0]); err != nil {
				return fmt.Errorf("-o %w", err)
			}
			ctx, told := tellWaiting(cmd.Context(), cmd, false)
			defer told()
			var left string
			err := output.Write(out, func(w io.Writer) (err error) {
				left, err = report.Write(ctx, args[0], data, time.Now(), w)
				return err
			})
			told()
			switch {
			case err != nil && ctx.Err() != nil:
				return context.Cause(ctx)
			case err != nil:
				return failed(err)
			}
			if left != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", words.PlainLine(left))
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), out)
			return failed(err)
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "the run's table, where it is not where it was")
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write to, a link is followed; default RUN/report.html")
	return cmd
}
