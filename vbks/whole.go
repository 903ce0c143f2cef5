package vbks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/windows"
)

// lay takes z, M x dim, for the inducing inputs of all kernels.
func (t *Trainer) lay(z []float64) error {
	d, err := t.dev.NewData(z, nil, t.dim)
	if err != nil {
		return err
	}
	t.z, t.m, t.inducing, t.whole = device.All(d), d.Rows(), z, 0
	if sameRows(z, t.data.X, t.dim) {
		t.whole = t.data.Rows()
	}
	return nil
}

// sameRows reports whether a and b are the same rows, in any order.
func sameRows(a, b []float64, dim int) bool {
	if len(a) != len(b) {
		return false
	}
	sorted := func(x []float64) [][]float64 {
		rows := slices.Collect(slices.Chunk(x, dim))
		slices.SortFunc(rows, slices.Compare[[]float64])
		return rows
	}
	return slices.EqualFunc(sorted(a), sorted(b), slices.Equal[[]float64])
}

// wholly divides members into those whose bound on the rows x is the log evidence, since
// all of these rows are inducing inputs, and the others. White noise is in k(X,X) and not in
// what the inducing inputs know of it.
func (c *collapsed) wholly(sub []int, x device.Points) (whole, others []int) {
	if c.whole == 0 || c.z != c.common.z || c.gradZ != nil || x.Data != c.train || x.Index != nil || x.From > 0 || x.To != c.whole {
		return nil, sub
	}
	for _, k := range sub {
		if whiteNoise(c.programs[k]) {
			others = append(others, k)
		} else {
			whole = append(whole, k)
		}
	}
	return whole, others
}

// entire computes the log evidence of members whose inducing inputs are all rows, without log p(θ), and, if grad,
// its gradient by θ, from k(X,X) alone:
//
//	B = I + k(X,X)/σ_n² = L_B L_Bᵀ,  r = B⁻¹y
//	log p(y|θ) = −n/2 log 2πσ_n² − Σ_j log (L_B)_jj − |L_B⁻¹y|²/2σ_n²
//	∂/∂k(X,X)  = ½ (rrᵀ/σ_n⁴ − B⁻¹/σ_n²)
//	∂/∂σ_n²    = (|r|² + tr k(X,X)B⁻¹)/2σ_n⁴ − n/2σ_n²
//
// Titsias' bound is that, too, but for the jitter, and takes ten times the work.
func (c *collapsed) entire(sub []int, x device.Points, grad bool, stop stopped) error {
	if err := stop.ask(); err != nil {
		return err
	}
	ln, n := c.lane, float64(x.Len())
	ln.Expand(sub, c.ks, c.floor, c.free, c.theta)
	ln.Fill(sub, c.info, 0)
	ln.Kernel(sub, c.ks, c.theta, x, x, c.kzz)
	ln.Precision(sub, c.ks, c.theta, 1, c.kzz, c.prec)
	ln.Cholesky(sub, c.prec, c.info)
	c.targets(sub, x, c.solved)
	ln.Solve(sub, false, c.prec, c.solved)
	ln.Fill(sub, c.sumDiag, 0)
	ln.Dot(sub, c.inv, c.kzz, c.sumDiag)
	if err := c.evidences(sub, n); err != nil || !grad {
		return err
	}
	ln.Copy(sub, c.mean, c.solved)
	ln.Solve(sub, true, c.prec, c.mean)
	ln.Inverse(sub, c.prec, c.inv)
	for _, a := range []device.Array{c.sumR2, c.sumV, c.gradTheta} {
		ln.Fill(sub, a, 0)
	}
	ln.Sum(sub, true, c.mean, c.sumR2)
	ln.Dot(sub, c.kzz, c.inv, c.sumV)
	ln.Weight(sub, c.ks, c.theta, 1, 1, 1, c.mean)
	ln.Weight(sub, c.ks, c.theta, 1, 1, 1, c.inv)
	ln.Gemm(sub, false, true, 0.5, c.mean, c.mean, -0.5, c.inv)
	ln.KernelGrad(sub, c.ks, c.theta, x, x, c.kzz, c.inv, c.gradTheta)
	ln.NoiseGrad(sub, c.ks, c.theta, n, c.sumR2, c.sumV, c.gradTheta)
	ln.Collect(sub, c.ks, c.floor, c.theta, c.gradTheta, c.gradFree)
	return nil
}

