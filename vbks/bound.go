package vbks

import (
	"context"
	"math"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/pace"
)

const (
	// chunkRows is the number of rows whose k(Z,X) is held as one matrix.
	chunkRows = 1024
	// keptEntries bounds what is kept of a kernel's k(Z,X) for the gradient, 64 MiB;
	// the rest is computed again.
	keptEntries = 8 << 20
)

// KeptRows returns of how many of the rows that a gradient is of k(Z,X) is kept.
func KeptRows(rows, inducing int) int {
	return min(rows, max(chunkRows, keptEntries/max(1, inducing)/chunkRows*chunkRows))
}

// collapsed computes Titsias' bound (2009, equation 9): the local ELBO at the
// optimal q(v), and its gradient by log θ and σ_n².
//
// By the envelope theorem the gradient is the uncollapsed one at that q(v). With
// w = 1/σ_n², Q = AAᵀ, S = (I + wQ)⁻¹, m = wSAy, β = L⁻ᵀm, the formulas of the
// uncollapsed bound become
//
//	∂/∂k(Z,X) = w (β rᵀ + P k(Z,X)),  P = L⁻ᵀ(I − S)L⁻¹,  r = y − k(X,Z)β
//	∂/∂k(Z,Z) = −½ L⁻ᵀ (mmᵀ + wQ − (I − S)) L⁻¹
//
// so that beyond one product with every row's k(Z,X), all is M x M.
//
// Where it is tight, the term of the trace, −wT/2 with T = Σ k(x,x) − tr Q, is −n/2
// log(1 + wT/n), which is a bound, too, and never lower (Artemev, Burt and van der
// Wilk, ICML 2021): to take a rough function that M inducing inputs do not resolve for
// noise is then no better than to take it for what it is. The gradient of that term is
// what it was times
//
//	ρ = 1/(1 + wT/n).
type collapsed struct {
	*group
	tight                 bool
	rho                   []float64      // of the members at the last evaluation
	eye, trace            device.Array   // I; tr Q
	kzx                   []device.Array // k(Z,X), a chunk each; the last of those kept serves all further ones
	kept                  int            // chunks at most
	a, bar                device.Array   // A of a chunk; ∂/∂k(Z,X) of a chunk
	kdiag, diagBar, r     device.Array
	q, prec, inv, p, work device.Array // Q; I + wQ and its factor; its inverse; P
	b, solved, beta, mean device.Array // Ay; L_B⁻¹Ay; β; m
	byRoot                bool         // prec holds C of S = CCᵀ, see Thawed
	exactly               []bool       // which members' predictions are from the rows themselves, see condition
	sumDiag, sumR2, sumV  device.Array
	gradZ                 device.Array // M x dim; nil unless the gradient by Z is wanted
	pace                  pace.Pace    // of chunks
}

// newCollapsed adds to a group the buffers of the collapsed bound.
func newCollapsed(g *group) (*collapsed, error) {
	c := &collapsed{group: g, kept: KeptRows(math.MaxInt, g.m) / chunkRows, exactly: make([]bool, g.capacity)}
	al, m := &allocator{g: g}, g.m
	c.a, c.bar = al.array(m, chunkRows), al.array(m, chunkRows)
	c.kdiag, c.diagBar, c.r = al.array(1, chunkRows), al.array(1, chunkRows), al.array(1, chunkRows)
	for _, p := range []*device.Array{&c.q, &c.prec, &c.inv, &c.p, &c.work} {
		*p = al.array(m, m)
	}
	for _, p := range []*device.Array{&c.b, &c.solved, &c.beta, &c.mean} {
		*p = al.array(m, 1)
	}
	c.sumDiag, c.sumR2, c.sumV = al.array(1, 1), al.array(1, 1), al.array(1, 1)
	if c.tight = g.tight; c.tight {
		c.eye, c.trace, c.rho = al.array(m, m), al.array(1, 1), make([]float64, g.capacity)
	}
	if al.err != nil {
		return nil, al.err
	}
	return c, nil
}

// stopped is asked between the parts of a long computation.
type stopped func() error

// ask asks where there is anybody to ask.
func (s stopped) ask() error {
	if s == nil {
		return nil
	}
	return s()
}

