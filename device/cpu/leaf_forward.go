package cpu

import (
	"math"

	"kestrel/kernelspace"
)

const (
	sqrt3 = 1.73205080756887729352744634150587236694280525381038
	sqrt5 = 2.23606797749978969640917366873127623544061835961153
)

// computeFeature fills a feature's array for the tile.
func (t *tile) computeFeature(f *feature) {
	var dst []float64
	if f.slot >= 0 {
		dst = t.slot(f.slot)
	} else {
		dst = t.volatile[f.volatile*t.w : (f.volatile+1)*t.w]
	}
	for i, c := range f.cols {
		s := 1.0
		if f.leaf >= 0 {
			s = t.coef[t.p.leaves[f.leaf].scaleAt(i)]
		}
		xb := t.xb[c][:len(dst)]
		switch {
		case t.diag && !f.dot:
			clear(dst)
		case t.diag:
			squareColumn(dst, i == 0, s, xb)
		case f.dot:
			dotColumn(dst, i == 0, t.xa[c]*s, xb)
		default:
			distColumn(dst, i == 0, t.xa[c], s, xb)
		}
	}
}

func squareColumn(dst []float64, first bool, s float64, xb []float64) {
	if first {
		clear(dst)
	}
	for j, x := range xb {
		dst[j] += s * (x * x)
	}
}

func dotColumn(dst []float64, first bool, a float64, xb []float64) {
	xb = xb[:len(dst)]
	if first {
		for j := range dst {
			dst[j] = a * xb[j]
		}
		return
	}
	for j := range dst {
		dst[j] += a * xb[j]
	}
}

func distColumn(dst []float64, first bool, a, s float64, xb []float64) {
	xb = xb[:len(dst)]
	if first {
		for j := range dst {
			d := a - xb[j]
			dst[j] = s * (d * d)
		}
		return
	}
	for j := range dst {
		d := a - xb[j]
		dst[j] += s * (d * d)
	}
}

// featureScale returns 1/ℓ², or 1 where the feature has it already.
func (t *tile) featureScale(lf *leaf) float64 {
	if lf.ard() {
		return 1
	}
	return t.coef[lf.Off+1]
}

// leafForward computes a leaf's values over the tile into its slot, and the
// auxiliaries of its gradient.
func (t *tile) leafForward(lf *leaf) {
	v := t.slot(lf.value)
	s2 := t.theta[lf.Off]
	switch lf.Op {
	case kernelspace.OpSE:
		f, c := t.featureOf(lf)[:len(v)], -0.5*t.featureScale(lf)
		for j := range v {
			v[j] = c * f[j]
		}
		expScaled(v, s2)
	case kernelspace.OpRQ:
		t.forwardRQ(lf, v, s2)
	case kernelspace.OpLIN:
		f, c := t.featureOf(lf)[:len(v)], s2*t.featureScale(lf)
		for j := range v {
			v[j] = c * f[j]
		}
	case kernelspace.OpPER:
		t.forwardPER(lf, v, s2)
	case kernelspace.OpMatern12:
		f, c := t.featureOf(lf)[:len(v)], t.featureScale(lf)
		for j := range v {
			v[j] = -math.Sqrt(c * f[j])
		}
		expScaled(v, s2)
	case kernelspace.OpMatern32:
		f, c := t.featureOf(lf)[:len(v)], t.featureScale(lf)
		for j := range v {
			v[j] = -sqrt3 * math.Sqrt(c*f[j])
		}
		expScaled(v, s2)
		for j := range v {
			v[j] *= 1 + sqrt3*math.Sqrt(c*f[j])
		}
	case kernelspace.OpMatern52:
		f, c := t.featureOf(lf)[:len(v)], t.featureScale(lf)
		for j := range v {
			v[j] = -sqrt5 * math.Sqrt(c*f[j])
		}
		expScaled(v, s2)
		for j := range v {
			s := sqrt5 * math.Sqrt(c*f[j])
			v[j] *= 1 + s + s*s/3
		}
	case kernelspace.OpWhite:
		clear(v)
		if t.white >= 0 {
			v[t.white] = s2
		}
	case kernelspace.OpConst:
		fill(v, s2)
	case kernelspace.OpPoly:
		f, c, off := t.featureOf(lf)[:len(v)], t.featureScale(lf), t.theta[lf.shapeAt()]
		for j := range v {
			v[j] = s2 * power(c*f[j]+off, lf.Degree)
		}
	case kernelspace.OpCos:
		t.forwardCos(lf, v, s2)
	}
}

