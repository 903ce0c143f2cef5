package vbks

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/random"
)

const (
	// ProductRows is the number of rows up to which products with k(X,X) are
	// worth their n² values of the kernel each; productEntries bounds how much of it
	// is held at a time, 32 MiB. Of more rows log evidence has no useful upper bound.
	ProductRows    = 20_000
	productEntries = 4 << 20
	// Conjugate gradients end when what they leave open of the log evidence is below
	// openNats, and after so many products.
	openNats     = 0.02
	mostProducts = 40
	// Where bounds leave more than probedNats open the log determinant is estimated by so many probes and steps
	// of Lanczos; it lies within probedErrors standard errors, which are themselves of few probes.
	probedNats   = 1
	probes       = 8
	lanczosSteps = 20
	probedErrors = 4
)

// conjugate finds the quadratic term of one kernel's log evidence by products
// with the whole of K̂ = k(X,X) + σ²I, which are never stored if rows are many. For
// any v, with r = y − K̂v and Q̂ ⪯ K̂ as evidencer has it,
//
//	½vᵀ(y + r) ≤ ½yᵀK̂⁻¹y ≤ ½vᵀ(y + r) + ½rᵀQ̂⁻¹r
//
// (Artemev, Burt and van der Wilk 2021, section 3.2); v comes from conjugate
// gradients preconditioned by Q̂, which begin at its own solution.
//
// What the log determinant is above that of Q̂ the same products tell of probes beside v, u uniform on the sphere:
//
//	log|K̂| − log|Q̂| = tr log H = n E[uᵀ log(H) u],   H = Q̂^−½ K̂ Q̂^−½
//
// by the tridiagonal matrices that conjugate gradients make of H, stochastic Lanczos quadrature (Ubaru, Chen and Saad,
// SIAM J. Matrix Anal. Appl. 2017; as in Gardner, Pleiss, Bindel, Weinberger and Wilson, NeurIPS 2018). Few steps are
// an error of their own, which the rules of Gauss and, since no eigenvalue of H is below 1, of Gauss and Radau with a
// node at 1 enclose: the first one is above, the other below uᵀ log(H) u, as the derivatives of log alternate (Golub
// and Meurant 2010, Matrices, Moments and Quadrature, theorems 6.3 and 6.4).
type conjugate struct {
	ln    device.Lane
	ks    device.Kernels
	x     device.Points
	y     []float64
	noise float64
	rows  int // of k(X,X) at a time

	theta, a, prec, kxx, long, short, part device.Array // long is n x width
	whole                                  bool         // kxx holds all of k(X,X)
}

// put writes columns side by side into an array.
func (c *conjugate) put(to device.Array, columns [][]float64) {
	if len(columns) == 1 {
		c.ln.Write(to, 0, columns[0])
		return
	}
	rows, width := len(columns[0]), len(columns)
	flat := make([]float64, rows*width)
	for j, column := range columns {
		for i, v := range column {
			flat[i*width+j] = v
		}
	}
	c.ln.Write(to, 0, flat)
}

// get reads columns from an array, into those from row from on.
func (c *conjugate) get(from device.Array, columns [][]float64, first, rows int) error {
	width := len(columns)
	if width == 1 {
		return c.ln.Read(from, 0, columns[0][first:first+rows])
	}
	flat := make([]float64, rows*width)
	if err := c.ln.Read(from, 0, flat); err != nil {
		return err
	}
	for j, column := range columns {
		for i := range rows {
			column[first+i] = flat[i*width+j]
		}
	}
	return nil
}

func empty(columns [][]float64) [][]float64 {
	out := make([][]float64, len(columns))
	for j := range out {
		out[j] = make([]float64, len(columns[0]))
	}
	return out
}

// product returns K̂p of columns p. stop is asked between parts of k(X,X), which of many rows are much work.
func (c *conjugate) product(p [][]float64, stop stopped) ([][]float64, error) {
	sub := []int{0}
	c.put(c.long, p)
	out := empty(p)
	for from := 0; from < len(c.y); from += c.rows {
		if err := stop.ask(); err != nil {
			return nil, err
		}
		rows := c.x
		rows.From, rows.To = from, min(from+c.rows, len(c.y))
		if !c.whole {
			c.ln.Kernel(sub, c.ks, c.theta, rows, c.x, c.kxx)
		}
		c.ln.Gemm(sub, false, false, 1, c.kxx, c.long, 0, c.part)
		if err := c.get(c.part, out, rows.From, rows.To-rows.From); err != nil {
			return nil, err
		}
	}
	for j := range out {
		floats.AddScaled(out[j], c.noise, p[j])
	}
	return out, nil
}

