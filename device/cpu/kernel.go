package cpu

import (
	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu/simd"
)

// points makes the tiles read the points a and b, for kernels of ks.
func (l *lane) points(ks *kernels, a, b device.Points) pass {
	t := &l.tile
	t.level, t.diag, t.same = l.level, false, sameRows(a, b)
	l.gatherA.gather(a)
	if t.same {
		l.gatherB.cols = append(l.gatherB.cols[:0], l.gatherA.cols...)
	} else {
		l.gatherB.gather(b)
	}
	dim := len(l.gatherA.cols)
	want(len(l.gatherB.cols) == dim)
	ks.checkColumns(dim)
	l.gatherB.extend()
	t.xa, t.xb = l.gatherA.cols, l.gatherB.cols
	p := pass{rows: a.Len(), cols: b.Len(), symmetric: t.same}
	if p.rows == 0 || p.cols == 0 {
		p.i = p.rows
		return p
	}
	t.deltas = resize(t.deltas, dim)
	for c := range t.deltas {
		t.list = append(t.list[:0], l.column(c))
		t.deltas[c].set(t.list)
	}
	t.features = resize(t.features, len(ks.features))
	for i, f := range ks.features {
		t.list = t.list[:0]
		for _, c := range f.cols {
			t.list = append(t.list, l.column(c))
		}
		t.features[i].set(t.list)
	}
	return p
}

func (l *lane) column(c int) simd.Column {
	return simd.Column{A: l.gatherA.cols[c], B: l.gatherB.cols[c], Scale: 1}
}

// diagonal makes the tiles read the pairs (x_j, x_j) of the points a: one row.
func (l *lane) diagonal(ks *kernels, a device.Points) pass {
	t := &l.tile
	t.level, t.diag, t.same = l.level, true, true
	l.gatherA.gather(a)
	ks.checkColumns(len(l.gatherA.cols))
	t.xa, t.xb = l.gatherA.cols, l.gatherA.cols
	t.features = resize(t.features, len(ks.features))
	for i := range t.features {
		t.features[i].set(nil)
	}
	p := pass{rows: 1, cols: a.Len()}
	if p.cols == 0 {
		p.i = p.rows
	}
	return p
}

// resize returns s with length n and as much of its content as there is.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		s = append(s[:cap(s)], make([]T, n-cap(s))...)
	}
	return s[:n]
}

// checkColumns checks that the data have the columns that the programs read.
func (ks *kernels) checkColumns(dim int) {
	for _, p := range ks.plans {
		if p.prog.Dim > dim {
			panic("cpu: program of more columns than the data")
		}
	}
}

// bind makes the kernels named by sub ready for the tiles.
func (l *lane) bind(sub []int, ks *kernels, theta *array, p pass) []bound {
	want(theta.shaped(1, ks.params) && len(ks.plans) <= theta.count)
	t := &l.tile
	t.bounds = resize(t.bounds, len(sub))
	for i, k := range sub {
		b := &t.bounds[i]
		b.bind(ks.plans[k], theta.member(k))
		t.reserve(b.p)
		if p.i < p.rows {
			b.turn(t)
			b.load(t)
			if !t.diag {
				b.angle(t)
			}
		}
		if !t.diag && p.i < p.rows {
			t.list = b.scale(t.list, l)
		}
	}
	return t.bounds
}

// run begins the work on a tile for a kernel. Its slots are in the tape, if
// there is one.
func (t *tile) run(b *bound) {
	t.k = b
	t.vals, t.adjs = t.nodes[:len(b.p.nodes)], t.adjNodes[:len(b.p.nodes)]
	t.buf = t.scratch
	if b.tape != nil {
		n := b.p.slots * t.padded
		at := b.p.slots * t.at
		t.buf = b.tape[at : at+n]
	}
}

