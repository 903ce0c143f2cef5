package study

import (
	"context"
	"fmt"
	"io"

	"example.com/kestrel/experiment/series"
	"example.com/kestrel/vbks/wire"
)

// Kinds of tasks: each makes what comes of one seed.
const (
	SeedTask        = "study seed"
	CalibrationTask = "study data set"
	GapsTask        = "study gaps"
	PlantedTask     = "study planted"
)

// seedOrder is the body of a SeedTask.
type seedOrder struct {
	Variant string
	Config  string // of the case, TOML
	Seed    uint64
	Times   int
}

// calibrationOrder is the body of a CalibrationTask.
type calibrationOrder struct {
	Space, Prior string
	Rows         Range
	Config       string
	Seed         uint64
}

// gapsOrder is the body of a GapsTask.
type gapsOrder struct {
	Variant string
	Config  string
	Times   int
	Seed    uint64
}

// plantedOrder is the body of a PlantedTask.
type plantedOrder struct {
	Leaves, Rows Range
	Alone        bool
	Config       string
	Seed         uint64
}

// gapRows are what comes of one.
type gapRows struct{ Rows []*GapRow }

// by has something made by a crew, here or elsewhere; is says whether it is what was asked for.
func by[T, O any](ctx context.Context, crew series.Crew, kind string, order *O, here func(context.Context) (*T, error),
	is func(*T) bool) (out *T, err error) {
	err = crew.Do(ctx, &series.Task{
		Kind: kind, Body: wire.Encode(order),
		Here: func(ctx context.Context) (err error) {
			out, err = here(ctx)
			return err
		},
		Take: func(by string, body []byte, _ io.Reader) (err error) {
			if out, err = wire.Decode[T](body); err == nil && !is(out) {
				err = fmt.Errorf("%w: of another seed", wire.ErrDamaged)
			}
			if err != nil {
				err = fmt.Errorf("the run of %s: %w", by, err)
			}
			return err
		},
	})
	return out, err
}

// RunBy is Run by a crew.
func (s *Case) RunBy(ctx context.Context, crew series.Crew, seed uint64, times int) (*Row, error) {
	return by(ctx, crew, SeedTask, &seedOrder{s.Variant.Name, s.Config.TOML(), seed, times},
		func(ctx context.Context) (*Row, error) { return s.Run(ctx, seed, times, nil) },
		func(r *Row) bool { return r.Seed == seed && r.Figure == s.Figure && r.Variant == s.Variant.Name })
}

// RunBy is Run by a crew, on one lane.
func (c *Calibration) RunBy(ctx context.Context, crew series.Crew, seed uint64) (*CalibrationRow, error) {
	return by(ctx, crew, CalibrationTask, &calibrationOrder{c.Space, c.Prior, c.Rows, c.Config.TOML(), seed},
		func(ctx context.Context) (*CalibrationRow, error) { return c.Run(ctx, seed, 1) },
		func(r *CalibrationRow) bool { return r.Seed == seed && r.Space == c.Space })
}

// RunBy is Run by a crew.
func (g *Gaps) RunBy(ctx context.Context, crew series.Crew, seed uint64) ([]*GapRow, error) {
	all, err := by(ctx, crew, GapsTask, &gapsOrder{g.Variant.Name, g.Config.TOML(), g.Times, seed},
		func(ctx context.Context) (*gapRows, error) {
			rows, err := g.Run(ctx, seed)
			return &gapRows{rows}, err
		},
		func(all *gapRows) bool {
			for _, r := range all.Rows {
				if r == nil || r.Seed != seed || r.Figure != g.Figure {
					return false
				}
			}
			return len(all.Rows) > 0
		})
	if err != nil {
		return nil, err
	}
	return all.Rows, nil
}

// RunBy is Run by a crew, on one lane.
func (p *Planted) RunBy(ctx context.Context, crew series.Crew, seed uint64) (*PlantedRow, error) {
	return by(ctx, crew, PlantedTask, &plantedOrder{p.Leaves, p.Rows, p.Alone, p.Config.TOML(), seed},
		func(ctx context.Context) (*PlantedRow, error) { return p.Run(ctx, seed, 1) },
		func(r *PlantedRow) bool { return r.Seed == seed && r.Bases == p.Names() })
}

// DoSeed does a task of SeedTask.
func DoSeed(ctx context.Context, o *series.Order) (r series.Result, err error) {
	order, err := wire.Decode[seedOrder](o.Body)
	if err != nil {
		return r, err
	}
	s, err := ordered(o, order.Variant, order.Config)
	if err != nil {
		return r, err
	}
	row, err := s.Run(o.Context(ctx), order.Seed, order.Times, nil)
	return encoded(row, err)
}

// DoCalibration does a task of CalibrationTask.
func DoCalibration(ctx context.Context, o *series.Order) (r series.Result, err error) {
	order, err := wire.Decode[calibrationOrder](o.Body)
	if err != nil {
		return r, err
	}
	config, err := o.Config(order.Config)
	if err != nil {
		return r, err
	}
	c := &Calibration{Space: order.Space, Prior: order.Prior, Config: config, Rows: order.Rows}
	if c.candidates, err = config.Kernels.Candidates(); err != nil {
		return r, err
	}
	row, err := c.Run(o.Context(ctx), order.Seed, o.Lanes)
	return encoded(row, err)
}

// DoGaps does a task of GapsTask.
func DoGaps(ctx context.Context, o *series.Order) (r series.Result, err error) {
	order, err := wire.Decode[gapsOrder](o.Body)
	if err != nil {
		return r, err
	}
	s, err := ordered(o, order.Variant, order.Config)
	if err != nil {
		return r, err
	}
	rows, err := (&Gaps{Case: s, Times: order.Times}).Run(o.Context(ctx), order.Seed)
	return encoded(&gapRows{rows}, err)
}

// DoPlanted does a task of PlantedTask.
func DoPlanted(ctx context.Context, o *series.Order) (r series.Result, err error) {
	order, err := wire.Decode[plantedOrder](o.Body)
	if err != nil {
		return r, err
	}
	config, err := o.Config(order.Config)
	if err != nil {
		return r, err
	}
	p, err := planted(config, order.Leaves, order.Rows)
	if err != nil {
		return r, err
	}
	p.Alone = order.Alone
	row, err := p.Run(o.Context(ctx), order.Seed, o.Lanes)
	return encoded(row, err)
}

// ordered is the case of a task.
func ordered(o *series.Order, variant, text string) (*Case, error) {
	v, err := FindVariant(variant)
	if err != nil {
		return nil, err
	}
	c, err := o.Config(text)
	if err != nil {
		return nil, err
	}
	return caseOf(c.Name, c, v)
}

func encoded[T any](v *T, err error) (r series.Result, _ error) {
	if err == nil {
		r.Body = wire.Encode(v)
	}
	return r, err
}
