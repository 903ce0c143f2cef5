package cpu

import "example.com/kestrel/device/cpu/simd"

// A pass over a large kernel matrix is made in parts of partTiles tiles. Values do not
// depend on that. The sums of a gradient are those of the parts, added in order, on one
// core, too.
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

// inParts makes a pass in parts, for which the lane's tile is bound.
func (l *lane) inParts(p pass, do func(t *tile, p *pass), params int) {
	w, bounds := &l.tiles, l.tile.bounds
	l.tile.pass++
	w.of, w.do, w.params, w.starts = &l.tile, do, params, w.starts[:0]
	for p.i < p.rows {
		start := p
		p.skip(partTiles)
		start.end = p.at
		w.starts = append(w.starts, start)
	}
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
	if w.params > 0 {
		for j := range t.bounds {
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
