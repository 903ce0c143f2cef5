package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/backtest"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/experiment/words"
)

// backtestFlags are the flags of backtest.
type backtestFlags struct {
	backtest.Plan
	group, target, out, device string
	set                        []string
	seed                       uint64
	quiet, json                bool
	clusterFlags
}

func newBacktest() *cobra.Command {
	var f backtestFlags
	cmd := &cobra.Command{
		Use:   "backtest CONFIG|FILE.csv",
		Short: "Forecast series from their past, and compare with what came",
		Long: "Forecast the last rows of one series or of many from several origins, each time from the rows before it alone: " +
			"with a run of kestrel, trained anew, and with " + strings.Join(backtest.Methods()[1:], ", ") + ". Origin 1 has " +
			"--horizon rows behind it, origin 2 --step rows more, and so on. Before an origin at least 8 rows and 2 seasons must " +
			"be left: a series that is too short has fewer origins, or is left out, which is said.\n\n" +
			"--ahead forecasts each series beyond its end, too, by a run of all its rows, at the inputs that kestrel predict --horizon " +
			"has: ahead.csv, with quantiles. A series too short for an origin is forecast so if it has the rows that training takes. One " +
			"whose steps are uneven is named, with the reason. --origins 0 holds nothing out and forecasts beyond the ends alone.\n\n" +
			"--group names the column, of texts or numbers, that tells the series of a long table apart. Each has runs of its own, " +
			"and each core works on one origin at a time. The season is that of data.season: in steps, by the calendar if it is " +
			"not stated; how rows are held out (data.test, data.split_by) does not matter, and the one input is taken for time.\n\n" +
			"The tables say, for each method, the means over series of CRPS, MSIS, MASE and sMAPE (both of the median), the share " +
			"of targets in the 80 and 95 % intervals and the RMSE, and the CRPS relative to the seasonal naive forecast (the naive " +
			"one of a series without a season) as a geometric mean. A method that cannot forecast, such as one that needs steps to " +
			"count, is n/a. The directory holds backtest.csv with every forecast, summary.csv, by-series.csv, by-horizon.csv and a " +
			"figure by step.\n\n" +
			"The same command with --out of an earlier one goes on where that was cut: each origin is forecast once. --ahead may be new then.",
		Example: "# the last 5 x 12 months of a series\nkestrel backtest sales.csv --horizon 12\n\n" +
			"# many series in one table, 18 months ahead, a year as season\n" +
			"kestrel backtest m3.csv --group series --horizon 18 --set data.inputs=month --set data.season=12 -o results/m3\n\n" +
			"# origins a week apart\nkestrel backtest load.csv --horizon 48 --origins 8 --step 168\n\n" +
			"# what comes: the next 12 rows of every article, in results/next/ahead.csv\n" +
			"kestrel backtest sales.csv --group sku --horizon 12 --origins 0 --ahead -o results/next",
		Args:              one("a config or a data file", "kestrel backtest sales.csv --horizon 12"),
		ValidArgsFunction: completeConfigs,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	fs := cmd.Flags()
	fs.IntVar(&f.Horizon, "horizon", 0, "rows to forecast from each origin; must be stated")
	fs.IntVar(&f.Origins, "origins", 5, "origins of each series, at most; 0, with --ahead: none")
	fs.BoolVar(&f.Ahead, "ahead", false, "forecast each series beyond its end, too, from all of its rows: ahead.csv")
	fs.IntVar(&f.Step, "step", 0, "rows from one origin to the next; default the horizon, less in series that are too short for that")
	fs.StringVar(&f.group, "group", "", "column that names the series of a long table (data.group)")
	fs.StringVar(&f.target, "target", "", "column to forecast, of a data file; default the last")
	fs.StringVarP(&f.out, "out", "o", "", "directory of the backtest; default runs/<name>-backtest-<time>")
	fs.StringArrayVar(&f.set, "set", nil, "override a key of the config: section.key=value; may be repeated")
	fs.StringVar(&f.device, "device", "", "where to compute: "+strings.Join(config.DeviceKinds(), ", ")+"; auto is the CPU here")
	fs.Uint64Var(&f.seed, "seed", 0, "of everything random, instead of the config's")
	fs.BoolVar(&f.quiet, "quiet", false, "no progress lines and no tables")
	fs.BoolVar(&f.json, "json", false, "write the summary as JSON")
	f.clusterFlags.register(fs, "")
	return cmd
}

func (f *backtestFlags) run(cmd *cobra.Command, name string) (err error) {
	if !cmd.Flags().Changed("horizon") {
		return errors.New("backtest needs --horizon, how many rows to forecast; for example kestrel backtest sales.csv --horizon 12")
	}
	if cmd.Flags().Changed("step") && f.Step < 1 {
		return fmt.Errorf("--step %d: must be at least 1", f.Step)
	}
	if err := f.clusterFlags.check(); err != nil {
		return err
	}
	r := runFlags{set: f.set, device: f.device, seed: f.seed, target: f.target}
	if f.group != "" {
		r.set = append(r.set, "data.group="+f.group)
	}
	c, err := r.config(cmd, name)
	if err != nil {
		return err
	}
	dir := f.out
	if dir == "" {
		dir = rundir.DefaultPath(c.Name+"-backtest", time.Now())
	}
	ctx := cmd.Context()
	work, err := backtest.Begin(ctx, c, f.Plan, dir)
	if err != nil {
		return err
	}
	keep(cmd)
	defer func() {
		if e := work.Close(); err == nil {
			err = failed(e)
		}
	}()
	done, all := work.Done()
	say, beside, told := func(string) {}, func(string) {}, func() {}
	step := func() prepare.Step { return prepare.Step{Doing: "forecasting", Of: "run", Done: done, Total: all} }
	if !f.quiet {
		w := newWaiting(cmd)
		defer w.done()
		told = w.done
		say, beside = func(line string) { w.line(line); w.take(step()) }, w.line
	}
	for _, line := range work.Notices {
		say("note: " + line)
	}
	if !f.json {
		for _, line := range backtest.LeftOutLines(work.LeftOut) {
			say(line)
		}
	}
	if work.GoesOn() && done < all {
		say(series.GoesOn(done, all))
	}
	leave := func(bool) {}
	if work.Crew, leave, err = f.crew(ctx, cmd, dir, f.quiet, work.Device(), work.Cluster(), beside); err != nil {
		return failed(err)
	}
	defer func() { leave(err == nil) }()
	if work.Crew == nil && !f.quiet && done < all {
		if e, err := work.Estimate(ctx); err == nil {
			say(words.Count(all-done, "run") + " will take " + e.String())
		}
	}
	result, err := work.Run(ctx, func(s *backtest.Series, origin int) {
		done++
		at := fmt.Sprintf("origin %d of %d", origin, len(s.Train))
		if origin == backtest.BeyondEnd {
			at = "beyond the end"
		}
		say(fmt.Sprintf("%s, %s: %d of %d runs", s.Name, at, done, all))
	})
	told()
	switch {
	case errors.Is(err, errInterrupted):
		return &exitError{exitInterrupted, fmt.Errorf("interrupted; %d of %d runs finished; %s goes on", done, all, again(cmd, dir, name))}
	case err != nil:
		return failed(err)
	case f.json:
		return failed(writeJSON(cmd.OutOrStdout(), result))
	case f.quiet:
		return nil
	}
	say("")
	write := result.WriteText
	if isTerminal(cmd.OutOrStdout()) {
		write = result.WriteScreen
	}
	if err := write(cmd.OutOrStdout()); err != nil {
		return failed(err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "\ntables in %s\n", dir)
	return failed(err)
}
