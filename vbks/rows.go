package vbks

import (
	"math/rand/v2"

	"example.com/kestrel/vbks/random"
)

// rowSet is a choice of training rows: the first N, or those listed.
type rowSet struct {
	N    int
	Rows []int32 // nil: the first N
	YY   float64 // Σ y²
}

// spreadRows takes at most count rows, evenly from the first n.
func (t *Trainer) spreadRows(n, count int) *rowSet {
	if n <= count {
		return &rowSet{N: n, YY: sumSquares(t.data.Y[:n])}
	}
	s := &rowSet{N: count, Rows: make([]int32, count)}
	for i := range s.Rows {
		j := int(float64(i) * float64(n) / float64(count))
		s.Rows[i] = int32(j)
		s.YY += t.data.Y[j] * t.data.Y[j]
	}
	return s
}

// elboSample is the common subsample of the first n rows: those of a fixed
// permutation that have been seen, at most ELBORows.
func (t *Trainer) elboSample(n int) *rowSet {
	count := t.settings.sampled(n)
	if count == n {
		return &rowSet{N: n}
	}
	s := &rowSet{N: count}
	for _, i := range t.elboRows {
		if int(i) < n {
			s.Rows = append(s.Rows, i)
			if len(s.Rows) == count {
				break
			}
		}
	}
	return s
}

// tuneSample is the last rows of the permutation whose first are what local
// ELBOs are estimated on, so that the two have none in common where there are
// enough.
func (t *Trainer) tuneSample(count int) *rowSet {
	n := t.data.Rows()
	if count >= n {
		return &rowSet{N: n, YY: sumSquares(t.data.Y[:n])}
	}
	s := &rowSet{N: count, Rows: t.elboRows[n-count:]}
	for _, i := range s.Rows {
		s.YY += t.data.Y[i] * t.data.Y[i]
	}
	return s
}

// sumSquares is Σ y².
func sumSquares(y []float64) (yy float64) {
	for _, v := range y {
		yy += v * v
	}
	return yy
}

// permutation is the fixed order in which rows are taken for the common
// subsample of the ELBO estimates.
func permutation(n int, seed uint64) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32(i)
	}
	random.Stream(seed, "elbo rows", 0).Shuffle(n, func(i, j int) { p[i], p[j] = p[j], p[i] })
	return p
}

// minibatches are the rows of a number of steps, the same for all kernels.
type minibatches struct {
	number int     // names the evaluation
	n      int     // rows that have been seen
	size   int     // rows of a batch: at most n
	steps  int     // number of batches
	rows   []int32 // steps x size; nil: every batch is all n rows
}

// drawMinibatches draws steps batches of distinct rows from the first n. They
// depend on the seed and the evaluation's number only.
func drawMinibatches(seed uint64, number, n, size, steps int) *minibatches {
	b := &minibatches{number: number, n: n, size: min(size, n), steps: steps}
	if b.size == n {
		return b
	}
	d := newBatchDrawer(seed, number, n, b.size, steps)
	d.draw(steps)
	b.rows = d.rows
	return b
}

// batchDrawer draws lists of minibatches, batch by batch and one list after
// another into the same memory.
type batchDrawer struct {
	seed           uint64
	n, size, steps int
	number         int // of the list
	rng            *rand.Rand
	taken          []uint32 // the last batch that has each row; nil: there are too many
	batch          uint32
	has            map[int]bool // the rows of the batch, then
	rows           []int32
}

// countedRows is the number of rows up to which each has a place of its own: every
// unit draws batches, and millions of places would be given up each time.
const countedRows = 1 << 18

// newBatchDrawer begins the list with a number.
func newBatchDrawer(seed uint64, number, n, size, steps int) *batchDrawer {
	d := &batchDrawer{seed: seed, n: n, size: size, steps: steps, rows: make([]int32, 0, steps*size)}
	if n <= countedRows {
		d.taken = make([]uint32, n)
	} else {
		d.has = make(map[int]bool, size)
	}
	d.begin(number)
	return d
}

// begin starts the list with a number.
func (d *batchDrawer) begin(number int) {
	d.number = number
	d.rng = random.Stream(d.seed, "minibatches", d.number)
	d.rows = d.rows[:0]
}

// next starts the list after it.
func (d *batchDrawer) next() { d.begin(d.number + 1) }

// draw adds so many batches to the list, by Floyd's algorithm.
func (d *batchDrawer) draw(count int) {
	for range count {
		if d.batch++; d.batch == 0 { // every number has been used
			clear(d.taken)
			d.batch = 1
		}
		clear(d.has)
		for j := d.n - d.size; j < d.n; j++ {
			r := d.rng.IntN(j + 1)
			if d.takes(r) {
				r = j
				d.takes(r)
			}
			d.rows = append(d.rows, int32(r))
		}
	}
}

// takes puts a row into the batch and reports whether it was there already.
func (d *batchDrawer) takes(r int) (was bool) {
	if d.taken == nil {
		was = d.has[r]
		d.has[r] = true
		return was
	}
	was = d.taken[r] == d.batch
	d.taken[r] = d.batch
	return was
}
