package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/modelfile"
	"example.com/kestrel/experiment/output"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/vbks"
)

func newModel() *cobra.Command {
	var out, data string
	var refit, withoutRows, quiet bool
	cmd := &cobra.Command{
		Use:   "model RUN",
		Short: "Write what a run predicts with as one file",
		Long: "Write a model file: the kernels that are averaged over, with their hyperparameters, inducing inputs, weights and what their " +
			"predictions need, and how the columns are read, scaled and transformed. kestrel predict takes it in the place of the run, on any " +
			"machine, without the data, and predicts the same; so does the program in docs/peers/predict_numpy.py, which needs NumPy alone. A run " +
			"that finishes writes its own, RUN/" + record.ModelFile + ".\n\n" +
			"Where predictions are averaged over hyperparameters (predict.theta) the factors of all draws may be large: beyond 32 MiB " +
			"the file has " +
			"the training rows in their place. --without-rows keeps them out: kernels then predict at their most probable hyperparameters alone, " +
			"and where inducing inputs are the rows' inputs others are placed, half as many. What that costs is told. --refit has the kernels " +
			"learn from all rows first, held out or not, as kestrel predict --horizon does.",
		Example: "kestrel model runs/fig1a-20260102T150405Z -o fig1a.kestrel\n\n" +
			"# then, wherever kestrel is\nkestrel predict fig1a.kestrel --data new.csv\n\n" +
			"# of a series: learned from all rows, to be continued\n" +
			"kestrel model runs/… --refit -o sales.kestrel\nkestrel predict sales.kestrel --horizon 18",
		Args: one("the directory of a run", "kestrel model runs/… -o m.kestrel"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := rundir.CheckRun(args[0]); err != nil {
				return err
			}
			if out == "" {
				return errors.New("model needs -o, the file to write to; for example -o m.kestrel")
			}
			if err := output.Check(out, args[0]); err != nil {
				return fmt.Errorf("-o %w", err)
			}
			tell := cmd.ErrOrStderr()
			if quiet {
				tell = io.Discard
			}
			ctx, told := tellWaiting(cmd.Context(), cmd, quiet)
			defer told()
			var said bytes.Buffer // lines below the one that is written over
			err := writeModel(ctx, args[0], data, out, refit, withoutRows, &said)
			told()
			if _, e := said.WriteTo(tell); err == nil {
				err = failed(e)
			}
			if err != nil && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&out, "out", "o", "", "file to write to, a link is followed")
	fs.StringVar(&data, "data", "", "the run's table, where it is not where it was")
	fs.BoolVar(&refit, "refit", false, "let the kernels learn from all rows first, held out or not")
	fs.BoolVar(&withoutRows, "without-rows", false, "leave the training rows out, and tell what that costs")
	fs.BoolVar(&quiet, "quiet", false, "nothing on standard error")
	return cmd
}

func writeModel(ctx context.Context, run, data, out string, refit, withoutRows bool, tell io.Writer) error {
	start, err := record.ReadStart(ctx, run)
	if err != nil {
		return err
	}
	p, err := inspect.OpenPredictorWith(ctx, run, data)
	if err != nil {
		return orMoved(err)
	}
	defer p.Close()
	if m := p.Kept(); m != nil { // the data are gone
		if refit || withoutRows {
			return fmt.Errorf("run %q: %s; --refit and --without-rows need the data: name them with --data", run, p.Note())
		}
		fmt.Fprintf(tell, "note: its data are not where they were; its %s is copied\n", record.ModelFile)
		return put(m, out, tell)
	}
	q := p.DefaultQuery()
	if refit {
		done, err := p.Refit(ctx, q)
		if err != nil {
			return failed(err)
		}
		if done != nil {
			fmt.Fprintf(tell, "note: %s\n", refitted(done))
		}
	}
	m, err := p.Model(ctx, start, inspect.ModelOptions{MostFactors: vbks.MostFactors, WithoutRows: withoutRows})
	if err != nil {
		return failed(err)
	}
	if withoutRows {
		d, err := p.ModelDifference(ctx, m)
		if err != nil {
			return failed(err)
		}
		fmt.Fprintf(
			tell,
			"note: without rows means differ by up to %.2g standard deviations at the training rows, standard deviations by up to %.2g %%\n",
			d.Mean,
			100*d.SD,
		)
	}
	return put(m, out, tell)
}

// put writes a model file and says what is in it.
func put(m *modelfile.Model, out string, tell io.Writer) error {
	if err := output.Write(out, m.Write); err != nil {
		return failed(err)
	}
	fmt.Fprintf(tell, "%s: %s; evaluation %d, %s; %s\n", filepath.Base(out), about(m), m.About.Evaluation, learned(m), m.Holds())
	return nil
}

func about(m *modelfile.Model) string {
	states := 0
	for _, k := range m.Frozen.Kernels {
		states += len(k.States)
	}
	return fmt.Sprintf("%s at %s of hyperparameters, %s", words.Count(len(m.Frozen.Kernels), "kernel"), words.Count(states, "set"),
		words.Count(m.Inducing(), "inducing input"))
}

// others is such as "3 others were".
func others(n int) string {
	if n == 1 {
		return "1 other was"
	}
	return words.Count(n, "other") + " were"
}

// learned says from which rows a model's kernels have learned.
func learned(m *modelfile.Model) string {
	if d := &m.About.Data; d.HeldOut {
		return fmt.Sprintf("%s, %s held out", words.Count(d.Learned, "row"), others(d.Test))
	}
	return fmt.Sprintf("all %d rows", m.About.Data.Learned)
}
