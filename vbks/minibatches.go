package vbks

import (
	"math/rand/v2"

	"kestrel/vbks/random"
)

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
