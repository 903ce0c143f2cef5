package cpu

import "example.com/kestrel/device/cpu/simd"

const (
	// tileWidth is the number of entries of a tile.
	tileWidth = 256
	// tileStride is the length of its buffers: pieces of rows are written in
	// whole vectors, beyond the end.
	tileStride = tileWidth + 8
	// blockSide is the side of the blocks of a symmetric matrix.
	blockSide = 16
)

// pass walks over a kernel matrix tile by tile. The entries of a rectangular
// matrix are taken row by row, so that a tile is contiguous in it; those of a
// symmetric one, of which only the lower triangle is visited, block by block:
// 16 x 16 below the diagonal, the lower triangles of the blocks on it packed.
type pass struct {
	rows, cols int
	symmetric  bool
	i, j       int // where the next tile begins
	at         int // entries before it, with padding
	end        int // of them before the pass ends, of a part of a pass
}

// square is a block of a symmetric matrix in a tile: rows i to i+h, columns j
// to j+w, from entry at on. On the diagonal, i = j, it is packed.
type square struct{ i, j, h, w, at int }

func (s square) entries() int {
	if s.i == s.j {
		return s.h * (s.h + 1) / 2
	}
	return s.h * s.w
}

// entries is the number of entries that the tiles cover, with padding.
func (p pass) entries() int {
	if !p.symmetric {
		return simd.Padded(p.rows * p.cols)
	}
	// A tile of at least half its width is padded by at most 7.
	n := p.rows * (p.rows + 1) / 2
	return n + 8*(2*n/tileWidth+1)
}

// next sets the tile's segments, and its blocks where the matrix is symmetric.
// It returns false after the last tile.
func (p *pass) next(t *tile) bool {
	t.segments, t.squares, t.w = t.segments[:0], t.squares[:0], 0
	if p.end > 0 && p.at >= p.end {
		return false
	}
	if p.symmetric {
		p.nextSquares(t)
	} else {
		for t.w < tileWidth && p.i < p.rows {
			n := min(p.cols-p.j, tileWidth-t.w)
			t.segments = append(t.segments, simd.Segment{Row: int32(p.i), Col: int32(p.j), N: int32(n), At: int32(t.w)})
			t.w += n
			if p.j += n; p.j == p.cols {
				p.i, p.j = p.i+1, 0
			}
		}
	}
	t.padded = simd.Padded(t.w)
	t.at = p.at
	p.at += t.padded
	t.serial++
	return t.w > 0
}

// square returns the next block, if it goes into a tile that has at entries.
func (p *pass) square(at int) (s square, ok bool) {
	s = square{i: p.i, j: p.j, h: min(blockSide, p.rows-p.i), w: blockSide, at: at}
	if at+s.entries() > tileWidth {
		return s, false
	}
	if p.j += blockSide; p.j > p.i {
		p.i, p.j = p.i+blockSide, 0
	}
	return s, true
}

func (p *pass) nextSquares(t *tile) {
	for p.i < p.rows {
		s, ok := p.square(t.w)
		if !ok {
			return
		}
		t.squares = append(t.squares, s)
		at := t.w
		for r := range s.h {
			w := s.w
			if s.i == s.j {
				w = r + 1
			}
			t.segments = append(t.segments, simd.Segment{Row: int32(s.i + r), Col: int32(s.j), N: int32(w), At: int32(at)})
			at += w
		}
		t.w += s.entries()
	}
}

// skip goes past a number of tiles.
func (p *pass) skip(tiles int) {
	if !p.symmetric {
		entry := p.i*p.cols + p.j + tiles*tileWidth
		p.i, p.j = min(p.rows, entry/p.cols), entry%p.cols
		p.at += tiles * tileWidth
		return
	}
	for ; tiles > 0 && p.i < p.rows; tiles-- {
		w := 0
		for p.i < p.rows {
			s, ok := p.square(w)
			if !ok {
				break
			}
			w += s.entries()
		}
		p.at += simd.Padded(w)
	}
}

// scatter stores a tile's values in a symmetric matrix m, on both sides.
func (t *tile) scatter(m, v []float64, n int) {
	for _, s := range t.squares {
		at := s.at
		if s.i == s.j {
			for r := range s.h {
				row := m[(s.i+r)*n+s.j:]
				for c, x := range v[at : at+r+1] {
					row[c] = x
					m[(s.j+c)*n+s.i+r] = x
				}
				at += r + 1
			}
			continue
		}
		for r := range s.h {
			copy(m[(s.i+r)*n+s.j:][:s.w], v[at+r*s.w:][:s.w])
		}
		t.level.Transpose(s.h, s.w, m[s.j*n+s.i:], n, v[at:], s.w)
	}
}

// fold sets adj to the adjoints of the entries that the tile visits: those of
// the entries above the diagonal are added to their mirror images'.
func (t *tile) fold(adj, bar []float64, n int) {
	for _, s := range t.squares {
		at := s.at
		if s.i == s.j {
			for r := range s.h {
				row := bar[(s.i+r)*n+s.j:]
				for c := range r {
					adj[at+c] = row[c] + bar[(s.j+c)*n+s.i+r]
				}
				adj[at+r] = row[r]
				at += r + 1
			}
			continue
		}
		t.level.Transpose(s.w, s.h, adj[at:], s.w, bar[s.j*n+s.i:], n)
		for r := range s.h {
			dst, row := adj[at+r*s.w:][:s.w], bar[(s.i+r)*n+s.j:][:s.w]
			for c, x := range row {
				dst[c] += x
			}
		}
	}
	clear(adj[t.w:t.padded])
}
