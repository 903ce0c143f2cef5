package cpu

import "math"

// This file has RW and IRW: with u, v the distances of x, x′ from the origin −h, m and
// M the smaller and the larger, side 1 or −1 where both lie to its right or left,
//
//	RW  k = σ² m,               ∂k/∂h = side σ²,     ∂k/∂u = σ² where u < v
//	IRW k = σ² m²(3M − m)/6,    ∂k/∂h = side σ² mM,  ∂k/∂u = σ² (mv − m²/2)
//
// added up over columns; RW's slope at u = v is taken as the mean of both sides'.

// eachPair visits a column's values at the tile's entries.
func (t *tile) eachPair(col int, visit func(at int, x, y float64)) {
	for _, s := range t.segments {
		for j, y := range t.xb[col][s.Col : s.Col+s.N] {
			x := y
			if !t.diag {
				x = t.xa[col][s.Row]
			}
			visit(int(s.At)+j, x, y)
		}
	}
}

// fromOrigin returns u, v and side, 0 where the origin lies between both.
func fromOrigin(x, y, h float64) (u, v, side float64) {
	u, v = x+h, y+h
	switch {
	case u > 0 && v > 0:
		return u, v, 1
	case u <= 0 && v <= 0:
		return -u, -v, -1
	}
	return math.Abs(u), math.Abs(v), 0
}

func (t *tile) walk(lf *leaf, v []float64, value func(m, most float64) float64) {
	clear(v)
	h := t.k.theta[lf.shapeAt()]
	for _, col := range lf.Cols {
		t.eachPair(col, func(at int, x, y float64) {
			if u, w, side := fromOrigin(x, y, h); side != 0 {
				v[at] += value(min(u, w), max(u, w))
			}
		})
	}
}

// walkGrad adds the gradients by log σ² and log h; slope is ∂k/∂h to the right.
func (t *tile) walkGrad(lf *leaf, adj, v []float64, slope func(u, v float64) float64) {
	varianceGrad(t, lf, adj, v)
	h, sum := t.k.theta[lf.shapeAt()], 0.0
	for _, col := range lf.Cols {
		t.eachPair(col, func(at int, x, y float64) {
			if u, w, side := fromOrigin(x, y, h); side != 0 {
				sum += adj[at] * side * slope(u, w)
			}
		})
	}
	t.k.grad[lf.shapeAt()] += h * sum
}

// walkInputs adds the gradients by the points of a; slope is ∂k/∂u.
func (t *tile) walkInputs(lf *leaf, adj []float64, slope func(u, v float64) float64) {
	h, dim := t.k.theta[lf.shapeAt()], len(t.deltas)
	for _, col := range lf.Cols {
		for _, s := range t.segments {
			sum, x := 0.0, t.xa[col][s.Row]
			for j, y := range t.xb[col][s.Col : s.Col+s.N] {
				if u, w, side := fromOrigin(x, y, h); side != 0 {
					sum += adj[int(s.At)+j] * side * slope(u, w)
				}
			}
			t.k.inputs[int(s.Row)*dim+col] += sum
		}
	}
}

func forwardRW(t *tile, lf *leaf, v []float64, s2 float64) {
	t.walk(lf, v, func(m, _ float64) float64 { return s2 * m })
}

func backwardRW(t *tile, lf *leaf, adj, v []float64) {
	s2 := t.k.theta[lf.Off]
	t.walkGrad(lf, adj, v, func(_, _ float64) float64 { return s2 })
}

func inputsRW(t *tile, lf *leaf, adj, _ []float64) {
	s2 := t.k.theta[lf.Off]
	t.walkInputs(lf, adj, func(u, v float64) float64 {
		switch {
		case u < v:
			return s2
		case u > v:
			return 0
		}
		return s2 / 2
	})
}

func forwardIRW(t *tile, lf *leaf, v []float64, s2 float64) {
	t.walk(lf, v, func(m, most float64) float64 { return s2 / 6 * (m * m * (3*most - m)) })
}

func backwardIRW(t *tile, lf *leaf, adj, v []float64) {
	s2 := t.k.theta[lf.Off]
	t.walkGrad(lf, adj, v, func(u, v float64) float64 { return s2 * u * v })
}

func inputsIRW(t *tile, lf *leaf, adj, _ []float64) {
	s2 := t.k.theta[lf.Off]
	t.walkInputs(lf, adj, func(u, v float64) float64 {
		m := min(u, v)
		return s2 * (m*v - m*m/2)
	})
}