// condition finds what members predict with whose inducing inputs are all rows, at θ as it stands, from
// k(X,X) alone: with K = k(X,X) + σ_n²I = LLᵀ, a = L⁻¹k(X,x) and m = L⁻¹y
//
//	E f(x) = aᵀm     var f(x) = k(x,x) − aᵀa
//
// It takes an eighth of what fit does. L is kept in prec.
func (c *collapsed) condition(sub []int, x device.Points, stop stopped) error {
	if err := stop.ask(); err != nil {
		return err
	}
	ln := c.lane
	ln.Fill(sub, c.info, 0)
	ln.Fill(sub, c.value, 0)
	ln.Kernel(sub, c.ks, c.theta, x, x, c.prec)
	theta := make([]float64, c.ks.Params())
	for _, k := range sub {
		if err := ln.Read(c.theta, k, theta); err != nil {
			return err
		}
		ln.AddDiagonal([]int{k}, c.prec, theta[len(theta)-1])
		c.exactly[k] = true
	}
	ln.Cholesky(sub, c.prec, c.info)
	c.targets(sub, x, c.mean)
	ln.Solve(sub, false, c.prec, c.mean)
	return nil
}

// targets puts the targets of the rows x into out, for members whose inducing inputs are all of them; inv is I then.
func (c *collapsed) targets(sub []int, x device.Points, out device.Array) {
	c.lane.Fill(sub, c.inv, 0)
	c.lane.AddDiagonal(sub, c.inv, 1)
	c.lane.MulTargets(sub, 1, c.inv, x, 0, out)
}

// posterior finds what members predict with, at θ as it stands: the optimal q(v), or the rows themselves
// where all of them are inducing inputs.
func (c *collapsed) posterior(sub []int, x device.Points, yy float64, stop stopped) error {
	whole, others := c.wholly(sub, x)
	if len(whole) > 0 {
		if err := c.condition(whole, x, stop); err != nil {
			return err
		}
	}
	if len(others) == 0 {
		return nil
	}
	return c.fit(others, x, yy, stop)
}

// project computes, at points x, A = L⁻¹k(Z,x) and CA, whose columns' squares q(v) adds to variances, of
// members that are all conditioned on the rows themselves, which are Z then and add nothing, or none.
func (c *collapsed) project(sub []int, x device.Points, a, ca device.Array) {
	ln := c.lane
	z, lower := c.z, c.l
	if c.exactly[sub[0]] {
		z, lower = device.All(c.train), c.prec
	}
	ln.Kernel(sub, c.ks, c.theta, z, x, a)
	ln.Solve(sub, false, lower, a)
	if c.byRoot {
		ln.MulLower(sub, true, c.prec, a, ca)
		return
	}
	ln.Copy(sub, ca, a)
	if c.exactly[sub[0]] {
		ln.Fill(sub, ca, 0)
		return
	}
	ln.Solve(sub, false, c.prec, ca)
}

// alike divides members into those conditioned on the rows themselves and the others.
func (c *collapsed) alike(sub []int) (parts [][]int) {
	var exactly, others []int
	for _, k := range sub {
		if c.exactly[k] {
			exactly = append(exactly, k)
		} else {
			others = append(others, k)
		}
	}
	for _, p := range [][]int{exactly, others} {
		if len(p) > 0 {
			parts = append(parts, p)
		}
	}
	return parts
}

// evidences puts the members' log evidence into value, from the factor of B, L_B⁻¹y and the trace of k(X,X).
func (c *collapsed) evidences(sub []int, n float64) error {
	ln := c.lane
	ln.Fill(sub, c.value, 0)
	ln.Fill(sub, c.sumR2, 0)
	ln.Sum(sub, true, c.solved, c.sumR2)
	ln.LogDiag(sub, c.prec, c.sumV)
	theta := make([]float64, c.ks.Params())
	for _, k := range sub {
		var at [3]float64
		for i, a := range []device.Array{c.sumR2, c.sumV, c.sumDiag} {
			var err error
			if at[i], err = c.scalar(a, k); err != nil {
				return err
			}
		}
		if err := ln.Read(c.theta, k, theta); err != nil {
			return err
		}
		square, half, diag, noise := at[0], at[1], at[2], theta[len(theta)-1]
		v := -n/2*math.Log(2*math.Pi*noise) - half - square/(2*noise)
		if diag > mostSignal*n*noise {
			v = math.NaN()
		}
		ln.AddDiagonal([]int{k}, c.value, v)
	}
	return nil
}

// steady factorises k(Z,Z) of members where the search has ended. With all rows as inducing inputs
// the search has not needed that: the jitter rises where it must.
func (u *unit) steady(bound *collapsed, sub []int) error {
	bound.factorise(sub)
	for left := sub; bound.whole > 0 && len(left) > 0; {
		var again []int
		for _, i := range left {
			failed, err := bound.scalar(bound.info, i)
			if err != nil {
				return err
			}
			if f := &u.outcomes[i]; failed != 0 && f.Factor < maxFactor {
				f.Factor *= 10
				f.State.Factor = f.Factor
				bound.lane.Write(bound.factor, i, []float64{f.Factor})
				again = append(again, i)
			}
		}
		if left = again; len(left) > 0 {
			bound.factoriseAt(left)
		}
	}
	return nil
}

