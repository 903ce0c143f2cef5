package vbks

import (
	"errors"
	"fmt"

	"example.com/kestrel/device"
)

// worker is a lane with its buffers: a group on the run's inducing inputs,
// and the collapsed bound on which solutions are searched for and compared.
// That one is on the same group where it is the local ELBO itself, and on a
// group of its own with few inducing inputs, the scout, where a stochastic
// optimiser takes the solutions further.
type worker struct {
	number int // of the lane
	lane   device.Lane
	group  *group
	bound  *collapsed // nil until something is searched for, where it is not the local ELBO
	own    *collapsed // on the group itself; nil until asked for
	open   *evidencer // bounds on the log evidence; nil until asked for
	learn  *learner   // nil until a stochastic optimiser needs it
	index  map[*rowSet]device.Index
}

// newWorker makes a worker that can predict; searchOn lets it search.
func newWorker(c *common, number, capacity, params int) (*worker, error) {
	lane := c.dev.Lane(number)
	g, err := newGroup(c, lane, capacity, params)
	if err != nil {
		return nil, err
	}
	return &worker{number: number, lane: lane, group: g, index: map[*rowSet]device.Index{}}, nil
}

// searchOn makes the bound on which solutions are searched for.
func (w *worker) searchOn(scout *common) (err error) {
	if scout == w.group.common {
		w.bound, err = w.ownBound()
		return err
	}
	g, err := newGroup(scout, w.lane, w.group.capacity, w.group.params)
	if err != nil {
		return err
	}
	w.bound, err = newCollapsed(g)
	return err
}

// ownBound returns the collapsed bound on the run's own inducing inputs.
func (w *worker) ownBound() (*collapsed, error) {
	if w.own == nil {
		b, err := newCollapsed(w.group)
		if err != nil {
			return nil, err
		}
		w.own = b
	}
	return w.own, nil
}

// evidencer returns what bounds the log evidence with the run's own inducing inputs.
func (w *worker) evidencer() (*evidencer, error) {
	if w.open == nil {
		e, err := newEvidencer(w.group)
		if err != nil {
			return nil, err
		}
		w.open = e
	}
	return w.open, nil
}

// points returns the rows on a worker's lane.
func (w *worker) points(train device.Data, s *rowSet) (device.Points, error) {
	if s.Rows == nil {
		return device.Points{Data: train, To: s.N}, nil
	}
	ix, ok := w.index[s]
	if !ok {
		var err error
		if ix, err = w.lane.NewIndex(s.Rows); err != nil {
			return device.Points{}, err
		}
		w.index[s] = ix
	}
	return device.Points{Data: train, Index: ix, To: len(s.Rows)}, nil
}

// makeWorkers makes a worker for every lane, for the inducing inputs as they
// are. A lane takes as many kernels at a time as the device likes, or fewer
// where memory is short.
func (t *Trainer) makeWorkers() error {
	info := t.dev.Info()
	t.group = info.Group
	if t.group == 0 {
		lanes := max(1, info.Lanes-len(t.lost))
		t.group = (t.mostKernels() + lanes - 1) / lanes
	}
	t.group = min(t.group, t.mostKernels())
	return t.settle(nil)
}

// searchWorkers lets those workers search that cannot yet.
func (t *Trainer) searchWorkers() error {
	for _, w := range t.workers {
		if w.bound != nil {
			continue
		}
		err := w.searchOn(t.scout)
		if errors.Is(err, device.ErrLost) {
			err = nil // which the next attempt finds out again
		} else if err == nil {
			continue
		}
		return t.settle(err)
	}
	return nil
}

// settle makes the workers anew, for t.group kernels at a time or as many as
// there is memory for. err is nil, or why the workers that there are do not do:
// memory was short. No result depends on how many kernels are taken at a time.
func (t *Trainer) settle(err error) error {
	began := t.group
	for {
		if err == nil {
			if err = t.newWorkers(); err == nil {
				break
			}
		}
		if !errors.Is(err, device.ErrOutOfMemory) {
			return err
		}
		if t.group <= 1 {
			return fmt.Errorf("not even one kernel at a time fits: %w; choose fewer inducing inputs, or another device", err)
		}
		t.group, err = t.group/2, nil
	}
	if t.group < began {
		t.notices = append(t.notices, Notice{Text: fmt.Sprintf("card memory: kernels are taken %d at a time", t.group)})
	}
	return nil
}

// newWorkers makes the workers of the lanes that are not lost. The arrays of
// those that there were are given up before, so that their memory is free.
func (t *Trainer) newWorkers() error {
	t.workers = nil
	params := 1
	for _, k := range t.kernels {
		params = max(params, len(k.program.Params)+1)
	}
	params = max(params, t.expansion.params+1)
	searched := t.scout
	if t.optimizer.bounded() { // predictions need the bound, too
		searched = &t.common
	}
	var workers []*worker
	var gone error
	for i := range t.dev.Info().Lanes {
		if t.lost[i] {
			continue
		}
		w, err := newWorker(&t.common, i, t.group, params)
		if err == nil && searched != nil {
			err = w.searchOn(searched)
		}
		switch {
		case errors.Is(err, device.ErrLost):
			t.lose(i, err)
			gone = err
		case err != nil:
			return err
		default:
			workers = append(workers, w)
		}
	}
	if len(workers) == 0 {
		return noLane(gone)
	}
	t.workers = workers
	return nil
}

// lose takes a lane out of use, for good.
func (t *Trainer) lose(lane int, err error) {
	if t.lost == nil {
		t.lost = map[int]bool{}
	}
	t.lost[lane] = true
	text := fmt.Sprintf("lane %d of %d is lost, the others take its kernels: %v", lane+1, t.dev.Info().Lanes, err)
	t.notices = append(t.notices, Notice{Text: text})
}

// noLane is the error where the last lane is lost, err its failure.
func noLane(err error) error {
	if err == nil {
		err = device.ErrLost // by an earlier call
	}
	return fmt.Errorf("no lane of the device is left: %w; what was committed is kept: go on in a new process, or on another device", err)
}

// forget gives a worker's row lists back.
func (w *worker) forget() {
	for s, ix := range w.index {
		w.lane.Free(ix)
		delete(w.index, s)
	}
}
