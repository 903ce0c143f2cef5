package vbks

import (
	"cmp"
	"context"
	"math"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/inducing"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/random"
)

// What Own may be.
const (
	autoOwn   = "auto"
	alwaysOwn = "always"
	offOwn    = "off"
)

// OwnNames lists what Settings.Own may be.
func OwnNames() []string { return []string{autoOwn, alwaysOwn, offOwn} }

const (
	// At most so many kernels get inducing inputs of their own.
	mostOwn = 12
	// They are picked from ownRows times M rows, ownTimes at most: each time at what
	// hyperparameters the time before has led to, while that gains a nat of all rows.
	ownRows  = 16
	ownTimes = 2
	// Then they are moved, by so many iterations at a time, at most ownMoves times, while
	// that gains movePays nats of all rows an iteration.
	moveSteps = 10
	// Both on at most movedRows times M of the rows: there are many more numbers in those
	// than in the inducing inputs.
	movedRows = 80
	ownMoves  = 6
	movePays  = 0.5
)

// owns reports whether the best kernels get inducing inputs of their own in this
// evaluation: in the last one, of point estimates, where there are more rows than could
// all be inducing inputs.
func (r *round) owns() bool {
	n := float64(r.n)
	return slices.Contains([]string{autoOwn, alwaysOwn}, r.settings.Own) && r.settings.pointEstimates() && r.m < r.n && n*n*n > rungWork &&
		r.n == r.data.Rows() && r.concluding(r.number) && (r.told || r.rung+1 == len(r.rungs))
}

// own gives the best of some kernels, whose hyperparameters have been compared on so
// many rows, inducing inputs of their own.
func (r *round) own(ctx context.Context, kernels []int, rows int) error {
	if !r.owns() {
		return nil
	}
	at := slices.DeleteFunc(slices.Clone(kernels), func(k int) bool { return r.outcomes[k].Failure != "" || r.outcomes[k].Best.X == nil })
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(r.outcomes[b].Best.Value, r.outcomes[a].Best.Value) })
	o := r.order(phaseOwn)
	o.Tuned, o.Moved = r.tuneSample(rows), r.tuneSample(min(rows, movedRows*r.m))
	o.Steps = max(1, int(math.Ceil(furtherSteps*float64(r.settings.Steps))))
	return r.each(ctx, o, r.tasks(at[:min(mostOwn, len(at), r.settings.ownKernels(r.m, o))]))
}

// ownKernels is for how many kernels an optimiser that need not go through all rows at every
// step can look for m inducing inputs of their own, beside the rest of an evaluation, unless
// the settings say that it need not be beside it.
func (s Settings) ownKernels(m int, o *order) int {
	if e, err := s.Effort(o.Rows); err != nil || e.Exact() || s.Own == alwaysOwn {
		return mostOwn
	}
	iterations := float64(ownTimes*o.Steps+ownMoves*moveSteps)*float64(o.Moved.N) + float64(o.Steps)*float64(o.Tuned.N)
	return int(paidRungWork / (perIteration * iterations * rowWork(m)))
}

// put places a kernel's own inducing inputs, or with nil those of all.
func (g *group) put(z []float64) error {
	if g.z = g.common.z; z == nil {
		return nil
	}
	d, err := g.dev.NewData(z, nil, g.dim)
	if err != nil {
		return err
	}
	g.z = device.All(d)
	return nil
}

// ownInputs looks for inducing inputs for the only kernel of a unit: picked one after the
// other where most variance is left at its hyperparameters (inducing.Greedy), which are
// then taken further, and moved along the gradient of the bound, on a part of the rows that
// hyperparameters were tuned on. They are taken only where the bound on all of these is
// higher.
func (u *unit) ownInputs(ctx context.Context) error {
	bound, obj, _, err := u.onTuned()
	if err != nil {
		return err
	}
	f, g := &u.outcomes[0], u.worker.group
	before := &ascent{start: f.Best.X}
	if err := value(u.all(), []*ascent{before}, obj); err != nil || before.x == nil {
		return err
	}
	free, own, lately, err := u.found(ctx, bound)
	if err != nil || own == nil {
		return err
	}
	if err := g.put(own); err != nil {
		return err
	}
	a := &ascent{start: free} // which also says how far the hyperparameters are from their optimum
	if err := u.climb(ctx, u.all(), []*ascent{a}, u.order.Steps, obj); err != nil {
		return err
	}
	if a.x == nil || a.value < before.value+u.nat(u.order.Tuned) {
		return nil
	}
	f.Own, f.Best.X, f.Best.Value = own, a.x, a.value
	// What the inducing inputs have gained at last they may gain again.
	f.Best.Gain = ofAll(a.further(), len(a.x), u.order.Tuned.N, u.total) + lately
	for i := range f.Modes {
		f.Modes[i].Stale = true
	}
	return nil
}

// nat is what a nat of all rows is of a part of them.
func (u *unit) nat(part *rowSet) float64 { return float64(part.N) / float64(u.order.Rows) }

