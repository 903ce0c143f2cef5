package vbks

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/laplace"
	"example.com/kestrel/vbks/random"
)

// thetaObjective is the collapsed bound with a belief q(log θ) = N(mean, CCᵀ)
// over the whole free vector of each member of a group, for the ascent over
// mean and C:
//
//	(1/S) Σ_s bound(mean + Cη_s) − KL[q(log θ) ‖ p(log θ)]
//
// Each draw has its own optimal q(v). The draws η_s of a member never change
// (a sample average approximation), so that the objective is deterministic and
// smooth. They have mean 0 and covariance I exactly, see matchedDraws: an ascent
// over C would otherwise find directions that few draws reach, and leave q as
// wide as the prior there. The average is exact where the bound is a
// polynomial of degree three in log θ.
//
// Even so the value at its maximum is optimistic, above all for a full C over
// many parameters: report's estimate is from other and more draws, see widen.
//
// The soft bounds act at the draws; log p(θ) is in the KL.
//
// A member's variables are the mean (F), the logarithms of the diagonal of C
// (F) and, unless C is diagonal, its entries below the diagonal, row by row
// (F(F−1)/2). F is the member's own number of free parameters, with ρ.
type thetaObjective struct {
	bound    *collapsed
	rows     device.Points
	yy       float64 // Σ y² over rows
	diagonal bool    // C is diagonal
	stop     stopped
	priors   []prior
	draws    [][][]float64 // of each member: S x F
	others   [][][]float64 // for choosing between beliefs, and for predictions
	fresh    [][][]float64 // for what is reported
	loaded   [][]float64   // precisions that the group was loaded with, padded

	results []thetaResult // of the members' last evaluation
}

// reportPairs is the least number of antithetic pairs in report.
const reportPairs = 32

// thetaResult is a member's value and gradient by its variables.
type thetaResult struct {
	value float64
	grad  []float64
	ok    bool
}

