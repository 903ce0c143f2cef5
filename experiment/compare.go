package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kestrel/vbks"
)

// Comparison is several methods of selecting a kernel on one config, run by
// run. Its directory holds
//
//	config.toml             the config, resolved
//	vbks/SEED               the runs of VBKS, which vbks-s is read off, too
//	vbks-prune/SEED         those with automatic pruning
//	kernels/SEED/KERNEL     runs of one kernel alone, shared by random, bo and cks
//	bo/SEED/search.csv      which kernels bo trained, in order; so for cks
//	metrics.csv             the columns of a run's metrics.csv with one in front,
//	                        run, counted from 1
//	final.csv               what each method came to in each run
//	table.csv               the RMSE of it: a row for each run, a column for each
//	                        method, then mean and sd
//
// Of bo and cks, evaluation in metrics.csv counts the kernels trained; the best
// of them so far predicts. The seconds of a method are what it takes by itself,
// one thing after the other: for kernels that another method has had trained
// already, the time that the training took then, plus the time of choosing. As
// in a run, loading the data and placing the inducing inputs are not counted. A
// kernel alone occupies one lane of the device.
//
// What is there is not done again: every run is made beside its place and moved
// there when it is finished, one that is cut goes on from its last evaluation,
// tables are made from the files alone.
type Comparison struct {
	Config Config
	Path   string
	Runs   []MethodRun // by method, in the order of the config, then by run
}

// MethodRun is one run of a method.
type MethodRun struct {
	Method  string
	Run     int // from 1
	Seed    uint64
	Kernel  string   // id of the kernel that predicts in the end; "" where several are averaged
	Trained int      // kernels trained
	Metrics []Metric // of this method, in order of time
}

// Final returns what the run came to, nil if it has predicted nothing, for no
// kernel could be trained within the budget.
func (r *MethodRun) Final() *Metric {
	if len(r.Metrics) == 0 {
		return nil
	}
	return &r.Metrics[len(r.Metrics)-1]
}

// CompareOptions say who is told about a comparison.
type CompareOptions struct {
	Say      func(line string) // what is being done; nil: nobody
	Recorder func() Recorder   // of each run of VBKS; nil: none
}

// Comparing is a comparison in the making, which its directory is locked for.
type Comparing struct {
	Comparison
	options CompareOptions
	space   []vbks.Candidate
	owner   io.Closer
	known   map[string]*finishedRun // by path

	looking bool // what is there is gathered, nothing is made
	news    bool // Runs has something that the tables lack
}

// errMissing is the error of a step that is not there, or not to its end, while
// Run looks at what is there.
var errMissing = errors.New("has not been made yet")

// BeginComparison prepares the comparison of a config in a directory that is new
// or that of the same comparison: then it goes on where it was stopped, and only
// compare's methods, runs and budget may have changed. Its errors are the user's
// to mend; no file has been written then. Close must be called.
func BeginComparison(ctx context.Context, c Config, dir string, o CompareOptions) (*Comparing, error) {
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if err := c.checkCompare(); err != nil {
		return nil, err
	}
	space, err := c.Kernels.Candidates()
	if err != nil {
		return nil, err
	}
	d, _, err := LoadData(ctx, &c)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	if len(d.Test) == 0 {
		return nil, errors.New("a comparison needs held-out rows to score predictions on; set data.test")
	}
	c.settleData(d)
	before, err := claimComparison(dir, c)
	if err != nil {
		return nil, err
	}
	drawn := func(v *CompareSettings) bool { return slices.Contains(v.Methods, MethodRandom) }
	if v, was := &c.Compare, &before.Compare; v.RandomSeeds == 0 && drawn(v) && drawn(was) && v.seedsDrawn() != was.seedsDrawn() {
		o.Say(fmt.Sprintf("note: the kernels at random were spread over %s and are now over %d, so that most are trained and scored anew; set compare.random_seeds=%d to keep them",
			count(was.seedsDrawn(), "seed"), v.seedsDrawn(), was.seedsDrawn()))
	}
	m := &Comparing{Comparison: Comparison{Config: c, Path: dir}, options: o, space: space, known: map[string]*finishedRun{}}
	if m.owner, err = WriteOwner(dir); err != nil {
		return nil, err
	}
	if err := replaceFile(filepath.Join(dir, configFile), []byte("# Compared by kestrel "+ReadBuild().String()+".\n\n"+c.TOML())); err != nil {
		m.Close()
		return nil, unwritable(dir, err)
	}
	return m, nil
}

