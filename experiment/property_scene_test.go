package experiment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/vbks"
)

// scene is a run with the model that it is held against.
type scene struct {
	run   *Run
	log   *recordtest.Log
	stile *turnstile
	model *model
	wait  []*waiter
	unit  int // steps that a command lets happen, about
	seen  int // events looked at
	close func() error
}

// stage makes a scene.
type stage func(*testing.T, *rand.Rand) (*scene, error)

// waiter waits for the end of a run.
type waiter struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
	err    error
	gone   bool // its context has ended
}

var errGone = errors.New("the one who waits has gone")

// toyScene is a run of a toy, with budgets and a course drawn at random.
func toyScene(_ *testing.T, rng *rand.Rand) (*scene, error) {
	ids := []string{"SE", "LIN", "PER", "RQ", "BAD"}
	refine := rng.IntN(3)
	c := config.Default()
	c.MetricRows = 3 * rng.IntN(2)
	if rng.IntN(3) == 0 {
		c.Evaluations = 1 + rng.IntN(4)
	}
	if rng.IntN(3) == 0 {
		c.Settings.TimeBudget = time.Duration(1+rng.IntN(4)) * time.Second
	}
	t := newToy(ids, "BAD", 60, 0.34, refine)
	start := &record.Start{Name: "toy", Data: &datasets.Summary{Name: "toy"}, Inducing: t.inducing}
	for _, id := range ids {
		start.Kernels = append(start.Kernels, record.KernelInfo{ID: id, Name: id, Weight: 1,
			Params: []record.ParamInfo{{Scale: 1}, {Scale: 1}, {Scale: 1}}})
	}
	test := prepare.TestSet{X: []float64{1, 2, 3, 4}, Y: []float64{3, -3, 3, -3}, Dim: 1, Units: &datasets.Scaler{YScale: 3},
		Most: c.MetricRows}
	m := &model{ids: ids, bad: "BAD", rows: 60, every: 0.34, refine: refine, most: c.Evaluations, budget: c.Settings.TimeBudget, tests: 4}
	s := newScene(t, test, start, []string{"a notice"}, &c, m)
	s.unit, s.close = 4, s.run.Close
	if rng.IntN(4) == 0 {
		m.drive = record.Course{PruneTop: rng.IntN(3), ThenRefine: rng.IntN(3)}
	}
	return s, nil
}

// trainerScene is a run of a trainer on one or two lanes: five kernels, one of
// which overflows, and 60 rows.
func trainerScene(t *testing.T, rng *rand.Rand) (*scene, error) {
	var b *configtest.BadData
	for _, table := range configtest.BadTables() {
		if table.Fails == "POLY4" && table.What == "x of 1e100, as it is" {
			b = &table
		}
	}
	b.Rows = configtest.Wave(75, func(_ int, row []float64) { row[0] *= 1e99 })
	refine := rng.IntN(2)
	c := b.Config(t, "SE, LIN, PER, SE+LIN, POLY4",
		"optimise.optimizer="+[]string{"collapsed", "natural", "adam"}[rng.IntN(3)], "sparse.inducing=8", "schedule.evaluate_every=0.34",
		fmt.Sprintf("schedule.refine=%d", refine), "posterior.samples=200", fmt.Sprintf("device.lanes=%d", 1+rng.IntN(2)),
		fmt.Sprintf("predict.metric_rows=%d", 10*rng.IntN(2)), fmt.Sprintf("seed=%d", rng.IntN(1000)))
	j, err := prepare.Prepare(t.Context(), c)
	if err != nil {
		return nil, err
	}
	m := &model{bad: "POLY4", rows: j.Start.Data.Train, every: 0.34, refine: refine, tests: len(j.Test.Y)}
	for _, k := range j.Start.Kernels {
		m.ids = append(m.ids, k.ID)
	}
	s := newScene(j.Trainer, j.Test, j.Start, j.Notices, &j.Config, m)
	s.unit = 150
	s.close = func() error { return errors.Join(s.run.Close(), j.Close()) }
	return s, nil
}

func newScene(t prepare.Trainer, test prepare.TestSet, start *record.Start, notices []string, c *config.Config, m *model) *scene {
	stile := &turnstile{more: make(chan struct{})}
	l := &recordtest.Log{}
	m.state, m.deadline, m.kernels = record.Ready, m.budget, map[string]*modelKernel{}
	m.sampled = m.tests
	if test.Sampled() {
		m.sampled = test.Most
	}
	for _, id := range m.ids {
		m.kernels[id] = &modelKernel{status: vbks.Live}
	}
	return &scene{run: newRun(stepped{t, stile}, test, start, notices, c, l), log: l, stile: stile, model: m}
}

// news returns the events since the last call.
func (s *scene) news() []record.Event {
	s.log.Mu.Lock()
	defer s.log.Mu.Unlock()
	out := s.log.Events[s.seen:]
	s.seen = len(s.log.Events)
	return out
}

// names returns the kernels that an order means.
func (s *scene) names(c command) []string {
	var ids []string
	switch c.kind {
	case orderPruneTop:
		if e := s.run.Snapshot().Evaluation; e != nil {
			ids = e.Below(int(c.a % 4))
		}
		return ids
	case orderRestore:
		if c.b%3 > 0 { // all that are there
			for _, id := range s.model.ids {
				if s.model.kernels[id].status == vbks.Pruned {
					ids = append(ids, id)
				}
			}
			return ids
		}
	}
	for i, id := range s.model.ids {
		if c.a>>i%4 == 0 {
			ids = append(ids, id)
		}
	}
	switch c.b % 16 {
	case 0:
		ids = append(ids, "COS")
	case 1:
		ids = append(ids, ids...)
	}
	return ids
}

