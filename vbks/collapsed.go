package vbks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/periods"
)

// collapsedOptimizer takes the collapsed bound on all rows seen for the local
// ELBO: the search maximises just that, and is all there is to do, unless θ has a
// belief.
type collapsedOptimizer struct{}

func (collapsedOptimizer) scout(_, n, m int) (rows, inducing int) { return n, m }

func (collapsedOptimizer) search() searchTerms { return searchTerms{always: true, further: true} }

func (collapsedOptimizer) stepping() rule { return nil }

func (collapsedOptimizer) bounded() bool { return true }

func (collapsedOptimizer) complete(ctx context.Context, r *round) error {
	if err := r.own(ctx, r.live, r.n); err != nil {
		return err
	}
	for _, k := range r.live {
		f := &r.outcomes[k]
		f.ELBO = f.Best.Value
		if f.Best.X != nil {
			f.State = &State{Free: f.Best.X, Factor: f.Factor, Z: f.Own}
		}
	}
	if r.settings.pointEstimates() {
		o := r.order(phaseEvidence)
		o.Volumes = r.settings.laplace()
		few := o.Volumes && r.growing() && r.dear() && r.settings.Growth.Rows > 0
		if few {
			o.Least, o.Curved = r.best()-FarNats, r.partOf(r.settings.Growth.Rows)
		}
		r.keepVolumes()
		if err := r.each(ctx, o, r.tasks(r.live)); err != nil {
			return err
		}
		if few {
			r.assumeVolumes(o.Least)
		}
		if err := r.integrate(ctx); err != nil {
			return err
		}
		if err := r.tighten(ctx); err != nil {
			return err
		}
		if err := r.look(ctx); err != nil {
			return err
		}
		if r.growing() {
			return r.blur(ctx)
		}
		if r.n > r.settings.AllRows || r.rungs[len(r.rungs)-1] < r.n {
			return r.audible(ctx)
		}
		return r.listen(ctx)
	}
	return r.each(ctx, r.order(phaseTheta), r.tasks(r.live))
}

const (
	// What a solution takes for noise is a rough function where it is alike in neighbouring
	// rows by more than alikeSDs, and no less than leastRough of the targets' variance.
	alikeSDs   = 4.0
	leastRough = 0.01
)

// listen finds out, of few rows, whether what the best solution takes for noise is noise. If
// it is a function that is too rough for the inducing inputs, or one that repeats, bounds at what
// has been found say nothing about kernels that have a part for it: all rows come next.
func (r *round) listen(ctx context.Context) error {
	if r.searchedAgain(len(r.live)) || r.rough > 0 || !r.settings.autoInducing() || r.dim > 1 ||
		r.n > r.settings.AllRows || !r.concluding(r.number) ||
		r.rung+1 >= len(r.rungs) || r.rungs[len(r.rungs)-1] < r.n {
		return nil
	}
	rows := make([]int, r.n)
	for i := range rows {
		rows[i] = i
	}
	best, p, x, left, err := r.remainder(ctx, rows)
	if err != nil || best < 0 {
		return err
	}
	how := ""
	if p.Noise < leastRough {
	} else if periods.Alike(x, left) > alikeSDs {
		how = "is alike in neighbouring rows"
	} else if len(periods.Repeating(ctx, x, left, 1, r.settings.Seed)) > 0 {
		how = "repeats"
	}
	if ctx.Err() != nil { // then nothing was found, whatever there is
		return context.Cause(ctx)
	}
	if how != "" {
		r.unresolved = true
		r.remarks = append(r.remarks, Notice{Text: fmt.Sprintf("what %d inducing inputs take for noise %s: all rows come next", r.m, how)})
		return r.hear(ctx, r.live)
	}
	return r.hearOthers(ctx, best, p.Noise)
}

// foremost is the kernel with the best solution, −1 where none has one.
func (r *round) foremost() int {
	best := -1
	for _, k := range r.live {
		if f := &r.outcomes[k]; f.State != nil && f.Failure == "" && (best < 0 || f.ELBO > r.outcomes[best].ELBO) {
			best = k
		}
	}
	return best
}

// remainder is what the best solution leaves of the targets at these rows, each in the units of its
// noise where that differs, with its prediction and their inputs; best is −1 where no kernel has a solution.
func (r *round) remainder(ctx context.Context, rows []int) (best int, p *predicted, x, left []float64, err error) {
	if best = r.foremost(); best < 0 {
		return best, nil, nil, nil, nil
	}
	for _, i := range rows {
		x = append(x, r.data.X[i*r.dim:(i+1)*r.dim]...)
	}
	tasks := r.tasks([]int{best})
	tasks[0].Last = r.outcomes[best].State
	o := r.order(phasePredict)
	o.X = x
	if err := r.site().place(o); err != nil {
		return best, nil, nil, nil, err
	}
	if err := r.each(ctx, o, tasks); err != nil {
		return best, nil, nil, nil, err
	}
	p = r.outcomes[best].Prediction
	r.outcomes[best].Prediction = nil
	for j, i := range rows {
		left = append(left, (r.data.Y[i]-p.Mean[j])*math.Sqrt(r.weighing.of(i)))
	}
	return best, p, x, left, nil
}