const (
	// Rough functions are tried on nearRows of the rows, in nearRuns runs of neighbours. The
	// heardBest best of a kernel are valued on all rows, and the foremost also after heardSteps
	// iterations there.
	nearRows   = 256
	nearRuns   = 4
	heardBest  = 2
	heardSteps = 10
	// So often kernels take what their kin were heard as.
	heardTimes = 2
	// What that leaves of the gap between two kernels.
	heardNats = 3.0
	// Kernels with so many times the best one's noise are heard, too, and count within loudNats of it.
	loudNoise = 1.5
	loudNats  = 2 * rungNats
)

// hear finds what kernels that are still compared may be worth where all rows come early: their log evidence
// where what their solution takes for noise is a rough function. About that the bounds of fewer inducing inputs say
// nothing, and they must not decide which kernels go on.
func (r *round) hear(ctx context.Context, kernels []int) error {
	o := r.order(phaseHear)
	o.Near = r.near()
	known := slices.DeleteFunc(slices.Clone(kernels), func(k int) bool {
		return r.outcomes[k].State == nil || r.outcomes[k].Failure != ""
	})
	if err := r.each(ctx, o, r.tasks(known)); err != nil {
		return err
	}
	return r.passOn(ctx, o, known, func(f *outcome) *solution { return &f.Heard })
}

// passOn lets kernels take what has been found for their kin, as of says, where that is better: a kernel
// is left out by what it was heard as, and must not be for a solution that others have found and it can represent.
func (r *round) passOn(ctx context.Context, o *order, kernels []int, of func(*outcome) *solution) error {
	news := map[int]bool{}
	for _, k := range kernels {
		news[k] = true
	}
	for o.Time = 1; o.Time <= heardTimes; o.Time++ {
		gifts := map[int][]gift{}
		before := map[int]float64{}
		var takers []int
		for _, k := range kernels {
			before[k] = of(&r.outcomes[k]).Value
			var all []gift
			for i, rel := range r.kernels[k].kin {
				if giver := of(&r.outcomes[rel.From]); news[rel.From] && giver.X != nil {
					all = append(all, gift{From: i, X: giver.X, Value: giver.Value})
				}
			}
			if gifts[k] = betterThan(all, r.kernels[k].kin, before[k]); len(gifts[k]) > 0 {
				takers = append(takers, k)
			}
		}
		if len(takers) == 0 {
			break
		}
		tasks := r.tasks(takers)
		for i := range tasks {
			tasks[i].Gifts = gifts[tasks[i].Kernel]
		}
		if err := r.each(ctx, o, tasks); err != nil {
			return err
		}
		clear(news)
		for _, k := range takers {
			if of(&r.outcomes[k]).Value > before[k]+settledNats {
				news[k] = true
			}
		}
	}
	return nil
}

// hearOthers hears, where the best kernel's noise is noise, those with much more of it: what
// that kernel resolves may be rough for them. All rows come next if one of them is then about as good.
func (r *round) hearOthers(ctx context.Context, best int, noise float64) error {
	var loud []int
	for _, k := range r.live {
		f := &r.outcomes[k]
		if f.State == nil || f.Failure != "" {
			continue
		}
		if _, own := params.Raw(r.kernels[k].program, f.State.Free, r.floor); own > loudNoise*noise {
			loud = append(loud, k)
		}
	}
	if len(loud) == 0 {
		return nil
	}
	if err := r.hear(ctx, loud); err != nil {
		return err
	}
	foremost, near := -1, r.outcomes[best].ELBO-loudNats
	for _, k := range loud {
		if f := &r.outcomes[k]; f.Heard.Value > math.Max(f.ELBO, near) {
			foremost, near = k, f.Heard.Value
		}
	}
	if foremost >= 0 {
		r.unresolved = true
		r.remarks = append(r.remarks, Notice{Kernel: r.kernels[foremost].id, Text: fmt.Sprintf(
			"what %s takes for noise with %d inducing inputs is a function: all rows come next", r.kernels[foremost].id, r.m)})
	}
	return nil
}

// near chooses rows which have most of their neighbours among them, of one input: all of the range must be there
// where functions are not alike everywhere.
func (r *round) near() []int {
	order := make([]int, r.n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.data.X[a], r.data.X[b]) })
	if r.n <= nearRows {
		return order
	}
	const length = nearRows / nearRuns
	var out []int
	for i := range nearRuns {
		from := i * (r.n - length) / (nearRuns - 1)
		out = append(out, order[from:from+length]...)
	}
	return out
}

