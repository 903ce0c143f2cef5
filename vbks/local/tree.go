package local

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/spatial/kdtree"
)

// tree finds the rows that a row is most like by a kernel's lengths. Levels of a category are
// places on a line for it, so that of others than its own a row finds some sooner; rows are then
// taken in the order of what they are apart by the kernel.
type tree struct {
	of  *alike
	x   []float64 // rows x dim
	dim int
	all *kdtree.Tree
}

// place is a row in units of lengths; its Row is −1 of one that is asked for.
type place struct {
	at  []float64
	row int32
}

func (p place) Compare(other kdtree.Comparable, d kdtree.Dim) float64 {
	return p.at[d] - other.(place).at[d]
}
func (p place) Dims() int { return len(p.at) }
func (p place) Distance(other kdtree.Comparable) float64 {
	s := 0.0
	for d, v := range other.(place).at {
		e := p.at[d] - v
		s += e * e
	}
	return s
}

type places []place

func (p places) Index(i int) kdtree.Comparable       { return p[i] }
func (p places) Len() int                            { return len(p) }
func (p places) Slice(from, to int) kdtree.Interface { return p[from:to] }
func (p places) Pivot(d kdtree.Dim) int {
	along := &plane{p, d}
	return kdtree.Partition(along, kdtree.MedianOfMedians(along)) // that of random places would have trees differ
}

// plane orders places along one input.
type plane struct {
	places
	along kdtree.Dim
}

func (p *plane) Less(i, j int) bool { return p.places[i].at[p.along] < p.places[j].at[p.along] }
func (p *plane) Swap(i, j int)      { p.places[i], p.places[j] = p.places[j], p.places[i] }
func (p *plane) Slice(from, to int) kdtree.SortSlicer {
	return &plane{p.places[from:to], p.along}
}

func newTree(of *alike, x []float64, dim int) *tree {
	t := &tree{of: of, x: x, dim: dim}
	all := make(places, len(x)/dim)
	for row := range all {
		all[row] = place{t.scaled(t.row(int32(row))), int32(row)}
	}
	t.all = kdtree.New(all, false)
	return t
}

func (t *tree) row(i int32) []float64 { return t.x[int(i)*t.dim : (int(i)+1)*t.dim] }

func (t *tree) scaled(x []float64) []float64 {
	out := make([]float64, t.dim)
	for d, rate := range t.of.rate {
		out[d] = x[d] * math.Sqrt(rate)
	}
	return out
}

// nearest returns the n rows that x is most like, but for the row self (−1: none is left
// out), the nearest first, and r from the nearest.
func (t *tree) nearest(x []float64, n int, self int32, out []int32) (near []int32, away float64) {
	keep := kdtree.NewNKeeper(n + 1)
	t.all.NearestSet(keep, place{t.scaled(x), -1})
	type found struct {
		row    int32
		square float64
	}
	var rows []found
	for _, c := range keep.Heap {
		if c.Comparable == nil { // what the heap begins with
			continue
		}
		if p := c.Comparable.(place); p.row != self {
			rows = append(rows, found{p.row, t.of.square(x, t.row(p.row))})
		}
	}
	slices.SortFunc(rows, func(a, b found) int { return cmp.Or(cmp.Compare(a.square, b.square), cmp.Compare(a.row, b.row)) })
	rows = rows[:min(n, len(rows))]
	for _, r := range rows {
		out = append(out, r.row)
	}
	if len(rows) > 0 {
		away = math.Sqrt(rows[0].square)
	}
	return out, away
}
