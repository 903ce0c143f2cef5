package vbks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/local"
	"example.com/kestrel/vbks/noise"
)

// Frozen is what a trainer predicts with and nothing besides: what it takes to
// predict elsewhere, standardised. Slices are shared and not written to.
type Frozen struct {
	Dim    int           // number of inputs
	Z      []float64     // M x Dim: inducing inputs
	Jitter device.Jitter // of k(Z,Z)
	X, Y   []float64     // rows that q(v) is the optimum for, N x Dim and N; nil where states have it
	ByRoot bool          // FrozenState.Root is C with S = CCᵀ, else F with S⁻¹ = FFᵀ

	Weights []float64    // of the rows X, Y; nil: 1
	Noise   *noise.Model // how the noise of rows differs; nil: it is normal, equal in all

	Kernels []FrozenKernel // those that an average has with any of the weights, and the leader; by rank

	Calibration *Calibration // of standard deviations; nil: none
	Local       *local.Part  // of rows among those known; nil: none
}

// FrozenKernel is a kernel of a Frozen.
type FrozenKernel struct {
	Program                 *kernelspace.Program
	Rank                    int       // from 1
	Posterior, Bayes, Worth float64   // what its weight comes from; Worth in nats
	LOO                     float64   // weight of "loo"; 0 of all kernels where they have not been found
	Origins                 float64   // weight of "origins", 0 of all kernels where nobody asked for them
	Factor                  float64   // of the jitter
	Z                       []float64 // M x Dim: inducing inputs of its own; nil: those of all
	// States are averaged over by their shares, which sum to 1. Where the first one's is
	// 0 it is the point estimate, which stands for all of them where the kernel's weight
	// is below AveragedWeight.
	States []FrozenState
}

// FrozenState is a kernel at some hyperparameters. With k(Z,Z) + εI = LLᵀ and
// a = L⁻¹k(Z,x)
//
//	E f(x) = aᵀm     var f(x) = k(x,x) − aᵀa + aᵀSa,   S = (FFᵀ)⁻¹ or CCᵀ
type FrozenState struct {
	Theta []float64 // raw hyperparameters, one for each of the program
	Noise float64   // σ_n²
	Share float64   // of the kernel's prediction

	L, Mean, Root []float64 // M x M, M, M x M; nil: to be found from the rows
}

// MostFactors is how many numbers a Frozen has in factors of q(v) at most where the rows
// would do instead: 32 MiB.
const MostFactors = 4 << 20

// FreezeOptions say what a Frozen is to have.
type FreezeOptions struct {
	Top         int  // the highest-ranked kernels; 0: all that count
	MostFactors int  // numbers in factors of q(v) where rows would do
	WithoutRows bool // point estimates alone, and other inducing inputs where they are the rows'
}

// mostLeftOut is how many log densities of rows left out, one for each kernel and row, are
// computed at most for weights that nothing but a model may ever be asked for.
const mostLeftOut = 1 << 22

// Freeze returns what the last evaluation predicts with, for every way to weigh
// kernels; that of "loo" is left out where it would take too long and the settings do not
// have it.
//
// With the collapsed bound q(v) is found from the rows again where all its factors,
// one for each draw of the hyperparameters, would be too large. Without rows inducing
// inputs that are as many as the rows are placed anew, half as many.
func (t *Trainer) Freeze(ctx context.Context, o FreezeOptions) (*Frozen, error) {
	c, err := t.Calibrate(ctx)
	if err != nil {
		return nil, err
	}
	if t.settings.Weights == OriginsWeights {
		if err := t.foresee(ctx); err != nil {
			return nil, err
		}
	}
	if t.settings.Weights == looWeights || len(t.kernels)*t.rows <= mostLeftOut {
		if err := t.weigh(ctx, PredictOptions{Weights: looWeights}); err != nil {
			return nil, err
		}
	}
	about, err := t.Local(ctx)
	if err != nil {
		return nil, err
	}
	if about != nil && t.neighbourly() > o.MostFactors && !o.WithoutRows {
		return nil, fmt.Errorf("predict.local keeps all %d rows, and there is room for %d; \"none\" keeps none",
			t.rows, o.MostFactors*t.rows/t.neighbourly())
	}
	f, err := t.freezeOn(ctx, o)
	if err != nil {
		return nil, err
	}
	f.Calibration = c
	if !o.WithoutRows {
		f.Local = about
	}
	return f, nil
}

