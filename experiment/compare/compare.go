package compare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"example.com/kestrel/datasets/elsewhere"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
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
	Config config.Config
	Path   string
	Runs   []MethodRun // by method, in the order of the config, then by run
}

// MethodRun is one run of a method.
type MethodRun struct {
	Method  string
	Run     int // from 1
	Seed    uint64
	Kernel  string          // id of the kernel that predicts in the end; "" where several are averaged
	Trained int             // kernels trained
	Metrics []record.Metric // of this method, in order of time
}

// Final returns what the run came to, nil if it has predicted nothing, for no
// kernel could be trained within the budget.
func (r *MethodRun) Final() *record.Metric {
	if len(r.Metrics) == 0 {
		return nil
	}
	return &r.Metrics[len(r.Metrics)-1]
}

// Options say who is told about a comparison.
type Options struct {
	Say      func(line string)      // what is being done; nil: nobody
	Recorder func() record.Recorder // of each run of VBKS; nil: none
}

// Comparing is a comparison in the making, which its directory is locked for.
type Comparing struct {
	Comparison
	options Options
	space   []vbks.Candidate
	dir     *series.Directory
	maker   series.Maker
	known   map[string]*finishedRun // by path
	inputs  kernelspace.Options

	looking bool // what is there is gathered, nothing is made
	news    bool // Runs has something that the tables lack

	mu     sync.Mutex               // held by steps, but while a run is made that each waits for
	making map[string]chan struct{} // closed when the run of that path has been made
}

// errMissing is the error of a step that is not there, or not to its end, while
// Run looks at what is there.
var errMissing = errors.New("has not been made yet")

// Begin prepares the comparison of a config in a directory that is new
// or that of the same comparison: then it goes on where it was stopped, and only
// compare's methods, runs and budget may have changed. Its errors are the user's
// to mend; no file has been written then. Close must be called.
func Begin(ctx context.Context, c config.Config, dir string, o Options) (*Comparing, error) {
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if err := c.CheckCompare(); err != nil {
		return nil, err
	}
	if _, err := c.Kernels.Candidates(); err != nil {
		return nil, err
	}
	noting, opened := elsewhere.Noting(ctx)
	d, scaler, err := prepare.LoadSettled(noting, &c)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	if len(d.Test) == 0 {
		return nil, errors.New("a comparison needs held-out rows to score predictions on; set data.test")
	}
	space, err := c.Kernels.Candidates()
	if err != nil {
		return nil, err
	}
	subject, err := prepare.NewSubject(&c, d, scaler, space)
	if err != nil {
		return nil, err
	}
	var before config.Config
	taken, err := series.Take(c.Disk, dir, record.ComparisonFiles(), func() (known bool, err error) {
		before, known, err = begun(dir, c)
		return known, err
	})
	if err == nil && !taken.Known { // what is there may be read where the device is not
		if err = prepare.CheckDevice(c.Device); err != nil {
			taken.GiveUp()
		}
	}
	if err != nil {
		return nil, err
	}
	drawn := func(v *config.Comparison) bool { return slices.Contains(v.Methods, config.MethodRandom) }
	if v, was := &c.Compare, &before.Compare; v.RandomSeeds == 0 && drawn(v) && drawn(was) && v.SeedsDrawn() != was.SeedsDrawn() {
		o.Say(fmt.Sprintf("note: the kernels at random were spread over %s and are now over %d, so that most are trained and scored anew; set "+
			"compare.random_seeds=%d to keep them",
			words.Count(was.SeedsDrawn(), "seed"), v.SeedsDrawn(), was.SeedsDrawn()))
	}
	m := &Comparing{Comparison: Comparison{Config: c, Path: dir}, options: o, space: space, known: map[string]*finishedRun{},
		inputs: subject.Options(), dir: taken, maker: series.Maker{Cores: c.Device.Cores, Say: o.Say, Disk: c.Disk, Files: opened()},
		making: map[string]chan struct{}{}}
	if err := taken.Owner.ReplaceFile(record.ConfigFile,
		[]byte("# Compared by kestrel "+record.ReadBuild().String()+".\n\n"+c.TOML())); err != nil {
		m.Close()
		return nil, files.Unwritable(dir, err)
	}
	return m, nil
}

// Close gives the directory back.
func (m *Comparing) Close() error { return m.dir.Close() }

