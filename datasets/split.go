package datasets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// Streams of random numbers: one for each purpose, so that a choice made for
// one does not move another.
const (
	streamSplit = iota + 1
	streamOrder
	streamSupport
	streamFunction
	streamOutputs
	streamNoise
	streamTestOutputs
	streamTestNoise
)

// newRand returns the random numbers of a stream.
func newRand(seed, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mix(seed), mix(seed+stream*0x9e3779b97f4a7c15)))
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014): it keeps
// neighbouring seeds and streams from starting in neighbouring states.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

var errNoRoom = errors.New("no training rows are left")

// Among reports whether rows of several inputs are asked for among the others: they are no series, and
// those held out are drawn at random or by a mask.
func (d *Dataset) Among() bool {
	return d.Series == nil && d.Dim > 1 && (d.SplitBy == "random" || d.SplitBy == "mask")
}

// Gap is how many rows lie in a gap that is to be filled: the median run of rows held out by a
// mask, in the order of the one input, or of time beside columns that are made of it. It is 1 where there is
// no such order, no gap, and of rows drawn at random, since with each training row it is as with them. What lies
// beyond all training rows is forecast and no gap.
func (d *Dataset) Gap() int {
	if d.SplitBy != "mask" && d.SplitBy != "rows" || d.Dim > 1 && (d.Series == nil || d.Dim != 1+len(d.Calendar())) {
		return 1
	}
	rows := make([]int32, d.decisive())
	for r := range rows {
		rows[r] = int32(r)
	}
	held := make([]bool, len(rows))
	for _, r := range d.Test {
		held[r] = true
	}
	d.sortByFirst(rows)
	var runs []int
	run, begun := 0, false
	for _, r := range rows {
		switch {
		case held[r]:
			run++
			continue
		case begun && run > 0:
			runs = append(runs, run)
		}
		run, begun = 0, true
	}
	if len(runs) == 0 {
		return 1
	}
	slices.Sort(runs)
	return runs[(len(runs)-1)/2]
}

// split fills in Train and Test.
func (d *Dataset) split(ctx context.Context, s *Spec, kept []int32) error {
	if d.SplitBy = s.SplitBy; d.SplitBy == "auto" {
		d.SplitBy = "random"
		if d.Series != nil {
			d.SplitBy = "x"
		}
	}
	n := d.decisive()
	test := s.TestRows
	if test == 0 && s.TestFraction > 0 {
		test = max(1, int(math.Round(s.TestFraction*float64(n))))
	}
	if test >= n && d.SplitBy != "mask" {
		return fmt.Errorf("%s: %w: of %s, %d held out (data.test)", d.file(), errNoRoom, plural(n, "row"), test)
	}
	held := make([]bool, n)
	switch {
	case d.SplitBy == "mask":
		if err := d.splitByMask(ctx, s, kept, held); err != nil {
			return err
		}
	case test == 0:
	case d.SplitBy == "rows":
		for r := n - test; r < n; r++ {
			held[r] = true
		}
	case s.SplitBy == "x" && s.TestRows == 0:
		lo, hi := math.Inf(1), math.Inf(-1)
		for r := range n {
			lo, hi = min(lo, d.X[r*d.Dim]), max(hi, d.X[r*d.Dim])
		}
		limit := lo + (1-s.TestFraction)*(hi-lo)
		for r := range n {
			held[r] = d.X[r*d.Dim] > limit
		}
	case d.SplitBy == "x": // so many rows: of a range one wrong time stamp could leave nothing
		rows := make([]int32, n)
		for r := range rows {
			rows[r] = int32(r)
		}
		d.sortByFirst(rows)
		for _, r := range rows[n-test:] {
			held[r] = true
		}
	default:
		d.Test = make([]int32, test)
		for i, r := range newRand(s.Seed, streamSplit).Perm(n)[:test] {
			d.Test[i] = int32(r)
			held[r] = true
		}
	}
	random := d.Test != nil
	d.Train = make([]int32, 0, max(0, n-test))
	for r, h := range held {
		if !h {
			d.Train = append(d.Train, int32(r))
		} else if !random {
			d.Test = append(d.Test, int32(r))
		}
	}
	d.order(s)
	if d.first > 0 {
		d.stream = len(d.Train)
		for r := n; r < d.N(); r++ {
			d.Train = append(d.Train, int32(r))
		}
	}
	return d.checkTarget()
}

// order arranges the training stream.
func (d *Dataset) order(s *Spec) {
	if s.Order == "time" {
		d.sortByFirst(d.Train)
		return
	}
	newRand(s.Seed, streamOrder).Shuffle(len(d.Train), func(i, j int) {
		d.Train[i], d.Train[j] = d.Train[j], d.Train[i]
	})
}

// sortByFirst sorts rows by the first input; equal ones stay in order.
func (d *Dataset) sortByFirst(rows []int32) {
	less := func(i, j int) bool { return d.X[int(rows[i])*d.Dim] < d.X[int(rows[j])*d.Dim] }
	if !sort.SliceIsSorted(rows, less) {
		slices.SortStableFunc(rows, func(a, b int32) int {
			x, y := d.X[int(a)*d.Dim], d.X[int(b)*d.Dim]
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
	}
}

// splitByMask reads the mask, which has one line for every row of the file.
func (d *Dataset) splitByMask(ctx context.Context, s *Spec, kept []int32, held []bool) error {
	path, err := find(ctx, s.Mask, s.SearchDirs)
	if err != nil {
		return fmt.Errorf("mask: %w", err)
	}
	spec := Spec{Header: "no", Missing: []string{}}
	t, err := readTable(ctx, path, &spec, func(f *form) ([]int, error) {
		if s.MaskColumn > len(f.names) {
			return nil, fmt.Errorf("mask_column = %d, but the mask has %s", s.MaskColumn, plural(len(f.names), "column"))
		}
		return []int{s.MaskColumn - 1}, nil
	})
	if err != nil {
		return fmt.Errorf("mask: %w", err)
	}
	switch {
	case s.FirstRows > 0 && t.rows != s.FirstRows:
		return fmt.Errorf("mask: %s has %s, but data.first_rows = %d", t.file, plural(t.rows, "row"), s.FirstRows)
	case s.FirstRows == 0 && t.rows != d.Rows:
		return fmt.Errorf("mask: %s has %s, the data have %d", t.file, plural(t.rows, "row"), d.Rows)
	}
	mask := t.columns[0].values
	for r, v := range mask {
		if v != 0 && v != 1 {
			return fmt.Errorf("mask: %s: row %d, column %d: neither 0 nor 1", t.file, r+1, s.MaskColumn)
		}
	}
	d.Mask, d.MaskSHA256 = path, t.sha256
	for r := range held {
		at := r
		if kept != nil {
			at = int(kept[r])
		}
		held[r] = mask[at] == 1
	}
	return nil
}