// Seen returns the standardised inputs, rows x Dim, of the rows that have been learned
// from; they are not to be written to.
func (t *Trainer) Seen() []float64 { return t.data.X[:t.rows*t.dim] }

// knowsLOO reports whether predictions have the weights of "loo": found, or the
// posterior's where rows cannot be left out.
func (t *Trainer) knowsLOO() bool { return t.weighed == t.last || !t.settings.leavesOut(t.data.Rows()) }

// freezeOn is Freeze on the inducing inputs that the options ask for.
func (t *Trainer) freezeOn(ctx context.Context, o FreezeOptions) (*Frozen, error) {
	if o.WithoutRows && t.optimizer.bounded() && t.m >= t.rows {
		fewer, err := t.onto(t.dev, t.data, t.weighing.weights)
		if err != nil {
			return nil, err
		}
		if err := fewer.place(ctx, (t.m+1)/2); err != nil {
			return nil, err
		}
		if err := fewer.makeWorkers(); err != nil {
			return nil, err
		}
		return fewer.freeze(ctx, o) // no kernel has inducing inputs of its own where all rows are
	}
	return t.freeze(ctx, o)
}

func (t *Trainer) freeze(ctx context.Context, how FreezeOptions) (*Frozen, error) {
	kernels, averaged, err := t.everAveraged(how.Top)
	if err != nil {
		return nil, err
	}
	if how.WithoutRows {
		averaged = nil
	}
	r := t.asking()
	ask := func(some []int, over, factors bool) error {
		if len(some) == 0 {
			return nil
		}
		o := r.order(phaseFreeze)
		o.Averaged, o.Factors = over, factors
		return r.each(ctx, o, r.tasks(some))
	}
	plain := slices.DeleteFunc(slices.Clone(kernels), func(i int) bool { return slices.Contains(averaged, i) })
	factors := !t.optimizer.bounded() || how.WithoutRows
	if !factors { // which hyperparameters there are, first
		if err := errors.Join(ask(averaged, true, false), ask(plain, false, false)); err != nil {
			return nil, err
		}
		states := 0
		for _, i := range kernels {
			states += len(r.outcomes[i].Frozen)
		}
		factors = 2*states*t.m*t.m <= how.MostFactors
	}
	if factors {
		if err := errors.Join(ask(averaged, true, true), ask(plain, false, true)); err != nil {
			return nil, err
		}
	}
	f := &Frozen{Dim: t.dim, Z: t.inducing, Jitter: t.jitter}
	if !factors {
		f.X, f.Y = t.data.X[:t.rows*t.dim], t.data.Y[:t.rows]
		if t.weighing.weights != nil {
			f.Weights = t.weighing.weights[:t.rows]
		}
	}
	if m := t.weighing.model; !m.Plain() {
		f.Noise = &m
	}
	if rule := t.optimizer.stepping(); rule != nil {
		f.ByRoot = !rule.byPrecision()
	}
	top := math.Inf(-1)
	for _, i := range kernels {
		_, _, worth := t.inAverage(i)
		top = math.Max(top, worth)
	}
	for _, i := range kernels {
		k, res, loo, origins := t.kernels[i], &t.last.Kernels[i], 0.0, 0.0
		posterior, bayes, worth := t.inAverage(i)
		switch {
		case t.foreseen == t.last:
			origins = t.ahead[i]
		case t.settings.Weights == OriginsWeights: // what stands for them where there are none
			origins = tempered(worth - top)
		}
		switch {
		case t.weighed == t.last:
			loo = t.stacked[i]
		case t.knowsLOO():
			loo = posterior
		}
		t.kernels[i].spread = spread{t.evaluation, t.m, r.outcomes[i].Spread}
		f.Kernels = append(f.Kernels, FrozenKernel{
			Program: k.program, Rank: res.Rank, Posterior: posterior, Bayes: bayes, Worth: worth, LOO: loo, Origins: origins,
			Factor: max(1, k.predictor().Factor), Z: k.predictor().Z, States: r.outcomes[i].Frozen,
		})
	}
	return f, nil
}

