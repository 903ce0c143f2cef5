package local

import (
	"cmp"
	"math"
	"slices"
)

// tree finds the rows that a row is most like by a kernel's lengths. It is a k-d tree (Bentley 1975) that is no more
// than an order of the rows: of a part of them the row in its middle, along the input by which they are
// farthest apart, has none above it before it and none below it behind it, and so have both halves. A row takes five
// bytes, where the nodes of gonum's tree, with their places, take some 130: of five million rows as much as all else.
type tree struct {
	of    *alike
	x     []float64 // rows x dim
	dim   int
	order []int32
	along []uint8 // by place in order: the input that a part is halved along, where it is the middle of one
}

// leafRows are so few that they are looked at one by one.
const leafRows = 16

func newTree(of *alike, x []float64, dim int) *tree {
	n := len(x) / dim
	t := &tree{of: of, x: x, dim: dim, order: make([]int32, n), along: make([]uint8, n)}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	t.halve(0, n)
	return t
}

func (t *tree) row(i int32) []float64 { return t.x[int(i)*t.dim : (int(i)+1)*t.dim] }

func (t *tree) value(i int32, d int) float64 { return t.x[int(i)*t.dim+d] }

// halve puts the rows from..to-1 of the order into their places.
func (t *tree) halve(from, to int) {
	for to-from > leafRows {
		middle, d := (from+to)/2, t.widest(from, to)
		t.along[middle] = uint8(d)
		t.part(from, to, middle, d)
		t.halve(from, middle)
		from = middle + 1
	}
}

// widest is the input by which rows are farthest apart.
func (t *tree) widest(from, to int) (widest int) {
	most := -1.0
	for d := range min(t.dim, math.MaxUint8+1) {
		low := t.value(t.order[from], d)
		high := low
		for _, r := range t.order[from+1 : to] {
			v := t.value(r, d)
			low, high = min(low, v), max(high, v)
		}
		if width := t.of.apart(d, high-low); width > most {
			widest, most = d, width
		}
	}
	return widest
}

// part orders rows along an input so far that the one in the middle is where all rows in order had it (Hoare's
// selection).
func (t *tree) part(from, to, middle, d int) {
	o := t.order
	for to--; from < to; {
		a, b, c := t.value(o[from], d), t.value(o[(from+to)/2], d), t.value(o[to], d)
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := from, to
		for i <= j {
			for t.value(o[i], d) < pivot {
				i++
			}
			for pivot < t.value(o[j], d) {
				j--
			}
			if i <= j {
				o[i], o[j] = o[j], o[i]
				i++
				j--
			}
		}
		switch {
		case middle <= j:
			to = j
		case middle >= i:
			from = i
		default:
			return
		}
	}
}

// found is a row and r² from the one that is asked for.
type found struct {
	row    int32
	square float64
}

func nearer(a, b found) int {
	return cmp.Or(cmp.Compare(a.square, b.square), cmp.Compare(a.row, b.row))
}

// nearest returns the n rows that x is most like, but for the row self (−1: none is left
// out), the nearest first, of equal ones those that come first, and r from the nearest.
func (t *tree) nearest(x []float64, n int, self int32, out []int32) (near []int32, away float64) {
	q := query{tree: t, x: x, self: self, most: n}
	q.look(0, len(t.order))
	slices.SortFunc(q.rows, nearer)
	for _, r := range q.rows {
		out = append(out, r.row)
	}
	if len(q.rows) > 0 {
		away = math.Sqrt(q.rows[0].square)
	}
	return out, away
}

// query collects the rows nearest to x, once there are enough as a heap with the farthest at its top.
type query struct {
	*tree
	x    []float64
	self int32
	most int
	rows []found
}

// look looks at the rows from..to-1 of the order.
func (q *query) look(from, to int) {
	if to-from <= leafRows {
		for _, r := range q.order[from:to] {
			q.take(r)
		}
		return
	}
	middle := (from + to) / 2
	d, split := int(q.along[middle]), q.order[middle]
	q.take(split)
	beyond := q.x[d] - q.value(split, d)
	if beyond < 0 {
		q.look(from, middle)
	} else {
		q.look(middle+1, to)
	}
	if len(q.rows) == q.most && q.of.apart(d, beyond) > q.rows[0].square {
		return
	}
	if beyond < 0 {
		q.look(middle+1, to)
	} else {
		q.look(from, middle)
	}
}

// take keeps a row if it is among the nearest so far.
func (q *query) take(row int32) {
	if row == q.self || q.most == 0 {
		return
	}
	f := found{row, q.of.square(q.x, q.tree.row(row))}
	if len(q.rows) < q.most {
		if q.rows = append(q.rows, f); len(q.rows) == q.most {
			slices.SortFunc(q.rows, func(a, b found) int { return nearer(b, a) }) // a heap
		}
		return
	}
	if nearer(f, q.rows[0]) > 0 {
		return
	}
	at := 0
	for {
		child := 2*at + 1
		if child >= q.most {
			break
		}
		if child+1 < q.most && nearer(q.rows[child+1], q.rows[child]) > 0 {
			child++
		}
		if nearer(f, q.rows[child]) >= 0 {
			break
		}
		q.rows[at] = q.rows[child]
		at = child
	}
	q.rows[at] = f
}