// chunk returns the array for the i-th chunk of k(Z,X), making it if need be.
func (c *collapsed) chunk(i int) (device.Array, error) {
	i = min(i, c.kept-1)
	for len(c.kzx) <= i {
		a, err := c.lane.NewArray(c.capacity, c.m, chunkRows)
		if err != nil {
			return nil, err
		}
		c.kzx = append(c.kzx, a)
	}
	return c.kzx[i], nil
}

// statistics computes L, Q, b = Ay and Σ k(x,x) over the given rows. With keep,
// chunks of k(Z,X) stay for the gradient.
func (c *collapsed) statistics(sub []int, x device.Points, keep bool, stop stopped) error {
	c.factorise(sub)
	return c.gather(sub, x, keep, stop)
}

// gather is statistics for θ and L as they stand. It waits for the lane now and then: a stop that
// is asked for while all rows stand in a queue would be late.
func (c *collapsed) gather(sub []int, x device.Points, keep bool, stop stopped) error {
	for _, k := range sub {
		c.exactly[k] = false
	}
	ln := c.lane
	ln.Fill(sub, c.q, 0)
	ln.Fill(sub, c.b, 0)
	ln.Fill(sub, c.sumDiag, 0)
	for i, from := 0, x.From; from < x.To; i, from = i+1, from+chunkRows {
		if err := stop.ask(); err != nil {
			return err
		}
		rows := x
		rows.From, rows.To = from, min(from+chunkRows, x.To)
		slot := 0
		if keep {
			slot = i
		}
		kzx, err := c.chunk(slot)
		if err != nil {
			return err
		}
		ln.Kernel(sub, c.ks, c.theta, c.z, rows, kzx)
		ln.Copy(sub, c.a, kzx)
		ln.Solve(sub, false, c.l, c.a)
		ln.Syrk(sub, 1, c.a, 1, c.q)
		ln.MulTargets(sub, 1, c.a, rows, 1, c.b)
		ln.KernelDiag(sub, c.ks, c.theta, rows, c.kdiag)
		ln.Sum(sub, false, c.kdiag, c.sumDiag)
		if err := c.paced(x); err != nil {
			return err
		}
	}
	return nil
}

// paced is called behind every chunk of the rows x. Where there is but one, what is done with it is not
// waited for.
func (c *collapsed) paced(x device.Points) error {
	if x.Len() <= chunkRows {
		return nil
	}
	return c.pace.Made(c.lane, 1)
}

// optimum factorises I + wQ and computes the bound into value, and
// solved = L_B⁻¹b.
func (c *collapsed) optimum(sub []int, n, yy float64) {
	ln := c.lane
	ln.Precision(sub, c.ks, c.theta, 1, c.q, c.prec)
	ln.Cholesky(sub, c.prec, c.info)
	ln.Copy(sub, c.solved, c.b)
	ln.Solve(sub, false, c.prec, c.solved)
	ln.Fill(sub, c.value, 0)
	ln.Bound(sub, c.ks, c.theta, n, yy, c.prec, c.solved, c.q, c.sumDiag, c.value)
}

// leastTrace is the least share of Σ k(x,x) that T is taken for: below it is rounding.
const leastTrace = 1e-9

// mostSignal is how many times the noise k(x,x) may be on average: beyond it all is
// rounding.
const mostSignal = 1e12

// tighten replaces the term of the trace in the members' values, and finds ρ. Where
// rounding has made T negative there is no bound.
func (c *collapsed) tighten(sub []int, n float64) error {
	ln := c.lane
	ln.Fill(sub, c.eye, 0)
	ln.AddDiagonal(sub, c.eye, 1)
	ln.Fill(sub, c.trace, 0)
	ln.Dot(sub, c.eye, c.q, c.trace)
	theta := make([]float64, c.ks.Params())
	for _, k := range sub {
		diag, err := c.scalar(c.sumDiag, k)
		if err != nil {
			return err
		}
		trace, err := c.scalar(c.trace, k)
		if err != nil {
			return err
		}
		if err := ln.Read(c.theta, k, theta); err != nil {
			return err
		}
		noise := theta[len(theta)-1]
		was, rest := (diag-trace)/noise, math.Max(diag-trace, leastTrace*diag)/noise
		more := (was - n*math.Log1p(rest/n)) / 2
		if diag-trace < -1e3*leastTrace*diag || diag > mostSignal*n*noise || math.IsNaN(more) {
			more = math.NaN()
		}
		c.rho[k] = 1 / (1 + rest/n)
		ln.AddDiagonal([]int{k}, c.value, more)
	}
	return nil
}

