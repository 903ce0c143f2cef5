package vbks

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/laplace"
	"example.com/kestrel/vbks/periods"
	"example.com/kestrel/vbks/secant"
	"example.com/kestrel/vbks/windows"
)

// windowRows are rows on the device in the order of their input, and inducing inputs beside them.
type windowRows struct {
	rows windows.Rows
	z    [2]device.Points // for narrow and for wide windows

	ahead  device.Points // for forecasts
	aheadZ []float64     // the same
}

// windowRows puts the rows of an order on the device.
func (s *site) windowRows(o *order) (w windowRows, err error) {
	order := o.Near
	if order == nil {
		order = inOrder(s.x, s.dim, o.Rows)
	}
	if w.rows, err = takeOut(s, order); err != nil {
		return w, err
	}
	z := slices.Sorted(slices.Values(s.shared))
	for i := range w.z {
		z := z
		if i > 0 && len(z) < o.Inducing<<i { // what as many do not resolve is to be seen
			z = windows.Halved(z)
		}
		m := min(len(z), o.Inducing<<i)
		some := make([]float64, m)
		for j := range some {
			some[j] = z[j*(len(z)-1)/max(1, m-1)]
		}
		d, err := s.dev.NewData(some, nil, s.dim)
		if err != nil {
			return w, err
		}
		w.z[i] = device.All(d)
	}
	if o.Belief {
		w.aheadZ = windows.TowardsEnd(z, w.rows.X)
		d, err := s.dev.NewData(w.aheadZ, nil, s.dim)
		if err != nil {
			return w, err
		}
		w.ahead = device.All(d)
	}
	return w, nil
}

// windows climbs the log evidence of a unit's kernels by windows, one after the other.
func (u *unit) windows(ctx context.Context) error {
	for i := range u.tasks {
		alone := *u
		alone.tasks, alone.outcomes = u.tasks[i:i+1], u.outcomes[i:i+1]
		if err := alone.lookAt(ctx); err != nil {
			return err
		}
	}
	return nil
}

// lookAt does so for the only kernel of a unit.
func (u *unit) lookAt(ctx context.Context) error {
	f, w := &u.outcomes[0], u.order.windowed
	g := u.worker.group
	if err := u.load(g); err != nil {
		return err
	}
	wide, width := 0, windows.Width{Block: windowBlock}
	if u.order.Wide {
		wide, width.Block = 1, 2*windowBlock
	}
	z := w.z[wide]
	if u.order.Belief {
		z = w.ahead
	}
	e, err := windows.New(g.lane, u.model(0).program, w.rows, z, width, u.order.Belief, u.floor, u.jitter)
	if err != nil {
		return err
	}
	defer e.Free()
	if u.order.Belief {
		x := f.Windowed.At.X
		h, p, ok, err := e.Belief(x, f.Factor, u.stop)
		if f.Ahead = nil; ok {
			rows := float64(len(w.rows.Y))
			f.Ahead = &State{Free: x, Factor: f.Factor, Mean: h, Chol: p, Rows: rows, Seen: rows, Z: w.aheadZ}
		}
		return err
	}
	by := &windowObjective{group: g, of: e, factor: f.Factor, stop: u.stop}
	at := &f.Windowed.At
	if u.order.Wide {
		a := &ascent{start: at.X}
		err := value(u.all(), []*ascent{a}, by.values())
		if f.Windowed.Wide = a.value; a.x == nil {
			f.Windowed.Wide = math.Inf(-1)
		}
		return err
	}
	err = u.lookUphill(ctx, by, z, width)
	if err != nil || len(u.tasks[0].Gifts) > 0 || at.X == nil {
		return err
	}
	if err := u.lookAgainst(ctx, by); err != nil || u.order.Near != nil {
		return err
	}
	standing, err := u.standing(by, at.X, 1)
	if f.Windowed.Left = 0; len(standing) > 0 {
		f.Windowed.Left = standing[0].Gain
	}
	return err
}