// whole is the log evidence of so many kernels at a time, from k(X,X) alone, of rows that are on
// the device.
func (u *unit) whole(rows device.Data, kernels int) (*collapsed, error) {
	c := *u.worker.group.common
	c.train, c.z, c.m, c.whole = rows, device.All(rows), rows.Rows(), rows.Rows()
	g, err := newGroup(&c, u.worker.lane, kernels, u.worker.group.params)
	if err != nil {
		return nil, err
	}
	return newCollapsed(g)
}

// takeOut makes data of some rows.
func takeOut[T int | int32](u *site, which []T) (rows windows.Rows, err error) {
	for _, row := range which {
		i := int(row)
		rows.X, rows.Y = append(rows.X, u.x[i*u.dim:(i+1)*u.dim]...), append(rows.Y, u.y[i])
		if u.weights != nil {
			rows.Scale = append(rows.Scale, math.Sqrt(u.weights[i]))
		}
	}
	rows.Data, err = device.NewScaled(u.dev, rows.X, rows.Y, rows.Scale, u.dim)
	return rows, err
}

// hear does what the order says for the kernels of a unit.
func (u *unit) hear(ctx context.Context) error {
	rows, err := takeOut(u.site, u.order.Near)
	if err != nil {
		return err
	}
	near, err := u.whole(rows.Data, 1)
	if err != nil {
		return err
	}
	all, err := u.whole(u.train, 1)
	if err != nil {
		return err
	}
	h := hearing{
		groups: []*group{near.group, all.group},
		near:   near.boundValue(device.All(rows.Data), sumSquares(rows.Y), u.stop),
		uphill: near.boundObjective(device.All(rows.Data), sumSquares(rows.Y), u.stop),
		all:    all.boundValue(u.seen(), u.seenYY(), u.stop),
	}
	for i := range u.tasks {
		alone := *u
		alone.tasks, alone.outcomes = u.tasks[i:i+1], u.outcomes[i:i+1]
		if err := alone.listenTo(ctx, &h); err != nil {
			return err
		}
	}
	return nil
}

// hearing is on what kernels are heard: the rows of the order and all of them.
type hearing struct {
	groups            []*group
	near, uphill, all objective
}

// listenTo finds, for the only kernel of a unit, the best of what its solution becomes as a
// rough function, or what those of its kin become.
func (u *unit) listenTo(ctx context.Context, h *hearing) error {
	for _, g := range h.groups {
		if err := u.load(g); err != nil {
			return err
		}
	}
	f := &u.outcomes[0]
	var tried []*ascent
	for _, x := range u.roughs() {
		a := &ascent{start: x}
		if err := value(u.all(), []*ascent{a}, h.near); err != nil {
			return err
		}
		if a.x != nil {
			tried = append(tried, a)
		}
	}
	slices.SortStableFunc(tried, func(a, b *ascent) int { return cmp.Compare(b.value, a.value) })
	if tried = tried[:min(heardBest, len(tried))]; len(tried) > 0 {
		a := &ascent{start: tried[0].x}
		if err := u.climb(ctx, u.all(), []*ascent{a}, heardSteps, h.uphill); err != nil {
			return err
		}
		if a.x != nil {
			tried = append(tried, a)
		}
	}
	if len(u.tasks[0].Gifts) == 0 {
		f.Heard = solution{X: f.State.Free, Value: f.ELBO}
	}
	for _, a := range tried {
		a := &ascent{start: a.x}
		if err := value(u.all(), []*ascent{a}, h.all); err != nil {
			return err
		}
		if a.x != nil && a.value > f.Heard.Value {
			f.Heard.X, f.Heard.Value = a.x, a.value
		}
	}
	return nil
}

// roughs are what is tried for the only kernel of a unit.
func (u *unit) roughs() (out [][]float64) {
	m, f := u.model(0), &u.outcomes[0]
	if len(u.tasks[0].Gifts) == 0 {
		return u.drawer.Roughen(m.program, f.State.Free)
	}
	return u.transplanted(f.Heard.X)
}

// transplanted is what gifts of its kin make of a solution of the only kernel of a unit.
func (u *unit) transplanted(x []float64) (out [][]float64) {
	m, rng := u.model(0), u.stream(0, 950+u.order.Time)
	for _, g := range u.tasks[0].Gifts {
		rel := m.kin[g.From]
		out = append(out, u.drawer.Transplant(rel, u.models[rel.From].program, m.program, g.X, x, rng)...)
	}
	return out
}