// found finds inducing inputs for the only kernel of a unit, with hyperparameters that go
// with them, on the rows that are for that; nil where there are none better than those of
// all. lately is what moving them gained at last, in nats of all rows.
func (u *unit) found(ctx context.Context, bound *collapsed) (free, own []float64, lately float64, err error) {
	rows, err := u.rows(u.order.Moved)
	if err != nil {
		return nil, nil, 0, err
	}
	g, nat := u.worker.group, u.nat(u.order.Moved)
	obj := bound.boundObjective(rows, u.order.Moved.YY, u.stop)
	best := &ascent{start: u.outcomes[0].Best.X}
	if err := value(u.all(), []*ascent{best}, obj); err != nil || best.x == nil {
		return nil, nil, 0, err
	}
	for range ownTimes {
		z, err := u.greedy(best.x)
		if err != nil {
			return nil, nil, 0, err
		}
		if z == nil {
			break
		}
		if err := g.put(z); err != nil {
			return nil, nil, 0, err
		}
		a := &ascent{start: best.x}
		if err := u.climb(ctx, u.all(), []*ascent{a}, u.order.Steps, obj); err != nil {
			return nil, nil, 0, err
		}
		if a.x == nil || a.value < best.value+nat {
			break
		}
		best, own = a, z
	}
	from := own
	if from == nil {
		from = u.shared
	}
	moved, lately, err := u.move(ctx, bound, rows, best, from)
	if moved != nil {
		own = moved
	}
	return best.x, own, lately, err
}

// greedy picks inducing inputs at member 0's hyperparameters from a sample of the rows.
// Where the kernel leaves less than rounding before there are M, those of all that are
// not among them make up their number. nil: none can be picked.
func (u *unit) greedy(free []float64) ([]float64, error) {
	bound, ln, only := u.worker.own, u.worker.lane, []int{0}
	n := min(u.order.Rows, ownRows*u.m)
	at := random.Sample(random.Stream(u.settings.Seed, "inducing inputs", 0), u.order.Rows, n)
	slices.Sort(at)
	dim := u.dim
	x := make([]float64, 0, n*dim)
	for _, i := range at {
		x = append(x, u.x[i*dim:(i+1)*dim]...)
	}
	rows, err := u.dev.NewData(x, nil, dim)
	if err != nil {
		return nil, err
	}
	program := u.model(0).program
	raw, _ := params.Raw(program, free, u.floor)
	diag := make([]float64, n)
	for i := range diag {
		p := x[i*dim : (i+1)*dim]
		diag[i] = program.Eval(raw, p, p, false)
	}
	out, err := ln.NewArray(1, 1, n)
	if err != nil {
		return nil, err
	}
	defer ln.Free(out)
	bound.setFree(0, free)
	ln.Expand(only, bound.ks, u.floor, bound.free, bound.theta)
	picked, _, err := inducing.Greedy(u.m, diag, func(i int, k []float64) error {
		if err := u.stop(); err != nil {
			return err
		}
		ln.Kernel(only, bound.ks, bound.theta, device.Points{Data: rows, From: i, To: i + 1}, device.All(rows), out)
		return ln.Read(out, 0, k)
	})
	if err != nil || len(picked) == 0 {
		return nil, err
	}
	var z [][]float64
	for _, i := range picked {
		z = append(z, x[i*dim:(i+1)*dim])
	}
	for from := 0; len(z) < u.m && from < len(u.shared); from += dim {
		row := u.shared[from : from+dim]
		if !slices.ContainsFunc(z, func(other []float64) bool { return slices.Equal(row, other) }) {
			z = append(z, row)
		}
	}
	if len(z) < u.m {
		return nil, nil
	}
	slices.SortFunc(z, slices.Compare)
	return slices.Concat(z...), nil
}

// move takes hyperparameters and inducing inputs of member 0 uphill together from best
// and z, as long as that pays, and leaves in best where it came to. It returns the
// inducing inputs, nil if they are where they were, and what they have gained lately, in
// nats of all rows.
func (u *unit) move(
	ctx context.Context, bound *collapsed, rows device.Points, best *ascent, z []float64,
) (moved []float64, lately float64, err error) {
	g, dim, f := u.worker.group, u.dim, len(best.x)
	gradZ, err := u.worker.lane.NewArray(1, u.m, dim)
	if err != nil {
		return nil, 0, err
	}
	bound.gradZ = gradZ
	defer func() {
		bound.gradZ = nil
		u.worker.lane.Free(gradZ)
	}()
	plain := bound.boundObjective(rows, u.order.Moved.YY, u.stop)
	both := objective{
		eval: func(sub []int, xs [][]float64) error {
			if err := g.put(slices.Clone(xs[0][f:])); err != nil {
				return err
			}
			return plain.eval(sub, [][]float64{xs[0][:f]})
		},
		result: func(k int, grad []float64) (float64, bool, error) {
			v, ok, err := plain.result(k, grad[:f])
			if err == nil && ok {
				err = u.worker.lane.Read(gradZ, k, grad[f:])
			}
			return v, ok && finite(grad), err
		},
	}
	scale := u.strides(u.model(0).program, best.x)
	for i := range z {
		scale = append(scale, math.Max(u.span[i%dim], 1e-9)/math.Pow(float64(u.m), 1/float64(dim)))
	}
	nat := u.nat(u.order.Moved)
	start := slices.Concat(best.x, z)
	for range ownMoves {
		a := &ascent{start: start, scale: scale}
		if err := ascend(ctx, u.gate, u.all(), []*ascent{a}, moveSteps, both); err != nil {
			return nil, 0, err
		}
		lately = 0
		if a.broken != nil || a.x == nil || !(a.value > best.value) {
			break
		}
		lately = (a.value - best.value) / nat
		best.x, best.value, moved = a.x[:f:f], a.value, a.x[f:]
		if start = a.x; lately < movePays*moveSteps {
			break
		}
	}
	return moved, lately, nil
}
