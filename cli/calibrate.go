package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/experiment/study"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/internal/guard"
)

// calibrateFlags are the flags of study calibrate.
type calibrateFlags struct {
	spaces, set []string
	sets        int
	seed        uint64
	prior, rows string
	workers     int
	out         string
	json, quiet bool
	clusterFlags
}

func newCalibrate() *cobra.Command {
	var f calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Find out whether the belief over kernels is right as often as it says",
		Long: "Draw data sets whose kernel, hyperparameters and function come from the prior that the fit believes in, with " +
			"noise of .05 to .5 sd, fit each with the program's defaults, and compare what is believed of the leader with how often the " +
			"generating kernel is as good as it. Kernels count as one class where their exact evidence, with all of k(X,X), is within a nat, " +
			"which is decided before any belief is looked at; the belief of a class is the sum over it.\n\n" +
			"The prior of hyperparameters is wide and relative to the variance of the targets: kernel, hyperparameters, function and noise are " +
			"drawn anew, all of them, until that is between .8 and 1.25. That depends on the targets alone, so that all kernels stay equally " +
			"likely. With --prior other the hyperparameters have means half an sd higher and half the sds, which the fit does not know.\n\n" +
			"A row is written for each data set, then the summary: hits by belief with the 95 % band of a calibrated belief, the slope of a " +
			"logistic regression of hits on the belief's logit, log score and Brier score; for Bayes' rule, q* and Bayes' rule without the errors " +
			"of local ELBOs. With --out the rows are also written to study-calibration.csv; with the directory of the same study, which may " +
			"have more --sets now, it goes on where that was cut.",
		Example: "# does it work at all?\nkestrel study calibrate --spaces K12 --sets 10\n\n" +
			"# hours on two cores, and it may be stopped\nkestrel study calibrate --sets 150 --workers 2 -o calibration\n\n" +
			"# data that the fit's prior does not expect\nkestrel study calibrate --prior other --sets 150 -o other",
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&f.spaces, "spaces", []string{"K12", "K144"}, "sets of kernels, separated by commas")
	fs.IntVar(&f.sets, "sets", 150, "data sets of each space")
	fs.Uint64Var(&f.seed, "seed", 1, "of the first data set; it counts up")
	fs.StringVar(&f.prior, "prior", "same", "of the data's hyperparameters: "+strings.Join(study.Priors(), ", "))
	fs.StringVar(&f.rows, "rows", "300..1000", "of a data set, from the fewest to the most")
	fs.IntVar(&f.workers, "workers", 1, "data sets at a time")
	fs.StringArrayVar(&f.set, "set", nil, "override a key of the fits' config: section.key=value; may be repeated")
	fs.StringVarP(&f.out, "out", "o", "", "directory for the table as CSV")
	fs.BoolVar(&f.json, "json", false, "write one JSON object a line instead of Markdown")
	fs.BoolVar(&f.quiet, "quiet", false, "no progress lines")
	f.clusterFlags.register(fs, "; with --out")
	noErr(cmd.RegisterFlagCompletionFunc("prior", cobra.FixedCompletions(study.Priors(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// calibrations finds everything that is wrong with the user's wishes before any
// work begins.
func (f *calibrateFlags) calibrations() ([]*study.Calibration, error) {
	for _, v := range []struct {
		flag  string
		value int
	}{{"--sets", f.sets}, {"--workers", f.workers}} {
		if v.value < 1 {
			return nil, fmt.Errorf("%s %d: must be at least 1", v.flag, v.value)
		}
	}
	if err := f.checkWith(f.out); err != nil {
		return nil, err
	}
	if f.cluster != "" && f.workers > 1 {
		return nil, errors.New("--workers is for this process alone; with --cluster each lane takes a data set")
	}
	rows, err := study.ParseRowRange(f.rows)
	if err != nil {
		return nil, fmt.Errorf("--rows: %w", err)
	}
	set, err := config.ParseOverrides(f.set)
	if err != nil {
		return nil, err
	}
	var all []*study.Calibration
	seen := map[string]bool{}
	for _, space := range f.spaces {
		c, err := study.NewCalibration(space, f.prior, rows, set)
		if err != nil {
			return nil, err
		}
		if seen[c.Space] {
			return nil, fmt.Errorf("--spaces: %s is asked for twice", c.Space)
		}
		seen[c.Space] = true
		if err := prepare.CheckDevice(c.Config.Device); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, errors.New("--spaces: name a set of kernels")
	}
	return all, nil
}

func (f *calibrateFlags) run(cmd *cobra.Command) (err error) {
	all, err := f.calibrations()
	if err != nil {
		return err
	}
	var table *study.CalibrationTable
	if f.out != "" {
		var shut func() error
		if table, shut, err = f.open(cmd, all); err != nil {
			return err
		}
		defer func() {
			if e := shut(); err == nil {
				err = failed(e)
			}
		}()
	}
	keep(cmd)
	err = f.make(cmd, all, table)
	if errors.Is(err, errInterrupted) {
		line := "interrupted; the rows written so far are whole"
		if f.out != "" {
			line += "; " + again(cmd, f.out) + " goes on"
		}
		return &exitError{exitInterrupted, errors.New(line)}
	}
	return err
}

// open takes the directory for the table and opens it.
func (f *calibrateFlags) open(cmd *cobra.Command, all []*study.Calibration) (*study.CalibrationTable, func() error, error) {
	asked := series.Asked{What: "calibration study", Configs: map[string]string{}, Flags: map[string]string{
		"--spaces": strings.Join(f.spaces, ","), "--sets": strconv.Itoa(f.sets), "--seed": strconv.FormatUint(f.seed, 10), "--prior": f.prior,
		"--rows": f.rows,
	}}
	for _, c := range all {
		asked.Configs[c.Space] = c.Config.TOML()
	}
	dir, err := series.TakeAsked(f.out, asked, nil, func(key, was, is string) bool {
		a, errA := strconv.Atoi(was)
		b, errB := strconv.Atoi(is)
		return key == "--sets" && errA == nil && errB == nil && b >= a
	})
	if err != nil {
		return nil, nil, err
	}
	table, err := study.OpenCalibration(dir.Owner.Dir)
	if err != nil {
		dir.GiveUp()
		return nil, nil, err
	}
	done := 0
	for _, c := range all {
		for i := range f.sets {
			if table.Known(c.Space, f.seed+uint64(i)) != nil {
				done++
			}
		}
	}
	if dir.Known && done < f.sets*len(all) && !f.quiet {
		fmt.Fprintln(cmd.ErrOrStderr(), series.GoesOn(done, f.sets*len(all)))
	}
	return table, func() error { return cmp.Or(table.Close(), dir.Close()) }, nil
}

// calibrationTask is a data set to be made, and what came of it.
type calibrationTask struct {
	*study.Calibration
	seed uint64
	row  *study.CalibrationRow
	err  error
}

// make makes all data sets, several at a time, and writes each as it is known, then
// the summaries. An interruption leaves the rows there are, and their summary.
func (f *calibrateFlags) make(cmd *cobra.Command, all []*study.Calibration, table *study.CalibrationTable) error {
	sink := calibrationSink{w: cmd.OutOrStdout(), json: f.json, table: table}
	if err := sink.begin(); err != nil {
		return failed(err)
	}
	rows := map[string][]*study.CalibrationRow{}
	var todo []*calibrationTask
	for _, c := range all {
		for i := range f.sets {
			seed := f.seed + uint64(i)
			if table != nil {
				if row := table.Known(c.Space, seed); row != nil {
					rows[c.Space] = append(rows[c.Space], row)
					if err := sink.row(row); err != nil {
						return failed(err)
					}
					continue
				}
			}
			todo = append(todo, &calibrationTask{Calibration: c, seed: seed})
		}
	}
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	say := oneByOne(func(line string) {
		if !f.quiet {
			fmt.Fprintln(cmd.ErrOrStderr(), line)
		}
	})
	crew, leave, err := f.crew(ctx, cmd, f.out, f.quiet, all[0].Config.Device, all[0].Config.Cluster, say)
	if err != nil {
		return failed(err)
	}
	done, first := f.perform(ctx, todo, crew), error(nil)
	defer func() { leave(first == nil) }()
	count := f.sets*len(all) - len(todo)
	for t := range done {
		err := t.err
		if err == nil {
			rows[t.Space] = append(rows[t.Space], t.row)
			count++
			say(fmt.Sprintf("%s, seed %d: %d of %d, %.3g s", t.Space, t.seed, count, f.sets*len(all), float64(t.row.Seconds)))
			err = failed(sink.row(t.row))
		}
		if err != nil && first == nil {
			first = err
			cancel(err) // the others end, too
		}
	}
	if first == nil {
		first = context.Cause(ctx)
	}
	var together []*study.CalibrationRow
	for _, c := range all {
		together = append(together, rows[c.Space]...)
		if err := sink.end(c.Space, rows[c.Space]); err != nil {
			return failed(err)
		}
	}
	if len(all) > 1 {
		if err := sink.end("all", together); err != nil {
			return failed(err)
		}
	}
	return first
}

// perform does tasks on so many goroutines, which share the cores, or has the crew do them, and
// tells each that is done. None is begun when ctx has ended.
func (f *calibrateFlags) perform(ctx context.Context, todo []*calibrationTask, crew series.Crew) <-chan *calibrationTask {
	next, done := make(chan *calibrationTask), make(chan *calibrationTask)
	lanes, workers := max(1, runtime.GOMAXPROCS(0)/f.workers), f.workers
	run := func(t *calibrationTask) (*study.CalibrationRow, error) { return t.Run(ctx, t.seed, lanes) }
	if crew != nil {
		crew.Alone(false)
		workers = len(todo)
		run = func(t *calibrationTask) (*study.CalibrationRow, error) { return t.RunBy(ctx, crew, t.seed) }
	}
	go func() {
		defer close(next)
		for _, t := range todo {
			select {
			case next <- t:
			case <-ctx.Done():
				return
			}
		}
	}()
	var all sync.WaitGroup
	for range min(workers, max(1, len(todo))) {
		all.Add(1)
		go func() {
			defer all.Done()
			for t := range next {
				t.err = guard.Do(func() (err error) {
					t.row, err = run(t)
					return err
				})
				done <- t
			}
		}()
	}
	go func() {
		all.Wait()
		close(done)
	}()
	return done
}

// calibrationSink writes results for people, or an object a line, and adds the rows
// to the table, if there is one.
type calibrationSink struct {
	w     io.Writer
	json  bool
	table *study.CalibrationTable
}

func (s *calibrationSink) begin() error {
	if s.json {
		return nil
	}
	_, err := io.WriteString(s.w,
		"| space | seed | rows | noise | generator | leader | class | hit | Bayes | q* | without errors | exact gap | s |\n"+
			"|---|---:|---:|---:|---|---|---:|---|---:|---:|---:|---:|---:|\n")
	return err
}

func (s *calibrationSink) row(r *study.CalibrationRow) error {
	if s.table != nil {
		if err := s.table.Add(r); err != nil {
			return err
		}
	}
	if s.json {
		return jsonSink{s.w}.write(struct {
			Type string `json:"type"`
			*study.CalibrationRow
		}{"set", r})
	}
	head := fmt.Sprintf("| %s | %d | %d | %.3f | %s ", r.Space, r.Seed, r.Rows, float64(r.Noise), markdownCell(r.Generator))
	if r.Failure != "" {
		_, err := fmt.Fprintf(s.w, "%s| failed: %s | | | | | | | %.3g |\n", head, markdownCell(r.Failure), float64(r.Seconds))
		return err
	}
	hit := "no"
	if r.Hit {
		hit = "yes"
	}
	_, err := fmt.Fprintf(s.w, "%s| %s | %d of %d | %s | %.4f | %.4f | %.4f | %s | %.3g |\n", head, markdownCell(r.Leader),
		r.ClassSize, r.Fitted, hit, float64(r.Bayes), float64(r.Posterior), float64(r.PointBayes), r.ExactGap.Format("%.2f"), float64(r.Seconds))
	return err
}

// end sums the rows of a space up, or of all.
func (s *calibrationSink) end(space string, rows []*study.CalibrationRow) error {
	if len(rows) == 0 {
		return nil
	}
	for _, c := range study.Calibrate(space, rows) {
		if s.json {
			if err := (jsonSink{s.w}).write(map[string]any{"type": "summary", "summary": c}); err != nil {
				return err
			}
			continue
		}
		if err := writeCalibrated(s.w, &c); err != nil {
			return err
		}
	}
	return nil
}

// writeCalibrated writes a summary for people.
func writeCalibrated(w io.Writer, c *study.Calibrated) error {
	name := map[string]string{"bayes": "Bayes", "posterior": "q*", "point_bayes": "Bayes without errors"}[c.Belief]
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s, %s: %s\n\n| belief | data sets | hits | expected | 95 %% band | |\n|---|---:|---:|---:|---|---|\n",
		words.PlainLine(c.Space), name, words.Count(c.Sets, "data set"))
	for i := range c.Bins {
		bin := &c.Bins[i]
		if bin.Sets == 0 {
			continue
		}
		where := "inside"
		if !bin.Inside() {
			where = "outside"
		}
		fmt.Fprintf(&b, "| %g to %g | %d | %d | %.1f | %d to %d | %s |\n", float64(bin.From), float64(bin.To), bin.Sets, bin.Hits,
			float64(bin.Expected), bin.Band[0], bin.Band[1], where)
	}
	fmt.Fprintf(&b, "\nHits %d, a calibrated belief %.1f (95 %% band %d to %d; as far off in %.3g %% of its studies). "+
		"Slope of the logit %s (95 %% interval %s; of a calibrated belief %s), intercept %s (%s). Log score %.4f, Brier score %.4f.\n",
		c.Hits, float64(c.Expected), c.HitsBand[0], c.HitsBand[1], 100*float64(c.Share), c.Slope.Format("%.3f"), interval(c.SlopeBand),
		interval(c.SlopeDrawn), c.Intercept.Format("%.3f"), interval(c.InterBand), float64(c.LogScore), float64(c.Brier))
	_, err := io.WriteString(w, b.String())
	return err
}

func interval(v study.Interval) string { return v[0].Format("%.3f") + " to " + v[1].Format("%.3f") }
