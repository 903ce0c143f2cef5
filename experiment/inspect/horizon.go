package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"example.com/kestrel/datasets"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/vbks"
)

// beyond is points that are all there from the beginning.
type beyond struct{ left *datasets.Points }

func (b *beyond) HasTarget() bool { return false }

func (b *beyond) Next(_ context.Context, most int) (*datasets.Points, error) {
	n := min(most, len(b.left.Rows))
	if n == 0 {
		return nil, io.EOF
	}
	var next *datasets.Points
	next, b.left = b.left.Cut(n)
	return next, nil
}

// Beyond returns the points beyond the last row of the run's data, held out or not,
// up to a horizon. Errors are those of datasets.Dataset.Beyond.
func (p *Predictor) Beyond(h datasets.Horizon) (PointSource, error) {
	points, err := p.data.Beyond(h)
	if err != nil {
		return nil, err
	}
	return &beyond{points}, nil
}

// Refitted says on what a predictor's kernels have been fitted again.
type Refitted struct {
	Rows    int // all of them
	HeldOut int // of these by the run
	Left    int // held-out rows besides, which the transform of the target does not take
}

// Refit has the kernels that a query averages over learn from all rows of the data,
// those too that the run has held out or not come to; see vbks.Trainer.Refit.
// Predictions rest on them from then on. nil: the run has seen all rows.
func (p *Predictor) Refit(ctx context.Context, q PredictQuery) (*Refitted, error) {
	if err := p.Check(&q); err != nil {
		return nil, err
	}
	first := p.run
	if first == nil {
		return nil, errors.New("a model file cannot learn from more rows; kestrel model RUN --refit writes one that has learned from all of them")
	}
	all, heldOut, left := first.subject.Whole()
	if all.Rows() == first.trainer.Last().RowsSeen {
		return nil, nil
	}
	dev := cpu.New(cpu.Options{Lanes: runtime.GOMAXPROCS(0)})
	defer dev.Close()
	var refit *vbks.Trainer
	if tell := prepare.Told(ctx); tell != nil {
		doing := fmt.Sprintf("fitting again on all %d rows", all.Rows())
		ctx = prepare.Telling(ctx, func(s prepare.Step) { s.Doing = doing; tell(s) })
	}
	err := first.ask(ctx, func(ctx context.Context) (err error) {
		refit, err = first.trainer.Refit(ctx, dev, all, first.options(&q, nil))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("fitting again on all %d rows: %w", all.Rows(), err)
	}
	lane, err := twin(first.subject, refit, p.team)
	if err != nil {
		return nil, err
	}
	err = p.Close()
	p.lanes, p.refit, p.run = []asked{lane}, refit, lane
	return &Refitted{Rows: all.Rows(), HeldOut: heldOut, Left: left}, err
}

// twin returns an inspector that predicts as a trainer does.
func twin(s *prepare.Subject, t *vbks.Trainer, team *cpu.Team) (*Inspector, error) {
	dev := cpu.New(cpu.Options{Lanes: 1, Team: team})
	other, err := t.Twin(dev)
	if err != nil {
		dev.Close()
		return nil, err
	}
	return inspectorOf(s, dev, other), nil
}
