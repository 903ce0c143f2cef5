package cpu

import "example.com/kestrel/kernelspace"

// code is what the device knows of a base kernel, its gradients in
// leaf_backward.go. A base kernel without a case in codeOf is refused.
type code struct {
	reads    reading
	slots    func(in *kernelspace.Instr) int // of auxiliaries that forward leaves for the gradients; nil: none
	forward  forward
	backward gradient // by log θ
	inputs   gradient // by the points of a
	weights  weights  // where it reads distances: all that its gradients need to know
}

// reading is the feature that a base kernel reads of the points.
type reading uint8

const (
	nothing   reading = iota // or differences by column
	distances                // squared
	products                 // which make it not stationary
	places                   // the rows themselves, likewise; no feature is shared
)

type (
	// forward computes a leaf's values over the tile into v, and its auxiliaries.
	forward func(t *tile, lf *leaf, v []float64, s2 float64)
	// gradient adds Σ_j adj_j ∂leaf_j to a gradient; v are the leaf's values.
	gradient func(t *tile, lf *leaf, adj, v []float64)
	// weights are described at radialSE.
	weights func(t *tile, lf *leaf, adj, v []float64) (sum, scale float64)
)

// codeOf is the table of what the device has code for.
func codeOf(op kernelspace.Op) code {
	switch op {
	case kernelspace.OpSE:
		return code{
			reads: distances, forward: forwardSE,
			backward: backwardSE, inputs: radialInputs, weights: radialSE,
		}
	case kernelspace.OpRQ:
		return code{
			reads: distances, slots: one, forward: forwardRQ,
			backward: radialGrad, inputs: radialInputs, weights: radialRQ,
		}
	case kernelspace.OpMatern12, kernelspace.OpMatern32, kernelspace.OpMatern52:
		return code{
			reads: distances, forward: forwardMatern,
			backward: radialGrad, inputs: radialInputs, weights: radialMatern,
		}
	case kernelspace.OpLIN:
		return code{reads: products, forward: forwardLIN, backward: backwardLIN, inputs: inputsLIN}
	case kernelspace.OpPoly:
		return code{reads: products, forward: forwardPoly, backward: backwardPoly, inputs: inputsPoly}
	case kernelspace.OpPER:
		return code{slots: slotsPER, forward: forwardPER, backward: backwardPER, inputs: inputsPER}
	case kernelspace.OpCos:
		return code{slots: one, forward: forwardCos, backward: backwardCos, inputs: inputsCos}
	case kernelspace.OpRW:
		return code{reads: places, forward: forwardRW, backward: backwardRW, inputs: inputsRW}
	case kernelspace.OpIRW:
		return code{reads: places, forward: forwardIRW, backward: backwardIRW, inputs: inputsIRW}
	case kernelspace.OpStep:
		return code{reads: places, slots: one, forward: forwardStep, backward: backwardStep, inputs: inputsStep}
	case kernelspace.OpWhite:
		return code{forward: forwardWhite, backward: backwardWhite, inputs: noInputs}
	case kernelspace.OpCat:
		return code{forward: forwardCat, backward: varianceGrad, inputs: noInputs}
	case kernelspace.OpLevels:
		return code{forward: forwardLevels, backward: backwardLevels, inputs: noInputs}
	case kernelspace.OpConst:
		return code{forward: forwardConst, backward: varianceGrad, inputs: noInputs}
	}
	return code{}
}

func hasCode(op kernelspace.Op) bool { return codeOf(op).complete() }

// complete reports whether nothing is missing that some operation would call.
func (c code) complete() bool {
	return c.forward != nil && c.backward != nil && c.inputs != nil && (c.reads != distances || c.weights != nil)
}

func one(*kernelspace.Instr) int { return 1 }

// leafForward computes a leaf's values over the tile into its slot, and the
// auxiliaries of its gradient.
func (t *tile) leafForward(lf *leaf) {
	lf.code.forward(t, lf, t.slot(lf.value), t.k.theta[lf.Off])
}

// leafDiag computes k(x_j,x_j): σ² for the stationary leaves.
func (t *tile) leafDiag(lf *leaf) {
	if lf.moving() {
		t.leafForward(lf)
	} else {
		fill(t.slot(lf.value), t.k.theta[lf.Off])
	}
}