// byRho has something done for the members together whose ρ is the same.
func (c *collapsed) byRho(sub []int, do func(sub []int, rho float64)) {
	if !c.tight {
		do(sub, 1)
		return
	}
	for _, k := range sub {
		do([]int{k}, c.rho[k])
	}
}

// belief computes m = S b/σ_n² and β = L⁻ᵀm from solved; to be called after
// optimum.
func (c *collapsed) belief(sub []int) {
	ln := c.lane
	ln.Copy(sub, c.mean, c.solved)
	ln.Solve(sub, true, c.prec, c.mean)
	ln.Weight(sub, c.ks, c.theta, 1, 1, 1, c.mean)
	ln.Copy(sub, c.beta, c.mean)
	ln.Solve(sub, true, c.l, c.beta)
}

// fit finds the optimal q(v) from the rows x, whose targets' squares sum to yy, at θ as it stands.
func (c *collapsed) fit(sub []int, x device.Points, yy float64, stop stopped) error {
	c.factoriseAt(sub)
	if err := c.gather(sub, x, false, stop); err != nil {
		return err
	}
	c.optimum(sub, float64(x.Len()), yy)
	c.belief(sub)
	return nil
}

// eval computes the bound of the named members on the rows x, whose targets'
// squares sum to yy, with log p(θ) where the members have a prior; and, if
// grad, its gradient by the free vector into gradFree.
func (c *collapsed) eval(sub []int, x device.Points, yy float64, grad bool, stop stopped) error {
	whole, others := c.wholly(sub, x)
	if len(whole) > 0 {
		if err := c.entire(whole, x, grad, stop); err != nil {
			return err
		}
	}
	if len(others) > 0 {
		if err := c.sparse(others, x, yy, grad, stop); err != nil {
			return err
		}
	}
	ln := c.lane
	var gf device.Array
	if grad {
		gf = c.gradFree
	}
	ln.LogPrior(sub, c.free, c.group.mean, c.group.prec, c.lo, c.hi, c.wall, c.value, gf)
	return nil
}

// sparse is eval without log p(θ), where the inducing inputs are not all of the rows.
func (c *collapsed) sparse(sub []int, x device.Points, yy float64, grad bool, stop stopped) error {
	n := float64(x.Len())
	if err := c.statistics(sub, x, grad, stop); err != nil {
		return err
	}
	c.optimum(sub, n, yy)
	if c.tight {
		if err := c.tighten(sub, n); err != nil {
			return err
		}
	}
	if !grad {
		return nil
	}
	return c.gradient(sub, x, n, stop)
}

