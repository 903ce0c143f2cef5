package cpu

import (
	"math"
	"slices"

	"example.com/kestrel/kernelspace"
)

// This file has levels of a category with a length each,
//
//	k = σ² of one level, else σ² c c′,  c = exp(−1/2ℓ²),  ∂k/∂log ℓ = σ² c c′/ℓ²
//
// of either level. Lengths are looked up once a point, not once an entry.

// loading is what a leaf knows of a point's level.
type loading struct {
	c      float64
	length int     // the parameter; of a value that is no level the variance, to which it adds nothing
	slope  float64 // 1/ℓ²
}

// loadings are those of a leaf at the points of a and b.
type loadings struct{ a, b []loading }

func (b *bound) fillLoadings(to []loading, lf *leaf, x []float64) []loading {
	to = resize(to, len(x))
	for i, v := range x {
		to[i] = loading{length: lf.Off}
		if l, known := slices.BinarySearch(lf.Levels, v); known {
			s := b.coef[lf.Off+1+l]
			to[i] = loading{math.Exp(-0.5 * s), lf.Off + 1 + l, s}
		}
	}
	return to
}

// load makes the leaves on levels ready for the tile's points.
func (b *bound) load(t *tile) {
	b.loadings = resize(b.loadings, len(b.p.leaves))
	for i := range b.p.leaves {
		lf := &b.p.leaves[i]
		if lf.Op != kernelspace.OpLevels || t.diag {
			continue
		}
		at := &b.loadings[i]
		at.a = b.fillLoadings(at.a, lf, t.xa[lf.Cols[0]])
		at.b = b.fillLoadings(at.b, lf, t.xb[lf.Cols[0]])
	}
}

func forwardLevels(t *tile, lf *leaf, v []float64, s2 float64) {
	on, col := &t.k.loadings[lf.index], lf.Cols[0]
	for _, s := range t.segments {
		x, c, out := t.xa[col][s.Row], on.a[s.Row].c, v[s.At:s.At+s.N]
		q := on.b[s.Col : s.Col+s.N]
		for j, y := range t.xb[col][s.Col : s.Col+s.N] {
			if out[j] = s2 * (c * q[j].c); x == y {
				out[j] = s2
			}
		}
	}
	clear(v[t.w:])
}

func backwardLevels(t *tile, lf *leaf, adj, v []float64) {
	varianceGrad(t, lf, adj, v)
	on, col, g := &t.k.loadings[lf.index], lf.Cols[0], t.k.grad
	for _, s := range t.segments {
		x, p, sum := t.xa[col][s.Row], &on.a[s.Row], 0.0
		for j, y := range t.xb[col][s.Col : s.Col+s.N] {
			if x == y {
				continue
			}
			q, w := &on.b[int(s.Col)+j], adj[int(s.At)+j]*v[int(s.At)+j]
			sum += w
			g[q.length] += q.slope * w
		}
		g[p.length] += p.slope * sum
	}
}
