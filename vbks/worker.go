package vbks

import "kestrel/device"

// worker is a lane with its buffers: a group on the run's inducing inputs,
// and the collapsed bound on which solutions are searched for and compared.
// That one is on the same group where it is the local ELBO itself, and on a
// group of its own with few inducing inputs, the scout, where a stochastic
// optimiser takes the solutions further.
type worker struct {
	lane  device.Lane
	group *group
	bound *collapsed // nil until something is searched for, where it is not the local ELBO
	learn *learner   // nil until a stochastic optimiser needs it
	index map[*rowSet]device.Index
}

// newWorker makes a worker that can predict; searchOn lets it search.
func newWorker(c *common, lane device.Lane, capacity, params int) (*worker, error) {
	g, err := newGroup(c, lane, capacity, params)
	if err != nil {
		return nil, err
	}
	return &worker{lane: lane, group: g, index: map[*rowSet]device.Index{}}, nil
}

// searchOn makes the bound on which solutions are searched for.
func (w *worker) searchOn(scout *common) error {
	g := w.group
	if scout != g.common {
		var err error
		if g, err = newGroup(scout, w.lane, g.capacity, g.params); err != nil {
			return err
		}
	}
	var err error
	w.bound, err = newCollapsed(g)
	return err
}

// rowSet is a choice of training rows: the first n, or those listed.
type rowSet struct {
	n    int
	rows []int32 // nil: the first n
	yy   float64 // Σ y²
}

// points returns the rows on a worker's lane.
func (w *worker) points(train device.Data, s *rowSet) (device.Points, error) {
	if s.rows == nil {
		return device.Points{Data: train, To: s.n}, nil
	}
	ix, ok := w.index[s]
	if !ok {
		var err error
		if ix, err = w.lane.NewIndex(s.rows); err != nil {
			return device.Points{}, err
		}
		w.index[s] = ix
	}
	return device.Points{Data: train, Index: ix, To: len(s.rows)}, nil
}
