package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui"
)

func newResume() *cobra.Command {
	var f runFlags
	var fromStart bool
	var data string
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that was stopped, killed or crashed",
		Long: "Go on with a run at the last evaluation that it saved, in the workbench or with --headless in plain progress lines. It ends " +
			"with the same posterior.csv and kernels.csv as if it had never been interrupted; orders given in it (prune, restore, re-optimise) " +
			"are kept, and so is what --prune-top and --then-refine asked for. The data must be where they were, and unchanged.\n\n" +
			"--data names the table where it has moved; and one with more rows behind those that the run has read, in the same order. These are " +
			"taken in as further evaluations, which begin with what has been learned, of a run that has finished, too: scaling, priors, " +
			"candidate periods and the held-out rows stay those of the rows that the run began with, inducing inputs are placed anew. A table " +
			"in which one of the earlier rows has changed is refused.",
		Example: "kestrel resume runs/fig1a-20260102T150405Z\n\n" +
			"# without the workbench\nkestrel resume runs/fig1a-20260102T150405Z --headless\n\n" +
			"# rows have come behind the others\nkestrel resume runs/sales-20260102T150405Z --data sales.csv\n\n" +
			"# its checkpoint is lost: begin again with the same config and the same orders\n" +
			"kestrel resume runs/fig1a-20260102T150405Z --from-start",
		Args: one("the directory of a run", "kestrel resume runs/…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.clusterFlags.check(); err != nil {
				return err
			}
			if f.cluster == "" && !f.headless && !f.json && !f.quiet && hasScreen(cmd) {
				return workbench(cmd, ui.Options{Resume: args[0], FromStart: fromStart, Data: data})
			}
			ctx := cmd.Context()
			return f.resume(ctx, cmd, args[0], data, fromStart)
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&f.headless, "headless", false,
		"without the workbench, with plain progress lines; so without a terminal, with --json or --quiet, too")
	fs.BoolVar(&f.quiet, "quiet", false, "no progress lines and no summary")
	fs.BoolVar(&f.json, "json", false, "write the summary as JSON")
	f.clusterFlags.register(fs, "; without the workbench")
	fs.StringVar(&data, "data", "", "the run's table, where it is not where it was, or with more rows behind")
	fs.BoolVar(&fromStart, "from-start", false,
		"begin again with the first evaluation; what is there is kept in a folder of the run's directory")
	return cmd
}

// resume goes on with a run to its end, or until ctx ends.
func (f *runFlags) resume(ctx context.Context, cmd *cobra.Command, path, data string, fromStart bool) error {
	summary := &history.Summary{Dir: path}
	progress := &record.Progress{Out: cmd.ErrOrStderr(), Quiet: true}
	session, err := experiment.Resume(ctx, path, experiment.ResumeOptions{FromStart: fromStart, Data: data, Unasked: true,
		Past: record.Recorders{progress, summary}}, progress, summary)
	if err != nil {
		return err
	}
	session.TakeOrders()
	progress.Quiet = f.quiet
	if !f.quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "results go to %s\n", path)
	}
	f.pruneTop, f.thenRefine, f.thenInducing = session.Course.PruneTop, session.Course.ThenRefine, session.Course.Inducing
	return f.finish(ctx, cmd, session, summary)
}
