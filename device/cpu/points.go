package cpu

import "example.com/kestrel/device"

// columns are the selected points, one slice per input column.
type columns struct {
	cols [][]float64
	buf  []float64 // of rows that an index selects
	room []float64 // of columns that were extended
}

// gather fills c with the points' columns: views of the data where the rows
// are consecutive, copies where an index selects them.
func (c *columns) gather(p device.Points) {
	d, ok := p.Data.(*data)
	if !ok {
		panic("cpu: data of another device")
	}
	c.cols = c.cols[:0]
	if p.Index == nil {
		for _, col := range d.cols {
			c.cols = append(c.cols, col[p.From:p.To])
		}
		return
	}
	rows := indexRows(p)
	c.buf = grow(c.buf, len(rows)*len(d.cols))
	for k, col := range d.cols {
		dst := c.buf[k*len(rows) : (k+1)*len(rows)]
		for i, r := range rows {
			dst[i] = col[r]
		}
		c.cols = append(c.cols, dst)
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
