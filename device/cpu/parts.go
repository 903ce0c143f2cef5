package cpu

import "example.com/kestrel/device/cpu/simd"

// A pass over a large kernel matrix is made in parts of some partTiles tiles. Values do
// not depend on that. The sums of a gradient are those of the parts, added in order, on
// one core, too.
const (
	partTiles  = 16
	leastTiles = 32 // of a pass in parts
)

// large reports whether a pass is made in parts.
func (p *pass) large() bool {
	entries := p.rows * p.cols
	if p.symmetric {
		entries /= 2
	}
	return entries >= leastTiles*tileWidth
}

// tileParts is a pass in parts.
type tileParts struct {
	of     *tile // the lane's, which does not change meanwhile
	do     func(t *tile, p *pass)
	starts []pass
	params int       // of a kernel's gradient; 0: none is asked for
	sums   []float64 // the gradients of the kernels, part by part
}

// cut divides a pass after every partTiles tiles.
func (l *lane) cut(p pass) {
	starts := l.tiles.starts[:0]
	for p.i < p.rows {
		start := p
		p.skip(partTiles)
		start.end = p.at
		starts = append(starts, start)
	}
	l.tiles.starts = starts
}

// cutRows divides the pass over a matrix that is not symmetric between rows, where tiles
// begin anew: what is added up by row is of one part.
func (l *lane) cutRows(p pass) {
	starts := l.tiles.starts[:0]
	each := max(1, partTiles*tileWidth/p.cols)
	for i := 0; i < p.rows; i += each {
		part := p
		part.i, part.rows = i, min(p.rows, i+each)
		starts = append(starts, part)
	}
	l.tiles.starts = starts
}

// inParts makes a pass that has been divided, for which the lane's tile is bound.
func (l *lane) inParts(do func(t *tile, p *pass), params int) {
	w, bounds := &l.tiles, l.tile.bounds
	l.tile.pass++
	w.of, w.do, w.params = &l.tile, do, params
	each := len(bounds) * params
	w.sums = grow(w.sums, len(w.starts)*each)
	clear(w.sums)
	l.divide(len(w.starts), w)
	l.own.tile.forget()
	for i := range bounds {
		for at := i * params; at < len(w.sums); at += each {
			for j, v := range w.sums[at : at+params] {
				bounds[i].grad[j] += v
			}
		}
	}
}

func (w *tileParts) part(s *scratch, i int) {
	t := &s.tile
	t.follow(w.of)
	for j := range t.bounds {
		if t.bounds[j].grad = t.lost; w.params > 0 {
			at := (i*len(t.bounds) + j) * w.params
			t.bounds[j].grad = w.sums[at : at+w.params]
		}
	}
	w.do(t, &w.starts[i])
}

// follow makes a tile one of the pass that another one is bound for.
func (t *tile) follow(of *tile) {
	if t.followed == of && t.pass == of.pass {
		return
	}
	t.followed, t.pass = of, of.pass
	t.level, t.same, t.diag, t.aux = of.level, of.same, of.diag, of.aux
	t.xa, t.xb = of.xa, of.xb
	t.deltas, t.features = adopt(t.deltas, of.deltas), adopt(t.features, of.features)
	t.bounds = append(t.bounds[:0], of.bounds...)
	for i := range t.bounds {
		t.reserve(t.bounds[i].p)
	}
}

// adopt makes features read what others read, into memory of their own.
func adopt(f, of []shared) []shared {
	f = resize(f, len(of))
	for i := range f {
		f[i] = shared{columns: of[i].columns, buf: grow(f[i].buf, tileStride)}
	}
	return f
}

// forget drops what a tile has followed, so that it holds no memory.
func (t *tile) forget() {
	clear(t.bounds)
	for _, list := range [][]shared{t.deltas, t.features} {
		for i := range list {
			list[i].columns = simd.Columns{}
		}
	}
	t.followed, t.k, t.xa, t.xb = nil, nil, nil, nil
}
