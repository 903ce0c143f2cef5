package study

import (
	"context"
	"fmt"
	"io"

	"example.com/kestrel/experiment/series"
	"example.com/kestrel/vbks/wire"
)

// SeedTask is the kind of task that makes the run of a seed and assesses it.
const SeedTask = "study seed"

// seedOrder is the body of one.
type seedOrder struct {
	Variant string
	Config  string // of the case, TOML
	Seed    uint64
	Times   int
}

// RunBy is Run by a crew.
func (s *Case) RunBy(ctx context.Context, crew series.Crew, seed uint64, times int) (row *Row, err error) {
	err = crew.Do(ctx, &series.Task{
		Kind: SeedTask, Body: wire.Encode(&seedOrder{s.Variant.Name, s.Config.TOML(), seed, times}),
		Here: func(ctx context.Context) (err error) {
			row, err = s.Run(ctx, seed, times, nil)
			return err
		},
		Take: func(by string, body []byte, _ io.Reader) (err error) {
			if row, err = wire.Decode[Row](body); err == nil && (row.Seed != seed || row.Figure != s.Figure || row.Variant != s.Variant.Name) {
				err = fmt.Errorf("%w: of another seed", wire.ErrDamaged)
			}
			if err != nil {
				err = fmt.Errorf("the run of %s: %w", by, err)
			}
			return err
		},
	})
	return row, err
}

// DoSeed does a task of SeedTask.
func DoSeed(ctx context.Context, o *series.Order) (r series.Result, err error) {
	order, err := wire.Decode[seedOrder](o.Body)
	if err != nil {
		return r, err
	}
	v, err := FindVariant(order.Variant)
	if err != nil {
		return r, err
	}
	c, err := o.Config(order.Config)
	if err != nil {
		return r, err
	}
	s, err := caseOf(c.Name, c, v)
	if err != nil {
		return r, err
	}
	row, err := s.Run(o.Context(ctx), order.Seed, order.Times, nil)
	if err != nil {
		return r, err
	}
	r.Body = wire.Encode(row)
	return r, nil
}