// Close gives the directory back.
func (m *Comparing) Close() error { return m.owner.Close() }

// Run gathers what is there, makes what is missing, seed by seed, and writes the
// tables after every step that adds to them, so that they never hold less than
// what is there. When ctx ends the run under way is stopped, to go on from its
// last evaluation another time, and the error is the cause of ctx. A kernel that
// cannot be trained is passed over; a run of VBKS that fails is an error.
func (m *Comparing) Run(ctx context.Context) (*Comparison, error) {
	v := &m.Config.Compare
	if slices.Contains(v.Methods, MethodPrune) && m.Config.Settings.AutoPruneMass > 0 {
		m.options.Say("note: the config prunes by itself (posterior.auto_prune), so vbks does, too")
	}
	m.Runs, m.looking = nil, true
	var missing []compareStep
	for _, s := range m.steps() {
		err := s.do(ctx, s.run, s.seed)
		if errors.Is(err, errMissing) {
			missing = append(missing, s)
		} else if err != nil {
			return nil, causeOf(ctx, err)
		}
	}
	m.looking, m.news = false, len(missing) == 0 // then the tables are made anew, whatever they say
	for _, s := range missing {
		if err := s.do(ctx, s.run, s.seed); err != nil {
			return nil, causeOf(ctx, err)
		}
		if err := m.save(); err != nil {
			return nil, err
		}
	}
	return &m.Comparison, m.save()
}

// compareStep makes one run of a method, or of two that share it.
type compareStep struct {
	do   func(ctx context.Context, run int, seed uint64) error
	run  int
	seed uint64
}

// steps lists what the comparison consists of, seed by seed.
func (m *Comparing) steps() (all []compareStep) {
	v := &m.Config.Compare
	for run := 1; run <= v.Runs; run++ {
		seed := m.Config.Settings.Seed + uint64(run-1)
		for _, work := range []struct {
			wanted []string
			do     func(context.Context, int, uint64) error
		}{
			{[]string{MethodAverage, MethodSingle}, m.vbks},
			{[]string{MethodPrune}, m.pruned},
			{[]string{MethodBO}, m.bo},
			{[]string{MethodCKS}, m.cks},
			{[]string{MethodRandom}, m.random},
		} {
			if slices.ContainsFunc(work.wanted, func(name string) bool { return slices.Contains(v.Methods, name) }) {
				all = append(all, compareStep{work.do, run, seed})
			}
		}
	}
	return all
}

// save writes the tables if they lack something.
func (m *Comparing) save() error {
	if !m.news {
		return nil
	}
	m.news = false
	return m.write()
}

// causeOf is the reason why ctx has ended, if it has, in the place of an error
// that follows from it.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// checkCompare finds contradictions that concern comparisons only.
func (c *Config) checkCompare() error {
	v := &c.Compare
	searches := slices.Contains(v.Methods, MethodBO) || slices.Contains(v.Methods, MethodCKS)
	if searches && v.Budget == (CompareBudget{}) && !v.runsVBKS() {
		return fmt.Errorf("compare.budget = %q needs the method vbks or vbks-s; state a time or a number of kernels, or add one of them", asVBKS)
	}
	if v.RandomSeeds > v.Runs && slices.Contains(v.Methods, MethodRandom) {
		return fmt.Errorf("compare.random_seeds = %d is more than compare.runs = %d", v.RandomSeeds, v.Runs)
	}
	return nil
}

func (v *CompareSettings) runsVBKS() bool {
	return slices.Contains(v.Methods, MethodAverage) || slices.Contains(v.Methods, MethodSingle)
}

// claimComparison checks that a directory is new, or that of the same
// comparison, and returns the config that this had, or an empty one.
func claimComparison(dir string, c Config) (before Config, err error) {
	file := filepath.Join(dir, configFile)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return before, CheckDirectory(dir)
	}
	if IsRun(dir) {
		return before, fmt.Errorf("output directory %q is that of a run; choose another with --out", dir)
	}
	if before, err = LoadConfig(file, nil); err != nil {
		return before, fmt.Errorf("comparison %q cannot be continued: %w", dir, err)
	}
	before.bringUp(&c)
	was, is := fixedKeys(before), fixedKeys(c)
	for _, k := range slices.Sorted(maps.Keys(is)) {
		if was[k] != is[k] {
			return before, fmt.Errorf("comparison %q was begun with %s = %s, now it is %s; choose another directory with --out, or state the same", dir, k, cmp.Or(was[k], "nothing"), cmp.Or(is[k], "nothing"))
		}
	}
	return before, nil
}