// span is where a tile of a matrix that is not symmetric lies in it.
func (t *tile) span(cols int) (from, to int) {
	s := t.segments[0]
	from = int(s.Row)*cols + int(s.Col)
	return from, from + t.w
}

// gatherAdjoint returns the adjoints of the tile's entries, padded with zeros.
func (t *tile) gatherAdjoint(p *pass, bar []float64) []float64 {
	if p.symmetric {
		t.fold(t.adjoint, bar, p.cols)
		return t.adjoint[:t.padded]
	}
	from, to := t.span(p.cols)
	if t.w == t.padded {
		return bar[from:to]
	}
	copy(t.adjoint, bar[from:to])
	clear(t.adjoint[t.w:t.padded])
	return t.adjoint[:t.padded]
}

// values computes the tile's entries and stores them in m.
func (t *tile) values(p *pass, m []float64) {
	if !p.symmetric && t.w == t.padded {
		from, to := t.span(p.cols)
		t.forward(m[from:to])
		return
	}
	t.forward(t.result[:t.padded])
	if p.symmetric {
		t.scatter(m, t.result, p.cols)
		return
	}
	from, to := t.span(p.cols)
	copy(m[from:to], t.result)
}

func (l *lane) Kernel(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, out device.Array) {
	kn, th, o := kern(ks), arr(theta), arr(out)
	p := l.points(kn, a, b)
	o.Reshape(p.rows, p.cols)
	t := &l.tile
	bounds := l.bind(sub, kn, th, p)
	for i, k := range sub {
		bounds[i].member = o.member(k)
		bounds[i].tape = l.record(o, k, bounds[i].p.slots*p.entries())
	}
	if p.large() && l.cores() > 1 {
		l.cut(p)
		l.inParts(valueTiles, 0)
	} else {
		valueTiles(t, &p)
	}
	l.weigh(sub, a, b, o)
	for i, k := range sub {
		if bounds[i].tape != nil {
			o.tapes[k].set(kn, th.member(k), a, b)
		}
	}
}

// valueTiles computes the values of a pass, or of a part of it.
func valueTiles(t *tile, p *pass) {
	for p.next(t) {
		for i := range t.bounds {
			b := &t.bounds[i]
			t.run(b)
			t.aux = b.tape != nil
			t.values(p, b.member)
		}
	}
}

func (l *lane) KernelGrad(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, k, bar, gradTheta device.Array) {
	kn, th, km, br, g := kern(ks), arr(theta), arr(k), arr(bar), arr(gradTheta)
	p := l.points(kn, a, b)
	want(km.shaped(p.rows, p.cols) && br.shaped(p.rows, p.cols) && g.shaped(1, kn.params))
	t := &l.tile
	t.aux = true
	bounds := l.bind(sub, kn, th, p)
	byRow, byCol := scales(a), scales(b)
	for i, k := range sub {
		bounds[i].member, bounds[i].grad = weighed(br.member(k), byRow, byCol, p.cols), g.member(k)
		bounds[i].tape = km.played(k, kn, th.member(k), a, b)
	}
	if p.large() {
		l.cut(p)
		l.inParts(gradTiles, kn.params)
	} else {
		gradTiles(t, &p)
	}
}

// gradTiles adds the gradients of a pass, or of a part of it.
func gradTiles(t *tile, p *pass) {
	for p.next(t) {
		for i := range t.bounds {
			b := &t.bounds[i]
			t.run(b)
			if b.tape == nil {
				t.forward(nil)
			} else {
				t.combine(nil)
			}
			t.backward(t.gatherAdjoint(p, b.member), leafBackward)
		}
	}
}