// newThetaObjective makes the objective for all kernels that the bound's group
// is loaded with, on the rows x with targets' squares yy. names are the kernels'
// own, for their streams of random numbers; priors need a positive precision
// for every entry. stop may be nil.
func newThetaObjective(
	c *collapsed, x device.Points, yy float64, diagonal bool, seed uint64, names []string, priors []prior, stop stopped,
) (*thetaObjective, error) {
	o := &thetaObjective{
		bound: c, rows: x, yy: yy, diagonal: diagonal, stop: stop, priors: priors,
		draws: make([][][]float64, len(names)), others: make([][][]float64, len(names)), fresh: make([][][]float64, len(names)),
		loaded: make([][]float64, len(names)), results: make([]thetaResult, len(names)),
	}
	for k, name := range names {
		for _, v := range priors[k].prec {
			if !(v > 0) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("%s: q(θ) needs a prior for every hyperparameter, precision %g", name, v)
			}
		}
		f := c.freeLen(k)
		o.draws[k] = matchedDraws(seed, name+" draws", f, max(thetaDraws/2, f))
		o.others[k] = predictionDraws(seed, name, f)
		o.fresh[k] = matchedDraws(seed, name+" fresh draws", f, max(reportPairs, f))
		o.loaded[k] = make([]float64, c.ks.Free())
		if err := c.lane.Read(c.group.prec, k, o.loaded[k]); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// predictionDraws are the η of a kernel that predictions average over.
func predictionDraws(seed uint64, name string, f int) [][]float64 {
	return matchedDraws(seed, name+" other draws", f, max(reportPairs, f))
}

// matchedDraws returns 2·pairs antithetic draws of f standard normal numbers,
// linearly transformed such that their second moments are those of the
// distribution,
//
//	(1/S) Σ_s η_s η_sᵀ = I,
//
// for which pairs must be at least f.
func matchedDraws(seed uint64, name string, f, pairs int) [][]float64 {
	columns := make([][]float64, f)
	for j := range columns {
		columns[j] = make([]float64, pairs)
	}
	for i := range pairs {
		rng := random.Stream(seed, name, i)
		for j := range columns {
			columns[j][i] = rng.NormFloat64()
		}
	}
	for j, c := range columns {
		// Gram and Schmidt's, twice: once is not orthogonal to rounding.
		for range 2 {
			for _, b := range columns[:j] {
				floats.AddScaled(c, -floats.Dot(b, c)/float64(pairs), b)
			}
			floats.Scale(math.Sqrt(float64(pairs))/floats.Norm(c, 2), c)
		}
	}
	draws := make([][]float64, 2*pairs)
	for i := range pairs {
		plus, minus := make([]float64, f), make([]float64, f)
		for j, c := range columns {
			plus[j], minus[j] = c[i], -c[i]
		}
		draws[2*i], draws[2*i+1] = plus, minus
	}
	return draws
}

// pack returns the variables of N(mean, CCᵀ); chol is C, F x F row-major lower
// with a diagonal that is not 0. What is below it is left out if C is diagonal.
func (o *thetaObjective) pack(mean, chol []float64) []float64 {
	f := len(mean)
	x := append(make([]float64, 0, o.size(f)), mean...)
	sign := make([]float64, f)
	for i := range f {
		x = append(x, math.Log(math.Abs(chol[i*f+i])))
		sign[i] = math.Copysign(1, chol[i*f+i])
	}
	if o.diagonal {
		return x
	}
	for i := range f {
		for j := range i {
			x = append(x, sign[j]*chol[i*f+j])
		}
	}
	return x
}

// unpack is the reverse of pack.
func (o *thetaObjective) unpack(x []float64) (mean, chol []float64) {
	f := o.frees(len(x))
	mean, chol = append([]float64(nil), x[:f]...), make([]float64, f*f)
	below := x[2*f:]
	for i := range f {
		chol[i*f+i] = math.Exp(x[f+i])
		if !o.diagonal {
			copy(chol[i*f:i*f+i], below)
			below = below[i:]
		}
	}
	return mean, chol
}

// size returns the number of variables of a member with f free parameters.
func (o *thetaObjective) size(f int) int {
	if o.diagonal {
		return 2 * f
	}
	return 2*f + f*(f-1)/2
}

// frees is the reverse of size.
func (o *thetaObjective) frees(size int) int {
	f := size / 2
	for o.size(f) > size {
		f--
	}
	return f
}

// objective returns what ascend needs.
func (o *thetaObjective) objective() objective {
	return objective{eval: o.eval, result: o.result}
}

// eval evaluates the members sub at the variables xs, xs[i] those of sub[i]:
// one batch for each draw.
func (o *thetaObjective) eval(sub []int, xs [][]float64) error {
	return o.average(sub, xs, o.draws, true)
}

// report estimates the ELBO of the members sub at the variables xs from draws
// that the ascent has not seen, others or fresh; ok is false where the bound could not be
// evaluated at one.
func (o *thetaObjective) report(sub []int, xs [][]float64, draws [][][]float64) (values []float64, ok []bool, err error) {
	if err := o.average(sub, xs, draws, false); err != nil {
		return nil, nil, err
	}
	for _, k := range sub {
		values, ok = append(values, o.results[k].value), append(ok, o.results[k].ok)
	}
	return values, ok, nil
}

// average computes the results of the members sub over the given draws. A
// member that fails at a draw takes no part in those that follow.
func (o *thetaObjective) average(sub []int, xs [][]float64, draws [][][]float64, gradient bool) error {
	means, chols := make([][]float64, len(sub)), make([][]float64, len(sub))
	byMean, byChol := make([][]float64, len(sub)), make([][]float64, len(sub))
	for i, k := range sub {
		means[i], chols[i] = o.unpack(xs[i])
		byMean[i], byChol[i] = make([]float64, len(means[i])), make([]float64, len(chols[i]))
		o.results[k] = thetaResult{ok: true}
	}
	c := o.bound
	c.lane.Fill(sub, c.group.prec, 0)
	defer func() {
		for _, k := range sub {
			c.lane.Write(c.group.prec, k, o.loaded[k])
		}
	}()
	err := o.each(sub, means, chols, draws, func(s int, live, at []int) ([]int, error) {
		if err := c.eval(live, o.rows, o.yy, gradient, o.stop); err != nil {
			return nil, err
		}
		var good []int
		for i, k := range live {
			var grad []float64
			if gradient {
				grad = make([]float64, len(means[at[i]]))
			}
			value, ok, err := c.result(k, grad)
			if err != nil {
				return nil, err
			}
			if !ok {
				o.results[k].ok = false
				continue
			}
			good = append(good, at[i])
			w := 1 / float64(len(draws[k]))
			o.results[k].value += w * value
			for a, g := range grad {
				byMean[at[i]][a] += w * g
				row := byChol[at[i]][a*len(grad):]
				floats.AddScaled(row[:a+1], w*g, draws[k][s][:a+1])
			}
		}
		return good, nil
	})
	if err != nil {
		return err
	}
	for i, k := range sub {
		r := &o.results[k]
		if !r.ok {
			continue
		}
		r.value -= thetaKL(means[i], chols[i], o.priors[k])
		if gradient {
			r.grad = o.gradient(means[i], chols[i], byMean[i], byChol[i], o.priors[k])
		}
		r.ok = finite([]float64{r.value}) && finite(r.grad)
	}
	return nil
}

// each sets the free vectors to mean + Cη for one η after another. visit is
// told the members that have a draw s, and where each is in sub, and returns
// the places of those that go on.
func (o *thetaObjective) each(
	sub []int, means, chols [][]float64, draws [][][]float64, visit func(s int, live, at []int) ([]int, error),
) error {
	places := make([]int, len(sub))
	for i := range sub {
		places[i] = i
	}
	for s := 0; ; s++ {
		var live, at []int
		for _, i := range places {
			k := sub[i]
			if s < len(draws[k]) {
				o.bound.setFree(k, affine(means[i], chols[i], draws[k][s]))
				live, at = append(live, k), append(at, i)
			}
		}
		if len(live) == 0 {
			return nil
		}
		var err error
		if places, err = visit(s, live, at); err != nil {
			return err
		}
	}
}

// affine returns mean + Cη.
func affine(mean, chol, eta []float64) []float64 {
	f := len(mean)
	x := append([]float64(nil), mean...)
	for i := range x {
		x[i] += floats.Dot(chol[i*f:i*f+i+1], eta[:i+1])
	}
	return x
}

// gradient turns the gradients of the average bound by mean and C into that of
// the objective by the variables:
//
//	∂KL/∂mean_i = p_i (mean_i − m₀_i),  ∂KL/∂c_ij = p_i c_ij − [i = j]/c_ii
func (o *thetaObjective) gradient(mean, chol, byMean, byChol []float64, p prior) []float64 {
	f := len(mean)
	grad := make([]float64, o.size(f))
	below := grad[2*f:]
	for i := range f {
		grad[i] = byMean[i] - p.prec[i]*(mean[i]-p.mean[i])
		c := chol[i*f+i]
		grad[f+i] = c*byChol[i*f+i] - (p.prec[i]*c*c - 1)
		if o.diagonal {
			continue
		}
		for j := range i {
			below[j] = byChol[i*f+j] - p.prec[i]*chol[i*f+j]
		}
		below = below[i:]
	}
	return grad
}

// result returns member k's value, and its gradient in grad if not nil. ok is
// false where the bound could not be evaluated at a draw.
func (o *thetaObjective) result(k int, grad []float64) (value float64, ok bool, err error) {
	r := &o.results[k]
	copy(grad, r.grad)
	return r.value, r.ok, nil
}

// widen turns the point estimates of a unit into beliefs q(log θ), for the
// collapsed bound, and takes the local ELBOs from them.
//
// The ascents begin at the normal density of the mode's curvature, and at the last
// belief where that goes on: of a diagonal C first, which a full one contains, and then
// of the full one. An ascent over C can follow its few draws too far. So of where it
// began and ended, what is best on draws that no ascent has seen is taken; and the local
// ELBO is that on still others.
func (u *unit) widen(ctx context.Context) error {
	if err := u.load(u.worker.bound.group); err != nil {
		return err
	}
	full, err := u.thetaObjective()
	if err != nil {
		return err
	}
	var sub []int
	var modes [][]float64
	for i := range u.outcomes {
		if f := &u.outcomes[i]; f.Failure == "" && f.State != nil {
			sub, modes = append(sub, i), append(modes, f.State.Free)
		}
	}
	curved, err := u.volumesAt(u.worker.bound, sub, modes)
	if err != nil {
		return err
	}
	diagonal := *full
	diagonal.diagonal = true
	forms := []*thetaObjective{&diagonal, full}
	if full.diagonal {
		forms = forms[:1]
	}
	best := make([]*thetaCandidate, len(sub))
	for _, o := range forms {
		if err := u.climbBeliefs(ctx, o, sub, curved, best); err != nil {
			return err
		}
	}
	var widened []int
	var xs [][]float64
	for j, i := range sub {
		f := &u.outcomes[i]
		switch {
		case f.Failure != "":
		case best[j] == nil:
			f.Failure = "no belief over the hyperparameters could be found, at " + u.formatParams(u.model(i), f.State.Free)
		default:
			widened, xs = append(widened, i), append(xs, full.pack(best[j].mean, best[j].chol))
			f.Best.Gain = best[j].gain
		}
	}
	values, ok, err := full.report(widened, xs, full.fresh)
	if err != nil {
		return err
	}
	for j, i := range widened {
		f := &u.outcomes[i]
		if !ok[j] {
			values[j] = math.NaN()
		}
		f.ELBO, f.State.Mode = values[j], f.State.Free
		f.State.Free, f.State.ThetaChol = full.unpack(xs[j])
	}
	return nil
}

// thetaCandidate is a belief that has been valued on draws that no ascent has seen.
type thetaCandidate struct {
	mean, chol []float64
	value      float64
	gain       float64 // that is still expected of the ascent that led to it
}

// climbBeliefs lets the beliefs of the members sub climb in the form of an objective from
// their curvatures, and from their last ones where these go on, and keeps in best what is
// better on draws that no ascent has seen.
func (u *unit) climbBeliefs(ctx context.Context, o *thetaObjective, sub []int, curved []laplace.Volume, best []*thetaCandidate) error {
	starts := [2][]*ascent{make([]*ascent, len(sub)), make([]*ascent, len(sub))}
	for j, i := range sub {
		f := &u.outcomes[i]
		chol := curved[j].Chol
		if chol == nil {
			chol = u.narrow(i, f.State.Free)
		}
		if o.diagonal {
			chol = narrowed(chol, len(f.State.Free))
		}
		starts[0][j] = &ascent{start: o.pack(f.State.Free, chol)}
		if last := u.tasks[i].Last; last != nil && last.ThetaChol != nil && f.Best.Source == sourceLast {
			starts[1][j] = &ascent{start: o.pack(last.Free, last.ThetaChol)}
		}
	}
	for turn, runs := range starts {
		var members, places []int
		var some []*ascent
		var began [][]float64
		for j, a := range runs {
			if a != nil && u.outcomes[sub[j]].Failure == "" {
				members, places, some, began = append(members, sub[j]), append(places, j), append(some, a), append(began, a.start)
			}
		}
		offer := func(at []int, xs [][]float64) error {
			values, ok, err := o.report(at, xs, o.others)
			if err != nil {
				return err
			}
			for m, i := range at {
				j := slices.Index(sub, i)
				if ok[m] && (best[j] == nil || values[m] > best[j].value) {
					mean, chol := o.unpack(xs[m])
					best[j] = &thetaCandidate{mean, chol, values[m], runs[j].further()}
				}
			}
			return nil
		}
		if err := offer(members, began); err != nil {
			return err
		}
		if turn == 0 { // a last belief goes on in the place of the curvature
			for m := len(members) - 1; m >= 0; m-- {
				if starts[1][places[m]] != nil {
					members, places, some = slices.Delete(members, m, m+1), slices.Delete(places, m, m+1), slices.Delete(some, m, m+1)
				}
			}
		}
		if err := ascend(ctx, u.gate, members, some, u.settings.Steps, o.objective()); err != nil {
			return err
		}
		var ended []int
		var ends [][]float64
		for m, a := range some {
			if u.breaks(members[m], a, u.outcomes[members[m]].State.Free); a.x != nil {
				ended, ends = append(ended, sub[places[m]]), append(ends, a.x)
			}
		}
		if err := offer(ended, ends); err != nil {
			return err
		}
	}
	return nil
}

// narrowed is the factor of the diagonal normal density that is closest to N(·, CCᵀ) in
// KL[q ‖ p], whose precisions are the diagonal of (CCᵀ)⁻¹.
func narrowed(chol []float64, f int) []float64 {
	out := make([]float64, f*f)
	for j := range f {
		column := make([]float64, f) // of C⁻¹
		square := 0.0
		for i := j; i < f; i++ {
			if i == j {
				column[i] = 1
			}
			for k := j; k < i; k++ {
				column[i] -= chol[i*f+k] * column[k]
			}
			column[i] /= chol[i*f+i]
			square += column[i] * column[i]
		}
		out[j*f+j] = 1 / math.Sqrt(square)
	}
	return out
}

// narrow is the factor of a narrow q(log θ) of member i, diagonal.
func (u *unit) narrow(i int, free []float64) []float64 {
	n := len(free)
	chol := make([]float64, n*n)
	for j, d := range u.strides(u.model(i).program, free) {
		chol[j*n+j] = thetaStart * d
	}
	return chol
}

// thetaChol is the factor of the q(log θ) that member i had last, narrow where
// there was none yet.
func (u *unit) thetaChol(i int) []float64 {
	st := u.tasks[i].Last
	if st.ThetaChol == nil {
		return u.narrow(i, st.Free)
	}
	return st.ThetaChol
}

// thetaObjective is the objective of a unit's beliefs over hyperparameters.
func (u *unit) thetaObjective() (*thetaObjective, error) {
	names := make([]string, len(u.tasks))
	for i := range names {
		names[i] = u.model(i).id
	}
	return newThetaObjective(u.worker.bound, u.seen(), u.seenYY(), u.settings.Hyperparameters == "diagonal",
		u.settings.Seed, names, u.priors(), u.stop)
}