// featureScale returns 1/ℓ², or 1 where the feature has it already.
func (t *tile) featureScale(lf *leaf) float64 {
	if lf.ard() {
		return 1
	}
	return t.k.coef[lf.Off+1]
}

func forwardSE(t *tile, lf *leaf, v []float64, s2 float64) {
	t.level.ExpScaled(v, t.featureOf(lf), -0.5*t.featureScale(lf), s2)
}

func forwardLIN(t *tile, lf *leaf, v []float64, s2 float64) {
	t.level.Scaled(v, t.featureOf(lf), s2*t.featureScale(lf))
}

func forwardMatern(t *tile, lf *leaf, v []float64, s2 float64) {
	t.level.Matern(smoothness(lf.Op), v, t.featureOf(lf), t.featureScale(lf), s2)
}

func forwardPoly(t *tile, lf *leaf, v []float64, s2 float64) { t.power(v, lf, lf.Degree, s2) }

func forwardConst(_ *tile, _ *leaf, v []float64, s2 float64) { fill(v, s2) }

func forwardWhite(t *tile, _ *leaf, v []float64, s2 float64) {
	clear(v)
	if t.same {
		t.eachDiagonal(func(at int) { v[at] = s2 })
	}
}

// forwardCat takes points for the same that differ in no bit: levels are numbers, which
// standardisation turns into others, but equal ones into equal ones.
func forwardCat(t *tile, lf *leaf, v []float64, s2 float64) {
	fill(v, s2)
	for _, col := range lf.Cols {
		for j, d := range t.delta(col)[:len(v)] {
			if d != 0 {
				v[j] = 0
			}
		}
	}
}

// smoothness is 2ν of a Matérn kernel as it is written, ν = 1/2: 12.
func smoothness(op kernelspace.Op) int {
	switch op {
	case kernelspace.OpMatern12:
		return 12
	case kernelspace.OpMatern32:
		return 32
	}
	return 52
}

// fill doubles what is filled: copying moves whole vectors, a loop one entry at a time.
func fill(v []float64, x float64) {
	if len(v) == 0 {
		return
	}
	v[0] = x
	for n := 1; n < len(v); n *= 2 {
		copy(v[n:], v[:n])
	}
}

// eachDiagonal calls do for the entries of the tile on the matrix's diagonal.
func (t *tile) eachDiagonal(do func(at int)) {
	for _, s := range t.segments {
		if s.Col <= s.Row && s.Row < s.Col+s.N {
			do(int(s.At + s.Row - s.Col))
		}
	}
}

// power sets v = s (x·x′/ℓ² + c)ⁿ for Poly.
func (t *tile) power(v []float64, lf *leaf, n int, s float64) {
	if n == 0 {
		fill(v, s)
		return
	}
	f, c, off := t.featureOf(lf), t.featureScale(lf), t.k.theta[lf.shapeAt()]
	x := t.temp[0][:t.padded]
	t.level.Affine(x, f, c, off, 1)
	t.level.Scaled(v, x, s)
	for range n - 1 {
		t.level.Mul(v, v, x)
	}
}

// forwardRQ; the auxiliary is log₂(1+q), q = r²/2αℓ².
func forwardRQ(t *tile, lf *leaf, v []float64, s2 float64) {
	alpha := t.k.theta[lf.shapeAt()]
	f, h := t.featureOf(lf), t.featureScale(lf)/(2*alpha)
	log := t.slot(lf.aux)
	if alpha != 1 {
		t.level.RQ(v, log, f, h, alpha, s2)
		return
	}
	t.level.Rational(v, f, h, s2)
	if t.aux {
		t.level.Log2p1(log, f, h)
	}
}

// periods is δ/p of the leaf's i-th column less the nearest whole number.
func (t *tile) periods(lf *leaf, i int) []float64 {
	u := t.temp[0][:t.padded]
	p := lf.periodOf(i)
	t.level.Reduce(u, t.delta(lf.Cols[i]), t.k.theta[p], t.k.coef[p])
	return u
}

// forwardCos; the auxiliary is the slope 2πσ² sin(2πu), u = Σ δ/p.
func forwardCos(t *tile, lf *leaf, v []float64, s2 float64) {
	u := t.temp[1][:t.padded]
	clear(u)
	for i := range lf.Cols {
		t.level.Add(u, u, t.periods(lf, i))
	}
	t.level.Cosine(v, t.slot(lf.aux), u, s2)
}
