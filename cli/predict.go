package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/output"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/vbks"
)

// predictFlags are the flags of predict.
type predictFlags struct {
	data       string
	horizon    string
	refit      bool
	out        string
	quantiles  string
	components bool
	samples    int
	covariance bool
	seed       uint64
	weights    string
	top        int
	method     string
	format     string
	quiet      bool
}

func newPredict() *cobra.Command {
	var f predictFlags
	cmd := &cobra.Command{
		Use:   "predict RUN|MODEL --data FILE | --horizon STEPS",
		Short: "Predict at the rows of a new table, or beyond the end of a series",
		Long: "Predict at the rows of a table with what a run had learned when it was last saved; the run may be finished, stopped or still " +
			"going on; or with a model file that kestrel model has written, or the run itself when it finished, which needs " +
			"neither the run nor its " +
			"data. The table has the run's input columns under the same names, in any order; other columns are passed over. Where it has the " +
			"target too, the error, the log density and the coverage of the intervals are told on standard error.\n\n" +
			"The result has a row for each row of the table whose inputs are there: row (its number in the file, the header not counted), the " +
			"inputs, the target if there is one, mean, sd_f and sd_y (of the function, and of an observation with noise), the median where the " +
			"run has a transform, and the quantiles f_q… " +
			"and y_q… of the mixture over the kernels; all in the units of the data. With --components a second table, NAME.components.csv " +
			"beside the first, has a row for each point, kernel and additive component of the kernel. The means of a kernel's components add up " +
			"to its mean. Where the run has learned a transform of the target (data.transform), components are of that.\n\n" +
			"--samples N writes N joint draws of observations at all points, for sums, maxima and whatever else marginal " +
			"quantiles do not tell, and " +
			"--covariance the covariance of the function between all points (of the transformed target where there is a transform): of up to " +
			"2,000 points. Both are of the kernels, also where neighbours (predict.local) predict a row.\n\n" +
			"--horizon forecasts a series in time: its inputs go on beyond the last row of all data, held out or not, by so many steps, or " +
			"for a time: 12h, 90d, 2w, 6mo, 3q, 1y. Time stamps of months, quarters and years follow the calendar: the same day of the month, " +
			"and its last one where rows are on that. row counts the steps. Kernels then learn from all rows first, those too that the " +
			"run has held out: hyperparameters climb from where they are (optimiser collapsed; with others they stay), and the weights of " +
			"the kernels stay those of the run. --refit=false leaves the held-out rows out; for the points of a table they are taken in " +
			"only with --refit. With --method theta and the like a method beside the kernels forecasts, from all rows.",
		Example: "kestrel predict runs/fig1a-20260102T150405Z --data new.csv -o predictions.csv\n\n" +
			"# on another machine, without the run\nkestrel predict m.kestrel --data new.csv\n\n" +
			"# the next 18 months of a monthly series, or half a year\n" +
			"kestrel predict runs/… --horizon 18\nkestrel predict runs/… --horizon 6mo\n\n" +
			"# by a method beside the kernels that did better, as the summary says\nkestrel predict runs/… --horizon 6mo --method theta\n\n" +
			"# the ends of the 95 % interval, of the best kernel alone\n" +
			"kestrel predict runs/… --data new.csv --method vbks-s --quantiles 0.025,0.975\n\n" +
			"# what each part of the five best kernels contributes\nkestrel predict runs/… --data new.csv --top 5 --components -o predictions.csv",
		Args: one("the directory of a run", "kestrel predict runs/… --data new.csv"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.data, "data", "", "table to predict at")
	fs.StringVar(
		&f.horizon,
		"horizon",
		"",
		"predict beyond the last row of a series: so many steps, or a time such as 12h, 90d, 2w, 6mo, 1y",
	)
	fs.BoolVar(&f.refit, "refit", false, "let the kernels learn from all rows first, held out or not; default with --horizon, else not")
	fs.StringVarP(&f.out, "out", "o", "", "file to write to, a link is followed; default standard output")
	fs.StringVar(&f.quantiles, "quantiles", "0.05,0.5,0.95", "probabilities, or none")
	fs.BoolVar(&f.components, "components", false, "write a table of the additive components, too")
	fs.IntVar(&f.samples, "samples", 0, "write so many joint draws of observations at all points, too: NAME.samples.csv beside -o")
	fs.BoolVar(&f.covariance, "covariance", false, "write the covariance of the function between all points, too: NAME.covariance.csv")
	fs.Uint64Var(&f.seed, "seed", 1, "of --samples")
	fs.StringVar(&f.weights, "weights", "", "of the average: posterior, bayes, tempered, loo or origins; default the run's predict.weights")
	fs.IntVar(&f.top, "top", 0, "kernels averaged, 0 for all; default the run's predict.top")
	fs.StringVar(&f.method, "method", config.MethodAverage,
		"method: "+config.MethodAverage+", the average over kernels, or "+config.MethodSingle+", the best one; with --horizon also what "+
			"forecasts beside them: "+strings.Join(prepare.ForecastNames(), ", "))
	fs.StringVar(&f.format, "format", "csv", "format: csv, or json, an array of objects; default csv, on a terminal a table for reading")
	fs.BoolVar(&f.quiet, "quiet", false, "nothing on standard error")
	for flag, choices := range map[string][]string{
		"weights": vbks.WeightNames()[1:], "method": slices.Concat([]string{config.MethodAverage, config.MethodSingle}, prepare.ForecastNames()),
		"format": {"csv", "json"},
	} {
		noErr(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp)))
	}
	return cmd
}

