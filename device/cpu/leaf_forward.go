package cpu

import (
	"math"

	"kestrel/kernelspace"
)

// featureScale returns 1/ℓ², or 1 where the feature has it already.
func (t *tile) featureScale(lf *leaf) float64 {
	if lf.ard() {
		return 1
	}
	return t.k.coef[lf.Off+1]
}

// leafForward computes a leaf's values over the tile into its slot, and the
// auxiliaries of its gradient.
func (t *tile) leafForward(lf *leaf) {
	v := t.slot(lf.value)
	s2 := t.k.theta[lf.Off]
	switch lf.Op {
	case kernelspace.OpSE:
		t.level.ExpScaled(v, t.featureOf(lf), -0.5*t.featureScale(lf), s2)
	case kernelspace.OpRQ:
		t.forwardRQ(lf, v, s2)
	case kernelspace.OpLIN:
		t.level.Scaled(v, t.featureOf(lf), s2*t.featureScale(lf))
	case kernelspace.OpPER:
		t.forwardPER(lf, v, s2)
	case kernelspace.OpMatern12, kernelspace.OpMatern32, kernelspace.OpMatern52:
		t.level.Matern(smoothness(lf.Op), v, t.featureOf(lf), t.featureScale(lf), s2)
	case kernelspace.OpWhite:
		clear(v)
		if t.same {
			t.eachDiagonal(func(at int) { v[at] = s2 })
		}
	case kernelspace.OpConst:
		fill(v, s2)
	case kernelspace.OpPoly:
		t.power(v, lf, lf.Degree, s2)
	case kernelspace.OpCos:
		t.forwardCos(lf, v, s2)
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

func fill(v []float64, x float64) {
	for j := range v {
		v[j] = x
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
func (t *tile) forwardRQ(lf *leaf, v []float64, s2 float64) {
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

// forwardPER; the auxiliaries are Σ s²/ℓ² and Σ s·c·(δ/p)/ℓ² with s, c =
// sin, cos(πδ/p), each per column or summed as the parameters are.
func (t *tile) forwardPER(lf *leaf, v []float64, s2 float64) {
	sq, sc := t.slot(lf.aux), t.slot(lf.aux+lf.NumScale)
	if len(lf.Cols) == 1 {
		u, il := t.periods(lf, 0), t.k.coef[lf.scaleAt(0)]
		if !t.aux {
			t.level.PERValue(v, u, il, s2)
			return
		}
		t.level.PER(v, sq, sc, u, t.delta(lf.Cols[0]), il, t.k.coef[lf.periodOf(0)], s2)
		return
	}
	for i, col := range lf.Cols {
		if lf.ard() {
			sq = t.slot(lf.aux + i)
		}
		if lf.NumPeriod > 1 {
			sc = t.slot(lf.aux + lf.NumScale + i)
		}
		if i == 0 || lf.ard() {
			clear(sq)
		}
		if i == 0 || lf.NumPeriod > 1 {
			clear(sc)
		}
		t.level.PERAdd(sq, sc, t.periods(lf, i), t.delta(col), t.k.coef[lf.scaleAt(i)], t.k.coef[lf.periodOf(i)])
	}
	sum := t.slot(lf.aux)
	if lf.ard() {
		x := t.temp[0][:t.padded]
		for i := 1; i < lf.NumScale; i++ {
			t.level.Add(x, sum, t.slot(lf.aux+i))
			sum = x
		}
	}
	t.level.ExpScaled(v, sum, -2, s2)
}

// forwardCos; the auxiliary is the slope 2πσ² sin(2πu), u = Σ δ/p.
func (t *tile) forwardCos(lf *leaf, v []float64, s2 float64) {
	u := t.temp[1][:t.padded]
	clear(u)
	for i := range lf.Cols {
		t.level.Add(u, u, t.periods(lf, i))
	}
	t.level.Cosine(v, t.slot(lf.aux), u, s2)
}

// leafDiag computes k(x_j,x_j): σ² for the stationary leaves.
func (t *tile) leafDiag(lf *leaf) {
	switch lf.Op {
	case kernelspace.OpLIN, kernelspace.OpPoly:
		t.leafForward(lf)
	default:
		fill(t.slot(lf.value), t.k.theta[lf.Off])
	}
}

// perSlope sets dst = sin(πu)cos(πu)/ℓ² for the leaf's i-th column.
func (t *tile) perSlope(dst []float64, lf *leaf, i int) {
	u := t.periods(lf, i)
	sq := t.temp[1][:t.padded]
	clear(dst)
	t.level.PERAdd(sq, dst, u, t.ones[:t.padded], t.k.coef[lf.scaleAt(i)], 1)
}

const fourPi = 4 * math.Pi
