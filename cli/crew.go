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
	"example.com/kestrel/experiment/words"
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

// doer does the tasks of all kinds of series.
func doer() func(context.Context, *cluster.Order) (cluster.Result, error) {
	kinds := map[string]func(context.Context, *series.Order) (series.Result, error){
		series.RunTask: series.DoRun, backtest.ForecastTask: (&backtest.Forecaster{}).Do,
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
