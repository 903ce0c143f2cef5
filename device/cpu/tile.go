package cpu

import (
	"example.com/kestrel/device/cpu/simd"
	"example.com/kestrel/kernelspace"
)

// tile is a part of a kernel matrix, up to tileWidth entries packed from pieces of
// several rows. A program is run over a whole tile at a time, so that the choice
// of the leaf is made per tile and not per entry, and all of a tile stays in
// cache. Its arrays are padded to whole vectors: the features of the padding are
// 0, and so are its adjoints.
//
// Several kernels are run over a tile before the next: the features, what they
// read of the points, are computed once for all of them.
type tile struct {
	level    simd.Level
	segments []simd.Segment
	squares  []square // of a symmetric matrix
	w        int      // entries
	padded   int
	at       int   // entries of the tiles before
	same     bool  // a's points are b's: row i and column i are one point
	diag     bool  // entries k(x_j,x_j), j = from, …
	aux      bool  // also compute what the gradient needs
	serial   int   // of the tile, by which features know whether they are up to date
	pass     int   // of the passes that are made in parts
	followed *tile // the one for which this one does parts of such a pass

	xa, xb   [][]float64 // the points of a and b, by column
	deltas   []shared    // differences, by column
	features []shared    // kernels.features

	bounds []bound
	list   []simd.Column // scratch memory
	k      *bound        // the kernel at work
	buf    []float64     // its slots, of padded entries each: the tape's or scratch
	vals   [][]float64   // its nodes' values
	adjs   [][]float64   // and adjoints

	scratch  []float64 // slots without a tape
	private  []float64 // features of leaves with a length scale per column
	nodeVals []float64
	nodeAdjs []float64
	weights  []float64
	temp     [2][]float64
	result   []float64
	adjoint  []float64
	ones     []float64
	lost     []float64 // gradients that nobody asked for
	nodes    [][]float64
	adjNodes [][]float64
}

// shared is a feature that all kernels read.
type shared struct {
	columns simd.Columns
	serial  int // of the tile that buf is for
	buf     []float64
}

func (s *shared) set(list []simd.Column) {
	s.columns.Set(list...)
	s.serial = 0
	s.buf = grow(s.buf, tileStride)
}

// bound is a kernel with its parameters, for the time of an operation.
type bound struct {
	p        *plan
	theta    []float64
	coef     []float64      // as theta, but 1/ℓ² for length scales and 1/p for periods
	scaled   []simd.Columns // of the plan's own features
	turns    []turns        // of the steps, by leaf
	angles   []angles       // of periodic leaves, by column
	loadings []loadings     // of those on levels with lengths, by leaf
	member   []float64      // the matrix written, or its adjoint
	grad     []float64      // where parameter gradients are added
	inputs   []float64      // where gradients by the points of a are added
	tape     []float64      // nil: none
}

func (b *bound) bind(p *plan, theta []float64) {
	b.p, b.theta, b.tape = p, theta, nil
	b.coef = grow(b.coef, len(theta))
	copy(b.coef, theta)
	for i := range p.leaves {
		lf := &p.leaves[i]
		for j := lf.Off + 1; j <= lf.Off+lf.NumScale; j++ {
			b.coef[j] = 1 / (theta[j] * theta[j])
		}
		for j := lf.periodAt(); j < lf.periodAt()+lf.NumPeriod; j++ {
			b.coef[j] = 1 / theta[j]
		}
	}
}

// scale makes the features ready that only this kernel reads.
func (b *bound) scale(list []simd.Column, l *lane) []simd.Column {
	b.scaled = resize(b.scaled, b.p.scaled)
	for i := range b.p.leaves {
		lf := &b.p.leaves[i]
		if !lf.ard() || lf.code.reads == nothing || lf.code.reads == places {
			continue
		}
		list = list[:0]
		for c, col := range lf.Cols {
			x := l.column(col)
			x.Scale = b.coef[lf.scaleAt(c)]
			list = append(list, x)
		}
		b.scaled[lf.feature].Set(list...)
	}
	return list
}

// reserve makes the buffers large enough for the kernel.
func (t *tile) reserve(p *plan) {
	t.scratch = atLeast(t.scratch, p.slots*tileStride)
	t.nodeVals = atLeast(t.nodeVals, len(p.nodes)*tileStride)
	t.nodeAdjs = atLeast(t.nodeAdjs, len(p.nodes)*tileStride)
	t.lost = atLeast(t.lost, len(p.prog.Params)+1)
	if len(t.nodes) < len(p.nodes) {
		t.nodes = make([][]float64, len(p.nodes))
		t.adjNodes = make([][]float64, len(p.nodes))
	}
	if t.ones != nil {
		return
	}
	for _, b := range []*[]float64{&t.private, &t.weights, &t.temp[0], &t.temp[1], &t.result, &t.adjoint, &t.ones} {
		*b = make([]float64, tileStride)
	}
	for j := range t.ones {
		t.ones[j] = 1
	}
}

