package cpu

import (
	"math"

	"kestrel/kernelspace"
)

// leafBackward adds Σ_j adj_j ∂leaf_j/∂log θ for the leaf's parameters.
func leafBackward(t *tile, lf *leaf, adj []float64) {
	v := t.slot(lf.value)[:len(adj)]
	g := t.grad
	if t.diag && lf.Op != kernelspace.OpLIN && lf.Op != kernelspace.OpPoly {
		g[lf.Off] += dot(adj, v) // a stationary leaf is σ² on the diagonal
		return
	}
	switch lf.Op {
	case kernelspace.OpSE, kernelspace.OpRQ, kernelspace.OpMatern12, kernelspace.OpMatern32, kernelspace.OpMatern52:
		g[lf.Off] += t.radialWeights(lf, adj)
		t.radialGrad(lf)
	case kernelspace.OpLIN:
		s := dot(adj, v)
		g[lf.Off] += s
		if !lf.ard() {
			g[lf.Off+1] -= 2 * s
			break
		}
		t.dotGrad(lf, adj, t.theta[lf.Off])
	case kernelspace.OpPER:
		t.backwardPER(lf, adj, v)
	case kernelspace.OpWhite:
		if t.white >= 0 {
			g[lf.Off] += adj[t.white] * v[t.white]
		}
	case kernelspace.OpConst:
		g[lf.Off] += dot(adj, v)
	case kernelspace.OpPoly:
		g[lf.Off] += dot(adj, v)
		g[lf.shapeAt()] += t.theta[lf.shapeAt()] * t.polyWeights(lf, adj)
		if !lf.ard() {
			f := t.featureOf(lf)
			g[lf.Off+1] -= 2 * t.coef[lf.Off+1] * dot(t.weights[:len(adj)], f)
			break
		}
		t.dotGrad(lf, t.weights[:len(adj)], 1)
	case kernelspace.OpCos:
		g[lf.Off] += dot(adj, v)
		slope := t.slot(lf.aux)[:len(adj)]
		for i, col := range lf.Cols {
			xa, xb := t.xa[col], t.xb[col][:len(adj)]
			s := 0.0
			for j := range adj {
				s += adj[j] * slope[j] * (xa - xb[j])
			}
			g[lf.periodOf(i)] += s * t.coef[lf.periodOf(i)]
		}
	}
}

func dot(a, b []float64) float64 { return blasImpl.Ddot(len(a), a, 1, b, 1) }

// radialWeights sets weights_j = adj_j·H_j for a leaf that is a function of ρ =
// Σ_c δ_c²/ℓ_c², where ∂k/∂log ℓ_c = H·δ_c²/ℓ_c², that is H = −2 dk/dρ:
//
//	SE k, RQ k/(1+q), Matérn 1/2: k/√ρ, 3/2: 3k/(1+s), 5/2: 5k(1+s)/(3+3s+s²)
//
// with s = √3ρ and √5ρ. It returns Σ adj·k, and adds RQ's gradient by log α,
// k·α(q/(1+q) − log(1+q)). Matérn 1/2's slope at distance 0 is taken as 0.
func (t *tile) radialWeights(lf *leaf, adj []float64) float64 {
	w, v := t.weights[:len(adj)], t.slot(lf.value)[:len(adj)]
	f, c := t.featureOf(lf)[:len(adj)], t.featureScale(lf)
	sum := 0.0
	switch lf.Op {
	case kernelspace.OpSE:
		for j := range w {
			w[j] = adj[j] * v[j]
			sum += w[j]
		}
	case kernelspace.OpRQ:
		alpha := t.theta[lf.shapeAt()]
		h := c / (2 * alpha)
		log := t.slot(lf.aux)[:len(adj)]
		shape := 0.0
		for j := range w {
			k, q := adj[j]*v[j], h*f[j]
			inv := 1 / (1 + q)
			sum += k
			shape += k * (q*inv - log[j])
			w[j] = k * inv
		}
		t.grad[lf.shapeAt()] += alpha * shape
	case kernelspace.OpMatern12:
		for j := range w {
			k := adj[j] * v[j]
			sum += k
			w[j] = 0
			if s := math.Sqrt(c * f[j]); s > 0 {
				w[j] = k / s
			}
		}
	case kernelspace.OpMatern32:
		for j := range w {
			k := adj[j] * v[j]
			sum += k
			w[j] = 3 * k / (1 + sqrt3*math.Sqrt(c*f[j]))
		}
	case kernelspace.OpMatern52:
		for j := range w {
			k, s := adj[j]*v[j], sqrt5*math.Sqrt(c*f[j])
			sum += k
			w[j] = 5 * k * (1 + s) / (3 + 3*s + s*s)
		}
	}
	return sum
}

