package vbks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/wire"
)

// Site is a machine's share of a run: its lanes with their buffers, the rows, the
// compiled kernels. It carries units out by the code that the lanes of a run have.
type Site struct {
	t      *Trainer
	own    bool // the trainer is that of the run itself
	states *states

	mu     sync.RWMutex // read while units are done
	header string
	order  *order
	site   *site
}

// OwnSite returns the run's own.
func (t *Trainer) OwnSite() *Site { return &Site{t: t, own: true, states: t.states} }

// mostAtHand is how many numbers of states a machine keeps at hand: 2 GiB.
const mostAtHand = 1 << 28

// NewSite makes a site of a foundation on a device that it has for itself. step is called
// before every step of an optimisation: it blocks while the run is paused. Errors:
// foundations that are damaged.
func NewSite(dev device.Device, encoded []byte, shelf Shelf, step func(context.Context) error) (*Site, error) {
	f, err := wire.Decode[foundation](encoded)
	if err != nil {
		return nil, err
	}
	if len(f.Weights) != len(f.Space) || len(f.Known) != len(f.Space) {
		return nil, fmt.Errorf("%w: weights that are not of its kernels", wire.ErrDamaged)
	}
	space := make([]Candidate, len(f.Space))
	for i, id := range f.Space {
		e, err := kernelspace.Parse(id)
		if err != nil {
			return nil, err
		}
		space[i] = Candidate{Expr: e, Weight: f.Weights[i], Known: f.Known[i]}
	}
	t, err := newTrainer(dev, f.Training, space, f.Columns, f.Settings)
	if err != nil {
		return nil, err
	}
	for i, k := range t.kernels {
		if k.id != f.Space[i] {
			return nil, fmt.Errorf("kernel %s reads as %s", f.Space[i], k.id)
		}
	}
	t.gate = step
	return &Site{t: t, states: newStates(shelf, true, mostAtHand)}, nil
}

// Lanes returns the numbers of the lanes that work.
func (s *Site) Lanes() (numbers []int) {
	for i := range s.t.dev.Info().Lanes {
		if !s.t.lost[i] {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// Lose takes a lane out of use, for good.
func (s *Site) Lose(lane int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.t.workers)
	s.t.workers = slices.DeleteFunc(slices.Clone(s.t.workers), func(w *worker) bool { return w.number == lane })
	if len(s.t.workers) < before {
		s.t.lose(lane, err)
	}
}

// Loaded returns how many states were not at hand.
func (s *Site) Loaded() int {
	s.states.mu.Lock()
	defer s.states.mu.Unlock()
	return s.states.loaded
}

// Used returns how many states units began with that were not in their messages.
func (s *Site) Used() int {
	s.states.mu.Lock()
	defer s.states.mu.Unlock()
	return s.states.used
}

// Stand prepares the site for the units of a header.
func (s *Site) Stand(encoded []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.header = ""
	h, err := wire.Decode[header](encoded)
	if err != nil {
		return err
	}
	if !s.own {
		if err := s.t.standAs(h); err != nil {
			return err
		}
	}
	for _, w := range s.t.workers {
		w.forget()
	}
	s.order, s.site = &h.Order, s.t.site()
	if err := s.site.place(s.order); err != nil {
		return err
	}
	s.header = nameOf(encoded)
	return nil
}

// standAs brings a trainer that only does units to where the run's is.
func (t *Trainer) standAs(h *header) (err error) {
	if h.Rows < 1 || h.Rows > t.all.Rows() || len(h.Z) == 0 || len(h.Z)%t.dim != 0 {
		return fmt.Errorf("%w: rows or inducing inputs that are not of the data", wire.ErrDamaged)
	}
	if t.optimizer, err = optimizerOf(h.Settings.Optimizer); err != nil {
		return err
	}
	t.settings = h.Settings
	if h.Rows != t.data.Rows() {
		if err := t.know(h.Rows); err != nil {
			return err
		}
		t.inducing, t.drawer = nil, nil
	}
	if h.Counts != nil && (len(h.Counts) != h.Rows || !positive(h.Counts)) || h.Noise.Check(t.dim) != nil {
		return fmt.Errorf("%w: weights that are not of its rows", wire.ErrDamaged)
	}
	if t.weighing.model = h.Noise; !sameNumbers(t.weighing.weights, h.Counts) {
		if err := t.setWeights(h.Counts); err != nil {
			return err
		}
		t.drawer = nil
	}
	if !sameNumbers(t.inducing, h.Z) {
		if err := t.lay(h.Z); err != nil {
			return err
		}
		t.scout, t.scouted = nil, nil
		if err := t.makeWorkers(); err != nil {
			return err
		}
	}
	if h.Kernels != nil {
		if err := t.have(h.Kernels); err != nil {
			return err
		}
	}
	if h.Order.draws() {
		t.readyDrawer()
		t.drawer.Inducing = t.m
	}
	if !h.Searches || t.scout != nil && sameNumbers(t.scouted, h.Scout) {
		return nil
	}
	scout := &t.common
	if t.scouted = nil; h.Scout != nil {
		if scout, err = t.scoutOn(h.Scout); err != nil {
			return err
		}
	}
	t.scout = scout
	for _, w := range t.workers {
		w.bound = nil
	}
	return t.searchWorkers()
}

// have makes the kernels those of these ids: what is there stays, what is new is compiled.
func (t *Trainer) have(ids []string) error {
	if slices.EqualFunc(t.kernels, ids, func(k *kernel, id string) bool { return k.id == id }) {
		return nil
	}
	there := map[string]*kernel{}
	for _, k := range t.kernels {
		there[k.id] = k
	}
	kernels := make([]*kernel, len(ids))
	for i, id := range ids {
		if kernels[i] = there[id]; kernels[i] != nil {
			continue
		}
		c, err := t.candidate(id)
		if err != nil {
			return err
		}
		k, err := t.compile([]Candidate{c})
		if err != nil {
			return err
		}
		if kernels[i] = k[0]; k[0].id != id {
			return fmt.Errorf("kernel %s reads as %s", id, k[0].id)
		}
	}
	t.kernels = kernels
	t.relate()
	if len(t.workers) > 0 && t.mostParams() > t.workers[0].group.params {
		return t.makeWorkers()
	}
	return nil
}

// sameNumbers reports whether numbers are equal, and nil only nil.
func sameNumbers(a, b []float64) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) }

