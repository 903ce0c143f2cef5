package backtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"example.com/kestrel/datasets/elsewhere"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/internal/guard"
)

// Backtest is one in the making, which its directory is locked for. The directory holds
//
//	ahead.csv           with Plan.Ahead: a row for each series and step beyond its end
//	backtest.csv        every forecast: a row for each series, origin, step and method
//	summary.csv         a row for each method
//	by-horizon.csv      a row for each step and method
//	by-series.csv       a row for each series
//	by-horizon.svg, .png
//
// all but the first where a series has an origin. The forecasts of an origin, and those
// beyond an end, are made once, and are on the disk when they are made, in the order in
// which they are; at the end they are put into that of the series, and the others are
// made of them.
type Backtest struct {
	Plan
	Series  []*Series
	LeftOut []LeftOut
	Notices []string
	Crew    series.Crew // has them forecast elsewhere; nil: that is done here

	config config.Config // but for what is left to each series
	toml   string        // the config as it is written
	files  []string      // of the data
	dir    *series.Directory
	past   *kept // forecasts from origins; nil: no series has any
	ahead  *kept // those beyond the ends; nil: none are asked for
	known  map[task][]Row
	input  string // its name
	unit   string // of the target
}

// task is an origin of a series to be forecast from, or its end.
type task struct {
	series int // in Series
	origin int // counted from the last one, 1; BeyondEnd
}

// Begin loads the series of a config and finds their origins, in a directory that is
// new or that of the same backtest: then it goes on where it was cut. Of the config,
// how rows are held out does not matter. Close must be called. Its errors are the
// user's to mend; no file has been written then.
func Begin(ctx context.Context, c config.Config, p Plan, dir string) (*Backtest, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if _, err := c.Kernels.Candidates(); err != nil {
		return nil, err
	}
	if c.Data.Time == "no" {
		return nil, errors.New(`data.time = "no", but a backtest is of series in time; set data.time = "yes"`)
	}
	// What asks for a backtest has time. What splits the rows is the plan.
	c.Data.Time, c.Data.SplitBy, c.Data.TestRows, c.Data.TestFraction = "yes", "x", p.Horizon, 0
	noting, opened := elsewhere.Noting(ctx)
	groups, err := prepare.LoadGroups(noting, &c)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	first := groups[0].Data
	if first.Dim != 1 {
		return nil, fmt.Errorf("%s: has %d inputs, and a backtest is of series in one, time; name it with --set data.inputs=NAME",
			cmp.Or(c.Data.Path, first.Name), first.Dim)
	}
	b := &Backtest{Plan: p, known: map[task][]Row{}, input: first.Inputs[0].Name, unit: first.Target.Unit, files: opened()}
	var notices []string
	if b.Series, b.LeftOut, notices, err = p.all(groups, c.Data); err != nil {
		return nil, err
	}
	b.Notices = append(slices.Clone(first.Notices), notices...)
	if len(b.Series) == 0 {
		return nil, b.nothing(groups[0].Name != "")
	}
	c.SettleFiles(first)
	if b.config = c; c.Device.Kind == "auto" {
		b.config.Device.Kind = "cpu" // series are short, and each has a core
	}
	b.toml = b.config.TOML()
	b.keep()
	return b, b.take(dir)
}

// nothing is the error where all series are left out.
func (b *Backtest) nothing(named bool) error {
	o := &b.LeftOut[0]
	if named {
		return fmt.Errorf("no series can be forecast; the first, %s: %s", strconv.Quote(o.Series), o.Why)
	}
	line := fmt.Sprintf("the series cannot be forecast: %s", o.Why)
	if o.Why == severalAtOnce {
		line += "; if it is a table of several series, name the column that tells them apart with --group"
	}
	return errors.New(line)
}

// take takes the directory and reads what is known.
func (b *Backtest) take(path string) (err error) {
	asked := series.Asked{What: "backtest", Configs: map[string]string{"": b.toml}, Flags: map[string]string{
		"--horizon": strconv.Itoa(b.Horizon), "--origins": strconv.Itoa(b.Origins),
	}, Disk: b.config.Disk}
	if b.Step > 0 {
		asked.Flags["--step"] = strconv.Itoa(b.Step)
	}
	if b.Ahead {
		asked.Flags[aheadFlag] = "yes"
	}
	if b.dir, err = series.TakeAsked(path, asked, record.BacktestFiles(), mayBe); err != nil {
		return err
	}
	if !b.dir.Known {
		err = prepare.CheckDevice(b.config.Device)
	}
	if err == nil {
		err = b.openTables()
	}
	if err != nil {
		err = errors.Join(err, b.closeTables())
		b.dir.GiveUp()
	}
	return err
}

// aheadFlag is the flag of Plan.Ahead.
const aheadFlag = "--ahead"

// mayBe lets a backtest that was made without them have forecasts beyond the ends, too:
// those from its origins stay as they are.
func mayBe(key, was, _ string) bool { return key == aheadFlag && was == "" }