// query is what the flags ask for, on top of what the run says.
func (f *predictFlags) query(cmd *cobra.Command, q inspect.PredictQuery) (inspect.PredictQuery, error) {
	switch q.Method = f.method; q.Method {
	case config.MethodAverage:
	case config.MethodSingle:
		for _, name := range []string{"weights", "top"} {
			if cmd.Flags().Changed(name) {
				return q, fmt.Errorf("--%s is about the average; leave it out, or choose --method %s", name, config.MethodAverage)
			}
		}
	default:
		if !f.byBaseline() {
			return q, fmt.Errorf("--method %s: must be %s, the average over kernels, or %s, the best one; or, with --horizon, one of %s",
				f.method, config.MethodAverage, config.MethodSingle, strings.Join(prepare.ForecastNames(), ", "))
		}
		for _, name := range []string{"weights", "top", "refit", "components", "samples", "covariance", "data"} {
			if cmd.Flags().Changed(name) {
				return q, fmt.Errorf("--%s is about kernels; --method %s has none and forecasts with --horizon", name, f.method)
			}
		}
		q.Method = config.MethodAverage
	}
	if cmd.Flags().Changed("weights") {
		names := vbks.WeightNames()[1:] // "auto" is the run's
		if q.Weights = f.weights; !slices.Contains(names, f.weights) {
			return q, fmt.Errorf("--weights %s: must be one of %s", f.weights, strings.Join(names, ", "))
		}
	}
	if cmd.Flags().Changed("top") {
		if q.Top = f.top; f.top < 0 {
			return q, fmt.Errorf("--top %d: must be at least 1, or 0 for all", f.top)
		}
	}
	if f.format != "csv" && f.format != "json" {
		return q, fmt.Errorf("--format %s: must be csv or json", f.format)
	}
	q.JSON, q.Components = f.format == "json", f.components
	if f.samples < 0 || f.samples > inspect.MostSamples {
		return q, fmt.Errorf("--samples %d: must be 0 to %d", f.samples, inspect.MostSamples)
	}
	var err error
	if q.Quantiles, err = parseQuantiles(f.quantiles); err != nil {
		return q, err
	}
	return q, q.Check()
}

// byBaseline reports whether a method beside the kernels is to forecast.
func (f *predictFlags) byBaseline() bool { return slices.Contains(prepare.ForecastNames(), f.method) }

