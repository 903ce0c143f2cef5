package vbks

import "example.com/kestrel/device"

// svgp computes the uncollapsed local ELBO of a minibatch of B rows that stands
// for n (Hensman, Fusi and Lawrence 2013, whitened), and its gradients. With
// A = L⁻¹k(Z,X), w = n/(Bσ_n²), r = y − Aᵀm and q(v) = N(m, S):
//
//	𝓛 = (n/B) Σ_b [ log N(y_b; μ_b, σ_n²) − v_b/2σ_n² ] − KL[N(m,S) ‖ N(0,I)] + log p(θ)
//	Ā = ∂𝓛/∂A = w[m rᵀ + A − SA]     ∂𝓛/∂k(Z,X) = L⁻ᵀĀ     ∂𝓛/∂k(x,x) = −w/2
//	∂𝓛/∂k(Z,Z) = ½(G + Gᵀ),  G = L⁻ᵀ Φ(−ĀAᵀ) L⁻¹
//	∂𝓛/∂m = wAr − m     ∂𝓛/∂C = tril(−wAAᵀC − C + C⁻ᵀ)
//
// q(v) is held in one of two forms. By its factor: S = CCᵀ, with C in qc. By
// its precision: S⁻¹ = Λ = FFᵀ, with F in qc; then C = F⁻ᵀ, and a product with
// C is a triangular solve.
type svgp struct {
	*group
	rows      int  // the most rows of a batch
	precision bool // qc holds F, not C

	kzx, a, ca, sa device.Array // k(Z,X); A; CᵀA; SA, then Ā and L⁻ᵀĀ: M x B
	kdiag, diagBar device.Array // k(x,x); ∂𝓛/∂k(x,x): 1 x B
	mu, v, r       device.Array // 1 x B
	qm, qc         device.Array // m; C or F
	gradM, gradC   device.Array
	kbar, work     device.Array // scratch, M x M
	gradZ          device.Array // M x dim; nil unless gradients by Z are wanted
	thetaPrec      device.Array // precisions of log p(θ) in evaluate
}

// newSVGP adds to a group the buffers of the uncollapsed bound on at most rows
// rows.
func newSVGP(g *group, rows int) (*svgp, error) {
	s := &svgp{group: g, rows: rows, thetaPrec: g.prec}
	al := &allocator{g: g}
	for _, p := range []*device.Array{&s.kzx, &s.a, &s.ca, &s.sa} {
		*p = al.array(g.m, rows)
	}
	for _, p := range []*device.Array{&s.kdiag, &s.diagBar, &s.mu, &s.v, &s.r} {
		*p = al.array(1, rows)
	}
	for _, p := range []*device.Array{&s.qc, &s.gradC, &s.kbar, &s.work} {
		*p = al.array(g.m, g.m)
	}
	s.qm, s.gradM = al.array(g.m, 1), al.array(g.m, 1)
	if al.err != nil {
		return nil, al.err
	}
	return s, nil
}

// project computes k(Z,X) and A for the rows x, from the factor L.
func (s *svgp) project(sub []int, x device.Points) {
	ln := s.lane
	ln.Kernel(sub, s.ks, s.theta, s.z, x, s.kzx)
	ln.Copy(sub, s.a, s.kzx)
	ln.Solve(sub, false, s.l, s.a)
}

// marginals computes the mean μ and the variance v of f at the rows x, which
// project was called for.
func (s *svgp) marginals(sub []int, x device.Points) {
	ln := s.lane
	if s.precision {
		ln.Copy(sub, s.ca, s.a)
		ln.Solve(sub, false, s.qc, s.ca)
	} else {
		ln.MulLower(sub, true, s.qc, s.a, s.ca)
	}
	ln.KernelDiag(sub, s.ks, s.theta, x, s.kdiag)
	s.mu.Reshape(1, x.Len())
	s.v.Reshape(1, x.Len())
	ln.Predict(sub, s.a, s.ca, s.qm, s.kdiag, s.mu, s.v)
}

// expected sets value to the expected log likelihood of the rows x times n/B
// and starts the gradient by θ with its derivative by σ_n²; marginals was
// called before.
func (s *svgp) expected(sub []int, x device.Points, n float64, grad bool) {
	ln := s.lane
	ln.Fill(sub, s.value, 0)
	s.r.Reshape(1, x.Len())
	var gt device.Array
	if grad {
		gt = s.gradTheta
		ln.Fill(sub, gt, 0)
	}
	ln.Likelihood(sub, s.ks, s.theta, x, n, s.mu, s.v, s.r, s.value, gt)
}

