package vbks

import (
	"cmp"
	"context"
	"math"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/inducing"
	"example.com/kestrel/vbks/laplace"
	"example.com/kestrel/vbks/starts"
)

const (
	// Draws are made about at most closeModes modes where values are much work; rough integrals are about dearModes.
	closeModes = 4
	dearModes  = 3
	// Where a value is less work than drawnWork draws are as many times as many, up to mostTimes.
	drawnWork = 2e7
	mostTimes = 4
	// Draws are made from the bound of fewer inducing inputs where that is at most standNats lower at the
	// solution and takes a standGain-th of the work. standDraws of these correct it, if at least standLeast
	// are then effective.
	standNats  = 1.5
	standGain  = 3
	standDraws = 96
	standLeast = 24
	// Modes within modeNats of the best one count: of the weighedModes densest those that have
	// the most mass, at most mostModes. A wide one of low density may have more than all the others.
	modeNats     = 14
	weighedModes = 30
	mostModes    = 10
	// L-BFGS iterations from where a part is hidden, fewer where each is much work.
	hiddenSteps = 20
	heavySteps  = 8
)

// standIns are of how many inducing inputs bounds are that stand in for a density.
var standIns = [...]int{64, 128, 256}

// priorOf is the prior of a member's hyperparameters.
func (u *unit) priorOf(i int) laplace.Prior {
	p := u.model(i).prior
	return laplace.Prior{Mean: p.mean, Prec: p.prec}
}

// modes are those of a member's density, which is top at its solution: the ends of ascents, the
// best first, each once.
func (u *unit) modes(i int, top float64) []solution {
	f, program := &u.outcomes[i], u.model(i).program
	all := slices.DeleteFunc(slices.Clone(f.Modes), func(s solution) bool { return s.Stale })
	slices.SortStableFunc(all, func(a, b solution) int { return cmp.Compare(b.Value, a.Value) })
	orders := laplace.Exchanges(program, len(f.State.Free), u.priorOf(i))
	out := []solution{{X: f.State.Free, Value: top}}
	for _, s := range all {
		if out[0].Chol == nil && slices.Equal(s.X, out[0].X) {
			out[0].Chol, out[0].Volume = s.Chol, s.Volume
		}
	}
	for _, s := range all {
		if len(out) == weighedModes || s.Value < top-modeNats {
			break
		}
		same := slices.ContainsFunc(out, func(o solution) bool {
			strides := u.strides(program, o.X)
			return slices.ContainsFunc(orders, func(order []int) bool {
				for a, b := range order {
					if math.Abs(s.X[b]-o.X[a]) > oneMode*strides[a] {
						return false
					}
				}
				return true
			})
		})
		if !same {
			out = append(out, s)
		}
	}
	return out
}

// heaviest are at most mostModes of modes: the first one, then by mass.
func heaviest(modes []solution) []solution {
	if len(modes) < 2 {
		return modes
	}
	slices.SortStableFunc(modes[1:], func(a, b solution) int { return cmp.Compare(b.Value+b.Volume, a.Value+a.Volume) })
	return modes[:min(mostModes, len(modes))]
}

// revalue evaluates the points of earlier evaluations.
func (u *unit) revalue(plain objective) error {
	most := 0
	for i := range u.outcomes {
		u.outcomes[i].Modes = slices.Clone(u.outcomes[i].Modes)
		most = max(most, len(u.outcomes[i].Modes))
	}
	for place := range most {
		var sub []int
		var runs []*ascent
		for i := range u.outcomes {
			if all := u.outcomes[i].Modes; place < len(all) && all[place].Stale {
				sub, runs = append(sub, i), append(runs, &ascent{start: all[place].X})
			}
		}
		if len(sub) == 0 {
			continue
		}
		if err := value(sub, runs, plain); err != nil {
			return err
		}
		for j, i := range sub {
			if m := &u.outcomes[i].Modes[place]; runs[j].x != nil {
				m.Value, m.Stale = runs[j].value, false
			}
		}
	}
	return nil
}

// oneMode is within how many strides of each other two ends are of one mode.
const oneMode = 0.5

