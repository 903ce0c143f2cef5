package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/figures"
	"example.com/kestrel/experiment/output"
)

func newFigures() *cobra.Command {
	var out string
	o := figures.Options{Top: 2}
	cmd := &cobra.Command{
		Use:   "figures RUN|DIR…",
		Short: "Draw the paper's figures",
		Long: "Draw figures from runs, folders of runs (as run --repeat makes them) and comparisons, and write each as SVG, PNG and CSV with " +
			"the numbers that are drawn. Runs that differ in their seed only are repeats of one experiment and are averaged.\n\n" +
			"NAME-posterior is the kernel posterior against the proportion of the data (the paper's figures 1a to 1d, Swissgrid a, IEQ a); " +
			"NAME-rmse the RMSE against time of every method, mean and standard deviation over its runs (Swissgrid b, IEQ b); NAME-table the " +
			"table of runs, as points and in Markdown; NAME-scalability, where runs differ in their batch size only, time against iterations, " +
			"with fitted lines in NAME-scalability-fit.csv; likewise NAME-scalability-kernels, of spaces that do not grow, and " +
			"NAME-scalability-rows, where they differ in those. Where a space grows a kernel has a line while " +
			"some run has it; a row of the CSV without y is a gap in between.",
		Example: "# ten seeds of figure 1a\nkestrel run fig1a --repeat 10 --out results/fig1a\nkestrel figures results/fig1a -o figures\n\n" +
			"# methods compared\nkestrel figures results/swissgrid --top 3 -o figures\n\n" +
			"# scalability; scripts/scalability.sh makes such runs\nkestrel figures results/batch64 results/batch128 results/batch256 -o figures",
		Args: some("the directory of a run, of repeats or of a comparison", "kestrel figures runs/… -o figures"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Top < 1 {
				return fmt.Errorf("--top %d: must be at least 1", o.Top)
			}
			if err := output.CheckFolder(out); err != nil {
				return fmt.Errorf("-o %w", err)
			}
			ctx := cmd.Context()
			err := drawFigures(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr(), args, out, o)
			if err != nil && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "figures", "directory to write to")
	cmd.Flags().IntVar(&o.Top, "top", 2, "name the kernels that were ever among the first so many by posterior; the others are grey")
	return cmd
}

// drawFigures writes the figures of runs to a directory and tells w which, and
// notes which runs it leaves out.
func drawFigures(ctx context.Context, w, notes io.Writer, runs []string, dir string, o figures.Options) error {
	drawn, err := figures.Read(ctx, runs, o)
	if err != nil {
		return err
	}
	for _, run := range drawn.LeftOut {
		fmt.Fprintf(notes, "run %q has no evaluation yet and is left out\n", run)
	}
	for _, name := range drawn.Empty {
		fmt.Fprintf(notes, "figure %s is left out: no value of it is a finite number\n", name)
	}
	names, err := drawn.Save(ctx, dir)
	for _, n := range names {
		if _, e := fmt.Fprintln(w, filepath.Join(dir, n)+".svg"); err == nil {
			err = e
		}
	}
	return failed(err)
}