func (l *lane) KernelDiag(sub []int, ks device.Kernels, theta device.Array, a device.Points, out device.Array) {
	kn, th, o := kern(ks), arr(theta), arr(out)
	p := l.diagonal(kn, a)
	o.Reshape(1, p.cols)
	t := &l.tile
	t.aux = false
	bounds := l.bind(sub, kn, th, p)
	for i, k := range sub {
		bounds[i].member = o.member(k)
	}
	for first := true; p.next(t); first = false {
		for i := range bounds {
			b := &bounds[i]
			if b.p.flat && !first {
				continue
			}
			t.run(b)
			t.values(&p, b.member)
			if b.p.flat {
				fill(b.member, b.member[0])
			}
		}
	}
	if by := squares(a); by != nil {
		for i := range bounds {
			weighMatrix(bounds[i].member, nil, by, p.cols)
		}
	}
}

func (l *lane) KernelDiagGrad(sub []int, ks device.Kernels, theta device.Array, a device.Points, bar, gradTheta device.Array) {
	kn, th, br, g := kern(ks), arr(theta), arr(bar), arr(gradTheta)
	p := l.diagonal(kn, a)
	want(br.shaped(1, p.cols) && g.shaped(1, kn.params))
	t := &l.tile
	t.aux = true
	bounds := l.bind(sub, kn, th, p)
	by := squares(a)
	for i, k := range sub {
		bounds[i].member, bounds[i].grad = weighed(br.member(k), nil, by, p.cols), g.member(k)
	}
	for first := true; p.next(t); first = false {
		for i := range bounds {
			b := &bounds[i]
			var adj []float64
			switch {
			case !b.p.flat:
				adj = t.gatherAdjoint(&p, b.member)
			case first: // one entry stands for all
				adj = t.adjoint[:t.padded]
				clear(adj)
				adj[0] = sum(b.member)
			default:
				continue
			}
			t.run(b)
			t.forward(nil)
			t.backward(adj, leafBackward)
		}
	}
}

func (l *lane) KernelInputGrad(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, bar, gradA device.Array) {
	kn, th, br, g := kern(ks), arr(theta), arr(bar), arr(gradA)
	p := l.points(kn, a, b)
	p.symmetric = false // b is held fixed
	want(br.shaped(p.rows, p.cols) && g.shaped(p.rows, len(l.gatherA.cols)))
	t := &l.tile
	t.aux = true
	bounds := l.bind(sub, kn, th, p)
	byRow, byCol := scales(a), scales(b)
	for i, k := range sub {
		bounds[i].member = weighed(br.member(k), byRow, byCol, p.cols)
		bounds[i].grad, bounds[i].inputs = t.lost, g.member(k)
	}
	if p.large() {
		l.cutRows(p)
		l.inParts(inputTiles, 0)
	} else {
		inputTiles(t, &p)
	}
}

// inputTiles adds the gradients by the points of a.
func inputTiles(t *tile, p *pass) {
	for p.next(t) {
		for i := range t.bounds {
			b := &t.bounds[i]
			t.run(b)
			t.forward(nil)
			t.backward(t.gatherAdjoint(p, b.member), leafInputGrad)
		}
	}
}

func (l *lane) AddJitter(sub []int, kzz device.Array, j device.Jitter, factor device.Array) {
	x, f := arr(kzz), arr(factor)
	want(x.rows == x.cols && f.shaped(1, 1))
	for _, k := range sub {
		m := x.member(k)
		addDiagonal(m, x.rows, f.member(k)[0]*(j.Relative*meanDiagonal(m, x.rows)+j.Absolute))
	}
}

func (l *lane) JitterGrad(sub []int, bar device.Array, j device.Jitter, factor device.Array) {
	x, f := arr(bar), arr(factor)
	want(x.rows == x.cols && f.shaped(1, 1))
	for _, k := range sub {
		m := x.member(k)
		// ε is added to every diagonal entry and is a multiple of their mean.
		addDiagonal(m, x.rows, f.member(k)[0]*j.Relative*meanDiagonal(m, x.rows))
	}
}

func meanDiagonal(a []float64, n int) float64 {
	if n == 0 {
		return 0
	}
	s := 0.0
	for i := range n {
		s += a[i*n+i]
	}
	return s / float64(n)
}
