package study

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"

	"example.com/kestrel/device"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// GrownStep is an evaluation of growth on a data set.
type GrownStep struct {
	Evaluation int          `json:"evaluation"`
	Rows       int          `json:"rows"`    // seen
	Entered    []string     `json:"entered"` // with the first one what there was
	Leader     string       `json:"leader"`
	AsGood     string       `json:"as_good,omitempty"` // see PlantedRow
	CPU        files.Number `json:"cpu"`               // s, since the evaluation before it
	// Evidence from which kernels have been climbed with it to see whether they are as good, by id.
	Climbed map[string]files.Number `json:"climbed,omitempty"`
}

// growing is a run of growth in the making.
type growing struct {
	*planting
	row     *PlantedRow
	trainer *vbks.Trainer
	look    look
	then    map[string]int // how many had been trained with a kernel when it came, or came again
	told    float64        // s of CPU, at the last evaluation
}

// grow makes the run of growth, or goes on with one that was cut.
func (t *planting) grow(ctx context.Context, row *PlantedRow) error {
	dev, err := t.place()
	if err != nil {
		return err
	}
	g := &growing{planting: t, row: row, then: map[string]int{}, told: cpuSeconds()}
	g.look = look{t, map[string]files.Number{}}
	if err := g.begin(ctx, dev); err != nil {
		return ended(ctx, err)
	}
	for !g.trainer.Done() {
		if _, err = g.trainer.Next(ctx); err != nil {
			if ctx.Err() != nil {
				return ended(ctx, err)
			}
			row.Failure = err.Error()
			return nil
		}
		if err := g.note(ctx); err != nil {
			return err
		}
	}
	row.Met = g.then[t.planted.ID()] > 0
	return g.conclude(ctx)
}

// begin makes the trainer, or takes it up as it was when the course was cut.
func (g *growing) begin(ctx context.Context, dev device.Device) error {
	sub := g.subject
	learned, err := g.course.learned()
	if errors.Is(err, fs.ErrNotExist) {
		g.trainer, err = vbks.New(ctx, dev, sub.Train, sub.Space, sub.Columns, sub.Settings)
		return err
	}
	if err == nil {
		g.trainer, err = vbks.Resume(ctx, dev, sub.Train, sub.Space, sub.Columns, sub.Settings, learned)
	}
	if err != nil {
		return g.course.unusable(err)
	}
	last := g.trainer.Last()
	if last == nil || last.Index > len(g.course.evaluations) {
		return g.course.unusable(fmt.Errorf("%w is of an evaluation that %s does not have", vbks.ErrCheckpoint, courseName(g.seed)))
	}
	for i := range g.course.evaluations[:last.Index] {
		g.take(&g.course.evaluations[i])
	}
	return nil
}

// note keeps what an evaluation has come to.
func (g *growing) note(ctx context.Context) error {
	last := g.trainer.Last()
	s := &GrownStep{Evaluation: last.Index, Rows: last.RowsSeen, Leader: last.Kernels[last.Leader()].ID, AsGood: g.row.AsGood}
	s.CPU = files.Number(cpuSeconds() - g.told) // what is asked of its kernels then is not growth's
	for _, e := range last.Entered {
		s.Entered = append(s.Entered, e.Expr.ID())
	}
	if last.Index == 1 {
		for _, c := range g.subject.Space {
			s.Entered = append(s.Entered, c.Expr.ID())
		}
	}
	if s.AsGood == "" && last.Proportion == 1 {
		var err error
		if s.AsGood, s.Climbed, err = g.look.among(ctx, last); err != nil {
			return err
		}
	}
	g.take(s)
	g.told = cpuSeconds()
	if g.Watch != nil {
		g.Watch(g.seed, s, g.row.Tried)
	}
	return g.course.grew(s, g.trainer)
}

// take counts an evaluation in.
func (g *growing) take(s *GrownStep) {
	row := g.row
	row.Tried += len(s.Entered)
	for _, id := range s.Entered {
		g.then[id] = row.Tried
	}
	if row.AsGood == "" && s.AsGood != "" {
		row.AsGood, row.AsGoodThen = s.AsGood, g.then[s.AsGood]
	}
	row.CPU += s.CPU
	maps.Copy(g.look.climbed, s.Climbed)
}

// conclude compares what leads in the end with the planted kernel.
func (g *growing) conclude(ctx context.Context) error {
	t, row, last := g.planting, g.row, g.trainer.Last()
	found, err := t.of(&last.Kernels[last.Leader()])
	if err != nil {
		return err
	}
	again, err := t.search(ctx, []kernelspace.Expr{found.expr}, map[string][]float64{found.id: found.free})
	if err != nil {
		return err
	}
	leader := again[0]
	if err := t.climbFrom(ctx, leader, found.free); err != nil {
		return err
	}
	row.Leader, row.LeaderLeaves, row.TriedThen = leader.id, leader.expr.NumLeaves(), g.then[leader.id]
	row.Gap = files.Number(t.truth - leader.nats)
	row.PriorGap = row.Gap + files.Number(t.grammar.LogPrior(t.planted)-t.grammar.LogPrior(leader.expr))
	return nil
}

// look watches a run for a kernel as good as the planted one; nothing that it finds is kept for others.
type look struct {
	*planting
	climbed map[string]files.Number // from which evidence kernels have been climbed
}

// among is the first of an evaluation's kernels that cannot be told from the planted one, or is better, "" if there is none, and from
// where it has climbed.
func (l look) among(ctx context.Context, e *vbks.Evaluation) (id string, climbed map[string]files.Number, err error) {
	const again = 0.1 // nats
	climbed = map[string]files.Number{}
	for i := range e.Kernels {
		k, err := l.of(&e.Kernels[i])
		if err != nil {
			return "", nil, err
		}
		if from, done := l.climbed[k.id]; k.nats >= l.truth-nearlyNats && !(done && k.nats <= float64(from)+again) {
			climbed[k.id] = files.Number(k.nats)
			if err := l.climb(ctx, k); err != nil {
				return "", nil, err
			}
		}
		if k.nats >= l.truth-tieNats {
			return k.id, climbed, nil
		}
	}
	return "", climbed, nil
}
