package vbks

import (
	"math"
	"slices"

	"example.com/kestrel/device"
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
	if stop != nil {
		if err := stop(); err != nil {
			return err
		}
	}
	ln, n := c.lane, float64(x.Len())
	ln.Expand(sub, c.ks, c.floor, c.free, c.theta)
	ln.Fill(sub, c.info, 0)
	ln.Kernel(sub, c.ks, c.theta, x, x, c.kzz)
	ln.Precision(sub, c.ks, c.theta, 1, c.kzz, c.prec)
	ln.Cholesky(sub, c.prec, c.info)
	ln.Fill(sub, c.inv, 0)
	ln.AddDiagonal(sub, c.inv, 1)
	ln.MulTargets(sub, 1, c.inv, x, 0, c.solved)
	ln.Solve(sub, false, c.prec, c.solved)
	ln.Fill(sub, c.sumDiag, 0)
	ln.Dot(sub, c.inv, c.kzz, c.sumDiag)
	if err := c.evidences(sub, n); err != nil || !grad {
		return err
	}
	ln.Copy(sub, c.mean, c.solved)
	ln.Solve(sub, true, c.prec, c.mean)
	ln.SolveBoth(sub, c.prec, c.inv)
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