// forecast writes what that forecasts.
func (f *predictFlags) forecast(cmd *cobra.Command, told func(), p *inspect.Predictor, q inspect.PredictQuery) error {
	h, err := datasets.ParseHorizon(f.horizon)
	if err != nil {
		return err
	}
	rows, label := 0, ""
	write := func(to io.Writer) error {
		rows, label, err = p.WriteBaseline(h, f.method, q, to)
		return err
	}
	switch {
	case f.out == "" && isTerminal(cmd.OutOrStdout()):
		err = f.show(cmd, told, write)
	case f.out == "":
		err = write(cmd.OutOrStdout())
	default:
		err = output.WriteAll([]string{f.out}, func(to []io.Writer) error { return write(to[0]) })
	}
	if err != nil {
		return err
	}
	if told(); !f.quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s, from all rows: %s\n", label, words.Count(rows, "row"))
	}
	return nil
}

// parseQuantiles reads probabilities divided by commas.
func parseQuantiles(text string) ([]float64, error) {
	if text = strings.TrimSpace(text); text == "" || text == "none" {
		return nil, nil
	}
	var out []float64
	for word := range strings.SplitSeq(text, ",") {
		p, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(p > 0 && p < 1) {
			return nil, fmt.Errorf("--quantiles %s: %q is no probability between 0 and 1; for example 0.05,0.5,0.95", text, word)
		}
		out = append(out, p)
	}
	return out, nil
}

// same reports whether two names are of one file.
func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// beside is where a further table goes: beside the predictions.
func beside(out, what string) string {
	ending := filepath.Ext(out)
	return strings.TrimSuffix(out, ending) + "." + what + ending
}

// outs are the files that are written: predictions, then what else is asked for.
func (f *predictFlags) outs() []string {
	outs := []string{f.out}
	if f.components {
		outs = append(outs, beside(f.out, "components"))
	}
	if f.samples > 0 {
		outs = append(outs, beside(f.out, "samples"))
	}
	if f.covariance {
		outs = append(outs, beside(f.out, "covariance"))
	}
	return outs
}

// check finds what is wrong with the files before anything is computed.
func (f *predictFlags) check(run string) error {
	switch {
	case f.data == "" && f.horizon == "":
		return errors.New("predict needs --data, a table with the run's input columns, or --horizon, how far beyond the end of a series; " +
			"for example --data new.csv, or --horizon 18")
	case f.data != "" && f.horizon != "":
		return errors.New("--data and --horizon are two ways to say where to predict; leave one out")
	}
	if f.out == "" {
		for flag, asked := range map[string]bool{"components": f.components, "samples": f.samples > 0, "covariance": f.covariance} {
			if asked {
				return fmt.Errorf("--%s writes a second table beside the first; name that with -o", flag)
			}
		}
		return nil
	}
	for _, out := range f.outs() {
		if err := output.Check(out, run); err != nil {
			return fmt.Errorf("-o %w", err)
		}
		if f.data != "" && same(out, f.data) {
			return fmt.Errorf("-o %q is the table to predict at; choose another name", out)
		}
	}
	return nil
}

func (f *predictFlags) run(cmd *cobra.Command, run string) error {
	if err := f.check(run); err != nil {
		return err
	}
	// What is wrong with the flags is said before a run is read.
	if _, err := f.query(cmd, inspect.PredictQuery{Method: config.MethodAverage, Weights: "posterior"}); err != nil {
		return err
	}
	if f.horizon != "" {
		if _, err := datasets.ParseHorizon(f.horizon); err != nil {
			return fmt.Errorf("--horizon %w", err)
		}
	}
	ctx := cmd.Context()
	err := f.predict(ctx, cmd, run)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// openPredictor opens a run, or a model file.
func openPredictor(ctx context.Context, of string) (*inspect.Predictor, error) {
	if info, err := os.Stat(of); err == nil && info.Mode().IsRegular() {
		return inspect.OpenModel(of)
	}
	p, err := inspect.OpenPredictor(ctx, of)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; kestrel model %s --data … -o m.kestrel, with where they are now, makes a model that predicts without them", err,
			words.Shell(of))
	}
	return p, err
}

