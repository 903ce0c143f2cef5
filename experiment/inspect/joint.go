package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"example.com/kestrel/datasets"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/vbks"
)

// MostSamples is the number of joint draws that are made at most, and mostDrawn that of
// their values.
const (
	MostSamples = 100_000
	mostDrawn   = 20_000_000
)

// JointQuery says what to write of several points together.
type JointQuery struct {
	Samples    int // joint draws of observations
	Seed       uint64
	Covariance bool // of f
}

// Held is points that are all in memory.
type Held struct {
	beyond
	all    *datasets.Points
	target bool
}

// HasTarget implements PointSource.
func (h *Held) HasTarget() bool { return h.target }

// Hold reads all points, of which there may be vbks.MostJoint.
func (p *Predictor) Hold(ctx context.Context, from PointSource) (*Held, error) {
	h := &Held{all: &datasets.Points{Dim: p.data.Dim}, target: from.HasTarget()}
	for {
		next, err := from.Next(ctx, vbks.MostJoint+1)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		h.all.Add(next)
		if len(h.all.Rows) > vbks.MostJoint {
			return nil, fmt.Errorf("more than %d points: joint draws and covariances are of at most so many", vbks.MostJoint)
		}
	}
	left := *h.all
	h.left = &left
	return h, nil
}

// WriteJoint writes, each to a table of its own in this order, joint draws of
// observations at points, a row for each point: its number, its inputs and a column for
// each draw; and the covariance of f between them, a row and a column for each, in units
// of the learned target squared. What is not asked for has no table.
func (p *Predictor) WriteJoint(ctx context.Context, points *Held, q PredictQuery, j JointQuery, to []io.Writer) error {
	n := len(points.all.Rows)
	if j.Samples*n > mostDrawn {
		return fmt.Errorf("%d draws at %d points: at most %d values are drawn", j.Samples, n, mostDrawn)
	}
	got, err := p.joint(ctx, points.all, &q, j)
	if err != nil {
		return err
	}
	if j.Samples > 0 {
		s := &sheet{columns: []string{"row"}, json: q.JSON}
		for _, in := range p.data.Inputs {
			s.columns = append(s.columns, in.Name)
		}
		for i := range j.Samples {
			s.columns = append(s.columns, "draw_"+strconv.Itoa(i+1))
		}
		err := writeSheet(to[0], s, n, func(r *sheetRows, k int) {
			r.whole(int(points.all.Rows[k]) + 1)
			for i := range p.data.Inputs {
				r.value(&p.data.Inputs[i], points.all.X[k*p.data.Dim+i])
			}
			for _, d := range got.Draws {
				r.number(p.scaler.Value(d[k]))
			}
		})
		if err != nil {
			return err
		}
		to = to[1:]
	}
	if !j.Covariance {
		return nil
	}
	s := &sheet{columns: []string{"row"}, json: q.JSON}
	for _, row := range points.all.Rows {
		s.columns = append(s.columns, strconv.Itoa(int(row)+1))
	}
	return writeSheet(to[0], s, n, func(r *sheetRows, k int) {
		r.whole(int(points.all.Rows[k]) + 1)
		for i := range n {
			r.number(p.scaler.Variance(got.Covariance[k*n+i]))
		}
	})
}

// writeSheet writes a table of so many rows.
func writeSheet(to io.Writer, s *sheet, rows int, fill func(r *sheetRows, k int)) error {
	head, err := s.head()
	if err != nil {
		return err
	}
	r := s.rows()
	for k := range rows {
		fill(r, k)
		r.endRow()
	}
	text, err := r.text()
	if err != nil {
		return err
	}
	for _, part := range [][]byte{head, s.first(text), s.tail()} {
		if _, err := to.Write(part); err != nil {
			return fmt.Errorf("writing predictions: %w", err)
		}
	}
	return nil
}

// joint predicts at points together, with the model of what p knows.
func (p *Predictor) joint(ctx context.Context, points *datasets.Points, q *PredictQuery, j JointQuery) (*vbks.Joint, error) {
	x := p.scaler.Inputs(points.X)
	if lane, ok := p.lanes[0].(*modelLane); ok {
		return lane.thawed.Joint(ctx, x, lane.options(q, points.NoiseSD), j.Samples, j.Seed)
	}
	var out *vbks.Joint
	err := p.run.thawed(ctx, func(ctx context.Context, t *vbks.Thawed) (err error) {
		out, err = t.Joint(ctx, x, p.run.options(q, points.NoiseSD), j.Samples, j.Seed)
		return err
	})
	return out, err
}

// thawed asks the model of the run as it stands, on one core.
func (i *Inspector) thawed(ctx context.Context, of func(ctx context.Context, t *vbks.Thawed) error) error {
	return i.ask(ctx, func(ctx context.Context) error {
		f, err := i.trainer.Freeze(ctx, vbks.FreezeOptions{MostFactors: vbks.MostFactors})
		if err != nil {
			return err
		}
		dev := cpu.New(cpu.Options{Lanes: 1})
		defer dev.Close()
		t, err := f.On(dev)
		if err != nil {
			return err
		}
		return of(ctx, t)
	})
}
