package vbks

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/cost"
	"example.com/kestrel/vbks/pace"
	"example.com/kestrel/vbks/params"
)

// StepKind names what a StepBench repeats.
type StepKind uint8

// The kinds of steps.
const (
	StepAdam    StepKind = iota // Adam on m, C, log θ and σ_n²
	StepTheta                   // natural step of q(v) with a step of Adam on log θ and σ_n²
	StepFrozen                  // natural step of q(v), θ as it is
	StepPredict                 // mean and variance of f at the test rows, q(v) given by its precision
	StepBound                   // the collapsed bound of all rows with its gradient; see BoundBench
)

// StepSetup says what a StepBench repeats, for every one of the kernels.
type StepSetup struct {
	Kind     StepKind
	Programs []*kernelspace.Program
	Theta    [][]float64 // raw parameters of each program at the start; 1 where not free
	Noise    float64     // σ_n² at the start

	X, Y []float64 // N rows x Dim, N targets
	Dim  int
	Z    []float64 // M inducing inputs x Dim
	Test []float64 // rows x Dim, of StepPredict

	Mean, Chol []float64 // q(v) at the start: N(m, CCᵀ), the same for all kernels; M, M x M
	Unseen     bool      // the natural steps' q(v) rests on no rows yet
	Batch      int       // rows of a minibatch
	Jitter     device.Jitter
	Rate       float64 // of Adam
	Seed       uint64  // of the minibatches
}

// StepBench repeats one step of the stochastic optimisers, or one prediction,
// for many kernels on the lanes of a device, so that its time can be taken. It
// calls what a run calls; only the memory is arranged for steps that go from
// kernel to kernel: what a kernel carries from step to step is its own, the
// rest is shared by the kernels of a lane. There is no prior on θ, σ_n² has no
// floor and Adam's strides are 1.
//
// Kernels are divided over the lanes once, by estimated cost, the largest
// first. A StepBench is used by one goroutine at a time; every lane but the
// first has a goroutine of its own, which Close ends.
type StepBench struct {
	setup  StepSetup
	common *common
	test   device.Points
	lanes  []*benchLane
	drawer *batchDrawer // nil for StepPredict
	at     int          // minibatch of the next step
}

// stepsAhead is the number of minibatches in a list on the lanes.
const stepsAhead = 512

// benchLane is a lane with its share of the kernels.
type benchLane struct {
	lane    device.Lane
	units   []*learner // each loaded with the device's group of kernels
	kernels [][]int    // of each unit, in the setup's order
	index   device.Index
	pace    pace.Pace      // of steps one by one
	leaps   pace.Pace      // of several at once
	start   chan benchWork // nil for the first lane, which the caller works on
	done    chan error
}

// benchWork is a number of steps, from one minibatch of the list on.
type benchWork struct{ from, steps int }

