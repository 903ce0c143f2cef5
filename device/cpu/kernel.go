package cpu

import "kestrel/device"

// pass walks the tiles of a kernel matrix row by row. Of a symmetric matrix
// only the lower triangle is visited.
type pass struct {
	rows, cols int
	symmetric  bool
	same       bool // the points of a are those of b: white noise is on the diagonal
}

// entries is the number of entries that the tiles cover.
func (p pass) entries() int {
	if p.symmetric {
		return p.rows * (p.rows + 1) / 2
	}
	return p.rows * p.cols
}

// width is the number of columns visited in row i.
func (p pass) width(i int) int {
	if p.symmetric {
		return i + 1
	}
	return p.cols
}

// points makes the tiles read the points a and b.
func (l *lane) points(a, b device.Points) pass {
	same := sameRows(a, b)
	l.gatherA.gather(a)
	if same {
		l.gatherB.cols = append(l.gatherB.cols[:0], l.gatherA.cols...)
	} else {
		l.gatherB.gather(b)
	}
	dim := len(l.gatherA.cols)
	want(len(l.gatherB.cols) == dim)
	t := &l.tile
	if cap(t.xb) < dim {
		t.xb = make([][]float64, dim)
	}
	t.xb = t.xb[:dim]
	t.xa = grow(t.xa, dim)
	t.diag = false
	return pass{rows: a.Len(), cols: b.Len(), symmetric: same, same: same}
}

// place puts the tile on row i, columns j0 to j1.
func (l *lane) place(p pass, i, j0, j1 int) {
	t := &l.tile
	t.w = j1 - j0
	for c, col := range l.gatherA.cols {
		t.xa[c] = col[i]
	}
	for c, col := range l.gatherB.cols {
		t.xb[c] = col[j0:j1]
	}
	t.white = -1
	if p.same && j0 <= i && i < j1 {
		t.white = i - j0
	}
}

func (ks *kernels) check(theta *array, dim int) {
	want(theta.shaped(1, ks.params) && len(ks.plans) <= theta.count)
	for _, p := range ks.plans {
		if p.prog.Dim > dim {
			panic("cpu: program of more columns than the data")
		}
	}
}

func (l *lane) Kernel(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, out device.Array) {
	kn, th, o := kern(ks), arr(theta), arr(out)
	p := l.points(a, b)
	kn.check(th, len(l.gatherA.cols))
	o.Reshape(p.rows, p.cols)
	t := &l.tile
	for _, k := range sub {
		pl := kn.plans[k]
		t.bind(pl, th.member(k))
		tp := o.tape(k, pl.slots*p.entries())
		t.aux = tp != nil
		m := o.member(k)
		at := 0
		for i := range p.rows {
			row := m[i*p.cols : (i+1)*p.cols]
			n := p.width(i)
			for j0 := 0; j0 < n; j0 += tileWidth {
				j1 := min(j0+tileWidth, n)
				l.place(p, i, j0, j1)
				if tp != nil {
					t.buf = tp.buf[at : at+pl.slots*t.w]
					at += len(t.buf)
				} else {
					t.buf = t.scratch
				}
				t.forward(row[j0:j1])
			}
		}
		if p.symmetric {
			mirror(m, p.rows)
		}
		if tp != nil {
			tp.set(kn, th.member(k), a, b)
		}
	}
}

func (l *lane) KernelGrad(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, k, bar, gradTheta device.Array) {
	kn, th, km, br, g := kern(ks), arr(theta), arr(k), arr(bar), arr(gradTheta)
	p := l.points(a, b)
	kn.check(th, len(l.gatherA.cols))
	want(km.shaped(p.rows, p.cols) && br.shaped(p.rows, p.cols) && g.shaped(1, kn.params))
	t := &l.tile
	t.aux = true
	for _, k := range sub {
		pl := kn.plans[k]
		t.bind(pl, th.member(k))
		t.grad = g.member(k)
		tape := km.played(k, kn, th.member(k), a, b)
		m := br.member(k)
		at := 0
		for i := range p.rows {
			n := p.width(i)
			for j0 := 0; j0 < n; j0 += tileWidth {
				j1 := min(j0+tileWidth, n)
				l.place(p, i, j0, j1)
				if tape != nil {
					t.buf = tape[at : at+pl.slots*t.w]
					at += len(t.buf)
				} else {
					t.buf = t.scratch
					t.forward(t.fold[:t.w])
				}
				adj := m[i*p.cols+j0 : i*p.cols+j1]
				if p.symmetric {
					adj = foldAdjoint(t.fold, m, p.cols, i, j0, j1)
				}
				t.backward(adj, leafBackward)
			}
		}
	}
}

