package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"path/filepath"
	"sort"
)

// A table grows while a run learns from it: Spec.FirstRows are those that were there
// when it began, and all that it has decided by them stays. Rows behind them come last
// in the training stream, as they stand in the table.

// findFirst counts those of the N rows that are of the table's first ones; kept are
// the rows of the file that the N are, nil for all.
func (d *Dataset) findFirst(s *Spec, kept []int32) error {
	if s.FirstRows == 0 {
		return nil
	}
	if d.first = s.FirstRows; kept != nil {
		d.first = sort.Search(len(kept), func(i int) bool { return int(kept[i]) >= s.FirstRows })
	}
	if d.first == 0 {
		return fmt.Errorf("%s: none of the first rows (data.first_rows = %d) can be learned from", d.file(), s.FirstRows)
	}
	return nil
}

// decisive is how many of the N rows, the first ones, all is decided by.
func (d *Dataset) decisive() int {
	if d.first > 0 {
		return d.first
	}
	return d.N()
}

// First returns the training rows by which scaling, seasons and the like are decided:
// all, but where Spec.FirstRows is set the first ones of Train.
func (d *Dataset) First() []int32 {
	if d.first == 0 {
		return d.Train
	}
	return d.Train[:min(d.stream, len(d.Train))]
}

// Marks tell whether the rows of a table are what they were: hashes of what was taken
// of them, each of so many rows, the last perhaps of fewer.
type Marks struct {
	Rows  int       // of the file
	Block int       // rows that a sum is of
	Sums  []float64 // whole numbers below 2^48
}

// mostMarks bounds the sums: of a larger table each is of several rows.
const mostMarks = 1 << 17

// blockOf is how many rows of so many a sum is of.
func blockOf(rows int) int { return max(1, (rows+mostMarks-1)/mostMarks) }

// Marks returns those of all rows read: of the inputs, but for those made of time, and
// the target, and of whether the row was kept. Time stamps count as instants, to the
// microsecond.
func (d *Dataset) Marks() *Marks { return d.marks(d.Rows, blockOf(d.Rows)) }

// marks are those of the first rows.
func (d *Dataset) marks(rows, block int) *Marks {
	m := &Marks{Rows: rows, Block: block}
	sum, at := sha256.New(), 0
	var buf [sha256.Size]byte
	for row := range rows {
		kept := at
		if d.rows != nil {
			if kept = -1; at < len(d.rows) && int(d.rows[at]) == row {
				kept = at
			}
		}
		if kept >= 0 {
			at++
		}
		d.mark(sum, kept)
		if (row+1)%block == 0 || row+1 == rows {
			six := sum.Sum(buf[:0])[:6]
			m.Sums = append(m.Sums, float64(uint64(binary.BigEndian.Uint16(six))<<32|uint64(binary.BigEndian.Uint32(six[2:]))))
			sum.Reset()
		}
	}
	return m
}

// mark adds row i of the N to a sum; −1: one that was not kept.
func (d *Dataset) mark(sum hash.Hash, i int) {
	if i < 0 {
		sum.Write([]byte{0})
		return
	}
	text := []byte{1}
	for j, v := range d.Row(i)[:d.read()] {
		bits := math.Float64bits(v)
		if c := &d.Inputs[j]; c.Time {
			bits = uint64(c.At(v).UnixMicro())
		}
		text = binary.BigEndian.AppendUint64(text, bits)
	}
	sum.Write(binary.BigEndian.AppendUint64(text, math.Float64bits(d.Y[i])))
}

// Differs finds the first of the rows that m is of which are not as they were, or not
// there: from and to are rows of the file, from 0, of which one is it. ok is false
// where all are the same.
func (d *Dataset) Differs(m *Marks) (from, to int, ok bool) {
	now := d.marks(min(m.Rows, d.Rows), m.Block)
	for i, sum := range m.Sums {
		from, to = i*m.Block, min((i+1)*m.Block, m.Rows)
		if i >= len(now.Sums) || d.Rows < to || now.Sums[i] != sum {
			return from, to, true
		}
	}
	return 0, 0, false
}

// LineOf is the line of the file in which a row of the table stands, from 0.
func LineOf(ctx context.Context, spec Spec, row int) (int, error) {
	s, err := spec.withDefaults()
	if err != nil {
		return 0, err
	}
	path, err := find(ctx, s.Path, s.SearchDirs)
	if err != nil {
		return 0, err
	}
	src, err := openSource(ctx, path, false)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	r, err := newTableReader(src, filepath.Base(path), &s, writing{}, func(*form) ([]int, error) { return nil, nil })
	if err == nil {
		err = r.fill(ctx, row+1)
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return 0, err
	case r.rows <= row:
		return 0, fmt.Errorf("%s: has %s", r.file, plural(r.rows, "row"))
	}
	return r.recs.line, nil
}

// SHA256 is the hash of a file as it is stored, in hexadecimal, as Load finds it.
func SHA256(ctx context.Context, path string, dirs []string) (string, error) {
	path, err := find(ctx, path, dirs)
	if err != nil {
		return "", err
	}
	src, err := openSource(ctx, path, false)
	if err != nil {
		return "", err
	}
	defer src.Close()
	return src.sha256()
}