func (f *predictFlags) predict(ctx context.Context, cmd *cobra.Command, run string) error {
	ctx, told := tellWaiting(ctx, cmd, f.quiet)
	defer told()
	p, err := openPredictor(ctx, run)
	if err != nil {
		return err
	}
	defer p.Close()
	q, err := f.query(cmd, p.DefaultQuery())
	if err != nil {
		return err
	}
	if err := p.Check(&q); err != nil {
		return err
	}
	if f.byBaseline() {
		return f.forecast(cmd, told, p, q)
	}
	at, err := f.points(ctx, p)
	if err != nil {
		return err
	}
	defer at.close()
	refitted, err := f.learnAll(ctx, cmd.Flags().Changed("refit"), p, q)
	if err != nil {
		return failed(err)
	}
	var done *inspect.Predicted
	write := func(predictions, components io.Writer) error {
		done, err = p.Write(ctx, at.source, q, predictions, components)
		return err
	}
	switch {
	case f.out == "" && isTerminal(cmd.OutOrStdout()):
		err = f.show(cmd, told, func(to io.Writer) error { return write(to, nil) })
	case f.out == "":
		err = write(cmd.OutOrStdout(), nil)
	default:
		err = output.WriteAll(f.outs(), func(to []io.Writer) error {
			first, rest := to[0], to[1:]
			var components io.Writer
			if f.components {
				components, rest = rest[0], rest[1:]
			}
			if f.samples == 0 && !f.covariance {
				return write(first, components)
			}
			joint, err := p.Hold(ctx, at.source)
			if err != nil {
				return err
			}
			at.source = joint
			if err := write(first, components); err != nil {
				return err
			}
			return p.WriteJoint(ctx, joint, q, inspect.JointQuery{Samples: f.samples, Seed: f.seed, Covariance: f.covariance}, rest)
		})
	}
	switch {
	case err == nil:
	case at.file != nil && err == at.file.Err(): // the user's to mend
		return err
	default:
		return failed(err)
	}
	told()
	if !f.quiet {
		dropped := 0
		if at.file != nil {
			for _, n := range at.file.Notices() {
				fmt.Fprintf(cmd.ErrOrStderr(), "note: %s: %s\n", words.PlainLine(filepath.Base(f.data)), words.PlainLine(n))
			}
			dropped = at.file.Dropped()
		}
		f.tell(cmd.ErrOrStderr(), p, &q, dropped, done, refitted)
	}
	return nil
}

// show writes predictions to a terminal, when all are there: for reading, unless a
// format is asked for.
func (f *predictFlags) show(cmd *cobra.Command, told func(), write func(io.Writer) error) error {
	var table bytes.Buffer
	if err := write(&table); err != nil {
		return err
	}
	told()
	if !cmd.Flags().Changed("format") {
		return inspect.WriteScreen(cmd.OutOrStdout(), table.Bytes())
	}
	_, err := table.WriteTo(cmd.OutOrStdout())
	return err
}

// predictAt is where to predict.
type predictAt struct {
	source inspect.PointSource
	file   *datasets.PointReader // nil: beyond the end of a series
}

func (at *predictAt) close() {
	if at.file != nil {
		at.file.Close()
	}
}

// points finds where to predict.
func (f *predictFlags) points(ctx context.Context, p *inspect.Predictor) (*predictAt, error) {
	if f.horizon == "" {
		file, err := p.OpenPoints(ctx, f.data)
		return &predictAt{file, file}, err
	}
	h, err := datasets.ParseHorizon(f.horizon)
	if err != nil {
		return nil, err
	}
	source, err := p.Beyond(h)
	return &predictAt{source: source}, err
}

