package vbks

import "kestrel/vbks/random"

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