const (
	// Of many rows these are listened to: so many, in so many runs of neighbours.
	heardRows = 4000
	heardRuns = 8
)

// audible finds out where not all rows of one input can come next, in the last evaluation of a rung, whether what the best
// solution takes for noise is noise. If neighbouring rows are alike in it bounds that are close say nothing: where a kernel
// could be rougher more inducing inputs are tried as long as there are rungs, and on the last one it is told.
func (r *round) audible(ctx context.Context) error {
	if !r.settings.autoInducing() || !r.settings.pointEstimates() || r.dim > 1 || !r.concluding(r.number) ||
		r.m == r.n || r.m < r.rungs[r.rung] || // Z has all inputs that there are
		!slices.ContainsFunc(r.live, r.mayBeRougher) {
		return nil
	}
	best, p, x, left, err := r.remainder(ctx, r.neighbours(heardRows, heardRuns))
	if err != nil || best < 0 || p.Noise < leastRough || periods.Alike(x, left) <= alikeSDs {
		return err
	}
	r.audibly = true
	if r.rung+1 == len(r.rungs) {
		r.remarks = append(r.remarks, Notice{Kernel: r.kernels[best].id, Text: fmt.Sprintf("what %d inducing inputs take for noise is alike in "+
			"neighbouring rows: a function that is rougher than they resolve, or that no kernel here has", r.m)})
	}
	return nil
}

// mayBeRougher reports whether a kernel has a part that could be a rougher function than it is.
func (r *round) mayBeRougher(k int) bool {
	s := r.outcomes[k].State
	return s != nil && len(r.drawer.Roughen(r.kernels[k].program, s.Free)) > 0
}

// neighbours are so many rows, of all that have been seen, in runs that lie next to each other, evenly spread, or all of
// them, in the order of the first input.
func (r *round) neighbours(rows, runs int) []int {
	order := inOrder(r.data.X, r.dim, r.n)
	if r.n <= rows {
		return order
	}
	out, run := make([]int, 0, rows), rows/runs
	for i := range runs {
		from := i * (r.n - run) / (runs - 1)
		out = append(out, order[from:from+run]...)
	}
	return out
}

// resolving reports whether all rows have come early, for a function too rough for fewer
// inducing inputs.
func (t *Trainer) resolving() bool { return t.rough > 0 && t.rung == t.rough }

// nextRough reports whether they come next.
func (t *Trainer) nextRough() bool { return t.rough > 0 && t.rung+1 == t.rough }

// predict predicts with the optimal q(v), where the order says so averaged over
// hyperparameters.
func (collapsedOptimizer) predict(u *unit) error {
	bound, last := u.worker.bound, u.last()
	if u.order.LeaveOut {
		return u.leftOut()
	}
	if u.order.Averaged {
		mean, variance, noise, ok, err := u.averaged()
		if err != nil {
			return err
		}
		if ok {
			u.foretell(mean, variance, noise)
			return nil
		}
	}
	var mean, variance [][]float64
	var noise []float64
	if u.settings.pointEstimates() {
		if err := u.posterior(last); err != nil {
			return err
		}
		for i, st := range last {
			_, s2 := params.Raw(u.model(i).program, st.Free, u.floor)
			noise = append(noise, s2)
		}
		var err error
		if mean, variance, err = bound.predict(u.all(), u.queried(), u.stop); err != nil {
			return err
		}
	} else {
		o, err := u.thetaObjective()
		if err != nil {
			return err
		}
		var means, chols [][]float64
		for i, st := range last {
			means, chols = append(means, st.Free), append(chols, u.thetaChol(i))
		}
		if mean, variance, noise, err = o.predict(u.all(), means, chols, u.queried()); err != nil {
			return err
		}
	}
	u.foretell(mean, variance, noise)
	return nil
}

