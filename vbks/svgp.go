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