// learnAll has the kernels learn from all rows, if that is asked for, by --refit or
// not, and returns what is to be told of it.
func (f *predictFlags) learnAll(ctx context.Context, asked bool, p *inspect.Predictor, q inspect.PredictQuery) (told string, err error) {
	if refit := f.refit || f.horizon != "" && !asked; !refit {
		return "", nil
	}
	if rows, heldOut, ok := p.Fixed(); ok && !asked {
		if heldOut > 0 {
			return fmt.Sprintf("the model has learned from %s; %s held out, and kestrel model RUN --refit takes them in",
				words.Count(rows, "row"), others(heldOut)), nil
		}
		return "", nil
	}
	done, err := p.Refit(ctx, q)
	switch {
	case err != nil:
		return "", err
	case done == nil && asked:
		return "nothing is fitted again: the run has learned from all rows", nil
	case done == nil:
		return "", nil
	}
	told = refitted(done)
	if f.horizon != "" && done.HeldOut > 0 {
		told += ", which the workbench's chart beyond the end has not learned from"
	}
	return told, nil
}

func refitted(done *inspect.Refitted) string {
	text := "fitted again on all " + words.Count(done.Rows, "row")
	if done.HeldOut > 0 {
		text += fmt.Sprintf(", the %d held-out ones included", done.HeldOut)
	}
	if done.Left > 0 {
		text += "; " + words.Count(done.Left, "other") + " cannot be transformed"
	}
	return text
}

// weightsText names the weights of a prediction, and says where they are not the belief
// that the workbench and the summary show.
func weightsText(weights string) string {
	switch weights {
	case "posterior":
		return "posterior (q*)"
	case "bayes":
		return "bayes (Bayes' rule)"
	}
	return weights + " (not the belief q*)"
}

// tell says what was predicted with, and how good it was.
func (f *predictFlags) tell(
	w io.Writer, p *inspect.Predictor, q *inspect.PredictQuery, dropped int, done *inspect.Predicted, refitted string,
) {
	with := "with " + done.IDs[0]
	if n := len(done.IDs); n > 1 {
		with = fmt.Sprintf("averaged over %d kernels, weights for prediction by %s: %s first with %.3g", n, weightsText(q.Weights),
			done.IDs[0], done.Weights[0])
	}
	fmt.Fprintf(w, "evaluation %d, %s: %s\n", done.Evaluation, with, words.Count(done.Rows, "row"))
	if c := done.Calibration; c != nil {
		fmt.Fprintf(w, "note: %s\n", c)
	} else if done.Uncalibrated != "" {
		fmt.Fprintf(w, "note: %s\n", done.Uncalibrated)
	}
	if done.Noise != "" {
		fmt.Fprintf(w, "note: %s\n", done.Noise)
	}
	if p.Note() != "" {
		fmt.Fprintf(w, "note: %s\n", words.PlainLine(p.Note()))
	}
	if refitted != "" {
		fmt.Fprintf(w, "note: %s\n", refitted)
	}
	if dropped > 0 {
		fmt.Fprintf(w, "note: %d of %d rows %s left out for a missing input\n", dropped, dropped+done.Rows, words.Are(dropped))
	}
	a := &done.Accuracy
	if a.Rows == 0 {
		return
	}
	if of, ok := p.Transformed(); ok {
		note := "rmse is of the mean, mae of the median"
		if q.Components {
			note = "components are of " + of + "; " + note
		}
		fmt.Fprintf(w, "note: the run has learned %s: %s\n", words.PlainLine(of), words.PlainLine(note))
	}
	unit := p.Unit()
	if unit != "" {
		unit = " " + unit
	}
	of := ""
	if a.Missing > 0 {
		of = fmt.Sprintf(", the target of %s is missing", words.Count(a.Missing, "other"))
	}
	fmt.Fprintf(w, "on %s with a target%s: rmse %.6g%s, mae %.6g%s, nlpd %.6g, crps %.6g%s, interval score %.6g%s\n",
		words.Count(a.Rows, "row"), of, a.RMSE, unit, a.MAE, unit, a.NLPD, a.CRPS, unit, a.Interval, unit)
	fmt.Fprint(w, "coverage of intervals:")
	for i, level := range record.CoverageLevels {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, " %.1f %% of %.0f %%", 100*a.Coverage[i], 100*level)
	}
	fmt.Fprintln(w)
}
