package backtest

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"sync"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks/wire"
)

// ForecastTask is the kind of task that forecasts from an origin, or beyond an end.
const ForecastTask = "forecast"

// forecastOrder is the body of one.
type forecastOrder struct {
	Config         string // of the backtest, TOML
	Plan           Plan
	Series, Origin int // as those of a task
}

// send has an origin forecast by the crew. What comes back is as it stands in the table.
func (b *Backtest) send(ctx context.Context, c *config.Config, t task) (rows []Row, err error) {
	order := wire.Encode(&forecastOrder{b.toml, b.Plan, t.series, t.origin})
	err = b.Crew.Do(ctx, &series.Task{
		Kind: ForecastTask, Body: order, Files: b.files,
		Here: func(ctx context.Context) (err error) {
			rows, err = b.Series[t.series].from(ctx, c, t.origin, b.Horizon)
			return err
		},
		Take: func(by string, body []byte, _ io.Reader) (err error) {
			if rows, err = b.rowsOf(body, t); err != nil {
				err = fmt.Errorf("the forecasts of %s: %w", by, err)
			}
			return err
		},
	})
	return rows, err
}

// rowsOf reads the rows of a task.
func (b *Backtest) rowsOf(text []byte, t task) ([]Row, error) {
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	f := formOf(t.origin)
	if len(records) != b.Horizon*len(f.methods) {
		return nil, errNotTheRow
	}
	rows := make([]Row, len(records))
	for i, cells := range records {
		if len(cells) != f.width {
			return nil, errNotTheRow
		}
		if rows[i], err = f.read(cells); err == nil {
			err = f.check(&rows[i], i, t, b.Series[t.series].Name)
		}
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

var errNotTheRow = errors.New("it is not the row that comes here")

// Forecaster does tasks of ForecastTask, of one backtest after the other, whose series it
// reads once.
type Forecaster struct {
	mu     sync.Mutex
	of     string // config and plan of the one below
	config config.Config
	series []*Series
}

// Do does a task.
func (f *Forecaster) Do(ctx context.Context, o *series.Order) (r series.Result, err error) {
	order, err := wire.Decode[forecastOrder](o.Body)
	if err != nil {
		return r, err
	}
	ctx = o.Context(ctx)
	c, all, err := f.load(ctx, o, order)
	if err != nil {
		return r, err
	}
	if order.Series < 0 || order.Series >= len(all) || !order.Plan.has(all[order.Series], order.Origin) {
		return r, fmt.Errorf("%w: an origin that there is not", wire.ErrDamaged)
	}
	if c.Device.Lanes == 0 {
		c.Device.Lanes = o.Lanes
	}
	rows, err := all[order.Series].from(ctx, &c, order.Origin, order.Plan.Horizon)
	if err != nil {
		return r, err
	}
	stand := formOf(order.Origin)
	r.Body, err = files.FormatRows(stand.cellsOf(rows))
	return r, err
}

// load reads the series of a backtest, unless they were just read.
func (f *Forecaster) load(ctx context.Context, o *series.Order, order *forecastOrder) (config.Config, []*Series, error) {
	f.mu.Lock() // others of the same wait for it
	defer f.mu.Unlock()
	of := fmt.Sprintf("%+v\n%s", order.Plan, order.Config)
	if f.of != of {
		f.of = ""
		c, err := o.Config(order.Config)
		if err == nil {
			err = order.Plan.Check()
		}
		if err != nil {
			return c, nil, err
		}
		var all []*Series
		err = guard.Do(func() error {
			groups, err := prepare.LoadGroups(ctx, &c)
			if err == nil {
				all, _, _, err = order.Plan.all(groups, c.Data)
			}
			return err
		})
		if err != nil {
			return c, nil, err
		}
		f.of, f.config, f.series = of, c, all
	}
	return f.config.Clone(), f.series, nil
}