// unchanged says of which members the integral is known: nothing was found since but where
// their modes are. These are what has been integrated about again.
func (u *unit) unchanged(tops []float64) []bool {
	out := make([]bool, len(u.tasks))
	for i := range u.tasks {
		t, f := &u.tasks[i], &u.outcomes[i]
		if !t.Again {
			continue
		}
		modes := u.modes(i, tops[i])
		if slices.ContainsFunc(modes[1:], func(m solution) bool { return m.Chol == nil }) {
			continue
		}
		first := slices.IndexFunc(f.Modes, func(m solution) bool { return m.Chol != nil })
		if first < 0 {
			continue
		}
		modes[0].Chol, modes[0].Volume = f.Modes[first].Chol, f.Modes[first].Volume
		f.Modes, f.Chosen = modes[:min(mostModes, len(modes))], true
		f.Volume = t.Integrated
		out[i] = true
	}
	return out
}

// integrals estimates the volumes of the unit's kernels by draws, those together of which
// surrogates have as many inducing inputs.
func (u *unit) integrals(ctx context.Context) error {
	bound, err := u.worker.ownBound()
	if err != nil {
		return err
	}
	stand, err := u.standInsOf()
	if err != nil {
		return err
	}
	for _, m := range append(standIns[:], 0) {
		part := *u
		part.tasks, part.outcomes = nil, nil
		var at []int
		for i := range u.tasks {
			if stand[i] == m {
				at, part.tasks, part.outcomes = append(at, i), append(part.tasks, u.tasks[i]), append(part.outcomes, u.outcomes[i])
			}
		}
		if len(at) == 0 {
			continue
		}
		poor, err := part.integralsBy(ctx, bound, m)
		if err != nil {
			return err
		}
		for j, i := range at {
			u.outcomes[i] = part.outcomes[j]
			if poor[j] {
				stand[i] = u.standIn(2 * m)
			}
		}
	}
	return nil
}

// standInsOf are, for each kernel, of how many inducing inputs a bound is from which draws are made in the
// place of its density, because they take a fraction of the time: the fewest that are hardly
// lower at its solution; 0 where there are none, or the density takes little.
func (u *unit) standInsOf() ([]int, error) {
	out := make([]int, len(u.tasks))
	if u.order.Dear {
		return out, nil
	}
	left := u.all()
	for _, m := range standIns {
		if left = slices.DeleteFunc(left, func(i int) bool { return out[i] > 0 }); len(left) == 0 || u.standIn(m) == 0 {
			break
		}
		s, err := u.standInOf(m)
		if err != nil {
			return nil, err
		}
		if err := u.load(s.group); err != nil {
			return nil, err
		}
		runs := make([]*ascent, len(left))
		for j, i := range left {
			runs[j] = &ascent{start: u.outcomes[i].State.Free}
		}
		if err := value(left, runs, s.boundValue(u.seen(), u.seenYY(), u.stop)); err != nil {
			return nil, err
		}
		for j, i := range left {
			if runs[j].x != nil && math.Abs(u.outcomes[i].Best.Value-runs[j].value) <= standNats {
				out[i] = m
			}
		}
	}
	return out, nil
}

// standIn is m where a bound of so many inducing inputs may stand in for the density, else 0.
func (u *unit) standIn(m int) int {
	if m > standIns[len(standIns)-1] || u.workOf(m)*standGain > u.workOf(u.m) {
		return 0
	}
	return m
}

// workOf is that of a value with m inducing inputs.
func (u *unit) workOf(m int) float64 {
	like := u.settings.Like(u.total, m)
	return float64(u.order.Rows) * like * like
}

// standInOf makes the bound of m inducing inputs on all rows seen.
func (u *unit) standInOf(m int) (*collapsed, error) {
	z, _, err := inducing.Place(u.x[:u.order.Rows*u.dim], u.dim, m, "jittered", u.settings.Seed)
	if err != nil {
		return nil, err
	}
	return u.boundOf(z)
}

// boundOf makes a bound with other inducing inputs.
func (u *unit) boundOf(z []float64) (*collapsed, error) {
	placed, err := u.dev.NewData(z, nil, u.dim)
	if err != nil {
		return nil, err
	}
	c := *u.worker.group.common
	c.z, c.m, c.whole = device.All(placed), len(z)/u.dim, 0
	g, err := newGroup(&c, u.worker.lane, u.worker.group.capacity, u.worker.group.params)
	if err != nil {
		return nil, err
	}
	return newCollapsed(g)
}