// everAveraged returns the kernels that are averaged over with any of the weights, and
// the leader, by rank, and those of which some average is over hyperparameters, too.
func (t *Trainer) everAveraged(top int) (kernels, overTheta []int, err error) {
	averages := t.settings.averages(t.rows, t.data.Rows())
	for _, name := range WeightNames()[1:] {
		if name == looWeights && !t.knowsLOO() || name == OriginsWeights && t.foreseen != t.last {
			continue
		}
		some, weights, err := t.chosen(PredictOptions{Top: top, Weights: name})
		if err != nil {
			return nil, nil, err
		}
		for j, i := range some {
			if !slices.Contains(kernels, i) {
				kernels = append(kernels, i)
			}
			if averages && weights[j] >= AveragedWeight && !slices.Contains(overTheta, i) {
				overTheta = append(overTheta, i)
			}
		}
	}
	if leader := t.last.Leader(); leader >= 0 {
		if !slices.Contains(kernels, leader) {
			kernels = append(kernels, leader)
		}
		if averages && !slices.Contains(overTheta, leader) { // which predicts alone, too
			overTheta = append(overTheta, leader)
		}
	}
	byRank := func(a, b int) int { return t.last.Kernels[a].Rank - t.last.Kernels[b].Rank }
	slices.SortFunc(kernels, byRank)
	slices.SortFunc(overTheta, byRank)
	return kernels, overTheta, nil
}

// freeze writes down what the unit's kernels predict with.
func (u *unit) freeze() error {
	if err := u.load(u.worker.group); err != nil {
		return err
	}
	for i := range u.outcomes {
		u.outcomes[i].Frozen = nil
	}
	return u.optimizer.freeze(u)
}

// stateOf reads what member k predicts with, L, m and root where there is one.
func (g *group) stateOf(k int, share float64, mean, root device.Array) (FrozenState, error) {
	s := FrozenState{Share: share}
	theta := make([]float64, g.ks.Params())
	err := g.lane.Read(g.theta, k, theta)
	s.Theta, s.Noise = slices.Clone(theta[:len(g.programs[k].Params)]), theta[len(theta)-1]
	if root == nil {
		return s, err
	}
	s.L, s.Mean, s.Root = make([]float64, g.m*g.m), make([]float64, g.m), make([]float64, g.m*g.m)
	return s, errors.Join(err, g.lane.Read(g.l, k, s.L), g.lane.Read(mean, k, s.Mean), g.lane.Read(root, k, s.Root))
}

// freeze writes down the point estimates, and where the order says so, or θ has a
// belief, draws.
func (collapsedOptimizer) freeze(u *unit) error {
	bound, last := u.worker.bound, u.last()
	keep := func(k int, share float64) error {
		var root device.Array
		if u.order.Factors {
			bound.belief([]int{k})
			root = bound.prec
		} else {
			bound.lane.Expand([]int{k}, bound.ks, bound.floor, bound.free, bound.theta)
		}
		s, err := bound.stateOf(k, share, bound.mean, root)
		u.outcomes[k].Frozen = append(u.outcomes[k].Frozen, s)
		return err
	}
	if !u.settings.pointEstimates() {
		return u.freezeBelief(keep)
	}
	var o *thetaObjective
	if u.order.Averaged {
		var ok bool
		var err error
		if o, ok, err = u.spreads(); err != nil {
			return err
		} else if !ok {
			o = nil
		}
	}
	if u.order.Factors {
		if err := u.optimum(last); err != nil {
			return err
		}
	} else {
		for i, st := range last {
			bound.setFree(i, st.Free)
		}
	}
	share := 1.0
	if o != nil {
		share = 0
	}
	for _, i := range u.all() {
		if err := keep(i, share); err != nil {
			return err
		}
	}
	if o == nil {
		return nil
	}
	return u.eachCounted(o, func(s int, live []int, weights, _ []float64) error {
		if u.order.Factors {
			if err := o.optimum(live, s); err != nil {
				return err
			}
		}
		for j, k := range live {
			if err := keep(k, weights[j]); err != nil {
				return err
			}
		}
		return nil
	})
}

// freezeBelief keeps the fixed draws of q(log θ) of the unit's members.
func (u *unit) freezeBelief(keep func(k int, share float64) error) error {
	o, err := u.thetaObjective()
	if err != nil {
		return err
	}
	var means, chols [][]float64
	for i, st := range u.last() {
		means, chols = append(means, st.Free), append(chols, u.thetaChol(i))
	}
	return o.each(u.all(), means, chols, o.draws, func(s int, live, at []int) ([]int, error) {
		if u.order.Factors {
			if err := o.optimum(live, s); err != nil {
				return nil, err
			}
		}
		for _, k := range live {
			if err := keep(k, 1/float64(len(o.draws[k]))); err != nil {
				return nil, err
			}
		}
		return at, nil
	})
}

