package cpu

import "example.com/kestrel/device"

// scales are the factors of points, nil where they have none.
func scales(p device.Points) []float64 {
	d, ok := p.Data.(*data)
	if !ok {
		panic("cpu: data of another device")
	}
	if d.scale == nil {
		return nil
	}
	if p.Index == nil {
		return d.scale[p.From:p.To]
	}
	rows := indexRows(p)
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = d.scale[r]
	}
	return out
}

// weighMatrix multiplies the entries of a matrix by the factors of its rows and of its
// columns; nil are ones.
func weighMatrix(m, byRow, byCol []float64, cols int) {
	for i := 0; i*cols < len(m); i++ {
		row := m[i*cols : (i+1)*cols]
		if byRow != nil {
			for j := range row {
				row[j] *= byRow[i]
			}
		}
		for j, a := range byCol {
			row[j] *= a
		}
	}
}

// weigh multiplies members of a matrix of kernel values by the factors of the points that
// it is between.
func (l *lane) weigh(sub []int, a, b device.Points, out *array) {
	byRow, byCol := scales(a), scales(b)
	if byRow == nil && byCol == nil {
		return
	}
	for _, k := range sub {
		m := out.member(k)
		if l.entire(len(m)) {
			weighMatrix(m, byRow, byCol, out.cols)
		} else {
			l.stretch(out.rows, out.cols, stretches{do: stretchWeigh, a: m, b: byRow, c: byCol, cols: out.cols})
		}
	}
}

func stretchWeigh(s *stretches, from, to int) {
	byRow := s.b
	if byRow != nil {
		byRow = byRow[from:to]
	}
	weighMatrix(s.a[from*s.cols:to*s.cols], byRow, s.c, s.cols)
}

// weighed is a copy of a member of derivatives by such a matrix, which are then those by
// the kernel's own values; the member itself where there are no factors.
func weighed(bar, byRow, byCol []float64, cols int) []float64 {
	if byRow == nil && byCol == nil {
		return bar
	}
	out := append([]float64(nil), bar...)
	weighMatrix(out, byRow, byCol, cols)
	return out
}

// squares are the factors of values k(x,x), nil where there are none.
func squares(p device.Points) []float64 {
	s := scales(p)
	if s == nil {
		return nil
	}
	out := make([]float64, len(s))
	for i, a := range s {
		out[i] = a * a
	}
	return out
}