// integrating is how the integrals of a unit's kernels are found, by draws from one bound.
type integrating struct {
	*unit
	full, on *collapsed // of the densities; from which draws are made
	plain    objective  // values of on
	stand    int        // its inducing inputs, where it stands in for the densities; else 0
	work     float64    // of a value
	tops     []float64  // values at the solutions
	again    []bool     // what is known from the last evaluation
	found    [][]solution
}

// integralsBy is integrals where draws are made from the bound of m inducing inputs, or with 0 from the
// density itself, and says for which kernels that bound does not do.
func (u *unit) integralsBy(ctx context.Context, bound *collapsed, m int) (poor []bool, err error) {
	g := &integrating{unit: u, full: bound, on: bound, stand: m, work: u.workOf(u.m)}
	if m > 0 {
		g.work = u.workOf(m)
		if g.on, err = u.standInOf(m); err != nil {
			return nil, err
		}
		if err := u.load(g.on.group); err != nil {
			return nil, err
		}
	}
	if err := u.load(u.worker.group); err != nil {
		return nil, err
	}
	g.plain = g.on.boundValue(u.seen(), u.seenYY(), u.stop)
	if err := g.value(); err != nil {
		return nil, err
	}
	if err := g.find(ctx); err != nil {
		return nil, err
	}
	return g.draw()
}

// value finds the values of what is known on the bound that draws are made from.
func (g *integrating) value() error {
	for i := range g.outcomes {
		f := &g.outcomes[i]
		g.tops = append(g.tops, f.Best.Value)
		if g.stand > 0 || f.Chosen { // values are of another bound
			f.Modes = slices.Clone(f.Modes)
			for j := range f.Modes {
				f.Modes[j].Stale = true
			}
		}
	}
	if g.stand > 0 {
		runs := make([]*ascent, len(g.tasks))
		for i := range runs {
			runs[i] = &ascent{start: g.outcomes[i].State.Free}
		}
		if err := value(g.all(), runs, g.plain); err != nil {
			return err
		}
		for i := range runs {
			g.tops[i] = runs[i].value
		}
	}
	if err := g.revalue(g.plain); err != nil {
		return err
	}
	g.again = g.unchanged(g.tops)
	return nil
}

// find finds the modes that draws are made about, and their curvatures.
func (g *integrating) find(ctx context.Context) error {
	if err := g.hide(ctx); err != nil {
		return err
	}
	g.found = make([][]solution, len(g.tasks))
	most := 0
	for i := range g.tasks {
		if g.again[i] {
			continue
		}
		found := g.modes(i, g.tops[i])
		if g.dear(i) {
			found = found[:min(dearModes, len(found))]
		} else if g.order.Heavy && g.stand == 0 {
			found = found[:min(closeModes, len(found))]
		}
		g.found[i], most = found, max(most, len(found))
	}
	for place := range most {
		var sub []int
		var xs [][]float64
		for i, found := range g.found {
			if place < len(found) && found[place].Chol == nil {
				sub, xs = append(sub, i), append(xs, found[place].X)
			}
		}
		if len(sub) == 0 {
			continue
		}
		volumes, err := g.volumesAt(g.on, sub, xs)
		if err != nil {
			return err
		}
		for j, i := range sub {
			g.found[i][place].Chol, g.found[i][place].Volume = volumes[j].Chol, volumes[j].Nats
		}
	}
	for i, found := range g.found {
		if !g.again[i] {
			found = heaviest(slices.DeleteFunc(found, func(m solution) bool { return m.Chol == nil }))
			g.found[i], g.outcomes[i].Modes, g.outcomes[i].Chosen = found, found, true
		}
	}
	return nil
}