var changes = []vbks.Change{{}, {Rounds: 1}, {Rounds: 2}, {Steps: 3}, {Inducing: 5, Rounds: 1}, {Inducing: 9}, {Batch: 7}}

// do carries a command out and compares what comes of it with the model.
func (s *scene) do(c command) error {
	m := s.model
	kind, steps := c.kind, s.stile.steps()
	if kind == orderPruneTop {
		kind = orderPrune
	}
	var ids []string
	var order func() error
	switch kind {
	case orderStart:
		order = s.run.Start
		if m.drive != (record.Course{}) && m.state == record.Ready {
			order = func() error { s.follow(m.drive); return nil }
		}
	case orderPause:
		order = s.run.Pause
	case orderResume:
		order = s.run.Resume
	case orderStop:
		order = func() error { return s.run.Stop("enough") }
	case orderPrune:
		ids = s.names(c)
		order = func() error { return s.run.Prune(ids) }
	case orderRestore:
		ids = s.names(c)
		order = func() error { return s.run.Restore(ids) }
	case orderReoptimise:
		order = func() error { return s.run.Reoptimize(changes[int(c.a)%len(changes)]) }
	case letStep:
		s.stile.let(1 + int(c.a)%(2*s.unit))
	case letTime:
		time.Sleep(time.Second)
		if m.state == record.Running {
			m.elapsed += time.Second
			m.late = m.late || m.budget > 0 && m.elapsed >= m.deadline
		}
	case letWait:
		ctx, cancel := context.WithCancelCause(context.Background())
		s.waits(cancel, func() error { _, err := s.run.Wait(ctx); return err })
	case letCancel:
		m.courseOn = false
		for _, w := range s.wait {
			w.gone = true
			w.cancel(errGone)
		}
	case letFault:
		m.mayFail = true
		s.stile.mu.Lock()
		s.stile.fault = []func() error{
			func() error { return errors.New("the device is gone") },
			func() error { panic("a mistake") },
		}[c.a%2]
		s.stile.mu.Unlock()
	}
	own := []string{}
	if order != nil {
		why := m.refusal(kind, ids)
		err := order()
		synctest.Wait()
		if why == "" {
			own = m.own(kind)
		}
		if (err != nil) != (why != "") || err != nil && !strings.Contains(err.Error(), why) {
			return fmt.Errorf("answered with %v, want %q", err, why)
		}
	}
	synctest.Wait()
	events := s.news()
	for i := range events {
		e := &events[i]
		ordered := len(own) > 0 && e.Type != record.EventNotice
		if ordered {
			if label(e) != own[0] {
				return fmt.Errorf("%s, want %s", label(e), own[0])
			}
			own = own[1:]
			if e.Type == record.EventPruned || e.Type == record.EventRestored {
				if !slices.Equal(e.Kernels, ids) {
					return fmt.Errorf("%s %v, want %v", e.Type, e.Kernels, ids)
				}
			}
		}
		if err := m.apply(e, ordered); err != nil {
			return err
		}
	}
	switch {
	case len(own) > 0:
		return fmt.Errorf("no %s", own[0])
	case m.open:
		return errors.New("no event of the end")
	case (m.state == record.Paused || m.state == record.Ready) && kind != orderPause && s.stile.steps() != steps:
		return fmt.Errorf("%d steps while %s", s.stile.steps()-steps, m.state)
	}
	look := s.run.Snapshot()
	if err := m.agrees(&look); err != nil {
		return err
	}
	return s.waiting()
}

// waits has somebody wait.
func (s *scene) waits(cancel context.CancelCauseFunc, f func() error) {
	w := &waiter{cancel: cancel, done: make(chan struct{})}
	s.wait = append(s.wait, w)
	go func() {
		defer close(w.done)
		w.err = f()
	}()
}

// follow starts the run with what follows by itself.
func (s *scene) follow(d record.Course) {
	s.model.courseOn = d.PruneTop > 0
	ctx, cancel := context.WithCancelCause(context.Background())
	s.waits(cancel, func() error { _, err := s.run.Drive(ctx, d); return err })
}

// waiting looks whether those wait who should.
func (s *scene) waiting() error {
	for _, w := range s.wait {
		done := false
		select {
		case <-w.done:
			done = true
		default:
		}
		switch {
		case done && w.err != nil && !(w.gone && errors.Is(w.err, errGone)) && s.model.state != record.Failed:
			return fmt.Errorf("waiting ended with %v", w.err)
		case !done && (w.gone || s.model.rests()):
			return fmt.Errorf("somebody waits for a run that is %s; gone: %v", s.model.state, w.gone)
		}
	}
	return nil
}

// end lets a run come to its end, if it can, and closes it.
func (s *scene) end() error {
	m := s.model
	if err := s.do(command{kind: letCancel}); err != nil {
		return err
	}
	s.stile.let(-1)
	if err := s.do(command{kind: letStep}); err != nil {
		return err
	}
	// It may be left paused.
	if m.state == record.Running || m.scoring {
		return fmt.Errorf("%s for ever", m.state)
	}
	own := m.own(orderStop)
	if err := s.close(); err != nil {
		return err
	}
	synctest.Wait()
	for _, e := range s.news() {
		if err := m.apply(&e, true); err != nil {
			return fmt.Errorf("closing: %w", err)
		}
		own = own[min(1, len(own)):]
	}
	if len(own) > 0 || m.open {
		return fmt.Errorf("closing: no %v", own)
	}
	if err := s.run.Pause(); !errors.Is(err, errClosed) {
		return fmt.Errorf("a closed run answers %v", err)
	}
	return nil
}
