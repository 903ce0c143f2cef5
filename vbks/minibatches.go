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
	taken          []uint32 // the last batch that has each row
	batch          uint32
	rows           []int32
}

// newBatchDrawer begins the list with a number.
func newBatchDrawer(seed uint64, number, n, size, steps int) *batchDrawer {
	d := &batchDrawer{seed: seed, n: n, size: size, steps: steps, taken: make([]uint32, n), rows: make([]int32, 0, steps*size)}
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
		for j := d.n - d.size; j < d.n; j++ {
			r := d.rng.IntN(j + 1)
			if d.taken[r] == d.batch {
				r = j
			}
			d.taken[r] = d.batch
			d.rows = append(d.rows, int32(r))
		}
	}
}
