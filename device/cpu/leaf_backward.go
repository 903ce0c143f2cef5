package cpu

import "kestrel/kernelspace"

// leafBackward adds Σ_j adj_j ∂leaf_j/∂log θ for the leaf's parameters.
func leafBackward(t *tile, lf *leaf, adj []float64) {
	v := t.slot(lf.value)
	g := t.k.grad
	if t.diag && !lf.dot {
		g[lf.Off] += t.level.Dot(adj, v) // a stationary leaf is σ² on the diagonal
		return
	}
	switch lf.Op {
	case kernelspace.OpSE, kernelspace.OpRQ, kernelspace.OpMatern12, kernelspace.OpMatern32, kernelspace.OpMatern52:
		t.radialGrad(lf, adj, v)
	case kernelspace.OpLIN:
		s := t.level.Dot(adj, v)
		g[lf.Off] += s
		if !lf.ard() {
			g[lf.Off+1] -= 2 * s
			break
		}
		t.productGrad(lf, adj, t.k.theta[lf.Off])
	case kernelspace.OpPER:
		t.backwardPER(lf, adj, v)
	case kernelspace.OpWhite:
		if t.same {
			t.eachDiagonal(func(at int) { g[lf.Off] += adj[at] * v[at] })
		}
	case kernelspace.OpConst:
		g[lf.Off] += t.level.Dot(adj, v)
	case kernelspace.OpPoly:
		g[lf.Off] += t.level.Dot(adj, v)
		w := t.polyWeights(lf, adj)
		g[lf.shapeAt()] += t.k.theta[lf.shapeAt()] * t.level.Dot(w, t.ones[:t.padded])
		if !lf.ard() {
			g[lf.Off+1] -= 2 * t.k.coef[lf.Off+1] * t.level.Dot(w, t.featureOf(lf))
			break
		}
		t.productGrad(lf, w, 1)
	case kernelspace.OpCos:
		g[lf.Off] += t.level.Dot(adj, v)
		for i, col := range lf.Cols {
			_, s := t.level.Dot2(adj, t.slot(lf.aux), t.delta(col))
			g[lf.periodOf(i)] += s * t.k.coef[lf.periodOf(i)]
		}
	}
}

// radialWeights sets t.weights_j = adj_j·H_j for a leaf that is a function of ρ =
// Σ_c δ_c²/ℓ_c², where ∂k/∂log ℓ_c = H·δ_c²/ℓ_c², that is H = −2 dk/dρ:
//
//	SE k, RQ k/(1+q), Matérn 1/2: k/√ρ, 3/2: 3k/(1+s), 5/2: 5k(1+s)/(3+3s+s²)
//
// with s = √3ρ and √5ρ. It returns Σ adj·k and Σ weights·feature, and adds RQ's
// gradient by log α, k·α(q/(1+q) − log(1+q)). Matérn 1/2's slope at distance 0 is
// taken as 0.
func (t *tile) radialWeights(lf *leaf, adj, v []float64) (sum, scale float64) {
	w, f, c := t.weights[:t.padded], t.featureOf(lf), t.featureScale(lf)
	switch lf.Op {
	case kernelspace.OpSE:
		t.level.Mul(w, adj, v)
		return t.level.Dot2(adj, v, f)
	case kernelspace.OpRQ:
		alpha := t.k.theta[lf.shapeAt()]
		sum, scale, shape := t.level.RQGrad(w, adj, v, f, t.slot(lf.aux), c/(2*alpha))
		t.k.grad[lf.shapeAt()] += alpha * shape
		return sum, scale
	}
	return t.level.MaternGrad(smoothness(lf.Op), w, adj, v, f, c)
}

// radialGrad adds the gradients of the variance and of the length scales,
// Σ_j weights_j δ_c²/ℓ_c².
func (t *tile) radialGrad(lf *leaf, adj, v []float64) {
	g := t.k.grad
	if lf.Op == kernelspace.OpSE && !lf.ard() { // needs no weights
		sum, scale := t.level.Dot2(adj, v, t.featureOf(lf))
		g[lf.Off] += sum
		g[lf.Off+1] += t.k.coef[lf.Off+1] * scale
		return
	}
	sum, scale := t.radialWeights(lf, adj, v)
	g[lf.Off] += sum
	if !lf.ard() {
		g[lf.Off+1] += t.k.coef[lf.Off+1] * scale
		return
	}
	x := t.temp[0][:t.padded]
	for i, col := range lf.Cols {
		d := t.delta(col)
		t.level.Mul(x, d, d)
		g[lf.Off+1+i] += t.k.coef[lf.Off+1+i] * t.level.Dot(t.weights[:t.padded], x)
	}
}

