package cpu

import "kestrel/kernelspace"

// tileWidth is the number of columns of a tile. A tile is a piece of one row of
// a kernel matrix: one point of a against up to tileWidth points of b. The
// program is run over a whole tile at a time, so that the choice of the leaf
// is made per tile and not per entry, and all of a tile stays in cache.
const tileWidth = 256

// tile is the state of a program's run over a tile.
type tile struct {
	p     *plan
	theta []float64
	coef  []float64 // as theta, but 1/ℓ² for length scales and 1/p for periods
	w     int       // width
	xa    []float64 // the point of a
	xb    [][]float64
	white int  // column that is the same point as the row's, −1: none
	diag  bool // a's points are b's, pairwise: entries k(x_j,x_j)
	aux   bool // also compute what the gradient needs

	buf    []float64 // slots of w entries each: the tape's or scratch
	vals   [][]float64
	adjs   [][]float64
	grad   []float64 // where parameter gradients are added
	inputs []float64 // where the gradient by the point of a is added

	scratch  []float64 // slots without a tape
	volatile []float64
	nodeVals []float64
	nodeAdjs []float64
	weights  []float64 // tileWidth
	fold     []float64 // adjoints of a symmetric tile
	lost     []float64 // gradients that nobody asked for
}

// bind prepares the tile for a kernel and its parameters.
func (t *tile) bind(p *plan, theta []float64) {
	t.p, t.theta = p, theta
	t.coef = grow(t.coef, len(theta))
	copy(t.coef, theta)
	for i := range p.leaves {
		lf := &p.leaves[i]
		for j := lf.Off + 1; j <= lf.Off+lf.NumScale; j++ {
			t.coef[j] = 1 / (theta[j] * theta[j])
		}
		for j := lf.periodAt(); j < lf.periodAt()+lf.NumPeriod; j++ {
			t.coef[j] = 1 / theta[j]
		}
	}
	t.scratch = grow(t.scratch, p.slots*tileWidth)
	t.volatile = grow(t.volatile, p.volatile*tileWidth)
	t.nodeVals = grow(t.nodeVals, len(p.nodes)*tileWidth)
	t.nodeAdjs = grow(t.nodeAdjs, len(p.nodes)*tileWidth)
	t.weights = grow(t.weights, tileWidth)
	t.fold = grow(t.fold, tileWidth)
	t.lost = grow(t.lost, len(theta))
	if cap(t.vals) < len(p.nodes) {
		t.vals = make([][]float64, len(p.nodes))
		t.adjs = make([][]float64, len(p.nodes))
	}
	t.vals, t.adjs = t.vals[:len(p.nodes)], t.adjs[:len(p.nodes)]
}

func (t *tile) slot(i int) []float64 { return t.buf[i*t.w : (i+1)*t.w : (i+1)*t.w] }

func (t *tile) featureOf(lf *leaf) []float64 {
	f := &t.p.features[lf.feature]
	if f.slot >= 0 {
		return t.slot(f.slot)
	}
	return t.volatile[f.volatile*t.w : (f.volatile+1)*t.w]
}

// forward computes the values of a tile into out, and the slots.
func (t *tile) forward(out []float64) {
	for i := range t.p.features {
		t.computeFeature(&t.p.features[i])
	}
	for i := range t.p.leaves {
		if t.diag {
			t.leafDiag(&t.p.leaves[i])
		} else {
			t.leafForward(&t.p.leaves[i])
		}
	}
	t.combine(out)
}

// combine computes the sums and products. Without out it leaves out what the
// gradient does not need.
func (t *tile) combine(out []float64) {
	for i := range t.p.nodes {
		n := &t.p.nodes[i]
		if n.leaf >= 0 {
			t.vals[i] = t.slot(t.p.leaves[n.leaf].value)
			if n.isRoot && out != nil {
				copy(out, t.vals[i])
			}
			continue
		}
		dst := t.nodeVals[i*tileWidth : i*tileWidth+t.w]
		if n.isRoot {
			if out == nil {
				continue
			}
			dst = out
		} else if out == nil && !n.needed {
			continue
		}
		t.vals[i] = dst
		if n.op == kernelspace.OpAdd {
			sumInto(dst, t.vals, n.kids)
		} else {
			productInto(dst, t.vals, n.kids)
		}
	}
}

func sumInto(dst []float64, vals [][]float64, kids []int) {
	if len(kids) == 1 {
		copy(dst, vals[kids[0]])
		return
	}
	a, b := vals[kids[0]][:len(dst)], vals[kids[1]][:len(dst)]
	for j := range dst {
		dst[j] = a[j] + b[j]
	}
	for _, k := range kids[2:] {
		a := vals[k][:len(dst)]
		for j := range dst {
			dst[j] += a[j]
		}
	}
}

func productInto(dst []float64, vals [][]float64, kids []int) {
	if len(kids) == 1 {
		copy(dst, vals[kids[0]])
		return
	}
	a, b := vals[kids[0]][:len(dst)], vals[kids[1]][:len(dst)]
	for j := range dst {
		dst[j] = a[j] * b[j]
	}
	for _, k := range kids[2:] {
		a := vals[k][:len(dst)]
		for j := range dst {
			dst[j] *= a[j]
		}
	}
}

// backward goes from the adjoints of a tile's values, bar, to those of the
// leaves and calls visit for each. The slots must be filled. A product's
// factor gets the product of the others: dividing by it would fail at the
// zeros of LIN.
func (t *tile) backward(bar []float64, visit func(t *tile, lf *leaf, adj []float64)) {
	for i := range t.p.features {
		if t.p.features[i].volatile >= 0 {
			t.computeFeature(&t.p.features[i])
		}
	}
	t.combine(nil)
	for i := len(t.p.nodes) - 1; i >= 0; i-- {
		n := &t.p.nodes[i]
		if n.isRoot {
			t.adjs[i] = bar
		}
		adj := t.adjs[i][:t.w]
		switch {
		case n.leaf >= 0:
			visit(t, &t.p.leaves[n.leaf], adj)
		case n.op == kernelspace.OpAdd:
			for _, k := range n.kids {
				t.adjs[k] = adj
			}
		default:
			for _, k := range n.kids {
				t.adjs[k] = t.otherFactors(n, k, adj)
			}
		}
	}
}

func (t *tile) otherFactors(n *node, kid int, adj []float64) []float64 {
	dst := t.nodeAdjs[kid*tileWidth : kid*tileWidth+t.w]
	copy(dst, adj)
	for _, k := range n.kids {
		if k == kid {
			continue
		}
		v := t.vals[k][:len(dst)]
		for j := range dst {
			dst[j] *= v[j]
		}
	}
	return dst
}