// components needs no belief over θ, or takes the moments over its draws.
func (collapsedOptimizer) components(u *unit, parts []kernelspace.Component, out []ComponentPrediction) error {
	last := u.last()
	if u.order.Averaged {
		if ok, err := u.averagedComponents(parts, out); err != nil || ok {
			return err
		}
	}
	if !u.settings.pointEstimates() {
		o, err := u.thetaObjective()
		if err != nil {
			return err
		}
		return o.components(last[0].Free, u.thetaChol(0), parts, u.queried(), out)
	}
	if err := u.posterior(last); err != nil {
		return err
	}
	if _, ok, err := u.worker.bound.result(0, nil); err != nil || !ok {
		return cmp.Or(err, fmt.Errorf("the bound cannot be evaluated at %s", u.formatParams(u.model(0), last[0].Free)))
	}
	return u.worker.bound.components(parts, u.queried(), 1, u.stop, out)
}

// posterior finds what the members predict with at their last states, from all rows seen.
func (u *unit) posterior(last []*State) error {
	u.expand(last)
	return u.worker.bound.posterior(u.all(), u.seen(), u.seenYY(), u.stop)
}

// optimum finds the optimal q(v) of the members at their last states, from all rows seen.
func (u *unit) optimum(last []*State) error {
	u.expand(last)
	return u.worker.bound.fit(u.all(), u.seen(), u.seenYY(), u.stop)
}

// expand sets the members' hyperparameters to those of their last states.
func (u *unit) expand(last []*State) {
	bound := u.worker.bound
	for i, st := range last {
		bound.setFree(i, st.Free)
	}
	bound.lane.Expand(u.all(), bound.ks, bound.floor, bound.free, bound.theta)
}

// leaveOut computes, after statistics, optimum and belief of the rows x with targets y,
// mean and variance of f at each of them as q(v) would be without it, at the same
// hyperparameters and inducing inputs. With the column a of A = L⁻¹k(Z,X) of a row,
// B = I + AAᵀ/σ², s = aᵀB⁻¹a, the mean μ with the row and its share h = s/σ²,
//
//	μ₋ = (μ − h y)/(1 − h),   v₋ = s/(1 − h) + k(x,x) − aᵀa
//
// by the formula of Sherman and Morrison; with Z = X they are those of exact Gaussian
// processes (Rasmussen and Williams 2006, equations 5.10 to 5.12). Of blocks, which end
// before the rows ends, all rows are left out at once, see withoutBlock; nil: each row is one.
func (c *collapsed) leaveOut(
	sub []int, noise []float64, x device.Points, y []float64, ends []int, stop stopped,
) (mean, variance [][]float64, err error) {
	ln := c.lane
	mean, variance = make([][]float64, len(sub)), make([][]float64, len(sub))
	for i := range sub {
		mean[i], variance[i] = make([]float64, x.Len()), make([]float64, x.Len())
	}
	solved := make([]float64, c.m*chunkRows)
	for from, to := x.From, 0; from < x.To; from = to {
		if err := stop.ask(); err != nil {
			return nil, nil, err
		}
		to = min(from+chunkRows, x.To)
		if ends != nil { // whole blocks, as many as there is room for
			fit, whole := slices.BinarySearch(ends, to)
			if !whole {
				fit--
			}
			to = ends[fit]
		}
		rows := x
		rows.From, rows.To = from, to
		n := rows.Len()
		ln.Kernel(sub, c.ks, c.theta, c.z, rows, c.a)
		ln.Solve(sub, false, c.l, c.a)
		ln.Copy(sub, c.bar, c.a)
		ln.Solve(sub, false, c.prec, c.bar)
		ln.KernelDiag(sub, c.ks, c.theta, rows, c.kdiag)
		ln.Predict(sub, c.a, c.bar, c.mean, c.kdiag, c.r, c.diagBar)
		for i, k := range sub {
			mu, v := mean[i][from-x.From:][:n], variance[i][from-x.From:][:n]
			if err := ln.Read(c.r, k, mu); err != nil {
				return nil, nil, err
			}
			if err := ln.Read(c.diagBar, k, v); err != nil {
				return nil, nil, err
			}
			if err := ln.Read(c.bar, k, solved[:c.m*n]); err != nil {
				return nil, nil, err
			}
			if ends != nil {
				for begin := from; begin < to; {
					at, whole := slices.BinarySearch(ends, begin)
					if whole {
						at++
					}
					b := blas64.General{Rows: c.m, Cols: ends[at] - begin, Stride: n, Data: solved[begin-from : c.m*n]}
					withoutBlock(b, noise[i], y[begin-x.From:ends[at]-x.From], mu[begin-from:], v[begin-from:])
					begin = ends[at]
				}
				continue
			}
			for r := range n {
				s := 0.0
				for at := r; at < c.m*n; at += n {
					s += solved[at] * solved[at]
				}
				h := s / noise[i]
				mu[r] = (mu[r] - h*y[from-x.From+r]) / (1 - h)
				v[r] = s/(1-h) + math.Max(0, v[r]-s)
			}
		}
	}
	return mean, variance, nil
}