// productGrad adds −2·scale·Σ_j w_j x_c x′_c/ℓ_c² for every column's length scale.
func (t *tile) productGrad(lf *leaf, w []float64, scale float64) {
	for i, col := range lf.Cols {
		s := t.level.Dot(w, t.product(t.temp[0], col))
		t.k.grad[lf.Off+1+i] -= 2 * scale * t.k.coef[lf.Off+1+i] * s
	}
}

// polyWeights are adj_j σ² D (x·x′/ℓ²+c)^(D−1).
func (t *tile) polyWeights(lf *leaf, adj []float64) []float64 {
	w := t.weights[:t.padded]
	if lf.Degree == 0 {
		clear(w)
		return w
	}
	t.power(w, lf, lf.Degree-1, t.k.theta[lf.Off]*float64(lf.Degree))
	t.level.Mul(w, w, adj)
	return w
}

func (t *tile) backwardPER(lf *leaf, adj, v []float64) {
	g := t.k.grad
	if lf.NumScale == 1 && lf.NumPeriod == 1 {
		sum, sq, sc := t.level.Dot3(adj, v, t.slot(lf.aux), t.slot(lf.aux+1))
		g[lf.Off] += sum
		g[lf.Off+1] += 4 * sq
		g[lf.Off+2] += fourPi * sc
		return
	}
	w := t.weights[:t.padded]
	t.level.Mul(w, adj, v)
	g[lf.Off] += t.level.Dot(adj, v)
	for i := range lf.NumScale {
		g[lf.Off+1+i] += 4 * t.level.Dot(w, t.slot(lf.aux+i))
	}
	for i := range lf.NumPeriod {
		g[lf.periodAt()+i] += fourPi * t.level.Dot(w, t.slot(lf.aux+lf.NumScale+i))
	}
}

// leafInputGrad adds Σ_j adj_j ∂leaf_j/∂a_i to t.k.inputs for the rows i of the tile.
func leafInputGrad(t *tile, lf *leaf, adj []float64) {
	v := t.slot(lf.value)
	switch lf.Op {
	case kernelspace.OpSE, kernelspace.OpRQ, kernelspace.OpMatern12, kernelspace.OpMatern32, kernelspace.OpMatern52:
		t.radialWeights(lf, adj, v)
		for i, col := range lf.Cols {
			t.addInputs(col, -t.k.coef[lf.scaleAt(i)], t.weights, t.delta(col))
		}
	case kernelspace.OpLIN:
		for i, col := range lf.Cols {
			t.addPoints(col, t.k.theta[lf.Off]*t.k.coef[lf.scaleAt(i)], adj)
		}
	case kernelspace.OpPoly:
		w := t.polyWeights(lf, adj)
		for i, col := range lf.Cols {
			t.addPoints(col, t.k.coef[lf.scaleAt(i)], w)
		}
	case kernelspace.OpPER:
		w, x := t.weights[:t.padded], t.private[:t.padded]
		t.level.Mul(w, adj, v)
		for i, col := range lf.Cols {
			t.perSlope(x, lf, i)
			t.addInputs(col, -fourPi*t.k.coef[lf.periodOf(i)], w, x)
		}
	case kernelspace.OpCos:
		for i, col := range lf.Cols {
			t.addInputs(col, -t.k.coef[lf.periodOf(i)], adj, t.slot(lf.aux))
		}
	}
}

// addInputs adds scale·Σ_j w_j x_j to every row's gradient by its column c.
func (t *tile) addInputs(c int, scale float64, w, x []float64) {
	dim := len(t.deltas)
	for _, s := range t.segments {
		t.k.inputs[int(s.Row)*dim+c] += scale * t.level.Dot(w[s.At:s.At+s.N], x[s.At:s.At+s.N])
	}
}

// addPoints adds scale·Σ_j w_j b_j to every row's gradient by its column c.
func (t *tile) addPoints(c int, scale float64, w []float64) {
	dim := len(t.deltas)
	for _, s := range t.segments {
		t.k.inputs[int(s.Row)*dim+c] += scale * t.level.Dot(w[s.At:s.At+s.N], t.xb[c][s.Col:s.Col+s.N])
	}
}
