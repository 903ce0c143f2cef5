package inspect

import (
	"cmp"
	"context"
	"fmt"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
)

// Preview is what is to be seen of the data of a config before a run.
type Preview struct {
	Summary *datasets.Summary
	Input   datasets.Column // the first input: X of Points
	Target  datasets.Column
	Points  PointSet // training rows as PointUnseen, and test rows

	data *datasets.Dataset // without its rows
	auto config.Config     // as the data decide what is left to them, the kernels, too
}

// Settled is a config of these data as it would be run: with what it leaves to them
// decided, but for the transform of the target, which is tried on kernels.
func (p *Preview) Settled(c config.Config) config.Config {
	if p.data == nil {
		return c
	}
	if !c.Kernels.Undecided() {
		d := *p.data // notices are a run's
		c.SettleTask(&d)
		return c
	}
	now := p.auto
	c.Kernels, c.Data.Cycle, c.Data.Calendar = now.Kernels, now.Data.Cycle, now.Data.Calendar
	c.Data.Zone, c.Data.Holidays = cmp.Or(c.Data.Zone, now.Data.Zone), cmp.Or(c.Data.Holidays, now.Data.Holidays)
	c.Settings.Priors = now.Settings.Priors
	return c
}

// PreviewData loads the data of a config, as a run would, and thins the target
// against the first input to at most so many points (less than 8 is taken as
// 8), with the least and greatest of every stretch.
// Errors are those of prepare.LoadData.
func PreviewData(ctx context.Context, c config.Config, points int) (*Preview, error) {
	d, s, err := prepare.LoadData(ctx, &c)
	if err != nil {
		return nil, err
	}
	p := &Preview{Summary: datasets.Describe(d, s), Target: d.Target}
	if d.Dim == 0 {
		return nil, fmt.Errorf("%s has no input column", d.Name)
	}
	p.Input = d.Inputs[0]
	about := *d
	p.auto, p.data = c, &about
	p.auto.Kernels = config.Default().Kernels
	p.auto.SettleTask(&about)
	about.X, about.Y, about.Train, about.Test, about.Notices = nil, nil, nil, nil, nil
	p.Points = rowsAlong(d, 0, points)
	return p, nil
}

// rowsAlong thins the target against an input as PreviewData does; train and test rows are
// those of d, which need not have been learned from.
func rowsAlong(d *datasets.Dataset, column, points int) (p PointSet) {
	points = max(8, points)
	// A quarter for the test rows, unless there are fewer.
	tests := min(len(d.Test), max(points/4, points-len(d.Train)))
	x := func(r int32) float64 { return d.X[int(r)*d.Dim+column] }
	y := func(r int32) float64 { return d.Y[r] }
	p.Unseen, p.Tests = len(d.Train), len(d.Test)
	for _, part := range []struct {
		kind PointKind
		rows []int32
		most int
	}{{PointUnseen, d.Train, points - tests}, {PointTest, d.Test, tests}} {
		for _, r := range thinned(part.rows, part.most, x, y) {
			p.X, p.Y, p.Kind = append(p.X, x(r)), append(p.Y, y(r)), append(p.Kind, part.kind)
		}
	}
	return p
}