func fill(v []float64, x float64) {
	for j := range v {
		v[j] = x
	}
}

// power is xⁿ for a small n >= 0.
func power(x float64, n int) float64 {
	r := 1.0
	for range n {
		r *= x
	}
	return r
}

// forwardRQ; the auxiliary is log(1+q), q = r²/2αℓ².
func (t *tile) forwardRQ(lf *leaf, v []float64, s2 float64) {
	alpha := t.theta[lf.shapeAt()]
	f, h := t.featureOf(lf)[:len(v)], t.featureScale(lf)/(2*alpha)
	log := t.slot(lf.aux)[:len(v)]
	if alpha == 1 {
		for j := range v {
			v[j] = s2 / (1 + h*f[j])
		}
		if t.aux {
			log1pInto(log, f, h)
		}
		return
	}
	log1pInto(log, f, h)
	for j := range v {
		v[j] = -alpha * log[j]
	}
	expScaled(v, s2)
}

// forwardPER; the auxiliaries are Σ s²/ℓ² and Σ s·c·(δ/p)/ℓ² with s, c =
// sin, cos(πδ/p), each per column or summed as the parameters are.
func (t *tile) forwardPER(lf *leaf, v []float64, s2 float64) {
	sq := t.slot(lf.aux)[:len(v)]
	sc := t.slot(lf.aux + lf.NumScale)[:len(v)]
	for i, col := range lf.Cols {
		il, ip, p := t.coef[lf.scaleAt(i)], t.coef[lf.periodOf(i)], t.theta[lf.periodOf(i)]
		if lf.ard() {
			sq = t.slot(lf.aux + i)[:len(v)]
		}
		if lf.NumPeriod > 1 {
			sc = t.slot(lf.aux + lf.NumScale + i)[:len(v)]
		}
		xa, xb := t.xa[col], t.xb[col][:len(v)]
		if i == 0 || lf.ard() {
			clear(sq)
		}
		if i == 0 || lf.NumPeriod > 1 {
			clear(sc)
		}
		sq, sc := sq[:len(v)], sc[:len(v)]
		for j := range v {
			d := xa - xb[j]
			s := sinHalf(reduce(d, p, ip))
			w := s * s
			sq[j] += 4 * il * w * (1 - w)
			sc[j] += 2 * il * s * math.Sqrt(1-w) * (1 - 2*w) * (d * ip)
		}
	}
	for j := range v {
		v[j] = -2 * sq[j]
	}
	if lf.ard() {
		for i := range lf.NumScale - 1 {
			for j, q := range t.slot(lf.aux + i)[:len(v)] {
				v[j] -= 2 * q
			}
		}
	}
	expScaled(v, s2)
}

// forwardCos; the auxiliary is the slope 2πσ² sin(2πu), u = Σ δ/p.
func (t *tile) forwardCos(lf *leaf, v []float64, s2 float64) {
	slope := t.slot(lf.aux)[:len(v)]
	for i, col := range lf.Cols {
		ip, p := t.coef[lf.periodOf(i)], t.theta[lf.periodOf(i)]
		xa, xb := t.xa[col], t.xb[col][:len(v)]
		if i == 0 {
			clear(slope)
		}
		for j := range v {
			slope[j] += reduce(xa-xb[j], p, ip)
		}
	}
	for j := range v {
		u := slope[j]
		s, c := math.Sincos(2 * math.Pi * (u - math.RoundToEven(u)))
		v[j] = s2 * c
		slope[j] = 2 * math.Pi * s2 * s
	}
}

// leafDiag computes k(x_j,x_j): σ² for the stationary leaves.
func (t *tile) leafDiag(lf *leaf) {
	v := t.slot(lf.value)
	switch lf.Op {
	case kernelspace.OpLIN, kernelspace.OpPoly:
		t.leafForward(lf)
	default:
		fill(v, t.theta[lf.Off])
	}
}