// Do carries a unit out on a lane, or says why that cannot be: errors of ctx, of the
// device (device.ErrLost: the lane is out of use), of a message that is damaged or of
// another header, or a mistake of the program.
func (s *Site) Do(ctx context.Context, lane int, encoded []byte) ([]byte, error) {
	p, err := wire.Decode[parcel](encoded)
	if err != nil {
		return nil, err
	}
	for _, a := range p.Away {
		if a.Place < 0 || a.Place >= len(p.Tasks) {
			return nil, fmt.Errorf("%w: a state of no kernel", wire.ErrDamaged)
		}
		st, err := s.states.get(ctx, a.Name)
		if err != nil {
			return nil, err
		}
		if t := &p.Tasks[a.Place]; a.Known {
			t.Known.State = st
		} else {
			t.Last = st
		}
	}
	r := report{Header: p.Header}
	for len(p.Tasks) > 0 {
		done, err := s.some(ctx, lane, p.Header, p.Tasks)
		if err != nil {
			return nil, err
		}
		r.Outcomes, p.Tasks = append(r.Outcomes, done...), p.Tasks[len(done):]
	}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		o.State = s.states.away(&r.Away, o.State, i, true)
	}
	s.states.mu.Lock()
	defer s.states.mu.Unlock()
	if err := s.states.err; err != nil {
		s.states.err = nil
		return nil, err
	}
	return wire.Encode(&r), nil
}

// some does as many tasks as the lane takes at a time.
func (s *Site) some(ctx context.Context, lane int, header string, tasks []task) (out []outcome, err error) {
	for {
		out, group, err := s.attempt(ctx, lane, header, tasks)
		if !errors.Is(err, device.ErrOutOfMemory) {
			return out, err
		}
		s.mu.Lock()
		if s.t.group == group { // another lane has not seen to it
			for _, w := range s.t.workers {
				w.forget()
			}
			if err = s.t.settle(err); err != nil {
				s.mu.Unlock()
				return nil, err
			}
		}
		s.mu.Unlock()
	}
}

func (s *Site) attempt(ctx context.Context, lane int, header string, tasks []task) (out []outcome, group int, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.header != header {
		return nil, 0, fmt.Errorf("%w: a unit of another phase", wire.ErrDamaged)
	}
	i := slices.IndexFunc(s.t.workers, func(w *worker) bool { return w.number == lane })
	if i < 0 {
		return nil, 0, device.ErrLost
	}
	for i := range tasks {
		if k := tasks[i].Kernel; k < 0 || k >= len(s.site.models) {
			return nil, 0, fmt.Errorf("%w: kernel %d of %d", wire.ErrDamaged, k, len(s.site.models))
		}
	}
	w := s.t.workers[i]
	n := min(len(tasks), max(1, s.t.group))
	alone := func(t task) bool { return t.Known.Own != nil || s.order.Phase == phaseOwn } // see round.divide
	if i := slices.IndexFunc(tasks[:n], alone); i >= 0 {
		n = max(1, i)
	}
	u := newUnit(ctx, s.site, s.order, w, tasks[:n])
	err = guard.Do(func() error { return u.work(ctx) })
	if errors.Is(err, device.ErrOutOfMemory) {
		if e := w.lane.Sync(); errors.Is(e, device.ErrLost) {
			err = e
		}
	}
	return u.outcomes, s.t.group, err
}
