package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/compare"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/words"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	out         string
	set         []string
	methods     []string
	runs        int
	device      string
	seed        uint64
	quiet, json bool
	clusterFlags
}

func newCompare() *cobra.Command {
	var f compareFlags
	var doc strings.Builder
	var names []string
	for _, m := range config.ComparedMethods() {
		names = append(names, m.Name)
		fmt.Fprintf(&doc, "\n  %-10s  %s", m.Name, m.Doc)
	}
	cmd := &cobra.Command{
		Use:   "compare CONFIG|FILE.csv",
		Short: "Compare methods of selecting a kernel",
		Long: "Run several methods of selecting a kernel on the same data, with several seeds, and tabulate how well each predicts the " +
			"held-out rows, and after how many seconds. The [compare] section of the config says which and how; --methods and --runs are short " +
			"for compare.methods and compare.runs.\n\n" +
			"Methods:" + doc.String() + "\n\n" +
			"random, bo and cks train one kernel at a time with the config's own schedule. Each such run is kept and shared by them. random draws " +
			"compare.random_runs kernels, spread over the seeds of all runs; with compare.random_seeds=1 they take at most as many trainings as " +
			"there are kernels, but are all on the first run's division of the data. The seconds reported are those that the method takes by " +
			"itself, in sequence. The budget (compare.budget) of a run is the time that VBKS with the same seed took, unless stated otherwise. " +
			"Then, as with a time, the clock decides how many kernels bo and cks train, so that another machine or another day may give another " +
			"table; a number of kernels as budget does not depend on it.\n\n" +
			"With --out of an earlier comparison it goes on where that was stopped, or with more runs or methods. The directory holds " +
			"metrics.csv, final.csv and table.csv; kestrel figures draws them. Ctrl-C stops; the run under way then goes on from its last " +
			"evaluation.",
		Example: "kestrel compare fig1a --runs 3 --out results/fig1a\n\n" +
			"# ten kernels each, greedy search as well\n" +
			"kestrel compare swissgrid-small --methods vbks,vbks-s,random,bo,cks --set compare.budget=10 --out results/swissgrid\n\n" +
			"# go on with it after an interruption\nkestrel compare results/swissgrid/config.toml --out results/swissgrid",
		Args:              one("a config or a data file", "kestrel compare fig1a"),
		ValidArgsFunction: completeConfigs,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	fs := cmd.Flags()
	fs.StringVarP(&f.out, "out", "o", "", "directory of the comparison; default runs/<name>-compare-<time>")
	fs.IntVar(&f.runs, "runs", 0, "runs of each method, with seeds counting up; of random compare.random_runs")
	fs.StringSliceVar(&f.methods, "methods", nil, "methods, separated by commas: "+strings.Join(names, ", "))
	fs.StringArrayVar(&f.set, "set", nil, "override a key of the config: section.key=value; may be repeated")
	fs.StringVar(&f.device, "device", "", "where to compute: "+strings.Join(config.DeviceKinds(), ", "))
	fs.Uint64Var(&f.seed, "seed", 0, "of the first run, instead of the config's")
	fs.BoolVar(&f.quiet, "quiet", false, "no progress lines and no table")
	fs.BoolVar(&f.json, "json", false, "write the summary as JSON")
	f.clusterFlags.register(fs, "")
	noErr(cmd.RegisterFlagCompletionFunc("methods", severalOf(names)))
	return cmd
}

func (f *compareFlags) run(cmd *cobra.Command, name string) error {
	if err := f.clusterFlags.check(); err != nil {
		return err
	}
	r := runFlags{set: f.set, device: f.device, seed: f.seed}
	if cmd.Flags().Changed("methods") {
		r.set = append(r.set, "compare.methods="+strings.Join(f.methods, ","))
	}
	if cmd.Flags().Changed("runs") {
		r.set = append(r.set, "compare.runs="+strconv.Itoa(f.runs))
	}
	c, err := r.config(cmd, name)
	if err != nil {
		return err
	}
	dir := f.out
	if dir == "" {
		dir = rundir.DefaultPath(c.Name+"-compare", time.Now())
	}
	ctx := cmd.Context()
	var o compare.Options
	say := oneByOne(func(line string) {
		if !f.quiet {
			fmt.Fprintln(cmd.ErrOrStderr(), line)
		}
	})
	o.Say = say
	if !f.quiet && f.cluster == "" {
		o.Recorder = func() record.Recorder { return &record.Progress{Out: cmd.ErrOrStderr()} }
	}
	work, err := compare.Begin(ctx, c, dir, o)
	if err != nil {
		return err
	}
	keep(cmd)
	all, err := f.make(ctx, cmd, work, dir, say)
	if e := work.Close(); err == nil {
		err = e
	}
	switch {
	case errors.Is(err, errInterrupted):
		return &exitError{exitInterrupted, fmt.Errorf("interrupted; kestrel compare %s --out %s goes on",
			words.Shell(filepath.Join(dir, "config.toml")), words.Shell(dir))}
	case err != nil:
		return failed(err)
	}
	return f.conclude(cmd, all)
}

// make makes a comparison, with workers where that is asked for.
func (f *compareFlags) make(ctx context.Context, cmd *cobra.Command, work *compare.Comparing, dir string, say func(string)) (
	all *compare.Comparison, err error) {
	crew, leave, err := f.crew(ctx, cmd, dir, f.quiet, work.Config.Device, work.Config.Cluster, say)
	if err != nil {
		return nil, err
	}
	defer func() { leave(err == nil) }()
	if crew != nil {
		work.By(crew)
	}
	return work.Run(ctx)
}

// conclude says what came out and where it is.
func (f *compareFlags) conclude(cmd *cobra.Command, c *compare.Comparison) error {
	out := cmd.OutOrStdout()
	if f.json {
		return failed(writeJSON(out, c.Summary()))
	}
	if f.quiet {
		return nil
	}
	fmt.Fprintln(cmd.ErrOrStderr())
	if err := c.WriteText(out); err != nil {
		return failed(err)
	}
	_, err := fmt.Fprintf(out, "\ntables in %s\n", c.Path)
	return failed(err)
}