// thetaGradient completes gradTheta after expected.
func (s *svgp) thetaGradient(sub []int, x device.Points, n float64) {
	ln := s.lane
	if s.precision {
		ln.Copy(sub, s.sa, s.ca)
		ln.Solve(sub, true, s.qc, s.sa)
	} else {
		ln.MulLower(sub, false, s.qc, s.ca, s.sa)
	}
	ln.ABar(sub, s.ks, s.theta, n, s.qm, s.r, s.a, s.sa)

	// Φ + Φᵀ is the lower triangle of −ĀAᵀ made symmetric, so that
	// kbar = ½(G + Gᵀ) = ½ L⁻ᵀ (Φ + Φᵀ) L⁻¹.
	ln.GemmLower(sub, false, true, -0.5, s.sa, s.a, s.kbar)
	ln.SolveBoth(sub, s.l, s.kbar)
	ln.JitterGrad(sub, s.kbar, s.jitter, s.factor)
	ln.KernelGrad(sub, s.ks, s.theta, s.z, s.z, s.kzz, s.kbar, s.gradTheta)

	ln.Solve(sub, true, s.l, s.sa)
	ln.KernelGrad(sub, s.ks, s.theta, s.z, x, s.kzx, s.sa, s.gradTheta)

	s.diagBar.Reshape(1, x.Len())
	ln.Fill(sub, s.diagBar, 1)
	ln.Weight(sub, s.ks, s.theta, n, x.Len(), -0.5, s.diagBar)
	ln.KernelDiagGrad(sub, s.ks, s.theta, x, s.diagBar, s.gradTheta)

	if s.gradZ != nil {
		// Each inducing input is a row and a column of k(Z,Z).
		ln.Copy(sub, s.work, s.kbar)
		ln.AddScaled(sub, s.kbar, 1, s.work)
		ln.Fill(sub, s.gradZ, 0)
		ln.KernelInputGrad(sub, s.ks, s.theta, s.z, s.z, s.kbar, s.gradZ)
		ln.KernelInputGrad(sub, s.ks, s.theta, s.z, x, s.sa, s.gradZ)
	}
}

// beliefGradient computes the gradients by m and C, after thetaGradient or
// expected, and takes the KL from value. It needs q(v) by its factor and leaves
// wCᵀA in ca.
func (s *svgp) beliefGradient(sub []int, x device.Points, n float64) {
	ln := s.lane
	ln.Gemm(sub, false, true, 1, s.a, s.r, 0, s.gradM)
	ln.Weight(sub, s.ks, s.theta, n, x.Len(), 1, s.gradM)
	ln.Weight(sub, s.ks, s.theta, n, x.Len(), 1, s.ca)
	ln.GemmLower(sub, false, true, -1, s.a, s.ca, s.gradC)
	ln.GaussKL(sub, s.qm, s.qc, s.value, s.gradM, s.gradC)
}

// subtractKL takes KL[q(v) ‖ N(0,I)] from value.
func (s *svgp) subtractKL(sub []int) {
	ln := s.lane
	if !s.precision {
		ln.GaussKL(sub, s.qm, s.qc, s.value, nil, nil)
		return
	}
	// F⁻¹ = Cᵀ has the Frobenius norm and the determinant of C.
	ln.Fill(sub, s.kbar, 0)
	ln.AddDiagonal(sub, s.kbar, 1)
	ln.Solve(sub, false, s.qc, s.kbar)
	ln.GaussKL(sub, s.qm, s.kbar, s.value, nil, nil)
}

// bound computes the local ELBO of the rows x, without log p(θ), into value,
// from θ and L as they are; and if grad, its gradients into gradTheta and,
// where q(v) is held by its factor, gradM and gradC.
func (s *svgp) bound(sub []int, x device.Points, n float64, grad bool) {
	s.project(sub, x)
	s.marginals(sub, x)
	s.expected(sub, x, n, grad)
	if grad {
		s.thetaGradient(sub, x, n)
	}
	if grad && !s.precision {
		s.beliefGradient(sub, x, n)
	} else {
		s.subtractKL(sub)
	}
}

// evaluate computes the local ELBO of the rows x at the free vectors, with
// log p(θ), into value and its gradient by the free vector into gradFree.
func (s *svgp) evaluate(sub []int, x device.Points, n float64, grad bool) {
	ln := s.lane
	s.factorise(sub)
	s.bound(sub, x, n, grad)
	var gf device.Array
	if grad {
		gf = s.gradFree
		ln.Collect(sub, s.ks, s.floor, s.theta, s.gradTheta, gf)
	}
	ln.LogPrior(sub, s.free, s.mean, s.thetaPrec, s.lo, s.hi, s.wall, s.value, gf)
}

// elboEstimate is a kernel's local ELBO, estimated from some of the rows seen.
type elboEstimate struct {
	// Rows holds E_q[log N(y_b; f_b, σ_n²)] of every row.
	Rows     []float64
	KL       float64 // of q(v), and of q(log θ) where there is one
	LogPrior float64 // log p(θ) less the soft bounds, for point estimates
	ELBO     float64 // n·mean(Rows) − KL + LogPrior
}