// tasks lists what the backtest consists of, series by series, and of each the
// earliest origin first, its end last.
func (b *Backtest) tasks() (all []task) {
	for i, s := range b.Series {
		for k := len(s.Train); k >= 1; k-- {
			all = append(all, task{i, k})
		}
		if b.Ahead {
			all = append(all, task{i, BeyondEnd})
		}
	}
	return all
}

// has reports whether there is such an origin, or such an end to be forecast beyond.
func (p Plan) has(s *Series, origin int) bool {
	return origin == BeyondEnd && p.Ahead || origin >= 1 && origin <= len(s.Train)
}

func (b *Backtest) has(t task) bool { return b.Plan.has(b.Series[t.series], t.origin) }

// Done counts the origins and ends of all series that are forecast from, and all of them.
func (b *Backtest) Done() (done, all int) { return len(b.known), len(b.tasks()) }

// GoesOn reports whether it was begun earlier.
func (b *Backtest) GoesOn() bool { return b.dir.Known }

// Close gives the directory back.
func (b *Backtest) Close() error { return errors.Join(b.closeTables(), b.dir.Close()) }

// Run makes the forecasts that are missing, as many origins at once as there are
// cores, each on so many of them as are left, and writes the tables. made is told each
// that is done, the end of a series as BeyondEnd. When ctx ends those that are done are kept, and the error is its
// cause.
func (b *Backtest) Run(ctx context.Context, made func(s *Series, origin int)) (*Result, error) {
	var todo []task
	for _, t := range b.tasks() {
		if b.known[t] == nil {
			todo = append(todo, t)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var first error
	for done := range b.perform(ctx, todo) {
		err := done.err
		if err == nil {
			err = b.add(done.task, done.rows)
		}
		if err == nil {
			made(b.Series[done.series], done.origin)
		} else if first == nil {
			first = err
			cancel(err) // the others end, too
		}
	}
	if first == nil && ctx.Err() != nil {
		first = context.Cause(ctx)
	}
	if first != nil {
		return nil, first
	}
	return b.conclude()
}

// add writes the forecasts of an origin down.
func (b *Backtest) add(t task, rows []Row) error {
	k := b.tableOf(t)
	if err := k.Write(k.cellsOf(rows)); err != nil {
		return err
	}
	b.known[t] = rows
	return nil
}

// performed is a task and what came of it.
type performed struct {
	task
	rows []Row
	err  error
}

// mostSent is how many tasks are asked for at a time where others take part.
const mostSent = 1024

// perform does tasks, one a core, or has the crew do them, and tells each that is done. None
// is begun when ctx has ended.
func (b *Backtest) perform(ctx context.Context, todo []task) <-chan performed {
	cores := runtime.GOMAXPROCS(0)
	workers := max(1, min(cores, len(todo)))
	c := b.config.Clone()
	perform := func(t task) ([]Row, error) { return b.Series[t.series].from(ctx, &c, t.origin, b.Horizon) }
	if b.Crew != nil {
		b.Crew.Alone(false)
		if workers = min(mostSent, len(todo)); c.Device.Kind == "cpu" && c.Device.Lanes == 0 {
			c.Device.Lanes = 1
		}
		perform = func(t task) ([]Row, error) { return b.send(ctx, &c, t) }
	} else if c.Device.Kind != "cpu" {
		workers = 1 // they would share the card
	} else if c.Device.Lanes == 0 {
		c.Device.Lanes = cores / workers
	}
	next, done := make(chan task), make(chan performed)
	var group sync.WaitGroup
	group.Go(func() {
		defer close(next)
		for _, t := range todo {
			select {
			case next <- t:
			case <-ctx.Done():
				return
			}
		}
	})
	for range workers {
		group.Go(func() {
			for t := range next {
				p := performed{task: t}
				p.err = guard.Do(func() (err error) {
					p.rows, err = perform(t)
					return err
				})
				done <- p
			}
		})
	}
	go func() {
		group.Wait()
		close(done)
	}()
	return done
}

// Device is where is computed.
func (b *Backtest) Device() config.DeviceChoice { return b.config.Device }

// Cluster is what the config says of workers.
func (b *Backtest) Cluster() config.ClusterChoice { return b.config.Cluster }

// Estimate says what the runs that are missing will take, as far as that can be told.
func (b *Backtest) Estimate(ctx context.Context) (prepare.Estimate, error) {
	runs, rows := 0, 0
	for _, t := range b.tasks() {
		if s := b.Series[t.series]; b.known[t] == nil {
			runs, rows = runs+1, rows+s.rowsBefore(t.origin)
		}
	}
	var e prepare.Estimator
	c := b.config.Clone()
	one, err := e.Run(ctx, c, rows/max(1, runs), 1)
	if err = errors.Join(err, e.Close()); err != nil {
		return prepare.Estimate{}, err
	}
	cores := runtime.GOMAXPROCS(0)
	if c.Device.Kind != "cpu" {
		cores = 1
	}
	// One alone has all cores; several at once share them, and the last ones leave some idle.
	turns := float64((runs + cores - 1) / cores * min(cores, runs))
	one.Seconds, one.Low, one.High = turns*one.Seconds, turns*one.Low, turns*one.High
	one.Bytes *= int64(min(cores, runs))
	return one, nil
}