// atLeast returns s or, where it is shorter than n, a new slice.
func atLeast(s []float64, n int) []float64 {
	if len(s) < n {
		return make([]float64, n)
	}
	return s
}

// pairs are the tile's points of column c, on the diagonal.
func (t *tile) pairs(c int) []float64 {
	from := int(t.segments[0].Col)
	return t.xb[c][from : from+t.w]
}

func (t *tile) slot(i int) []float64 { return t.buf[i*t.padded : (i+1)*t.padded : (i+1)*t.padded] }

// delta is x_c − x′_c for input column c.
func (t *tile) delta(c int) []float64 {
	f := &t.deltas[c]
	if f.serial != t.serial {
		f.serial = t.serial
		t.level.Deltas(f.buf, t.segments, &f.columns)
		clear(f.buf[t.w:t.padded])
	}
	return f.buf[:t.padded]
}

// product is x_c·x′_c for input column c, in scratch memory.
func (t *tile) product(dst []float64, c int) []float64 {
	if t.diag {
		clear(dst[:t.padded])
		squareColumn(dst, 1, t.pairs(c))
	} else {
		t.level.Products(dst, t.segments, &t.deltas[c].columns)
		clear(dst[t.w:t.padded])
	}
	return dst[:t.padded]
}

// featureOf is the leaf's feature over the tile. A feature of its own is valid
// until the next is asked for.
func (t *tile) featureOf(lf *leaf) []float64 {
	if !lf.ard() {
		f := &t.features[lf.feature]
		if f.serial != t.serial {
			f.serial = t.serial
			t.measure(f.buf, lf, &f.columns)
		}
		return f.buf[:t.padded]
	}
	t.measure(t.private, lf, &t.k.scaled[lf.feature])
	return t.private[:t.padded]
}

func (t *tile) measure(dst []float64, lf *leaf, c *simd.Columns) {
	switch {
	case t.diag:
		clear(dst[:t.padded])
		for i, col := range lf.Cols {
			s := 1.0
			if lf.ard() {
				s = t.k.coef[lf.scaleAt(i)]
			}
			squareColumn(dst, s, t.pairs(col))
		}
		return
	case lf.dot():
		t.level.Products(dst, t.segments, c)
	default:
		t.level.Distances(dst, t.segments, c)
	}
	clear(dst[t.w:t.padded])
}

func squareColumn(dst []float64, s float64, x []float64) {
	for j, x := range x {
		dst[j] += s * (x * x)
	}
}

// forward fills the slots of a tile. Values, if asked for, are written to out.
func (t *tile) forward(out []float64) {
	for i := range t.k.p.leaves {
		if t.diag {
			t.leafDiag(&t.k.p.leaves[i])
		} else {
			t.leafForward(&t.k.p.leaves[i])
		}
	}
	t.combine(out)
}

// combine computes the sums, products and change points. Without out it leaves out what the
// gradient does not need.
func (t *tile) combine(out []float64) {
	p := t.k.p
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.leaf >= 0 {
			t.vals[i] = t.slot(p.leaves[n.leaf].value)
			if n.isRoot && out != nil {
				copy(out, t.vals[i])
			}
			continue
		}
		dst := t.nodeVals[i*tileStride : i*tileStride+t.padded]
		if n.isRoot {
			if out == nil {
				continue
			}
			dst = out
		} else if out == nil && !n.needed {
			continue
		}
		t.vals[i] = dst
		if n.op == kernelspace.OpChange {
			t.change(dst, n)
			continue
		}
		v := t.vals[n.kids[0]]
		if len(n.kids) == 1 {
			copy(dst, v)
		}
		for _, k := range n.kids[1:] {
			if n.op == kernelspace.OpAdd {
				t.level.Add(dst, v, t.vals[k])
			} else {
				t.level.Mul(dst, v, t.vals[k])
			}
			v = dst
		}
	}
}

// backward goes from the adjoints of a tile's values, bar, to those of the
// leaves and calls visit for each. The slots must be filled and the nodes
// combined. A product's factor gets the product of the others: dividing by it
// would fail at the zeros of LIN.
func (t *tile) backward(bar []float64, visit func(t *tile, lf *leaf, adj []float64)) {
	p := t.k.p
	for i := len(p.nodes) - 1; i >= 0; i-- {
		n := &p.nodes[i]
		if n.isRoot {
			t.adjs[i] = bar
		}
		adj := t.adjs[i][:t.padded]
		switch {
		case n.leaf >= 0:
			visit(t, &p.leaves[n.leaf], adj)
		case n.op == kernelspace.OpChange:
			t.spread(n, adj)
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
	dst := t.nodeAdjs[kid*tileStride : kid*tileStride+t.padded]
	v := adj
	for _, k := range n.kids {
		if k != kid {
			t.level.Mul(dst, v, t.vals[k])
			v = dst
		}
	}
	return v
}