// foldAdjoint adds the adjoints of the entries above the diagonal to those of
// their mirror images, row i, columns j0 to j1 <= i+1.
func foldAdjoint(dst, bar []float64, n, i, j0, j1 int) []float64 {
	dst = dst[:j1-j0]
	copy(dst, bar[i*n+j0:i*n+j1])
	for j := j0; j < min(j1, i); j++ {
		dst[j-j0] += bar[j*n+i]
	}
	return dst
}

// diagonal walks the tiles of k(x,x) for single points and calls do for each.
func (l *lane) diagonal(a device.Points) {
	l.points(a, a)
	l.tile.diag = true
	l.tile.white = -1
}

func (l *lane) placeDiagonal(j0, j1 int) {
	t := &l.tile
	t.w = j1 - j0
	t.buf = t.scratch
	for c, col := range l.gatherA.cols {
		t.xb[c] = col[j0:j1]
	}
}

func (l *lane) KernelDiag(sub []int, ks device.Kernels, theta device.Array, a device.Points, out device.Array) {
	kn, th, o := kern(ks), arr(theta), arr(out)
	l.diagonal(a)
	kn.check(th, len(l.gatherA.cols))
	n := a.Len()
	o.Reshape(1, n)
	for _, k := range sub {
		l.tile.bind(kn.plans[k], th.member(k))
		m := o.member(k)
		for j0 := 0; j0 < n; j0 += tileWidth {
			j1 := min(j0+tileWidth, n)
			l.placeDiagonal(j0, j1)
			l.tile.forward(m[j0:j1])
		}
	}
}

func (l *lane) KernelDiagGrad(sub []int, ks device.Kernels, theta device.Array, a device.Points, bar, gradTheta device.Array) {
	kn, th, br, g := kern(ks), arr(theta), arr(bar), arr(gradTheta)
	l.diagonal(a)
	kn.check(th, len(l.gatherA.cols))
	n := a.Len()
	want(br.shaped(1, n) && g.shaped(1, kn.params))
	t := &l.tile
	for _, k := range sub {
		t.bind(kn.plans[k], th.member(k))
		t.grad = g.member(k)
		m := br.member(k)
		for j0 := 0; j0 < n; j0 += tileWidth {
			j1 := min(j0+tileWidth, n)
			l.placeDiagonal(j0, j1)
			t.forward(t.fold[:t.w])
			t.backward(m[j0:j1], leafBackward)
		}
	}
}

func (l *lane) KernelInputGrad(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, bar, gradA device.Array) {
	kn, th, br, g := kern(ks), arr(theta), arr(bar), arr(gradA)
	p := l.points(a, b)
	p.symmetric = false // b is held fixed
	dim := len(l.gatherA.cols)
	kn.check(th, dim)
	want(br.shaped(p.rows, p.cols) && g.shaped(p.rows, dim))
	t := &l.tile
	t.aux = true
	for _, k := range sub {
		t.bind(kn.plans[k], th.member(k))
		t.grad = t.lost
		m, ga := br.member(k), g.member(k)
		for i := range p.rows {
			t.inputs = ga[i*dim : (i+1)*dim]
			for j0 := 0; j0 < p.cols; j0 += tileWidth {
				j1 := min(j0+tileWidth, p.cols)
				l.place(p, i, j0, j1)
				t.buf = t.scratch
				t.forward(t.fold[:t.w])
				t.backward(m[i*p.cols+j0:i*p.cols+j1], leafInputGrad)
			}
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
