package cpu

// leafBackward adds Σ_j adj_j ∂leaf_j/∂log θ for the leaf's parameters.
func leafBackward(t *tile, lf *leaf, adj []float64) {
	v := t.slot(lf.value)
	if t.diag && !lf.moving() {
		varianceGrad(t, lf, adj, v) // a stationary leaf is σ² on the diagonal
		return
	}
	lf.code.backward(t, lf, adj, v)
}

// leafInputGrad adds Σ_j adj_j ∂leaf_j/∂a_i to t.k.inputs for the rows i of the tile.
func leafInputGrad(t *tile, lf *leaf, adj []float64) {
	lf.code.inputs(t, lf, adj, t.slot(lf.value))
}

// varianceGrad is the gradient of a leaf that has a variance only.
func varianceGrad(t *tile, lf *leaf, adj, v []float64) {
	t.k.grad[lf.Off] += t.level.Dot(adj, v)
}

// noInputs is of leaves without a gradient by the points.
func noInputs(*tile, *leaf, []float64, []float64) {}

// radialSE sets t.weights_j = adj_j·H_j. It is one of those for leaves that are a
// function of ρ = Σ_c δ_c²/ℓ_c², where ∂k/∂log ℓ_c = H·δ_c²/ℓ_c², that is H = −2 dk/dρ:
//
//	SE k, RQ k/(1+q), Matérn 1/2: k/√ρ, 3/2: 3k/(1+s), 5/2: 5k(1+s)/(3+3s+s²)
//
// with s = √3ρ and √5ρ. They return Σ adj·k and Σ weights·feature. Matérn 1/2's
// slope at distance 0 is taken as 0.
func radialSE(t *tile, lf *leaf, adj, v []float64) (sum, scale float64) {
	t.level.Mul(t.weights[:t.padded], adj, v)
	return t.level.Dot2(adj, v, t.featureOf(lf))
}

// radialRQ also adds the gradient by log α, k·α(q/(1+q) − log(1+q)).
func radialRQ(t *tile, lf *leaf, adj, v []float64) (sum, scale float64) {
	alpha := t.k.theta[lf.shapeAt()]
	f, c := t.featureOf(lf), t.featureScale(lf)
	sum, scale, shape := t.level.RQGrad(t.weights[:t.padded], adj, v, f, t.slot(lf.aux), c/(2*alpha))
	t.k.grad[lf.shapeAt()] += alpha * shape
	return sum, scale
}

func radialMatern(t *tile, lf *leaf, adj, v []float64) (sum, scale float64) {
	return t.level.MaternGrad(smoothness(lf.Op), t.weights[:t.padded], adj, v, t.featureOf(lf), t.featureScale(lf))
}

// backwardSE needs no weights where there is one length scale.
func backwardSE(t *tile, lf *leaf, adj, v []float64) {
	if lf.ard() {
		radialGrad(t, lf, adj, v)
		return
	}
	sum, scale := t.level.Dot2(adj, v, t.featureOf(lf))
	t.k.grad[lf.Off] += sum
	t.k.grad[lf.Off+1] += t.k.coef[lf.Off+1] * scale
}

// radialGrad adds the gradients of the variance and of the length scales,
// Σ_j weights_j δ_c²/ℓ_c².
func radialGrad(t *tile, lf *leaf, adj, v []float64) {
	g := t.k.grad
	sum, scale := lf.code.weights(t, lf, adj, v)
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

func radialInputs(t *tile, lf *leaf, adj, v []float64) {
	lf.code.weights(t, lf, adj, v)
	for i, col := range lf.Cols {
		t.addInputs(col, -t.k.coef[lf.scaleAt(i)], t.weights, t.delta(col))
	}
}

func backwardLIN(t *tile, lf *leaf, adj, v []float64) {
	s := t.level.Dot(adj, v)
	t.k.grad[lf.Off] += s
	if !lf.ard() {
		t.k.grad[lf.Off+1] -= 2 * s
		return
	}
	t.productGrad(lf, adj, t.k.theta[lf.Off])
}

func inputsLIN(t *tile, lf *leaf, adj, _ []float64) {
	for i, col := range lf.Cols {
		t.addPoints(col, t.k.theta[lf.Off]*t.k.coef[lf.scaleAt(i)], adj)
	}
}

// productGrad adds −2·scale·Σ_j w_j x_c x′_c/ℓ_c² for every column's length scale.
func (t *tile) productGrad(lf *leaf, w []float64, scale float64) {
	for i, col := range lf.Cols {
		s := t.level.Dot(w, t.product(t.temp[0], col))
		t.k.grad[lf.Off+1+i] -= 2 * scale * t.k.coef[lf.Off+1+i] * s
	}
}

func backwardPoly(t *tile, lf *leaf, adj, v []float64) {
	varianceGrad(t, lf, adj, v)
	w := t.polyWeights(lf, adj)
	t.k.grad[lf.shapeAt()] += t.k.theta[lf.shapeAt()] * t.level.Dot(w, t.ones[:t.padded])
	if !lf.ard() {
		t.k.grad[lf.Off+1] -= 2 * t.k.coef[lf.Off+1] * t.level.Dot(w, t.featureOf(lf))
		return
	}
	t.productGrad(lf, w, 1)
}

func inputsPoly(t *tile, lf *leaf, adj, _ []float64) {
	w := t.polyWeights(lf, adj)
	for i, col := range lf.Cols {
		t.addPoints(col, t.k.coef[lf.scaleAt(i)], w)
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

func backwardCos(t *tile, lf *leaf, adj, v []float64) {
	varianceGrad(t, lf, adj, v)
	for i, col := range lf.Cols {
		_, s := t.level.Dot2(adj, t.slot(lf.aux), t.delta(col))
		t.k.grad[lf.periodOf(i)] += s * t.k.coef[lf.periodOf(i)]
	}
}

func inputsCos(t *tile, lf *leaf, adj, _ []float64) {
	for i, col := range lf.Cols {
		t.addInputs(col, -t.k.coef[lf.periodOf(i)], adj, t.slot(lf.aux))
	}
}

func backwardWhite(t *tile, lf *leaf, adj, v []float64) {
	if t.same {
		g := t.k.grad
		t.eachDiagonal(func(at int) { g[lf.Off] += adj[at] * v[at] })
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