// bringUp gives the config of a comparison what older versions did not write in
// it: the mask's hash, and of its mask and locations the absolute paths. A
// relative one is that of now if that ends in it, wherever it was looked for
// from; the hash of the data, which must agree anyway, covers the locations but not
// the mask.
func (c *Config) bringUp(now *Config) {
	if c.MaskSHA256 == "" {
		c.MaskSHA256 = now.MaskSHA256
	}
	for _, file := range []struct {
		was *string
		is  string
	}{{&c.Data.Mask, now.Data.Mask}, {&c.Data.Locations, now.Data.Locations}} {
		was := filepath.ToSlash(filepath.Clean(*file.was))
		for strings.HasPrefix(was, "../") {
			was = was[len("../"):]
		}
		if *file.was != "" && !filepath.IsAbs(*file.was) && strings.HasSuffix(filepath.ToSlash(file.is), "/"+was) {
			*file.was = file.is
		}
	}
}

// fixedKeys returns the values of the keys that must not change when a
// comparison goes on.
func fixedKeys(c Config) map[string]string {
	out := map[string]string{}
	for _, k := range c.keys() {
		out[k.path()] = k.value.toml()
	}
	for _, free := range []string{"methods", "runs", "random_runs", "random_seeds", "budget"} {
		delete(out, "compare."+free)
	}
	return out
}

// seeded is the config with the seed of a run.
func (m *Comparing) seeded(seed uint64) Config {
	c := m.Config.clone()
	c.Settings.Seed, c.Data.Seed = seed, seed
	return c
}

// place is where a method's files of a seed are.
func (m *Comparing) place(method string, seed uint64) string {
	return filepath.Join(m.Path, method, strconv.FormatUint(seed, 10))
}

// vbks makes the run of VBKS with a seed.
func (m *Comparing) vbks(ctx context.Context, run int, seed uint64) error {
	r, err := m.wholeSpace(ctx, MethodAverage, run, m.seeded(seed))
	if err != nil {
		return err
	}
	m.take(MethodAverage, run, seed, "", r.Kernels, r.of(MethodAverage))
	m.take(MethodSingle, run, seed, r.Leader, r.Kernels, r.of(MethodSingle))
	return nil
}

// pruned makes the run of VBKS with automatic pruning with a seed.
func (m *Comparing) pruned(ctx context.Context, run int, seed uint64) error {
	c := m.seeded(seed)
	p := m.Config.Compare.Prune
	c.Settings.AutoPruneMass, c.Settings.AutoPruneWait, c.Settings.AutoPruneKeep = p.Below, p.Wait, p.Keep
	r, err := m.wholeSpace(ctx, MethodPrune, run, c)
	if err != nil {
		return err
	}
	m.take(MethodPrune, run, seed, "", r.Kernels, r.of(MethodAverage))
	return nil
}

// take adds a run of a method, if the method is wanted and the run is not there.
// What it did behind the time budget does not count.
func (m *Comparing) take(method string, run int, seed uint64, kernel string, trained int, metrics []Metric) {
	have := func(r MethodRun) bool { return r.Method == method && r.Run == run }
	if !slices.Contains(m.Config.Compare.Methods, method) || slices.ContainsFunc(m.Runs, have) {
		return
	}
	m.news = true
	limit := math.Inf(1)
	if t := m.Config.Compare.Budget.Time; t > 0 {
		limit = t.Seconds()
	}
	r := MethodRun{Method: method, Run: run, Seed: seed, Kernel: kernel, Trained: trained}
	for _, x := range metrics {
		if float64(x.Seconds) <= limit {
			x.Method = method
			r.Metrics = append(r.Metrics, x)
		}
	}
	place := func(r *MethodRun) int { return slices.Index(m.Config.Compare.Methods, r.Method) }
	at := slices.IndexFunc(m.Runs, func(o MethodRun) bool { return place(&o) > place(&r) || place(&o) == place(&r) && o.Run > run })
	if at < 0 {
		at = len(m.Runs)
	}
	m.Runs = slices.Insert(m.Runs, at, r)
}