// estimate computes the local ELBOs of the members sub, for the n rows seen,
// from the rows x. The result is nil for members given up.
func (l *learner) estimate(sub []int, x device.Points, n int, stop stopped) ([]*elboEstimate, error) {
	out := make([]*elboEstimate, len(sub))
	at := positions(sub)
	err := l.attempt(sub, func(sub []int) error {
		for _, k := range sub {
			out[at[k]] = &elboEstimate{Rows: make([]float64, x.Len())}
		}
		l.rule.believe(l, sub)
		weight := 1 / float64(l.draws())
		part := make([]float64, l.svgp.rows)
		for i := range l.draws() {
			l.take(sub, i)
			err := l.pass(sub, x, stop, func(rows device.Points) error {
				l.r.Reshape(1, rows.Len())
				l.lane.RowLikelihood(sub, l.ks, l.theta, rows, l.mu, l.v, l.r)
				for _, k := range sub {
					p := part[:rows.Len()]
					if err := l.lane.Read(l.r, k, p); err != nil {
						return err
					}
					to := out[at[k]].Rows[rows.From-x.From:]
					for b, v := range p {
						to[b] += weight * v
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return l.total(sub, n, func(k int) *elboEstimate { return out[at[k]] })
	})
	if err != nil {
		return nil, err
	}
	for i, k := range sub {
		if l.members[k].err != nil {
			out[i] = nil
		}
	}
	return out, nil
}

// total adds what does not depend on the rows to the estimates.
func (l *learner) total(sub []int, n int, of func(k int) *elboEstimate) error {
	ln := l.lane
	ln.Fill(sub, l.value, 0)
	l.subtractKL(sub)
	for _, k := range sub {
		v, err := l.scalar(l.value, k)
		if err != nil {
			return err
		}
		of(k).KL = -v
	}
	if l.q == nil {
		ln.Fill(sub, l.value, 0)
		ln.LogPrior(sub, l.free, l.mean, l.prec, l.lo, l.hi, l.wall, l.value, nil)
	}
	for _, k := range sub {
		e := of(k)
		if l.q == nil {
			v, err := l.scalar(l.value, k)
			if err != nil {
				return err
			}
			e.LogPrior = v
		} else {
			mean, chol, err := l.believed(k)
			if err != nil {
				return err
			}
			e.KL += thetaKL(mean, chol, l.priors[k])
		}
		var sum float64
		for _, v := range e.Rows {
			sum += v
		}
		e.ELBO = float64(n)*sum/float64(len(e.Rows)) - e.KL + e.LogPrior
		if !finite([]float64{e.ELBO}) {
			l.lane.Write(l.failed, k, []float64{1})
		}
	}
	return nil
}

// predict computes the mean and the variance of f at the points x for the
// members sub, and the mean of σ_n², averaged over θ where it has a belief. The
// entries of members given up are nil.
func (l *learner) predict(sub []int, x device.Points, stop stopped) (mean, variance [][]float64, noise []float64, err error) {
	mean, variance = make([][]float64, len(sub)), make([][]float64, len(sub))
	noise = make([]float64, len(sub))
	at := positions(sub)
	err = l.attempt(sub, func(sub []int) error {
		for _, k := range sub {
			mean[at[k]], variance[at[k]] = make([]float64, x.Len()), make([]float64, x.Len())
			noise[at[k]] = 0
		}
		l.rule.believe(l, sub)
		weight := 1 / float64(l.draws())
		mu, v := make([]float64, l.svgp.rows), make([]float64, l.svgp.rows)
		theta := make([]float64, l.ks.Params())
		for i := range l.draws() {
			l.take(sub, i)
			for _, k := range sub {
				if err := l.lane.Read(l.theta, k, theta); err != nil {
					return err
				}
				noise[at[k]] += weight * theta[len(theta)-1]
			}
			err := l.pass(sub, x, stop, func(rows device.Points) error {
				for _, k := range sub {
					b := rows.Len()
					if err := l.lane.Read(l.mu, k, mu[:b]); err != nil {
						return err
					}
					if err := l.lane.Read(l.v, k, v[:b]); err != nil {
						return err
					}
					from := rows.From - x.From
					mix(mean[at[k]][from:from+b], variance[at[k]][from:from+b], mu, v, 1/float64(i+1))
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, nil, err
	}
	for i, k := range sub {
		if l.members[k].err != nil {
			mean[i], variance[i] = nil, nil
		}
	}
	return mean, variance, noise, nil
}

// mix adds a component to the mean and variance of a mixture, of which it is then
// the share w (West's recurrence, with each component's own variance).
func mix(mean, variance, mu, v []float64, w float64) {
	for b := range mean {
		d := mu[b] - mean[b]
		mean[b] += w * d
		variance[b] += w * (v[b] - variance[b] + (1-w)*d*d)
	}
}

// pass computes the marginals at the points x, a chunk at a time, for the θ
// that take has set. stop is asked before every chunk.
func (l *learner) pass(sub []int, x device.Points, stop stopped, visit func(rows device.Points) error) error {
	for rows := range l.chunks(x) {
		if err := stop.ask(); err != nil {
			return err
		}
		l.project(sub, rows)
		l.marginals(sub, rows)
		if err := visit(rows); err != nil {
			return err
		}
	}
	return nil
}

// positions maps members to their places in sub.
func positions(sub []int) map[int]int {
	at := make(map[int]int, len(sub))
	for i, k := range sub {
		at[k] = i
	}
	return at
}