// precondition returns Q̂⁻¹r = (r − AᵀB⁻¹Ar/σ²)/σ² of columns r.
func (c *conjugate) precondition(r [][]float64) ([][]float64, error) {
	sub := []int{0}
	c.put(c.long, r)
	c.ln.Gemm(sub, false, false, 1, c.a, c.long, 0, c.short)
	c.ln.Solve(sub, false, c.prec, c.short)
	c.ln.Solve(sub, true, c.prec, c.short)
	c.ln.Gemm(sub, true, false, 1, c.a, c.short, 0, c.long)
	out := empty(r)
	if err := c.get(c.long, out, 0, len(c.y)); err != nil {
		return nil, err
	}
	for j := range out {
		for i, v := range out[j] {
			out[j][i] = (r[j][i] - v/c.noise) / c.noise
		}
	}
	return out, nil
}

// probe draws columns with covariance Q̂, Aᵀu + σw with u and w normal, m and n of them.
func (c *conjugate) probe(rng *rand.Rand, width, m int) ([][]float64, error) {
	out, u := make([][]float64, width), make([][]float64, width)
	for j := range out {
		u[j], out[j] = make([]float64, m), make([]float64, len(c.y))
		for i := range u[j] {
			u[j][i] = rng.NormFloat64()
		}
	}
	c.put(c.short, u)
	c.ln.Gemm([]int{0}, true, false, 1, c.a, c.short, 0, c.long)
	if err := c.get(c.long, out, 0, len(c.y)); err != nil {
		return nil, err
	}
	for j := range out {
		for i := range out[j] {
			out[j][i] += math.Sqrt(c.noise) * rng.NormFloat64()
		}
	}
	return out, nil
}

// lanczos is what conjugate gradients have made of a probe: step lengths, and by what the residual has shrunk.
type lanczos struct{ alpha, beta []float64 }

// logs encloses uᵀ log(H) u: e₁ᵀ log(T) e₁ of the tridiagonal matrix T of the steps is not below it, and with a row
// more, such that 1 is an eigenvalue, not above. In place of what cannot be had it is 0 below, NaN above.
func (l *lanczos) logs() (least, most float64) {
	k := len(l.alpha)
	diag, beside := make([]float64, k, k+1), make([]float64, k)
	for i, a := range l.alpha {
		diag[i] = 1 / a
		if i > 0 {
			diag[i] += l.beta[i-1] / l.alpha[i-1]
		}
		beside[i] = math.Sqrt(l.beta[i]) / a
	}
	most = logOf(diag, beside)
	// The last entry of (T − I)⁻¹ by elimination from the first row on.
	pivot := diag[0] - 1
	for i := 1; i < k; i++ {
		pivot = diag[i] - 1 - beside[i-1]*beside[i-1]/pivot
	}
	last := 1 + beside[k-1]*beside[k-1]/pivot
	if !(pivot > 0) || !(last >= 1) || math.IsInf(last, 0) {
		return 0, most
	}
	if least = logOf(append(diag, last), beside); math.IsNaN(least) {
		least = 0
	}
	return least, most
}

