package cpu

import (
	"math"

	"example.com/kestrel/kernelspace"
)

// This file has change points, k = G₀∘A + G₁∘B with
//
//	G₀ = (1−s)(1−s′),  G₁ = s s′,  s = 1/(1 + exp(−z)),  z = (x − c)/w
//
// and, with r = 1 − s,
//
//	∂G₁/∂c = −s s′(r + r′)/w,        ∂G₀/∂c = r r′(s + s′)/w
//	∂G₁/∂log w = −s s′(r z + r′z′),  ∂G₀/∂log w = r r′(s z + s′z′)
//	∂G₁/∂x = s s′r/w,                ∂G₀/∂x = −r r′s/w
//
// The step's slots hold G₁ and G₀; its gradients take the adjoint of k and the values
// of A and B.

// turn is s, 1 − s and z at a point.
type turn struct{ s, r, z float64 }

// turns are those of a step at the points of a and b; on the diagonal only b's.
type turns struct{ a, b []turn }

func fillTurns(to []turn, x []float64, place, width float64) []turn {
	to = resize(to, len(x))
	for i, v := range x {
		z := (v - place) / width
		to[i] = turn{1 / (1 + math.Exp(-z)), 1 / (1 + math.Exp(z)), z}
	}
	return to
}

// turn makes the steps of a kernel ready for the tile's points.
func (b *bound) turn(t *tile) {
	b.turns = resize(b.turns, len(b.p.leaves))
	for i := range b.p.leaves {
		lf := &b.p.leaves[i]
		if lf.Op != kernelspace.OpStep {
			continue
		}
		place, width := kernelspace.PlaceOf(b.theta[lf.Off]), b.theta[lf.Off+1]
		at := &b.turns[i]
		at.b = fillTurns(at.b, t.xb[lf.Cols[0]], place, width)
		if !t.diag {
			at.a = fillTurns(at.a, t.xa[lf.Cols[0]], place, width)
		}
	}
}

// eachTurn visits a step at the tile's entries.
func (t *tile) eachTurn(lf *leaf, visit func(at int, p, q *turn)) {
	on := &t.k.turns[lf.index]
	for _, s := range t.segments {
		for j := range int(s.N) {
			q := &on.b[int(s.Col)+j]
			p := q
			if !t.diag {
				p = &on.a[s.Row]
			}
			visit(int(s.At)+j, p, q)
		}
	}
}

func forwardStep(t *tile, lf *leaf, v []float64, _ float64) {
	before := t.slot(lf.aux)
	clear(v)
	clear(before)
	t.eachTurn(lf, func(at int, p, q *turn) {
		v[at] = p.s * q.s
		before[at] = p.r * q.r
	})
}

// change sets dst to G₀∘A + G₁∘B.
func (t *tile) change(dst []float64, n *node) {
	lf := t.step(n)
	a, b := t.vals[n.kids[1]], t.vals[n.kids[2]]
	x := t.temp[0][:t.padded]
	t.level.Mul(x, t.slot(lf.aux), a)
	t.level.Mul(dst, t.slot(lf.value), b)
	t.level.Add(dst, x, dst)
}

// spread hands the adjoint of a change point to its step, A and B.
func (t *tile) spread(n *node, adj []float64) {
	lf := t.step(n)
	t.adjs[n.kids[0]] = adj
	for i, weights := range [][]float64{t.slot(lf.aux), t.slot(lf.value)} {
		k := n.kids[1+i]
		dst := t.nodeAdjs[k*tileStride : k*tileStride+t.padded]
		t.level.Mul(dst, adj, weights)
		t.adjs[k] = dst
	}
}

// step is the leaf that a change point takes first.
func (t *tile) step(n *node) *leaf { return &t.k.p.leaves[t.k.p.nodes[n.kids[0]].leaf] }

func backwardStep(t *tile, lf *leaf, adj, _ []float64) {
	a, b := t.vals[lf.sides[0]], t.vals[lf.sides[1]]
	place, scale := 0.0, 0.0 // w ∂/∂c, ∂/∂log w
	t.eachTurn(lf, func(at int, p, q *turn) {
		before, after := adj[at]*a[at]*p.r*q.r, adj[at]*b[at]*p.s*q.s
		place += before*(p.s+q.s) - after*(p.r+q.r)
		if before != 0 || after != 0 { // far away z may be infinite
			scale += before*(p.s*p.z+q.s*q.z) - after*(p.r*p.z+q.r*q.z)
		}
	})
	c, width := kernelspace.PlaceOf(t.k.theta[lf.Off]), t.k.theta[lf.Off+1]
	t.k.grad[lf.Off] += place / width * math.Hypot(1, c) // dc/dlog raw
	t.k.grad[lf.Off+1] += scale
}

func inputsStep(t *tile, lf *leaf, adj, _ []float64) {
	a, b := t.vals[lf.sides[0]], t.vals[lf.sides[1]]
	on := &t.k.turns[lf.index]
	col, width := lf.Cols[0], t.k.theta[lf.Off+1]
	for _, s := range t.segments {
		sum, p := 0.0, on.a[s.Row]
		for j, q := range on.b[s.Col : s.Col+s.N] {
			at := int(s.At) + j
			sum += adj[at] * (b[at]*p.s*q.s*p.r - a[at]*p.r*q.r*p.s)
		}
		t.k.inputs[int(s.Row)*len(t.deltas)+col] += sum / width
	}
}
