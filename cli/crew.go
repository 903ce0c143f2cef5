package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"example.com/kestrel/cluster"
	"example.com/kestrel/experiment/backtest"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/experiment/study"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/internal/guard"
)

// crew is a pool of workers for the tasks of a series.
type crew struct{ *cluster.Pool }

func (c crew) Do(ctx context.Context, t *series.Task) error {
	task := cluster.Task(*t)
	return c.Pool.Do(ctx, &task)
}

// oneByOne has lines said one at a time, whoever says them.
func oneByOne(say func(string)) func(string) {
	var mu sync.Mutex
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		say(line)
	}
}

// crew lets workers take part in what is made in a directory, for which that device is meant;
// without --cluster there is none. See listen.
func (f *clusterFlags) crew(ctx context.Context, cmd *cobra.Command, path string, quiet bool, dev config.DeviceChoice,
	choice config.ClusterChoice, say func(string)) (c series.Crew, leave func(over bool), err error) {
	if f.cluster == "" {
		return nil, func(over bool) {
			if over {
				dropTicket(path)
			}
		}, nil
	}
	open, told, err := prepare.OpenToldDevice(ctx, dev)
	if err != nil {
		return nil, nil, err
	}
	info := open.Info()
	if err := open.Close(); err != nil {
		return nil, nil, err
	}
	class, err := cluster.ClassOf(info)
	if err != nil {
		return nil, nil, err
	}
	if told != "" {
		say("note: " + told)
	}
	lanes := max(1, info.Lanes)
	if info.Kind != "cpu" {
		lanes = 1 // they would share the card
	}
	o := &cluster.Options{
		Class: class, Say: say,
		Joined: func(w cluster.WorkerInfo) {
			say(fmt.Sprintf("worker %s joined, %s", words.PlainLine(w.Name), words.Count(w.Lanes, "lane")))
		},
		Lost: func(w cluster.WorkerInfo) {
			say(fmt.Sprintf("worker %s left or is lost, %d are there", words.PlainLine(w.Name), w.Of))
		},
	}
	leave, err = f.listen(cmd, path, quiet, choice, o, func() (func(), error) {
		p, err := cluster.ServeTasks(ctx, *o, lanes)
		if err != nil {
			return nil, err
		}
		c = crew{p}
		return p.Close, nil
	})
	return c, leave, err
}

// ahead has all of several pieces of work begun at once; wait waits for one of them, and end ends
// those that nobody has waited for.
func ahead[K comparable, V any](ctx context.Context, all []K, do func(context.Context, K) (V, error)) (
	wait func(K) (V, error), end func()) {
	type made struct {
		what V
		err  error
	}
	ctx, cancel := context.WithCancelCause(ctx)
	under := map[K]chan made{}
	for _, k := range all {
		done := make(chan made, 1)
		under[k] = done
		go func() {
			var m made
			m.err = guard.Do(func() (err error) { m.what, err = do(ctx, k); return err })
			done <- m
		}()
	}
	return func(k K) (V, error) {
			m := <-under[k]
			delete(under, k)
			return m.what, m.err
		}, func() {
			cancel(context.Canceled)
			for _, done := range under {
				<-done
			}
		}
}

// doer does the tasks of all kinds of series.
func doer() func(context.Context, *cluster.Order) (cluster.Result, error) {
	kinds := map[string]func(context.Context, *series.Order) (series.Result, error){
		series.RunTask: series.DoRun, backtest.ForecastTask: (&backtest.Forecaster{}).Do, study.SeedTask: study.DoSeed,
		study.CalibrationTask: study.DoCalibration, study.GapsTask: study.DoGaps, study.PlantedTask: study.DoPlanted,
	}
	return func(ctx context.Context, o *cluster.Order) (cluster.Result, error) {
		do := kinds[o.Kind]
		if do == nil {
			return cluster.Result{}, errors.New("a task of an unknown kind")
		}
		r, err := do(ctx, (*series.Order)(o))
		return cluster.Result(r), err
	}
}
