package cpu

import "example.com/kestrel/device"

// columns are the selected points, one slice per input column, so that the loops over a kernel
// matrix's columns read contiguous memory.
type columns struct {
	cols [][]float64
	buf  []float64 // of columns that are not as they were given
	room []float64 // of columns that were extended
}

// gather fills c with the points' columns: a view of the data where there is one column and
// the rows are consecutive, else copies.
func (c *columns) gather(p device.Points) {
	d, ok := p.Data.(*data)
	if !ok {
		panic("cpu: data of another device")
	}
	c.cols = c.cols[:0]
	if p.Index == nil && d.dim == 1 {
		c.cols = append(c.cols, d.x[p.From:p.To])
		return
	}
	n := p.Len()
	c.buf = grow(c.buf, n*d.dim)
	for k := range d.dim {
		c.cols = append(c.cols, c.buf[k*n:(k+1)*n])
	}
	if p.Index == nil {
		for i := range n {
			c.put(i, d.x[(p.From+i)*d.dim:][:d.dim])
		}
		return
	}
	for i, r := range indexRows(p) {
		c.put(i, d.x[int(r)*d.dim:][:d.dim])
	}
}

// put writes the inputs of a row into their columns.
func (c *columns) put(i int, x []float64) {
	for k, v := range x {
		c.cols[k][i] = v
	}
}

// extend makes 7 entries beyond the end of every column readable, where they are
// not so already.
func (c *columns) extend() {
	const beyond = 7
	need := 0
	for _, col := range c.cols {
		if cap(col) < len(col)+beyond {
			need += len(col) + beyond
		}
	}
	if need == 0 {
		return
	}
	c.room = grow(c.room, need)
	at := 0
	for i, col := range c.cols {
		if n := len(col); cap(col) < n+beyond {
			dst := c.room[at : at+n : at+n+beyond]
			copy(dst, col)
			c.cols[i] = dst
			at += n + beyond
		}
	}
}

func indexRows(p device.Points) []int32 {
	x, ok := p.Index.(*index)
	if !ok {
		panic("cpu: index of another device")
	}
	return x.rows[p.From:p.To]
}

// targets returns the targets of the points.
func (l *lane) targets(p device.Points) []float64 {
	d, ok := p.Data.(*data)
	if !ok {
		panic("cpu: data of another device")
	}
	if d.y == nil {
		panic("cpu: data without targets")
	}
	if p.Index == nil {
		return d.y[p.From:p.To]
	}
	rows := indexRows(p)
	l.ys = grow(l.ys, len(rows))
	for i, r := range rows {
		l.ys[i] = d.y[r]
	}
	return l.ys
}

// sameRows reports whether a and b select the same rows of the same data. (An
// index is never changed, so that comparing identities is enough.)
func sameRows(a, b device.Points) bool { return a == b }
