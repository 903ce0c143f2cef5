package vbks

import (
	"fmt"
	"math"

	"example.com/kestrel/device"
)

// thetaBelief is q(log θ) = N(mean, CCᵀ) for every member of a group, over the
// whole free vector: the logarithms of the free hyperparameters and ρ of the
// noise. Gradients are of the doubly stochastic estimate: a sample x = mean + Cη
// of it replaces the free vector, and −KL[q(log θ) ‖ p(log θ)] replaces
// log p(θ).
//
// The diagonal of C may have either sign: CCᵀ and the KL, which depends on
// log|c_jj|, are what they are without it, and no step can leave the domain.
//
// Members with fewer parameters than the longest are padded with entries that
// stay at mean 0, C = 1, prior N(0, 1) and η = 0, and so have no gradient.
type thetaBelief struct {
	*group
	diagonal bool // C is diagonal

	centre, chol         device.Array // mean (1 x F), C (F x F)
	scale                device.Array // diagonal matrix of √prec of p(log θ)
	eta                  device.Array // F x 1
	gradCentre, gradChol device.Array
	part                 device.Array // a sample's share of the gradient
	scaled, scaledChol   device.Array // √prec (mean − m₀) and √prec C
	gradScaled           device.Array
	gradScaledChol       device.Array
	row, square          device.Array // scratch
	flat                 device.Array // precisions 0: no log p(θ) at the samples
	klValue              device.Array // not read
}

// thetaStart is the standard deviation of q(log θ) at the start.
const thetaStart = 0.1

func newThetaBelief(g *group, diagonal bool) (*thetaBelief, error) {
	q := &thetaBelief{group: g, diagonal: diagonal}
	al := &allocator{g: g}
	f := g.frees
	for _, p := range q.rows() {
		*p = al.array(1, f)
	}
	for _, p := range q.columns() {
		*p = al.array(f, 1)
	}
	for _, p := range q.squares() {
		*p = al.array(f, f)
	}
	q.klValue = al.array(1, 1)
	return q, al.err
}

func (q *thetaBelief) rows() []*device.Array {
	return []*device.Array{&q.centre, &q.gradCentre, &q.part, &q.row, &q.flat}
}

func (q *thetaBelief) columns() []*device.Array {
	return []*device.Array{&q.eta, &q.scaled, &q.gradScaled}
}

func (q *thetaBelief) squares() []*device.Array {
	return []*device.Array{&q.chol, &q.scale, &q.gradChol, &q.scaledChol, &q.gradScaledChol, &q.square}
}

// adopt fits the arrays to the kernels that the group was loaded with.
func (q *thetaBelief) adopt(priors []prior) error {
	f := q.ks.Free()
	for _, p := range q.rows() {
		(*p).Reshape(1, f)
	}
	for _, p := range q.columns() {
		(*p).Reshape(f, 1)
	}
	for _, p := range q.squares() {
		(*p).Reshape(f, f)
	}
	q.lane.Fill(q.all, q.flat, 0)
	for k, p := range priors {
		n := len(p.prec)
		d := make([]float64, n*n)
		for i, v := range p.prec {
			if !(v > 0) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: q(θ) needs a prior for every hyperparameter, precision %g", q.programs[k].ID, v)
			}
			d[i*n+i] = math.Sqrt(v)
		}
		q.lane.Write(q.scale, k, q.paddedSquare(d, n))
	}
	return nil
}

// paddedSquare spreads a matrix over the n entries of a free vector to the
// common length, with 1 on the diagonal of the padding.
func (g *group) paddedSquare(a []float64, n int) []float64 {
	f := g.ks.Free()
	out := make([]float64, f*f)
	for i := n - 1; i < f-1; i++ {
		out[i*f+i] = 1
	}
	for i := range n {
		for j := range n {
			out[g.place(i, n)*f+g.place(j, n)] = a[i*n+j]
		}
	}
	return out
}

// unpaddedSquare is the reverse of paddedSquare.
func (g *group) unpaddedSquare(a []float64, n int) []float64 {
	f := g.ks.Free()
	out := make([]float64, n*n)
	for i := range n {
		for j := range n {
			out[i*n+j] = a[g.place(i, n)*f+g.place(j, n)]
		}
	}
	return out
}

// place returns where entry i of a free vector of length n lies in a padded one.
func (g *group) place(i, n int) int {
	if i == n-1 {
		return g.ks.Free() - 1
	}
	return i
}

// sample sets the free vectors to mean + Cη, with η (unpadded) for each member.
func (q *thetaBelief) sample(sub []int, eta func(k int) []float64) {
	for _, k := range sub {
		q.lane.Write(q.eta, k, q.padded(eta(k), 0))
	}
	q.lane.Sample(sub, q.centre, q.chol, q.eta, q.free)
}

// zero empties the gradients.
func (q *thetaBelief) zero(sub []int) {
	q.lane.Fill(sub, q.gradCentre, 0)
	q.lane.Fill(sub, q.gradChol, 0)
}

// accumulate adds weight times the gradient that the last sample has through
// gradFree.
func (q *thetaBelief) accumulate(sub []int, weight float64) {
	ln := q.lane
	ln.Fill(sub, q.part, 0)
	ln.AddScaled(sub, q.part, weight, q.gradFree)
	ln.SampleGrad(sub, q.part, q.eta, q.gradCentre, q.gradChol)
}

// finish takes off the gradient of KL[q(log θ) ‖ p(log θ)]. With D = √prec the
// KL is that of N(D(mean − m₀), DCCᵀD) from N(0, I). D is diagonal, so that no
// product with it has more than one term and padding cannot change a rounding.
func (q *thetaBelief) finish(sub []int) {
	ln := q.lane
	ln.Copy(sub, q.row, q.centre)
	ln.AddScaled(sub, q.row, -1, q.mean)
	ln.Gemm(sub, false, true, 1, q.scale, q.row, 0, q.scaled)
	ln.Gemm(sub, false, false, 1, q.scale, q.chol, 0, q.scaledChol)
	ln.Fill(sub, q.gradScaled, 0)
	ln.Fill(sub, q.gradScaledChol, 0)
	ln.Fill(sub, q.klValue, 0)
	ln.GaussKL(sub, q.scaled, q.scaledChol, q.klValue, q.gradScaled, q.gradScaledChol)
	ln.Gemm(sub, true, false, 1, q.gradScaled, q.scale, 1, q.gradCentre)
	ln.Gemm(sub, false, false, 1, q.scale, q.gradScaledChol, 1, q.gradChol)
	if q.diagonal {
		// The lower triangle of the transpose of a lower triangle.
		ln.Triangle(sub, q.gradChol, 1)
		ln.Transpose(sub, q.square, q.gradChol)
		ln.Triangle(sub, q.square, 1)
		ln.Copy(sub, q.gradChol, q.square)
	}
}

// thetaKL returns KL[N(mean, CCᵀ) ‖ N(p.mean, diag(1/p.prec))]; chol is C,
// row-major lower.
func thetaKL(mean, chol []float64, p prior) float64 {
	n := len(mean)
	var kl float64
	for i := range n {
		d := mean[i] - p.mean[i]
		s := d * d
		for j := range i + 1 {
			s += chol[i*n+j] * chol[i*n+j]
		}
		kl += 0.5*(p.prec[i]*s-1-math.Log(p.prec[i])) - math.Log(math.Abs(chol[i*n+i]))
	}
	return kl
}
