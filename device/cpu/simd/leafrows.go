package simd

// Segment is a piece of a row of a kernel matrix in a tile: entries (Row, Col)
// to (Row, Col+N−1) lie from At on. N is positive. The fields' order and size are
// known to the assembly.
type Segment struct{ Row, Col, N, At int32 }

// Column is an input column of the two sets of points that a kernel matrix is
// over. It must be possible to read B up to 7 entries beyond every segment.
type Column struct {
	A, B  []float64
	Scale float64
}

// column is Column as the assembly reads it.
type column struct {
	a, b  *float64
	scale float64
}

// Columns are input columns, made ready once for many tiles.
type Columns struct {
	list []Column
	ptrs []column
}

// Set replaces the columns.
func (c *Columns) Set(list ...Column) {
	c.list = append(c.list[:0], list...)
	c.ptrs = c.ptrs[:0]
	for _, x := range list {
		c.ptrs = append(c.ptrs, column{&x.A[0], &x.B[0], x.Scale})
	}
}

// Deltas sets dst[At+j] = A[Row] − B[Col+j] for every segment, of one column. In
// this and the next two, segments are in ascending order of At without gaps; up
// to 7 entries of dst beyond the last are overwritten.
func (l Level) Deltas(dst []float64, segments []Segment, c *Columns) {
	if l.assembly() {
		l.vecDeltas(&dst[0], &segments[0].Row, len(segments), &c.ptrs[0].a, 1)
		return
	}
	x := &c.list[0]
	for _, s := range segments {
		a, b := x.A[s.Row], x.B[s.Col:s.Col+s.N]
		d := dst[s.At : s.At+s.N]
		for j := range d {
			d[j] = a - b[j]
		}
	}
}

// Distances sets dst[At+j] = Σ Scale·(A[Row] − B[Col+j])² over the columns.
func (l Level) Distances(dst []float64, segments []Segment, c *Columns) {
	if l.assembly() {
		l.vecDistances(&dst[0], &segments[0].Row, len(segments), &c.ptrs[0].a, len(c.ptrs))
		return
	}
	for _, s := range segments {
		d := dst[s.At : s.At+s.N]
		for i := range c.list {
			x := &c.list[i]
			a, b, scale := x.A[s.Row], x.B[s.Col:s.Col+s.N], x.Scale
			if i == 0 {
				for j := range d {
					e := a - b[j]
					d[j] = scale * (e * e)
				}
				continue
			}
			for j := range d {
				e := a - b[j]
				d[j] += scale * (e * e)
			}
		}
	}
}

// Products sets dst[At+j] = Σ Scale·A[Row]·B[Col+j] over the columns.
func (l Level) Products(dst []float64, segments []Segment, c *Columns) {
	if l.assembly() {
		l.vecProducts(&dst[0], &segments[0].Row, len(segments), &c.ptrs[0].a, len(c.ptrs))
		return
	}
	for _, s := range segments {
		d := dst[s.At : s.At+s.N]
		for i := range c.list {
			x := &c.list[i]
			a, b := x.A[s.Row]*x.Scale, x.B[s.Col:s.Col+s.N]
			if i == 0 {
				for j := range d {
					d[j] = a * b[j]
				}
				continue
			}
			for j := range d {
				d[j] += a * b[j]
			}
		}
	}
}

// Turn sets sin[At+j] and, where it is not nil, cos[At+j] for every segment to the sine and the cosine of a
// difference of angles,
//
//	sin(a−b) = sin a cos b − cos a sin b,  cos(a−b) = cos a cos b + sin a sin b,
//
// of which the first column has the sines, the second the cosines.
func (l Level) Turn(sin, cos []float64, segments []Segment, c *Columns) {
	if l.assembly() {
		if cos == nil {
			l.vecTurnSin(&sin[0], &segments[0].Row, len(segments), &c.ptrs[0].a)
		} else {
			l.vecTurn(&sin[0], &cos[0], &segments[0].Row, len(segments), &c.ptrs[0].a)
		}
		return
	}
	x, y := &c.list[0], &c.list[1]
	for _, s := range segments {
		sa, ca, sb, cb := x.A[s.Row], y.A[s.Row], x.B[s.Col:s.Col+s.N], y.B[s.Col:s.Col+s.N]
		d := sin[s.At : s.At+s.N]
		for j := range d {
			d[j] = sa*cb[j] - ca*sb[j]
		}
		if cos == nil {
			continue
		}
		d = cos[s.At : s.At+s.N]
		for j := range d {
			d[j] = ca*cb[j] + sa*sb[j]
		}
	}
}