// withoutBlock makes of means and variances of f at the rows of a block those that they
// have without the block, b being L_B⁻¹A of its rows and y their targets. With
// S⁻¹ = (AᵀA + σ²I)⁻¹ the others predict a block (the identity behind Rasmussen and
// Williams 2006, 5.4.2, for more than one row) by
//
//	μ₋ = y − (S⁻¹)_bb⁻¹ (S⁻¹y)_b,   V₋ = (S⁻¹)_bb⁻¹ − σ²I,
//
// and what rows share of each other, H = bᵀb/σ², has all of it: (S⁻¹)_bb = (I − H)/σ²
// and (S⁻¹y)_b = (y − μ)/σ². What k(x,x) is above aᵀa comes back to the variances.
func withoutBlock(b blas64.General, noise float64, y, mu, v []float64) {
	n := len(y)
	shared := mat.NewSymDense(n, nil) // bᵀb
	blas64.Syrk(blas.Trans, 1, b, 0, shared.RawSymmetric())
	rest, left := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			rest.SetSym(i, j, -shared.At(i, j)/noise)
		}
		rest.SetSym(i, i, 1+rest.At(i, i))
		left.SetVec(i, y[i]-mu[i])
	}
	// Its eigenvalues are above 0: what rounding takes, where there is next to no noise, is put back.
	var chol mat.Cholesky
	known := chol.Factorize(rest)
	for more := leastLeft; !known && more < 1; more *= 10 {
		for i := range n {
			rest.SetSym(i, i, rest.At(i, i)+more)
		}
		known = chol.Factorize(rest)
	}
	inverse := mat.NewSymDense(n, nil)
	if known {
		known = solvable(chol.InverseTo(inverse)) && solvable(chol.SolveVecTo(left, left))
	}
	for i := range n {
		above := math.Max(0, v[i]-shared.At(i, i))
		if mu[i], v[i] = y[i]-left.AtVec(i), noise*math.Max(0, inverse.At(i, i)-1)+above; !known { // the rows say nothing
			mu[i], v[i] = math.NaN(), math.NaN()
		}
	}
}

// solvable reports whether a system has been solved, be it badly conditioned.
func solvable(err error) bool { return err == nil || errors.As(err, new(mat.Condition)) }

// leastLeft of a row's own part is what rounding leaves of it at least.
const leastLeft = 1e-13

// leftOut predicts the rows seen with the unit's kernels, each without itself, or without
// the block that it is in.
func (u *unit) leftOut() error {
	last := u.last()
	if err := u.optimum(last); err != nil {
		return err
	}
	var noise []float64
	for i, st := range last {
		_, s2 := params.Raw(u.model(i).program, st.Free, u.floor)
		noise = append(noise, s2)
	}
	x, y, ends, order := u.seen(), u.y[:u.order.Rows], []int(nil), []int(nil)
	if u.order.Block > 1 {
		order, ends = u.blocks()
		index := make([]int32, len(order))
		y = make([]float64, len(order))
		for i, r := range order {
			index[i], y[i] = int32(r), u.y[r]
		}
		var err error
		if x.Index, err = u.worker.lane.NewIndex(index); err != nil {
			return err
		}
		defer u.worker.lane.Free(x.Index)
	}
	mean, variance, err := u.worker.bound.leaveOut(u.all(), noise, x, y, ends, u.stop)
	if err != nil {
		return err
	}
	for i := range mean {
		if order != nil {
			mean[i], variance[i] = scattered(mean[i], order), scattered(variance[i], order)
		}
		for row := range mean[i] {
			if u.weights != nil { // they are of √w f
				w := u.weights[row]
				mean[i][row] /= math.Sqrt(w)
				variance[i][row] /= w
			}
		}
	}
	u.foretell(mean, variance, noise)
	return nil
}

// blocks divides the rows seen, in the order of the first input, evenly into blocks of the
// order's length or a little less, and returns behind which places of that order they end.
func (u *unit) blocks() (order, ends []int) {
	n := u.order.Rows
	order = inOrder(u.x, u.dim, n)
	count := (n + u.order.Block - 1) / u.order.Block
	for i := range count {
		ends = append(ends, n*(i+1)/count)
	}
	return order, ends
}

// inOrder are the first n rows in the order of the first input.
func inOrder(x []float64, dim, n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(x[a*dim], x[b*dim]) })
	return rows
}

// scattered returns values of rows in some order by row.
func scattered(values []float64, order []int) []float64 {
	out := make([]float64, len(values))
	for i, r := range order {
		out[r] = values[i]
	}
	return out
}