// standing are periods of what a kernel leaves at a free vector.
func (u *unit) standing(by *windowObjective, x []float64, most int) ([]periods.Sinusoid, error) {
	alpha, ok, err := by.of.Weighed(x, by.factor, u.stop)
	if err != nil || !ok {
		return nil, err
	}
	rows := u.order.windowed.rows
	for i, a := range rows.Scale {
		alpha[i] *= a
	}
	return periods.Standing(rows.X, alpha, most), nil
}

// lookUphill climbs the log evidence by windows from what is known of the only kernel of a unit.
func (u *unit) lookUphill(ctx context.Context, by *windowObjective, z device.Points, width windows.Width) (err error) {
	f, w, g := &u.outcomes[0], u.order.windowed, u.worker.group
	at := &f.Windowed.At
	every := len(w.rows.Y) / (width.Block * z.Len())
	sharp := u.order.Again && u.order.Near == nil && every >= curvedTimes
	sooner := func() [][]float64 { return append([][]float64{at.X}, u.drawer.Hasten(u.model(0).program, at.X)...) }
	var tried []*ascent
	steps, most := windowSteps, 1
	switch {
	case len(u.tasks[0].Gifts) > 0:
		if tried, err = u.trials(u.transplanted(at.X), by); u.order.Again { // what few rows have told already
			steps = windowFew
			tried = slices.DeleteFunc(tried, func(a *ascent) bool { return a.value < at.Value-giftNats })
		}
	case u.order.Again && !sharp:
		tried, err = u.trials(sooner(), by)
	case u.order.Again:
		tried = append(tried, &ascent{start: at.X})
	default:
		steps, most = windowFirst, windowStarts
		from := append(u.drawer.Roughen(u.model(0).program, f.State.Free), f.State.Free)
		if at.X != nil {
			from = append(from, at.X)
		}
		tried, err = u.trials(from, by)
	}
	if err != nil {
		return err
	}
	if sharp {
		width.Every = every
		coarse, err := windows.New(g.lane, u.model(0).program, w.rows, z, width, false, u.floor, u.jitter)
		if err != nil {
			return err
		}
		defer coarse.Free()
		alike := &windowObjective{group: g, of: coarse, factor: f.Factor, stop: u.stop}
		from, err := u.trials(sooner(), alike)
		if err != nil {
			return err
		}
		if len(from) > 0 {
			at.X = from[0].start
		}
		if done, err := u.sharpen(by, alike, at); done || err != nil {
			return err
		}
		tried[0].start, steps = at.X, windowFew
	}
	if len(u.tasks[0].Gifts) == 0 {
		*at = solution{}
	}
	for i, t := range tried[:min(most, len(tried))] {
		if i > 0 && t.value < tried[0].value-windowNats {
			break
		}
		from := t.start
		for again := range windowTimes {
			a := &ascent{start: from, enough: openGain}
			if again == 0 && at.X != nil {
				a.against(at)
			}
			if err := u.climb(ctx, u.all(), []*ascent{a}, steps, by.gradients()); err != nil {
				return err
			}
			if a.x != nil && (at.X == nil || a.value > at.Value) {
				*at = solution{X: a.x, Value: a.value, Gain: a.further()}
			}
			if from = a.x; a.x == nil || u.order.Near == nil || a.value < at.Value || a.further() < farGain {
				break
			}
		}
	}
	return nil
}

