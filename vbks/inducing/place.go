// Package inducing places the inducing inputs of sparse Gaussian processes.
package inducing

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/agnivade/levenshtein"

	"example.com/kestrel/vbks/random"
)

// Methods lists what Place knows.
func Methods() []string {
	return []string{"auto", "kmeans", "quantiles", "grid", "jittered", "spread+consecutive", "random"}
}

// quantileRows is the largest number of rows for which "auto" puts the
// inducing inputs of one column evenly over its quantiles. Longer series are
// likely to hold many cycles per inducing input, and evenly spaced inputs
// alias with these.
const quantileRows = 5000

// placementStream keeps the random numbers of the placement apart from others
// of the same seed.
const placementStream = 0x696e647563696e67

// Place chooses m inducing inputs for the N x dim training inputs x
// (row-major, standardised), sorted by their first column. The methods are
//
//	"auto"                one column: evenly over the quantiles of x, both ends included, up
//	                      to 5000 rows, "jittered" for more; several columns: "kmeans"
//	"kmeans"              centres of k-means (on at most some 20,000 rows)
//	"quantiles"           one column only: evenly over the quantiles of x, both ends included
//	"grid"                one column only: evenly spaced from the least to the greatest x
//	"jittered"            a random row from each of m cells that hold equally many distinct
//	                      rows: quantiles of one column, cells of a k-d tree of several
//	"spread+consecutive"  half evenly spread over the sorted rows, half consecutive rows
//	                      from 40 % on
//	"random"              m distinct random rows
//
// z is m x dim. Equal inducing inputs make k(Z,Z) singular, so m is reduced,
// with a notice, to the number of distinct rows where there are fewer. Equal
// arguments give equal results. An unknown method, a grid in several columns
// and inputs that are empty, ragged or not finite are errors.
func Place(x []float64, dim, m int, method string, seed uint64) (z []float64, notices []string, err error) {
	if err := checkPlacement(x, dim, m, method); err != nil {
		return nil, nil, err
	}
	n := len(x) / dim
	p := placer{x: x, dim: dim, rng: rand.New(rand.NewPCG(seed, placementStream))}
	// The evenly spread rows of "spread+consecutive" and everything in one
	// column use all rows: sorting them is cheap. The others need no more than
	// a sample, unless the sample has too few distinct rows.
	all := dim == 1 || method == "spread+consecutive" && n <= 1<<21
	size := max(20000, 20*m)
	if !all && n > size {
		p.distinct(random.Sample(p.rng, n, size))
	}
	if len(p.rows) < min(m, n) {
		p.distinct(random.Sample(p.rng, n, n))
	}
	if m > n {
		notices = append(notices, fmt.Sprintf("%d inducing inputs asked for but only %d training rows: %d used", m, n, min(n, len(p.rows))))
		m = n
	} else if len(p.rows) < m {
		notices = append(notices, fmt.Sprintf("%d inducing inputs asked for but only %d distinct training inputs: %d used",
			m, len(p.rows), len(p.rows)))
	}
	m = min(m, len(p.rows))

	if method == "auto" {
		switch {
		case dim > 1:
			method = "kmeans"
		case n <= quantileRows:
			method = "quantiles"
		default:
			method = "jittered"
		}
	}
	switch method {
	case "quantiles":
		z = p.take(evenly(len(p.rows), m))
	case "grid":
		z = p.grid(m)
	case "jittered":
		z = p.take(p.jittered(m))
	case "spread+consecutive":
		z = p.take(spreadConsecutive(len(p.rows), m))
	case "random":
		z = p.take(p.rng.Perm(len(p.rows))[:m])
	case "kmeans":
		if len(p.rows) > size {
			p.rows = p.thin(size)
		}
		z = p.kmeans(m)
	}
	return sortRows(z, dim), notices, nil
}

func checkPlacement(x []float64, dim, m int, method string) error {
	if !slices.Contains(Methods(), method) {
		near, best := "", math.MaxInt
		for _, name := range Methods() {
			if d := levenshtein.ComputeDistance(method, name); d < best {
				near, best = name, d
			}
		}
		return fmt.Errorf("unknown placement of inducing inputs %q: did you mean %q? (known: %q)", method, near, Methods())
	}
	if dim < 1 || len(x) == 0 || len(x)%dim != 0 {
		return fmt.Errorf("inducing inputs: %d numbers are not rows of %d columns", len(x), dim)
	}
	if m < 1 {
		return fmt.Errorf("inducing inputs: at least 1 is needed, %d asked for", m)
	}
	if (method == "grid" || method == "quantiles") && dim > 1 {
		return fmt.Errorf("inducing inputs on a grid or at quantiles need a single input column, here are %d: "+
			"use \"kmeans\" or \"jittered\"", dim)
	}
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("inducing inputs: the training inputs are not all finite")
		}
	}
	return nil
}

