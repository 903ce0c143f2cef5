package cpu

import (
	"math"

	"example.com/kestrel/device/cpu/simd"
	"example.com/kestrel/kernelspace"
)

// This file has PER, with s, c = sin, cos(πδ/p), δ = x − x′,
//
//	k = σ² exp(−2 Σ s²/ℓ²)
//
// over columns. Sine and cosine are those of a difference of two angles, one of x and one of x′: they
// are computed point by point, and not entry by entry.

const fourPi = 4 * math.Pi

// angles are the sines and cosines of πx/p at the points of a and b, of a column of a leaf.
type angles struct {
	columns simd.Columns
	buf     []float64 // as which columns lie
}

// angle makes the periodic leaves of a kernel ready for the tile's points.
func (b *bound) angle(t *tile) {
	b.angles = resize(b.angles, b.p.angles)
	for i := range b.p.leaves {
		lf := &b.p.leaves[i]
		if lf.Op != kernelspace.OpPER {
			continue
		}
		for i, col := range lf.Cols {
			p := lf.periodOf(i)
			b.angles[lf.angle+i].fill(t, col, b.theta[p], b.coef[p])
		}
	}
}

// fill computes the angles of an input column for a period, inv its inverse.
func (a *angles) fill(t *tile, col int, period, inv float64) {
	x, y := t.xa[col], t.xb[col]
	n, m := simd.Padded(len(x)), simd.Padded(len(y))
	own := m
	if !t.same {
		own += n
	}
	const beyond = 7 // entries that are read behind the last
	a.buf = grow(a.buf, 3*own+beyond)
	u, sin, cos := a.buf[:own], a.buf[own:2*own], a.buf[2*own:3*own]
	clear(sin)
	copy(sin, y)
	if !t.same {
		copy(sin[m:], x)
	}
	t.level.Reduce(u, sin, period, inv)
	t.level.SinCos(sin, cos, u)
	from := m
	if t.same {
		from = 0
	}
	a.columns.Set(simd.Column{A: sin[from:], B: sin}, simd.Column{A: cos[from:], B: cos})
}

// waves are the sine and, with cos, the cosine of πδ/p of the leaf's i-th column.
func (t *tile) waves(lf *leaf, i int, withCos bool) (sin, cos []float64) {
	sin = t.temp[0][:t.padded]
	if withCos {
		cos = t.temp[1][:t.padded]
	}
	t.level.Turn(sin, cos, t.segments, &t.k.angles[lf.angle+i].columns)
	clear(sin[t.w:])
	if withCos {
		clear(cos[t.w:])
	}
	return sin, cos
}

func slotsPER(in *kernelspace.Instr) int { return in.NumScale + in.NumPeriod }

// forwardPER; the auxiliaries are Σ s²/ℓ² and Σ s·c·(δ/p)/ℓ², each per column or summed as the
// parameters are.
func forwardPER(t *tile, lf *leaf, v []float64, s2 float64) {
	sq, sc := t.slot(lf.aux), t.slot(lf.aux+lf.NumScale)
	if len(lf.Cols) == 1 {
		sin, cos := t.waves(lf, 0, t.aux)
		il := t.k.coef[lf.scaleAt(0)]
		if !t.aux {
			t.level.PERValue(v, sin, il, s2)
			return
		}
		t.level.PER(v, sq, sc, sin, cos, t.delta(lf.Cols[0]), il, t.k.coef[lf.periodOf(0)], s2)
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
		sin, cos := t.waves(lf, i, true)
		t.level.PERAdd(sq, sc, sin, cos, t.delta(col), t.k.coef[lf.scaleAt(i)], t.k.coef[lf.periodOf(i)])
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

func backwardPER(t *tile, lf *leaf, adj, v []float64) {
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

func inputsPER(t *tile, lf *leaf, adj, v []float64) {
	w, x := t.weights[:t.padded], t.private[:t.padded]
	t.level.Mul(w, adj, v)
	for i, col := range lf.Cols { // of sin·cos/ℓ²
		sin, cos := t.waves(lf, i, true)
		t.level.Mul(x, sin, cos)
		t.addInputs(col, -fourPi*t.k.coef[lf.periodOf(i)]*t.k.coef[lf.scaleAt(i)], w, x)
	}
}