// hide looks for modes in which a part of a kernel is as good as not there. Where the rest explains
// the data, too, such a mode is wide and may have most of the mass, however low it is.
func (g *integrating) hide(ctx context.Context) error {
	obj := g.on.boundObjective(g.seen(), g.seenYY(), g.stop)
	hidden, most := make([][][]float64, len(g.tasks)), 0
	steps := hiddenSteps
	if g.order.Heavy && g.stand == 0 {
		steps = heavySteps
	}
	for i := range g.tasks {
		if g.again[i] || g.dear(i) || g.outcomes[i].Chosen { // the last: they have been found
			continue
		}
		p := g.model(i).prior
		hidden[i] = starts.Hidden(g.model(i).program, g.outcomes[i].State.Free, p.mean, p.prec)
		most = max(most, len(hidden[i]))
	}
	for place := range most {
		var sub []int
		var runs []*ascent
		for i := range hidden {
			if place < len(hidden[i]) {
				sub, runs = append(sub, i), append(runs, &ascent{start: hidden[i][place]})
			}
		}
		if err := g.climb(ctx, sub, runs, steps, obj); err != nil {
			return err
		}
		for j, i := range sub {
			g.outcomes[i].see(runs[j])
		}
	}
	return nil
}

// dear reports whether a member's integral is to be had by few values.
func (g *integrating) dear(i int) bool {
	return g.order.Dear || g.stand == 0 && g.tasks[i].Brief
}

// density is that of a member about what has been found.
func (g *integrating) density(i int) laplace.Density {
	d := laplace.Density{Program: g.model(i).program, Name: g.model(i).id, Prior: g.priorOf(i), Dear: g.dear(i)}
	if !d.Dear {
		d.Times = min(mostTimes, int(drawnWork/g.work))
	}
	if g.stand > 0 {
		d.Sampled = standDraws
	}
	for _, m := range g.found[i] {
		d.Modes = append(d.Modes, laplace.Peak{X: m.X, Value: m.Value, Volume: m.Volume, Chol: m.Chol})
	}
	return d
}

// draw finds the volumes by draws.
func (g *integrating) draw() (poor []bool, err error) {
	var sub []int
	var densities []laplace.Density
	for i := range g.found {
		if len(g.found[i]) > 0 {
			sub, densities = append(sub, i), append(densities, g.density(i))
		}
	}
	integrals, err := laplace.Integrate(densities, func(at []int, xs [][]float64) ([]float64, error) {
		members := make([]int, len(at))
		for j, a := range at {
			members[j] = sub[a]
		}
		return values(g.plain, members, xs)
	}, g.settings.Seed)
	if err == nil && g.stand > 0 {
		err = g.correct(sub, integrals)
	}
	if err != nil {
		return nil, err
	}
	poor = make([]bool, len(g.tasks))
	for j, i := range sub {
		// With few effective draws an estimate is too low as a rule, but hardly ever by as much as that
		// of Laplace where that is wrong.
		n := integrals[j]
		poor[i] = g.stand > 0 && !(n.Draws >= standLeast)
		if f := &g.outcomes[i]; !math.IsNaN(n.Nats) {
			f.Volume = laplace.Volume{Nats: n.Nats - f.Best.Value, Known: true, Low: n.Low, High: n.High}
		}
	}
	return poor, nil
}

// correct makes integrals of stand-ins those of the densities, by samples of the former.
func (g *integrating) correct(sub []int, integrals []laplace.Integral) error {
	full := g.full.boundValue(g.seen(), g.seenYY(), g.stop)
	ratios := make([][]float64, len(sub))
	for place := range standDraws {
		var at, members []int
		var xs [][]float64
		for j, i := range sub {
			if s := integrals[j].Sample; place < len(s.X) {
				at, members, xs = append(at, j), append(members, i), append(xs, s.X[place])
			}
		}
		if len(at) == 0 {
			break
		}
		was, err := values(g.plain, members, xs)
		if err != nil {
			return err
		}
		is, err := values(full, members, xs)
		if err != nil {
			return err
		}
		for k, j := range at {
			ratios[j] = append(ratios[j], is[k]-was[k])
		}
	}
	for j := range integrals {
		integrals[j] = integrals[j].Corrected(ratios[j])
	}
	return nil
}

// values are those of an objective at a point for each of some members; −Inf where there is none.
func values(o objective, members []int, xs [][]float64) ([]float64, error) {
	if err := o.eval(members, xs); err != nil {
		return nil, err
	}
	out := make([]float64, len(members))
	for j, k := range members {
		v, ok, err := o.result(k, nil)
		if err != nil {
			return nil, err
		}
		if out[j] = v; !ok {
			out[j] = math.Inf(-1)
		}
	}
	return out, nil
}