// placer holds the distinct rows of x to choose from, sorted.
type placer struct {
	x    []float64
	dim  int
	rows []int
	rng  *rand.Rand
}

func (p *placer) row(i int) []float64 { return p.x[i*p.dim : (i+1)*p.dim] }

// thin returns size of the rows, in their order.
func (p *placer) thin(size int) []int {
	at := random.Sample(p.rng, len(p.rows), size)
	slices.Sort(at)
	for i, j := range at {
		at[i] = p.rows[j]
	}
	return at
}

// distinct sorts the given rows of x and drops repetitions.
func (p *placer) distinct(rows []int) {
	compare := func(a, b int) int { return slices.Compare(p.row(a), p.row(b)) }
	if !slices.IsSortedFunc(rows, compare) {
		slices.SortFunc(rows, compare)
	}
	p.rows = slices.CompactFunc(rows, func(a, b int) bool { return compare(a, b) == 0 })
}

// take copies the rows with the given positions in p.rows.
func (p *placer) take(at []int) []float64 {
	z := make([]float64, 0, len(at)*p.dim)
	for _, i := range at {
		z = append(z, p.row(p.rows[i])...)
	}
	return z
}

// evenly returns m ≤ n different positions, evenly spread over 0, …, n−1.
func evenly(n, m int) []int {
	at := make([]int, m)
	if m == 1 {
		at[0] = (n - 1) / 2
		return at
	}
	for i := range at {
		at[i] = int(math.Round(float64(i) * float64(n-1) / float64(m-1)))
	}
	return at
}

// spreadConsecutive returns m ≤ n different positions: about half evenly
// spread, the others consecutive, but for those already taken, from 40 % on.
func spreadConsecutive(n, m int) []int {
	at := evenly(n, m-m/2)
	taken := make(map[int]bool, m)
	for _, i := range at {
		taken[i] = true
	}
	for i := n * 2 / 5; len(at) < m; i = (i + 1) % n {
		if !taken[i] {
			taken[i] = true
			at = append(at, i)
		}
	}
	return at
}

// grid returns m evenly spaced points of the only column.
func (p *placer) grid(m int) []float64 {
	lo, hi := p.x[p.rows[0]], p.x[p.rows[len(p.rows)-1]]
	if m == 1 {
		return []float64{lo + (hi-lo)/2}
	}
	z := make([]float64, m)
	for i := range z {
		f := float64(i) / float64(m-1)
		z[i] = lo*(1-f) + hi*f
	}
	return z
}

// jittered returns a random position from each of m cells that hold equally
// many of the distinct rows.
func (p *placer) jittered(m int) []int {
	at := make([]int, len(p.rows))
	for i := range at {
		at[i] = i
	}
	out := make([]int, 0, m)
	var split func(cell []int, m int)
	split = func(cell []int, m int) {
		if m == 1 {
			out = append(out, cell[p.rng.IntN(len(cell))])
			return
		}
		if p.dim > 1 {
			p.sortByWidest(cell)
		}
		left := m / 2
		cut := len(cell) * left / m
		split(cell[:cut], left)
		split(cell[cut:], m-left)
	}
	split(at, m)
	return out
}

// sortByWidest sorts the rows of a cell by the column in which they spread most.
func (p *placer) sortByWidest(cell []int) {
	widest, width := 0, -1.0
	for d := range p.dim {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, i := range cell {
			v := p.row(p.rows[i])[d]
			lo, hi = min(lo, v), max(hi, v)
		}
		if hi-lo > width {
			widest, width = d, hi-lo
		}
	}
	slices.SortStableFunc(cell, func(a, b int) int {
		va, vb := p.row(p.rows[a])[widest], p.row(p.rows[b])[widest]
		return cmp.Compare(va, vb)
	})
}

// sortRows returns the rows of z in ascending order.
func sortRows(z []float64, dim int) []float64 {
	p := placer{x: z, dim: dim}
	rows := random.Sample(p.rng, len(z)/dim, len(z)/dim)
	slices.SortFunc(rows, func(a, b int) int { return slices.Compare(p.row(a), p.row(b)) })
	out := make([]float64, 0, len(z))
	for _, i := range rows {
		out = append(out, p.row(i)...)
	}
	return out
}