// NewStepBench places data and kernels on the device.
func NewStepBench(dev device.Device, s StepSetup) (*StepBench, error) {
	n, m := len(s.Y), len(s.Mean)
	switch {
	case len(s.Programs) == 0:
		return nil, errors.New("no kernels to step")
	case s.Dim < 1 || n == 0 || len(s.X) != n*s.Dim || m == 0 || len(s.Z) != m*s.Dim || len(s.Chol) != m*m || len(s.Theta) != len(s.Programs):
		return nil, errors.New("the sizes of data, inducing inputs, q(v) and parameters do not fit together")
	case s.Kind == StepBound:
		return nil, errors.New("no steps lead anywhere on the bound itself")
	case s.Kind == StepPredict && len(s.Test) == 0:
		return nil, errors.New("no rows to predict")
	case s.Batch < 1 || s.Batch >= n:
		return nil, fmt.Errorf("minibatches of %d rows out of %d", s.Batch, n)
	}
	b := &StepBench{setup: s, common: &common{dev: dev, m: m, dim: s.Dim, jitter: s.Jitter}}
	var err error
	if b.common.train, err = dev.NewData(s.X, s.Y, s.Dim); err != nil {
		return nil, err
	}
	z, err := dev.NewData(s.Z, nil, s.Dim)
	if err != nil {
		return nil, err
	}
	b.common.z = device.All(z)
	if s.Kind == StepPredict {
		test, err := dev.NewData(s.Test, nil, s.Dim)
		if err != nil {
			return nil, err
		}
		b.test = device.All(test)
	}
	info := dev.Info()
	for i, share := range shareOut(s.costs(), info.Lanes) {
		if len(share) == 0 {
			continue
		}
		ln, err := b.newLane(dev.Lane(i), share, info.Group)
		if err != nil {
			b.Close()
			return nil, err
		}
		b.lanes = append(b.lanes, ln)
	}
	for _, ln := range b.lanes[1:] {
		ln.start, ln.done = make(chan benchWork), make(chan error, 1)
		go func() {
			for do := range ln.start {
				ln.done <- guard.Do(func() error { return ln.work(b, do) })
			}
		}()
	}
	if s.Kind == StepPredict {
		return b, nil
	}
	b.drawer = newBatchDrawer(s.Seed, 1, n, s.Batch, stepsAhead)
	b.drawer.draw(stepsAhead)
	if err := b.upload(); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// shareOut divides tasks over lanes: the costliest first, each to the lane
// that has least.
func shareOut(costs []float64, lanes int) [][]int {
	order := make([]int, len(costs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(costs[b], costs[a]) })
	out, load := make([][]int, lanes), make([]float64, lanes)
	for _, task := range order {
		least := 0
		for i := range load {
			if load[i] < load[least] {
				least = i
			}
		}
		out[least] = append(out[least], task)
		load[least] += costs[task]
	}
	return out
}

// costs estimates what a step of each kernel costs, in operations: the linear
// algebra, and the leaves on the entries of the kernel matrices.
func (s *StepSetup) costs() []float64 {
	m, b := len(s.Z)/s.Dim, s.Batch
	entries := float64(m*b) + float64(m*m)/2
	if s.Kind == StepPredict {
		b = len(s.Test) / s.Dim
	}
	if s.Kind == StepPredict || s.Kind == StepFrozen {
		entries = float64(m * b)
	}
	algebra := s.Kind.Operations(m, b)
	costs := make([]float64, len(s.Programs))
	for i, p := range s.Programs {
		costs[i] = algebra
		for _, in := range params.Leaves(p) {
			costs[i] += entries * cost.Leaf(in.Op)
		}
	}
	return costs
}

// newLane makes the learners of a lane, for groups of that many kernels at a
// time (0: all at once).
func (b *StepBench) newLane(lane device.Lane, share []int, group int) (*benchLane, error) {
	if group == 0 {
		group = len(share)
	}
	params := 0
	for _, k := range share {
		params = max(params, len(b.setup.Programs[k].Params)+1)
	}
	g, err := newGroup(b.common, lane, min(group, len(share)), params)
	if err != nil {
		return nil, err
	}
	settings := Settings{Optimizer: "natural", Hyperparameters: "point", LearningRate: b.setup.Rate, Seed: b.setup.Seed, Batch: b.setup.Batch}
	if b.setup.Kind == StepAdam {
		settings.Optimizer = "adam"
	}
	first, err := newLearner(g, b.setup.Batch, settings)
	if err != nil {
		return nil, err
	}
	first.frozen = b.setup.Kind == StepFrozen
	ln := &benchLane{lane: lane, leaps: pace.SeveralAtOnce()}
	for kernels := range slices.Chunk(share, group) {
		unit := first
		if len(ln.units) > 0 {
			if unit, err = first.fork(); err != nil {
				return nil, err
			}
		}
		if err := b.begin(unit, kernels); err != nil {
			return nil, err
		}
		ln.units, ln.kernels = append(ln.units, unit), append(ln.kernels, kernels)
	}
	return ln, nil
}

// fork returns a learner for other kernels on the same lane. What kernels
// carry from step to step is its own; scratch memory is l's, so only one of
// the two may be in a step at a time.
func (l *learner) fork() (*learner, error) {
	g := *l.group
	g.ks, g.programs, g.all = nil, nil, nil
	al := &allocator{g: &g}
	for _, a := range []*device.Array{&g.free, &g.theta, &g.gradFree, &g.gradTheta, &g.mean, &g.prec, &g.lo, &g.hi} {
		*a = al.array(1, g.params)
	}
	for _, a := range []*device.Array{&g.value, &g.info, &g.factor} {
		*a = al.array(1, 1)
	}
	if l.frozen {
		g.l = al.array(g.m, g.m)
	}
	s := *l.svgp
	s.group, s.thetaPrec = &g, g.prec
	f := *l
	f.svgp, f.members, f.priors, f.held = &s, nil, nil, make([]*State, g.capacity)
	f.failed, f.stride, f.freeMoments = al.array(1, 1), al.array(1, g.params), al.moments(1, g.params)
	f.rule.own(&f, al)
	return &f, al.err
}

// unbelieved are the priors of kernels that have none, nor bounds.
func unbelieved(programs []*kernelspace.Program) []prior {
	priors := make([]prior, len(programs))
	for i, p := range programs {
		free := len(p.Free) + 1
		priors[i] = prior{mean: make([]float64, free), prec: make([]float64, free),
			lo: slices.Repeat([]float64{math.Inf(-1)}, free), hi: slices.Repeat([]float64{math.Inf(1)}, free)}
	}
	return priors
}

// begin loads a learner with kernels at their start.
func (b *StepBench) begin(l *learner, kernels []int) error {
	programs := make([]*kernelspace.Program, len(kernels))
	for i, k := range kernels {
		programs[i] = b.setup.Programs[k]
	}
	priors := unbelieved(programs)
	if err := l.load(programs, priors); err != nil {
		return err
	}
	if err := l.adopt(priors); err != nil {
		return err
	}
	for i, k := range kernels {
		st := &State{Free: params.Free(programs[i], b.setup.Theta[k], b.setup.Noise, 0), Mean: b.setup.Mean, Chol: b.setup.Chol}
		if b.setup.Kind != StepAdam {
			st.Rows = float64(len(b.setup.Y))
			if !b.setup.Unseen {
				st.Seen = st.Rows
			}
		}
		if err := l.begin(i, st, programs[i].ID); err != nil {
			return err
		}
	}
	if b.setup.Kind != StepAdam {
		l.invert(l.all)
	}
	l.changes(l.all) // by the steps that follow, which do not say so
	return nil
}

// invert turns q(v) from mean and factor, which lambdaM and lambda hold, to
// natural parameters: Λ = C⁻ᵀC⁻¹ and Λm.
func (l *learner) invert(sub []int) {
	ln := l.lane
	ln.Fill(sub, l.work, 0)
	ln.AddDiagonal(sub, l.work, 1)
	ln.Solve(sub, false, l.lambda, l.work)
	ln.Gemm(sub, true, false, 1, l.work, l.work, 0, l.lambda)
	ln.Gemm(sub, false, false, 1, l.lambda, l.lambdaM, 0, l.target)
	ln.Copy(sub, l.lambdaM, l.target)
}

// ELBO returns the sum over the kernels of the local ELBO of the first rows,
// which stand for all N, without log p(θ).
func (b *StepBench) ELBO(rows int) (float64, error) {
	values := make([]float64, len(b.setup.Programs))
	for _, ln := range b.lanes {
		for i, l := range ln.units {
			l.rule.believe(l, l.all)
			for from := 0; from < rows; from += b.setup.Batch {
				x := device.Points{Data: b.common.train, From: from, To: min(from+b.setup.Batch, rows)}
				l.evaluate(l.all, x, float64(len(b.setup.Y)), false)
				l.note(l.all)
				for j, k := range ln.kernels[i] {
					v, err := l.scalar(l.value, j)
					if err != nil {
						return 0, err
					}
					// Every part stands for all rows; so does their mean.
					values[k] += v * float64(x.Len()) / float64(rows)
				}
			}
			for j := range ln.kernels[i] {
				l.members[j].current = false
			}
		}
	}
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum, nil
}

// Steps makes n steps of every kernel, each on the next minibatch. Lanes do not
// wait for each other in between, as in a run.
func (b *StepBench) Steps(n int) error {
	for n > 0 {
		do := benchWork{from: b.at, steps: min(n, stepsAhead-b.at)}
		n -= do.steps
		if b.drawer != nil {
			// As many as are used up now, so that every step bears its share.
			b.drawer.draw(do.steps)
			b.at += do.steps
		}
		if err := b.work(do); err != nil {
			return err
		}
		if b.at == stepsAhead {
			if err := b.upload(); err != nil {
				return err
			}
		}
	}
	return nil
}

// upload gives the lanes the minibatches drawn, and begins another list.
func (b *StepBench) upload() error {
	for _, ln := range b.lanes {
		if ln.index != nil {
			ln.lane.Free(ln.index)
		}
		var err error
		if ln.index, err = ln.lane.NewIndex(b.drawer.rows); err != nil {
			return err
		}
	}
	b.at = 0
	b.drawer.next()
	return nil
}

// work has every lane do its part, and returns their first error.
func (b *StepBench) work(do benchWork) error {
	for _, ln := range b.lanes[1:] {
		ln.start <- do
	}
	err := b.lanes[0].work(b, do)
	for _, ln := range b.lanes[1:] {
		if e := <-ln.done; err == nil {
			err = e
		}
	}
	return err
}

// work makes a lane's steps.
func (ln *benchLane) work(b *StepBench, do benchWork) error {
	defer device.Occupy(ln.lane)()
	by, size := &ln.pace, 1
	for t := do.from; t < do.from+do.steps; t += size {
		x := device.Points{Data: b.common.train, Index: ln.index, From: t * b.setup.Batch, To: (t + 1) * b.setup.Batch}
		if size = ln.leaps.Next(do.from + do.steps - t); b.several(ln, x, size) {
			by = &ln.leaps
		} else {
			size = 1
			for _, l := range ln.units {
				if err := b.step(l, x); err != nil {
					return err
				}
			}
		}
		if err := by.Made(ln.lane, size); err != nil {
			return err
		}
	}
	return by.Wait(ln.lane)
}

// several makes so many steps of a lane's kernels at once, from the minibatch x on, where
// the lane can; else it does nothing and reports false.
func (b *StepBench) several(ln *benchLane, x device.Points, steps int) bool {
	size, n := b.setup.Batch, float64(len(b.setup.Y))
	for _, l := range ln.units {
		made := false
		switch b.setup.Kind {
		case StepAdam:
			made = l.adamSteps(l.all, x, size, n, steps)
		case StepTheta, StepFrozen:
			made = l.naturalSteps(l.all, x, size, n, 0, 1, steps)
		}
		if !made {
			return false // as of the first
		}
	}
	return true
}

// step makes a step of a learner's kernels, on a minibatch.
func (b *StepBench) step(l *learner, x device.Points) error {
	n := float64(len(b.setup.Y))
	if b.setup.Kind != StepPredict {
		defer device.Repeats(l.lane, x)()
	}
	switch b.setup.Kind {
	case StepAdam:
		l.adamStep(l.all, x, n)
	case StepTheta:
		l.naturalStep(l.all, x, n, true)
	case StepFrozen:
		l.naturalStep(l.all, x, n, false)
	case StepPredict:
		for k := range l.members { // another kernel has used the memory
			l.members[k].current = false
		}
		_, _, _, err := l.predict(l.all, b.test, nil)
		return err
	}
	return nil
}

// Finite reports whether no factorisation has failed so far and all kernels'
// numbers are finite.
func (b *StepBench) Finite() (bool, error) {
	for _, ln := range b.lanes {
		for _, l := range ln.units {
			bad, err := l.broken(l.all)
			if err != nil || len(bad) > 0 {
				return false, err
			}
		}
	}
	return true, nil
}

// Close ends the lanes' goroutines.
func (b *StepBench) Close() {
	for _, ln := range b.lanes {
		if ln.start != nil {
			close(ln.start)
		}
	}
}

// BoundBench repeats what a search for hyperparameters asks a device for at a time, so that its
// time can be taken: the collapsed bound of every one of the kernels and its gradient, on all
// rows, at free vectors that the host writes, read by the host. Where the inducing inputs are the rows it
// is the log evidence, from k(X,X) alone. There is no prior on θ, and σ_n² has no floor.
//
// Kernels are divided over the lanes as by a StepBench; it is used by one goroutine at a time.
type BoundBench struct {
	rows   device.Points
	yy     float64
	lanes  []*boundLane
	values []float64 // by kernel, of the last step
	ok     []bool    // they are, and so are the gradients
}

// boundLane is a lane with its share of the kernels.
type boundLane struct {
	bound  *collapsed
	units  []boundUnit // that it takes at a time, one after the other
	loaded bool        // with its only one
}

// boundUnit are kernels that a lane takes at a time.
type boundUnit struct {
	kernels  []int // in the setup's order
	programs []*kernelspace.Program
	at       [][]float64 // free vectors
	grads    [][]float64
}

// NewBoundBench places data and kernels on the device. Of a setup it takes what a bound is made of:
// kernels and their parameters, rows, inducing inputs, jitter.
func NewBoundBench(dev device.Device, s StepSetup) (*BoundBench, error) {
	n := len(s.Y)
	if len(s.Programs) == 0 || s.Dim < 1 || n == 0 || len(s.X) != n*s.Dim || len(s.Z) == 0 || len(s.Z)%s.Dim != 0 ||
		len(s.Theta) != len(s.Programs) {
		return nil, errors.New("the sizes of data, inducing inputs, kernels and parameters do not fit together")
	}
	c := &common{dev: dev, m: len(s.Z) / s.Dim, dim: s.Dim, jitter: s.Jitter, tight: true}
	var err error
	if c.train, err = dev.NewData(s.X, s.Y, s.Dim); err != nil {
		return nil, err
	}
	z, err := dev.NewData(s.Z, nil, s.Dim)
	if err != nil {
		return nil, err
	}
	if c.z = device.All(z); sameRows(s.Z, s.X, s.Dim) {
		c.whole = n
	}
	s.Kind, s.Batch = StepBound, n
	kernels := len(s.Programs)
	b := &BoundBench{rows: device.All(c.train), yy: sumSquares(s.Y), values: make([]float64, kernels), ok: make([]bool, kernels)}
	info := dev.Info()
	for i, share := range shareOut(s.costs(), info.Lanes) {
		if len(share) == 0 {
			continue
		}
		ln, err := newBoundLane(c, dev.Lane(i), &s, share, info.Group)
		if err != nil {
			return nil, err
		}
		b.lanes = append(b.lanes, ln)
	}
	return b, nil
}

// newBoundLane makes a lane for groups of that many kernels at a time (0: all at once).
func newBoundLane(c *common, lane device.Lane, s *StepSetup, share []int, group int) (*boundLane, error) {
	if group == 0 {
		group = len(share)
	}
	ln, most := &boundLane{}, 0
	for kernels := range slices.Chunk(share, group) {
		u := boundUnit{kernels: kernels}
		for _, k := range kernels {
			p := s.Programs[k]
			most = max(most, len(p.Params)+1)
			u.programs = append(u.programs, p)
			u.at = append(u.at, params.Free(p, s.Theta[k], s.Noise, 0))
			u.grads = append(u.grads, make([]float64, len(p.Free)+1))
		}
		ln.units = append(ln.units, u)
	}
	g, err := newGroup(c, lane, min(group, len(share)), most)
	if err != nil {
		return nil, err
	}
	ln.bound, err = newCollapsed(g)
	return ln, err
}

// Steps makes n steps of every kernel. Lanes do not wait for each other in between.
func (b *BoundBench) Steps(n int) error {
	errs := make([]error, len(b.lanes))
	done := make(chan struct{})
	for i, ln := range b.lanes[1:] {
		go func() {
			errs[i+1] = guard.Do(func() error { return ln.steps(b, n) })
			done <- struct{}{}
		}()
	}
	errs[0] = guard.Do(func() error { return b.lanes[0].steps(b, n) })
	for range b.lanes[1:] {
		<-done
	}
	return errors.Join(errs...)
}

func (ln *boundLane) steps(b *BoundBench, n int) error {
	defer device.Occupy(ln.bound.lane)()
	objective := ln.bound.boundObjective(b.rows, b.yy, nil)
	for range n {
		for i := range ln.units {
			u := &ln.units[i]
			if !ln.loaded {
				if err := ln.bound.load(u.programs, unbelieved(u.programs)); err != nil {
					return err
				}
				ln.loaded = len(ln.units) == 1
			}
			if err := objective.eval(ln.bound.all, u.at); err != nil {
				return err
			}
			for j, k := range u.kernels {
				var err error
				if b.values[k], b.ok[k], err = objective.result(j, u.grads[j]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Value returns the sum over the kernels of the bound that the last step has found, and whether that and
// all gradients are finite and no factorisation has failed.
func (b *BoundBench) Value() (sum float64, finite bool) {
	for _, v := range b.values {
		sum += v
	}
	return sum, !slices.Contains(b.ok, false)
}

// Operations counts the multiplications and additions of the linear algebra in
// one step of one kernel, with M inducing inputs and B rows (of the minibatch,
// or of the prediction). Symmetric results and triangular factors count half.
// Kernel matrices, their gradients and what is linear in M and in B apart are
// left out.
//
//	                                   adam     theta    frozen   predict
//	k(Z,Z) = LLᵀ                       M³/3     M³/3     −        M³/3
//	Λ = FFᵀ                            −        M³/3     −        M³/3
//	m = Λ⁻¹(Λm)                        −        2M²      −        2M²
//	A = L⁻¹k(Z,X)                      M²B      M²B      M²B      M²B
//	CᵀA or F⁻¹A                        M²B      M²B      −        M²B
//	SA = C(CᵀA) or F⁻ᵀ(F⁻¹A)           M²B      M²B      −        −
//	ĀAᵀ, symmetric                     M²B      M²B      −        −
//	∂/∂k(Z,Z): L⁻ᵀ(·)L⁻¹, symmetric    4M³/3    4M³/3    −        −
//	∂/∂k(Z,X): L⁻ᵀĀ                    M²B      M²B      −        −
//	∂/∂C: A(CᵀA)ᵀ, or AAᵀ of Λ         M²B      M²B      M²B      −
//	Aᵀm                                2MB      2MB      −        2MB
//	Ar or Ay                           2MB      2MB      2MB      −
//
// Of the bound, with all N rows in the place of B, or with k(X,X) alone where M = N:
//
//	k(Z,Z) = LLᵀ, I + wQ = L_B L_Bᵀ    2M³/3        M³/3, of I + wk(X,X)
//	(I + wQ)⁻¹                         2M³/3        2M³/3
//	L⁻ᵀ(·)L⁻¹, symmetric, twice        8M³/3        −
//	A = L⁻¹k(Z,X), Q = AAᵀ             2M²N         −
//	P k(Z,X)                           2M²N         −
//	rrᵀ, L_B⁻¹y, L_B⁻ᵀ(·)              −            4M²
//	Ay, k(X,Z)β                        4MN          −
func (k StepKind) Operations(inducing, rows int) float64 {
	m, b := float64(inducing), float64(rows)
	cube, square := m*m*m, m*m*b
	switch k {
	case StepAdam:
		return 5*cube/3 + 6*square + 4*m*b
	case StepTheta:
		return 2*cube + 2*m*m + 6*square + 4*m*b
	case StepFrozen:
		return 2*square + 2*m*b
	case StepPredict:
		return 2*cube/3 + 2*m*m + 2*square + 2*m*b
	case StepBound:
		if inducing == rows {
			return cube + 4*m*m
		}
		return 4*cube + 4*square + 4*m*b
	}
	panic("vbks: not a kind of step")
}