// logOf is e₁ᵀ log(T) e₁ of a tridiagonal matrix that has no eigenvalue below 1 but for rounding.
func logOf(diag, beside []float64) float64 {
	t := mat.NewSymDense(len(diag), nil)
	for i, d := range diag {
		t.SetSym(i, i, d)
		if i > 0 {
			t.SetSym(i-1, i, beside[i-1])
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(t, true) {
		return math.NaN()
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	sum := 0.0
	for i, v := range eigen.Values(nil) {
		sum += vectors.At(0, i) * vectors.At(0, i) * math.Log(math.Max(v, 1))
	}
	return sum
}

// quadratic returns ½vᵀ(y + r) and ½rᵀQ̂⁻¹r, and what conjugate gradients have made of some probes. stop is asked within
// every product.
func (c *conjugate) quadratic(probes [][]float64, stop stopped) (value, open float64, probed []lanczos, err error) {
	first, err := c.precondition(append([][]float64{c.y}, probes...))
	if err != nil {
		return 0, 0, nil, err
	}
	v := first[0]
	residual := func() ([]float64, error) {
		at := empty(first)
		at[0] = v
		r, err := c.product(at, stop)
		if err != nil {
			return nil, err
		}
		floats.SubTo(r[0], c.y, r[0])
		return r[0], nil
	}
	left, err := residual()
	if err != nil {
		return 0, 0, nil, err
	}
	r := [][]float64{left}
	for _, p := range probes {
		r = append(r, slices.Clone(p))
	}
	z, err := c.precondition(r)
	if err != nil {
		return 0, 0, nil, err
	}
	p, rz := empty(z), make([]float64, len(z))
	for j := range z {
		copy(p[j], z[j])
		rz[j] = floats.Dot(r[j], z[j])
	}
	steps := make([]lanczos, len(probes))
	begun := slices.Clone(rz)
	going := func(i, j int) bool {
		if j == 0 {
			return i < mostProducts && 0.5*rz[0] > openNats
		}
		return i < lanczosSteps && len(steps[j-1].alpha) == i && rz[j] > 1e-14*begun[j]
	}
	for i := 0; ; i++ {
		any := false
		for j := range p {
			if any = any || going(i, j); !going(i, j) {
				clear(p[j])
			}
		}
		if !any {
			break
		}
		kp, err := c.product(p, stop)
		if err != nil {
			return 0, 0, nil, err
		}
		moved := make([]bool, len(p))
		for j := range p {
			if moved[j] = going(i, j); !moved[j] {
				continue
			}
			step := rz[j] / floats.Dot(p[j], kp[j])
			if j == 0 {
				floats.AddScaled(v, step, p[0])
			} else {
				steps[j-1].alpha = append(steps[j-1].alpha, step)
			}
			floats.AddScaled(r[j], -step, kp[j])
		}
		if z, err = c.precondition(r); err != nil {
			return 0, 0, nil, err
		}
		for j := range p {
			if !moved[j] {
				continue
			}
			before := rz[j]
			rz[j] = floats.Dot(r[j], z[j])
			if j > 0 {
				steps[j-1].beta = append(steps[j-1].beta, rz[j]/before)
			}
			floats.Scale(rz[j]/before, p[j])
			floats.Add(p[j], z[j])
		}
	}
	// The recurrence's residual drifts from v's: the bounds are v's.
	if r[0], err = residual(); err != nil {
		return 0, 0, nil, err
	}
	if z, err = c.precondition(r); err != nil {
		return 0, 0, nil, err
	}
	return 0.5 * (floats.Dot(v, c.y) + floats.Dot(v, r[0])), 0.5 * math.Max(0, floats.Dot(r[0], z[0])), steps, nil
}

// tighten replaces a kernel's bounds by those of products with all of k(X,X),
// where they are better. Where that leaves much open of rows that are not all gone through at every step, the log
// determinant is where probes say it is, within so many standard errors: what bounds it alone are the trace above and
// that of Q̂ below, thousands of nats apart of rough kernels. What a kernel's white noise has on the diagonal is seen
// only where k(X,X) is one matrix: without that it keeps its bounds.
func (u *unit) tighten(i int, known Evidence, prior float64) (Evidence, error) {
	n, program, free := u.order.Rows, u.model(i).program, u.outcomes[i].State.Free
	whole := n <= productEntries/n
	if !whole && whiteNoise(program) {
		return known, nil
	}
	ln, m := u.worker.lane, u.m
	ks, err := ln.NewKernels([]*kernelspace.Program{program})
	if err != nil {
		return known, err
	}
	held := []any{ks}
	defer func() { ln.Free(held...) }()
	array := func(r, c int) device.Array {
		if err != nil {
			return nil
		}
		var a device.Array
		if a, err = ln.NewArray(1, r, c); err == nil {
			held = append(held, a)
		}
		return a
	}
	c := &conjugate{ln: ln, ks: ks, x: u.seen(), y: u.y[:n], whole: whole, rows: min(n, max(1, productEntries/n))}
	if whole {
		c.rows = n
	}
	freeVector, factor, info, sum := array(1, ks.Free()), array(1, 1), array(1, 1), array(1, 1)
	l, q, kdiag := array(m, m), array(m, m), array(1, n)
	c.theta, c.a, c.prec = array(1, ks.Params()), array(m, n), array(m, m)
	width := 1
	if e, err := u.settings.Effort(n); err == nil && !e.Exact() && known.Slack() > probedNats {
		width += probes
	}
	c.kxx, c.long, c.short, c.part = array(c.rows, n), array(n, width), array(m, width), array(c.rows, width)
	if err != nil {
		return known, err
	}
	sub := []int{0}
	ln.Write(freeVector, 0, free)
	ln.Write(factor, 0, []float64{u.outcomes[i].Factor})
	ln.Expand(sub, ks, u.floor, freeVector, c.theta)
	theta := make([]float64, ks.Params())
	if err := ln.Read(c.theta, 0, theta); err != nil {
		return known, err
	}
	c.noise = theta[len(theta)-1]
	z := u.worker.group.z
	ln.Kernel(sub, ks, c.theta, z, z, l)
	ln.AddJitter(sub, l, u.jitter, factor)
	ln.Cholesky(sub, l, info)
	ln.Kernel(sub, ks, c.theta, z, c.x, c.a)
	ln.Solve(sub, false, l, c.a)
	ln.Syrk(sub, 1, c.a, 0, q)
	ln.Precision(sub, ks, c.theta, 1, q, c.prec)
	ln.Cholesky(sub, c.prec, info)
	ln.LogDiag(sub, c.prec, sum)
	if c.whole {
		ln.Kernel(sub, ks, c.theta, c.x, c.x, c.kxx)
	}
	ln.KernelDiag(sub, ks, c.theta, c.x, kdiag)
	diag, square := make([]float64, n), make([]float64, m*m)
	var half, failed [1]float64
	for _, r := range []struct {
		a  device.Array
		to []float64
	}{{sum, half[:]}, {info, failed[:]}, {kdiag, diag}, {q, square}} {
		if err := ln.Read(r.a, 0, r.to); err != nil {
			return known, err
		}
	}
	if failed[0] != 0 {
		return known, nil
	}
	var probed [][]float64
	if width > 1 {
		// The same for all kernels, whose gaps they then say more of.
		if probed, err = c.probe(random.Stream(u.settings.Seed, "log determinant", u.order.Number), width, m); err != nil {
			return known, err
		}
		probed = probed[:probes] // beside y
	}
	value, open, steps, err := c.quadratic(probed, u.stop)
	if err != nil {
		return known, err
	}
	rest := floats.Sum(diag)
	for j := range m {
		rest -= square[j*m+j]
	}
	rest = math.Max(0, rest)
	rows := float64(n)
	upper := -0.5*rows*math.Log(2*math.Pi*c.noise) - half[0] - value + prior
	better := Evidence{upper - open - 0.5*rows*math.Log1p(rest/(rows*c.noise)), upper, true}
	if !better.known() {
		return known, nil
	}
	better = Evidence{math.Max(known.Lower, better.Lower), math.Min(known.Upper, better.Upper), true}
	better.Upper = math.Max(better.Upper, better.Lower) // rounding
	if len(steps) > 0 {
		least, most := determinant(steps, n)
		closer := Evidence{math.Max(better.Lower, upper-open-most), math.Min(better.Upper, upper-least), true}
		if closer.known() && closer.Slack() > 0 { // else it contradicts what is sure
			return closer, nil
		}
	}
	return better, nil
}

// determinant is between what ½(log|K̂| − log|Q̂|) of n rows lies by what some probes tell, with probedErrors standard
// errors.
func determinant(steps []lanczos, n int) (least, most float64) {
	low, high := make([]float64, len(steps)), make([]float64, len(steps))
	for i := range steps {
		low[i], high[i] = steps[i].logs()
	}
	half := 0.5 * float64(n)
	wide := probedErrors * half / math.Sqrt(float64(len(steps)))
	return half*stat.Mean(low, nil) - wide*stat.StdDev(low, nil), half*stat.Mean(high, nil) + wide*stat.StdDev(high, nil)
}

// whiteNoise reports whether a kernel has a leaf of white noise.
func whiteNoise(p *kernelspace.Program) bool {
	for _, l := range p.Expr.Leaves() {
		if l.Base() == "WN" {
			return true
		}
	}
	return false
}