// lookAgainst tries for summands that repeat the periods of what a solution leaves without them: a rough function hides
// them in the rows themselves, and on few rows they may be worth nothing.
func (u *unit) lookAgainst(ctx context.Context, by *windowObjective) error {
	at, program := &u.outcomes[0].Windowed.At, u.model(0).program
	steps := windowSteps
	if u.order.Near == nil {
		steps = windowFew
	}
	for i := 0; ; i++ {
		all := u.drawer.Repeats(program, at.X)
		if i >= len(all) {
			return nil
		}
		found, err := u.standing(by, all[i].Without, mostStanding)
		if err != nil {
			return err
		}
		tried, err := u.trials(u.drawer.Repeat(program, at.X, all[i], found), by)
		if err != nil {
			return err
		}
		if len(tried) == 0 || tried[0].value < at.Value-giftNats {
			continue
		}
		a := &ascent{start: tried[0].start, enough: openGain}
		if err := u.climb(ctx, u.all(), []*ascent{a}, steps, by.gradients()); err != nil {
			return err
		}
		if a.x != nil && a.value > at.Value {
			*at = solution{X: a.x, Value: a.value, Gain: a.further()}
		}
	}
}

// sharpen takes a point uphill by Newton's steps, with the curvature of another objective that is about alike; done is
// false where more is to be gained.
func (u *unit) sharpen(by, alike *windowObjective, at *solution) (done bool, err error) {
	m := u.model(0)
	mode := laplace.Mode{Program: m.program, X: at.X, Prec: m.prior.prec, Mean: m.prior.mean, Scale: u.strides(m.program, at.X)}
	curved, err := laplace.Volumes([]laplace.Mode{mode}, func(_ []int, xs [][]float64) ([][]float64, error) {
		if err := alike.at(xs[0], true); err != nil || !alike.ok {
			return [][]float64{nil}, err
		}
		return [][]float64{alike.grad}, nil
	})
	if err != nil || curved[0].Chol == nil {
		return false, err
	}
	x, v, gain, err := secant.Newton(at.X, curved[0].Chol, newtonSteps, openGain, func(x, grad []float64) (float64, bool, error) {
		if err := by.at(x, true); err != nil || !by.ok {
			return 0, false, err
		}
		copy(grad, by.grad)
		return by.value, true, nil
	})
	if err != nil || x == nil {
		return false, err
	}
	*at = solution{X: x, Value: v, Gain: gain}
	return gain <= openGain, nil
}

// windowObjective is a kernel's log evidence by windows, with log p(θ).
type windowObjective struct {
	group  *group
	of     *windows.Evidence
	factor float64
	stop   stopped

	value float64
	grad  []float64 // of the last point
	ok    bool
}

// at computes at the free vector x, and, if grad, the gradient.
func (w *windowObjective) at(x []float64, grad bool) (err error) {
	if w.grad = nil; grad {
		w.grad = make([]float64, len(x))
	}
	if w.value, w.ok, err = w.of.At(x, w.factor, w.grad, w.stop); err != nil || !w.ok {
		return err
	}
	g, sub := w.group, []int{0}
	g.setFree(0, x)
	var by device.Array
	if grad {
		by = g.gradFree
		g.lane.Fill(sub, by, 0)
	}
	g.lane.Fill(sub, g.value, 0)
	g.lane.LogPrior(sub, g.free, g.mean, g.prec, g.lo, g.hi, g.wall, g.value, by)
	prior, err := g.scalar(g.value, 0)
	if err != nil {
		return err
	}
	w.value += prior
	if grad {
		more := make([]float64, g.ks.Free())
		if err := g.lane.Read(by, 0, more); err != nil {
			return err
		}
		floats.Add(w.grad, g.unpadded(0, more))
	}
	return nil
}

// gradients and values are of the only member.
func (w *windowObjective) gradients() objective { return w.objective(true) }
func (w *windowObjective) values() objective    { return w.objective(false) }

func (w *windowObjective) objective(grad bool) objective {
	return objective{
		eval: func(_ []int, xs [][]float64) error { return w.at(xs[0], grad) },
		result: func(_ int, to []float64) (float64, bool, error) {
			if to != nil && w.grad != nil {
				copy(to, w.grad)
			}
			return w.value, w.ok && !math.IsNaN(w.value), nil
		},
	}
}