// radialGrad adds the length scales' gradients Σ_j weights_j δ_c²/ℓ_c².
func (t *tile) radialGrad(lf *leaf) {
	w := t.weights[:t.w]
	if !lf.ard() {
		t.grad[lf.Off+1] += t.coef[lf.Off+1] * dot(w, t.featureOf(lf))
		return
	}
	for i, col := range lf.Cols {
		xa, xb := t.xa[col], t.xb[col][:len(w)]
		s := 0.0
		for j := range w {
			d := xa - xb[j]
			s += w[j] * (d * d)
		}
		t.grad[lf.Off+1+i] += s * t.coef[lf.Off+1+i]
	}
}

// dotGrad adds −2·scale·Σ_j w_j x_c x′_c/ℓ_c² for every column's length scale.
func (t *tile) dotGrad(lf *leaf, w []float64, scale float64) {
	for i, col := range lf.Cols {
		xb := t.xb[col][:len(w)]
		s := 0.0
		if t.diag {
			for j := range w {
				s += w[j] * xb[j] * xb[j]
			}
		} else {
			s = t.xa[col] * dot(w, xb)
		}
		t.grad[lf.Off+1+i] -= 2 * scale * t.coef[lf.Off+1+i] * s
	}
}

// polyWeights sets weights_j = adj_j σ² D (x·x′/ℓ²+c)^(D−1) and returns their sum.
func (t *tile) polyWeights(lf *leaf, adj []float64) float64 {
	w := t.weights[:len(adj)]
	f, c, off := t.featureOf(lf)[:len(adj)], t.featureScale(lf), t.theta[lf.shapeAt()]
	if lf.Degree == 0 {
		clear(w)
		return 0
	}
	s := t.theta[lf.Off] * float64(lf.Degree)
	sum := 0.0
	for j := range w {
		w[j] = adj[j] * s * power(c*f[j]+off, lf.Degree-1)
		sum += w[j]
	}
	return sum
}

func (t *tile) backwardPER(lf *leaf, adj, v []float64) {
	g := t.grad
	if lf.NumScale == 1 && lf.NumPeriod == 1 {
		sq, sc := t.slot(lf.aux)[:len(adj)], t.slot(lf.aux + 1)[:len(adj)]
		var gv, gs, gp float64
		for j := range adj {
			k := adj[j] * v[j]
			gv += k
			gs += k * sq[j]
			gp += k * sc[j]
		}
		g[lf.Off] += gv
		g[lf.Off+1] += 4 * gs
		g[lf.Off+2] += 4 * math.Pi * gp
		return
	}
	w := t.weights[:len(adj)]
	for j := range w {
		w[j] = adj[j] * v[j]
		g[lf.Off] += w[j]
	}
	for i := range lf.NumScale {
		g[lf.Off+1+i] += 4 * dot(w, t.slot(lf.aux+i))
	}
	for i := range lf.NumPeriod {
		g[lf.periodAt()+i] += 4 * math.Pi * dot(w, t.slot(lf.aux+lf.NumScale+i))
	}
}

// leafInputGrad adds Σ_j adj_j ∂leaf_j/∂a to t.inputs.
func leafInputGrad(t *tile, lf *leaf, adj []float64) {
	v := t.slot(lf.value)[:len(adj)]
	ga := t.inputs
	switch lf.Op {
	case kernelspace.OpSE, kernelspace.OpRQ, kernelspace.OpMatern12, kernelspace.OpMatern32, kernelspace.OpMatern52:
		t.radialWeights(lf, adj)
		w := t.weights[:len(adj)]
		for i, col := range lf.Cols {
			xa, xb := t.xa[col], t.xb[col][:len(w)]
			s := 0.0
			for j := range w {
				s += w[j] * (xa - xb[j])
			}
			ga[col] -= s * t.coef[lf.scaleAt(i)]
		}
	case kernelspace.OpLIN:
		for i, col := range lf.Cols {
			ga[col] += t.theta[lf.Off] * t.coef[lf.scaleAt(i)] * dot(adj, t.xb[col])
		}
	case kernelspace.OpPoly:
		t.polyWeights(lf, adj)
		w := t.weights[:len(adj)]
		for i, col := range lf.Cols {
			ga[col] += t.coef[lf.scaleAt(i)] * dot(w, t.xb[col])
		}
	case kernelspace.OpPER:
		for i, col := range lf.Cols {
			il, ip, p := t.coef[lf.scaleAt(i)], t.coef[lf.periodOf(i)], t.theta[lf.periodOf(i)]
			xa, xb := t.xa[col], t.xb[col][:len(adj)]
			sum := 0.0
			for j := range adj {
				s, c := math.Sincos(math.Pi * reduce(xa-xb[j], p, ip))
				sum += adj[j] * v[j] * s * c
			}
			ga[col] -= 4 * math.Pi * il * ip * sum
		}
	case kernelspace.OpCos:
		s := dot(adj, t.slot(lf.aux))
		for i, col := range lf.Cols {
			ga[col] -= s * t.coef[lf.periodOf(i)]
		}
	}
}