// Run gathers what is there, makes what is missing, seed by seed, and writes the
// tables after every step that adds to them, so that they never hold less than
// what is there. When ctx ends the run under way is stopped, to go on from its
// last evaluation another time, and the error is the cause of ctx. A kernel that
// cannot be trained is passed over; a run of VBKS that fails is an error.
func (m *Comparing) Run(ctx context.Context) (*Comparison, error) {
	v := &m.Config.Compare
	if slices.Contains(v.Methods, config.MethodPrune) && m.Config.Settings.AutoPruneMass > 0 {
		m.options.Say("note: the config prunes by itself (posterior.auto_prune), so vbks does, too")
	}
	m.Runs, m.looking = nil, true
	var missing []compareStep
	steps := m.steps()
	for _, s := range steps {
		err := s.do(ctx, s.run, s.seed)
		if errors.Is(err, errMissing) {
			missing = append(missing, s)
		} else if err != nil {
			return nil, causeOf(ctx, err)
		}
	}
	m.looking, m.news = false, len(missing) == 0 // then the tables are made anew, whatever they say
	if m.dir.Known && len(missing) > 0 {
		m.options.Say(series.GoesOn(len(steps)-len(missing), len(steps)))
	}
	if m.maker.Crew != nil {
		if err := m.byCrew(ctx, missing); err != nil {
			return nil, err
		}
		return &m.Comparison, m.save()
	}
	for _, s := range missing {
		if err := m.step(ctx, s); err != nil {
			return nil, err
		}
	}
	return &m.Comparison, m.save()
}

// step does a step, and writes the tables.
func (m *Comparing) step(ctx context.Context, s compareStep) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := s.do(ctx, s.run, s.seed); err != nil {
		return causeOf(ctx, err)
	}
	return m.save()
}

// compareStep makes one run of a method, or of two that share it.
type compareStep struct {
	do    func(ctx context.Context, run int, seed uint64) error
	run   int
	seed  uint64
	whole bool // it makes runs over the whole space, which others take their budget from
}

// steps lists what the comparison consists of, seed by seed.
func (m *Comparing) steps() (all []compareStep) {
	v := &m.Config.Compare
	for run := 1; run <= v.Runs; run++ {
		seed := m.Config.Settings.Seed + uint64(run-1)
		for _, work := range []struct {
			wanted []string
			do     func(context.Context, int, uint64) error
			whole  bool
		}{
			{[]string{config.MethodAverage, config.MethodSingle}, m.vbks, true},
			{[]string{config.MethodPrune}, m.pruned, true},
			{[]string{config.MethodBO}, m.bo, false},
			{[]string{config.MethodCKS}, m.cks, false},
			{[]string{config.MethodRandom}, m.random, false},
		} {
			if slices.ContainsFunc(work.wanted, func(name string) bool { return slices.Contains(v.Methods, name) }) {
				all = append(all, compareStep{work.do, run, seed, work.whole})
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
	return m.write(m.dir.Owner.Dir)
}

// causeOf is the reason why ctx has ended, if it has, in the place of an error
// that follows from it.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// begun returns the config that the comparison in a directory was begun with, if one
// was, and an error if it is not the same comparison.
func begun(dir string, c config.Config) (before config.Config, known bool, err error) {
	if _, err := os.Lstat(filepath.Join(dir, record.ConfigFile)); errors.Is(err, fs.ErrNotExist) {
		return before, false, nil
	}
	if before, err = config.LoadInside(dir, record.ConfigFile); err != nil {
		return before, true, fmt.Errorf("comparison %q cannot be continued: %w", dir, err)
	}
	before.BringUp(&c)
	return before, true, series.Same("comparison", dir, config.FixedKeys(before), config.FixedKeys(c), nil)
}

// seeded is the config with the seed of a run.
func (m *Comparing) seeded(seed uint64) config.Config {
	c := m.Config.Clone()
	c.Settings.Seed, c.Data.Seed = seed, seed
	return c
}

// place is where a method's files of a seed are.
func (m *Comparing) place(method string, seed uint64) string {
	return filepath.Join(m.Path, method, strconv.FormatUint(seed, 10))
}

// vbks makes the run of VBKS with a seed.
func (m *Comparing) vbks(ctx context.Context, run int, seed uint64) error {
	r, err := m.wholeSpace(ctx, config.MethodAverage, run, m.seeded(seed))
	if err != nil {
		return err
	}
	m.take(config.MethodAverage, run, seed, "", r.Kernels, r.of(config.MethodAverage))
	m.take(config.MethodSingle, run, seed, r.Leader, r.Kernels, r.of(config.MethodSingle))
	return nil
}

// pruned makes the run of VBKS with automatic pruning with a seed.
func (m *Comparing) pruned(ctx context.Context, run int, seed uint64) error {
	c := m.seeded(seed)
	p := m.Config.Compare.Prune
	c.Settings.AutoPruneMass, c.Settings.AutoPruneWait, c.Settings.AutoPruneKeep = p.Below, p.Wait, p.Keep
	r, err := m.wholeSpace(ctx, config.MethodPrune, run, c)
	if err != nil {
		return err
	}
	m.take(config.MethodPrune, run, seed, "", r.Kernels, r.of(config.MethodAverage))
	return nil
}

// take adds a run of a method, if the method is wanted and the run is not there.
// What it did behind the time budget does not count.
func (m *Comparing) take(method string, run int, seed uint64, kernel string, trained int, metrics []record.Metric) {
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