// freeze writes down the q(v) that the steps have led to, with the fixed draws of
// q(log θ) where there is one.
func (stochastic) freeze(u *unit) error {
	l, err := u.ask()
	if err != nil {
		return err
	}
	err = l.attempt(u.all(), func(sub []int) error {
		l.rule.believe(l, sub)
		for _, k := range sub {
			u.outcomes[k].Frozen = nil
		}
		for i := range l.draws() {
			l.take(sub, i)
			for _, k := range sub {
				s, err := l.stateOf(k, 1/float64(l.draws()), l.qm, l.qc)
				if err != nil {
					return err
				}
				if all := u.outcomes[k].Frozen; len(all) > 0 { // of all draws the same
					s.Mean, s.Root = all[0].Mean, all[0].Root
				}
				u.outcomes[k].Frozen = append(u.outcomes[k].Frozen, s)
			}
		}
		return nil
	})
	var failures []error
	for i := range u.tasks {
		failures = append(failures, l.err(i))
	}
	return errors.Join(err, errors.Join(failures...))
}

// Check returns an error if the parts do not fit together.
func (f *Frozen) Check() error {
	m := 0
	if f.Dim > 0 {
		m = len(f.Z) / f.Dim
	}
	switch {
	case f.Dim < 1 || m < 1 || len(f.Z) != m*f.Dim || !finite(f.Z):
		return errors.New("no inducing inputs, or not of its number of columns")
	case len(f.X) != len(f.Y)*f.Dim || !finite(f.X) || !finite(f.Y):
		return errors.New("rows that are not of its number of columns")
	case f.Weights != nil && (len(f.Weights) != len(f.Y) || !positive(f.Weights)):
		return errors.New("weights that are not of its rows, or not above 0")
	case len(f.Kernels) == 0:
		return errors.New("no kernel")
	case f.Calibration != nil && !f.Calibration.sound():
		return errors.New("a factor of standard deviations that none can be")
	case !finite([]float64{f.Jitter.Relative, f.Jitter.Absolute}) || f.Jitter.Relative < 0 || f.Jitter.Absolute < 0:
		return errors.New("a jitter that is no number")
	}
	if f.Noise != nil {
		if err := f.Noise.Check(f.Dim); err != nil {
			return err
		}
	}
	for i := range f.Kernels {
		if err := f.check(&f.Kernels[i], m); err != nil {
			return err
		}
	}
	if f.Local != nil {
		return f.Local.Check(f.Dim)
	}
	return nil
}

func (f *Frozen) check(k *FrozenKernel, m int) error {
	id := k.Program.ID
	if k.Program.Dim != f.Dim || len(k.States) == 0 {
		return errors.New(id + ": no state, or of another number of columns")
	}
	if k.Z != nil && (len(k.Z) != m*f.Dim || !finite(k.Z)) {
		return errors.New(id + ": inducing inputs of its own that are none")
	}
	if !finite([]float64{k.Posterior, k.Bayes, k.Worth, k.LOO, k.Origins, k.Factor}) ||
		k.Posterior < 0 || k.Bayes < 0 || k.LOO < 0 || k.Origins < 0 || !(k.Factor > 0) {
		return errors.New(id + ": a weight or a jitter that is no number")
	}
	sum := 0.0
	for i := range k.States {
		s := &k.States[i]
		sum += s.Share
		if len(s.Theta) != len(k.Program.Params) || !(s.Share >= 0) || !(s.Noise >= 0) || math.IsInf(s.Noise, 0) {
			return errors.New(id + ": hyperparameters that are not its own")
		}
		for _, v := range s.Theta {
			if !(v > 0) || math.IsInf(v, 0) {
				return errors.New(id + ": a hyperparameter that is not above 0")
			}
		}
		switch {
		case s.Root == nil && len(f.Y) > 0:
		case len(s.L) != m*m || len(s.Mean) != m || len(s.Root) != m*m || !finite(s.L) || !finite(s.Mean) || !finite(s.Root):
			return errors.New(id + ": neither factors of q(v) nor rows to find them from")
		}
	}
	if !(math.Abs(sum-1) < 1e-6) {
		return errors.New(id + ": shares that do not sum to 1")
	}
	return nil
}