// gradient is the second half of sparse.
func (c *collapsed) gradient(sub []int, x device.Points, n float64, stop stopped) error {
	ln := c.lane
	c.belief(sub)
	// S = L_B⁻ᵀL_B⁻¹.
	ln.Inverse(sub, c.prec, c.inv)

	// p = I − S, then P = L⁻ᵀ p L⁻¹.
	ln.Fill(sub, c.p, 0)
	ln.AddScaled(sub, c.p, -1, c.inv)
	ln.AddDiagonal(sub, c.p, 1)
	// work = mmᵀ + ρwQ − p, where wQ = Precision(Q) − I.
	c.byRho(sub, func(sub []int, rho float64) { ln.Precision(sub, c.ks, c.theta, rho, c.q, c.work) })
	ln.AddDiagonal(sub, c.work, -1)
	ln.AddScaled(sub, c.work, -1, c.p)
	ln.Gemm(sub, false, true, 1, c.mean, c.mean, 1, c.work)
	// p = ρI − S from here on. tr(S Q) for the noise, before P overwrites p:
	// Σ v = ρ(Σ k(x,x) − tr Q) + tr SQ = ρ Σ k(x,x) − tr pQ.
	ln.Copy(sub, c.sumR2, c.sumDiag)
	if c.tight {
		c.byRho(sub, func(sub []int, rho float64) {
			ln.AddDiagonal(sub, c.p, rho-1)
			ln.AddScaled(sub, c.sumR2, rho-1, c.sumDiag)
		})
	}
	ln.Fill(sub, c.sumV, 0)
	ln.Dot(sub, c.p, c.q, c.sumV)
	ln.AddScaled(sub, c.sumR2, -1, c.sumV)
	ln.Copy(sub, c.sumV, c.sumR2)
	ln.Fill(sub, c.sumR2, 0)
	ln.SolveBoth(sub, c.l, c.p)
	ln.SolveBoth(sub, c.l, c.work)

	ln.Fill(sub, c.gradTheta, 0)
	if c.gradZ != nil {
		ln.Fill(sub, c.gradZ, 0)
	}
	for i, from := 0, x.From; from < x.To; i, from = i+1, from+chunkRows {
		if err := stop.ask(); err != nil {
			return err
		}
		rows := x
		rows.From, rows.To = from, min(from+chunkRows, x.To)
		kzx := c.kzx[min(i, c.kept-1)]
		if i >= c.kept-1 && x.Len() > c.kept*chunkRows {
			ln.Kernel(sub, c.ks, c.theta, c.z, rows, kzx) // of the chunk that was last there
		}
		ln.Residual(sub, rows, kzx, c.beta, c.r)
		ln.Sum(sub, true, c.r, c.sumR2)
		ln.Gemm(sub, false, false, 1, c.p, kzx, 0, c.bar)
		ln.BarKzx(sub, c.ks, c.theta, c.beta, c.r, c.bar)
		ln.KernelGrad(sub, c.ks, c.theta, c.z, rows, kzx, c.bar, c.gradTheta)
		if c.gradZ != nil {
			ln.KernelInputGrad(sub, c.ks, c.theta, c.z, rows, c.bar, c.gradZ)
		}
		// ∂/∂k(x,x) = −ρw/2 for every row.
		c.diagBar.Reshape(1, rows.Len())
		ln.Fill(sub, c.diagBar, 1)
		c.byRho(sub, func(sub []int, rho float64) { ln.Weight(sub, c.ks, c.theta, 1, 1, -0.5*rho, c.diagBar) })
		ln.KernelDiagGrad(sub, c.ks, c.theta, rows, c.diagBar, c.gradTheta)
		if err := c.paced(x); err != nil {
			return err
		}
	}
	// ∂/∂k(Z,Z) = −½ work.
	ln.Fill(sub, c.prec, 0)
	ln.AddScaled(sub, c.prec, -0.5, c.work)
	ln.JitterGrad(sub, c.prec, c.jitter, c.factor)
	ln.KernelGrad(sub, c.ks, c.theta, c.z, c.z, c.kzz, c.prec, c.gradTheta)
	if c.gradZ != nil { // each inducing input is a row and a column of k(Z,Z)
		ln.Copy(sub, c.work, c.prec)
		ln.AddScaled(sub, c.prec, 1, c.work)
		ln.KernelInputGrad(sub, c.ks, c.theta, c.z, c.z, c.prec, c.gradZ)
	}
	ln.NoiseGrad(sub, c.ks, c.theta, n, c.sumR2, c.sumV, c.gradTheta)
	ln.Collect(sub, c.ks, c.floor, c.theta, c.gradTheta, c.gradFree)
	return nil
}

// result reads member k's bound, and its gradient into grad if not nil. ok is
// false where a factorisation failed or a number is not finite.
func (c *collapsed) result(k int, grad []float64) (value float64, ok bool, err error) {
	info, err := c.scalar(c.info, k)
	if err != nil {
		return 0, false, err
	}
	value, err = c.scalar(c.value, k)
	if err != nil {
		return 0, false, err
	}
	ok = info == 0 && !math.IsNaN(value) && !math.IsInf(value, 0)
	if grad != nil && ok {
		full := make([]float64, c.ks.Free())
		if err := c.lane.Read(c.gradFree, k, full); err != nil {
			return 0, false, err
		}
		copy(grad, c.unpadded(k, full))
		for _, v := range grad {
			ok = ok && !math.IsNaN(v) && !math.IsInf(v, 0)
		}
	}
	return value, ok, nil
}

// gate is asked before every step: it blocks while the run is paused and
// returns an error to end it.
type gate func(context.Context) error
