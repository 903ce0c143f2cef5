package vbks

import (
	"errors"
	"fmt"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
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
	params := t.mostParams()
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

// mostParams is how many raw parameters, and the noise, a kernel has at most that there is or may come.
func (t *Trainer) mostParams() int {
	n := t.expansion.params
	for _, k := range t.kernels {
		n = max(n, len(k.program.Params))
	}
	return n + 1
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

// common is what all kernels of a run share on a device.
type common struct {
	dev    device.Device
	train  device.Data   // standardised training rows in stream order
	z      device.Points // inducing inputs
	m      int           // their number
	whole  int           // rows, where these and the inducing inputs are the same; else 0
	dim    int
	jitter device.Jitter
	floor  float64   // least σ_n²
	wall   float64   // strength of the soft bounds, nats per squared log unit
	span   []float64 // range of the training inputs, per column
	tight  bool      // of Artemev's bound, not Titsias'
}

// group is the kernels that one lane works on together, with the buffers that
// every algorithm needs. It is made once for a lane and a number of kernels,
// and then loaded with one set of kernels after another.
type group struct {
	*common
	lane     device.Lane
	z        device.Points // inducing inputs: those of all, or a kernel's own
	capacity int
	programs []*kernelspace.Program
	ks       device.Kernels
	all      []int

	free, theta         device.Array // free vector and raw parameters
	gradFree, gradTheta device.Array
	value               device.Array // objective
	info                device.Array // first failure of a Cholesky factorisation
	factor              device.Array // escalation of the jitter
	kzz, l              device.Array // k(Z,Z) + εI, its factor L
	mean, prec, lo, hi  device.Array // prior and bounds of the free vector
	params, frees       int          // capacity of theta and free
}

// prior is the broad normal and the soft bounds of one kernel's free vector.
type prior struct {
	mean, prec, lo, hi []float64 // length: free parameters and ρ
}

// allocator makes arrays of a group's capacity until one fails.
type allocator struct {
	g   *group
	err error
}

func (al *allocator) array(rows, cols int) device.Array {
	if al.err != nil {
		return nil
	}
	var a device.Array
	a, al.err = al.g.lane.NewArray(al.g.capacity, rows, cols)
	return a
}

// newGroup makes a group for up to capacity kernels with at most params raw
// parameters (and the noise) each.
func newGroup(c *common, lane device.Lane, capacity, params int) (*group, error) {
	g := &group{common: c, lane: lane, z: c.z, capacity: capacity, params: params, frees: params}
	al := &allocator{g: g}
	g.free, g.theta = al.array(1, params), al.array(1, params)
	g.gradFree, g.gradTheta = al.array(1, params), al.array(1, params)
	g.value, g.info, g.factor = al.array(1, 1), al.array(1, 1), al.array(1, 1)
	g.kzz, g.l = al.array(c.m, c.m), al.array(c.m, c.m)
	g.mean, g.prec, g.lo, g.hi = al.array(1, params), al.array(1, params), al.array(1, params), al.array(1, params)
	if al.err != nil {
		return nil, al.err
	}
	return g, nil
}

// load gives the group its kernels, at most its capacity.
func (g *group) load(programs []*kernelspace.Program, priors []prior) error {
	if g.ks != nil {
		g.lane.Free(g.ks)
	}
	ks, err := g.lane.NewKernels(programs)
	if err != nil {
		return err
	}
	g.ks, g.programs = ks, programs
	g.all = g.all[:0]
	for i := range programs {
		g.all = append(g.all, i)
	}
	for _, a := range []device.Array{g.free, g.gradFree, g.mean, g.prec, g.lo, g.hi} {
		a.Reshape(1, ks.Free())
	}
	for _, a := range []device.Array{g.theta, g.gradTheta} {
		a.Reshape(1, ks.Params())
	}
	g.lane.Fill(g.all, g.factor, 1)
	for i := range programs {
		g.lane.Write(g.mean, i, g.padded(priors[i].mean, 0))
		g.lane.Write(g.prec, i, g.padded(priors[i].prec, 0))
		g.lane.Write(g.lo, i, g.padded(priors[i].lo, -1e3))
		g.lane.Write(g.hi, i, g.padded(priors[i].hi, 1e3))
	}
	return nil
}

// strides are params.Strides over the training inputs.
func (c *common) strides(p *kernelspace.Program, x []float64) []float64 {
	return params.Strides(p, x, c.span)
}

// freeLen returns the length of kernel i's free vector: its free parameters and ρ.
func (g *group) freeLen(i int) int { return len(g.programs[i].Free) + 1 }

// padded spreads a free vector of one kernel, whose last entry is that of the
// noise, to the common length of the group: the noise entry stays last.
func (g *group) padded(x []float64, fill float64) []float64 {
	n := g.ks.Free()
	if len(x) == n {
		return x
	}
	out := make([]float64, n)
	copy(out, x[:len(x)-1])
	for i := len(x) - 1; i < n-1; i++ {
		out[i] = fill
	}
	out[n-1] = x[len(x)-1]
	return out
}

// unpadded is the reverse of padded for kernel i.
func (g *group) unpadded(i int, x []float64) []float64 {
	n := g.freeLen(i)
	out := make([]float64, n)
	copy(out, x[:n-1])
	out[n-1] = x[len(x)-1]
	return out
}

// setFree sets kernel i's free vector.
func (g *group) setFree(i int, x []float64) { g.lane.Write(g.free, i, g.padded(x, 0)) }

// factorise computes θ from the free vectors, k(Z,Z) + εI and its factor L.
func (g *group) factorise(sub []int) {
	g.lane.Expand(sub, g.ks, g.floor, g.free, g.theta)
	g.factoriseAt(sub)
}

// factoriseAt is factorise for θ as it stands.
func (g *group) factoriseAt(sub []int) {
	g.lane.Fill(sub, g.info, 0)
	g.lane.Kernel(sub, g.ks, g.theta, g.z, g.z, g.kzz)
	g.lane.Copy(sub, g.l, g.kzz)
	g.lane.AddJitter(sub, g.l, g.jitter, g.factor)
	g.lane.Cholesky(sub, g.l, g.info)
}

// scalar reads a K x (1 x 1) array of member k.
func (g *group) scalar(a device.Array, k int) (float64, error) {
	var v [1]float64
	err := g.lane.Read(a, k, v[:])
	return v[0], err
}

// logPrior returns log p(θ) less the soft bounds at member k's free vector, as
// it stands in a local ELBO. It overwrites the member's objective.
func (g *group) logPrior(k int) (float64, error) {
	sub := []int{k}
	g.lane.Fill(sub, g.value, 0)
	g.lane.LogPrior(sub, g.free, g.mean, g.prec, g.lo, g.hi, g.wall, g.value, nil)
	return g.scalar(g.value, k)
}
