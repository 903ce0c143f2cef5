package datasets

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"example.com/kestrel/datasets/formats"
)

// Points are inputs to predict at, in the units of a dataset.
type Points struct {
	Dim  int       // number of inputs
	X    []float64 // N x Dim, row-major; time stamps count from the dataset's origin
	Y    []float64 // N targets, NaN where missing; nil if the file has no such column
	Rows []int32   // N rows of the file, counted from 0

	// NoiseSD are N standard deviations of the noise, 0 where missing; nil if the file has no
	// such column.
	NoiseSD []float64
}

// Cut returns the first n points, and the others.
func (p *Points) Cut(n int) (first, rest *Points) {
	at := func(v []float64, n int) ([]float64, []float64) {
		if v == nil {
			return nil, nil
		}
		return v[:n:n], v[n:]
	}
	first, rest = &Points{Dim: p.Dim, Rows: p.Rows[:n:n]}, &Points{Dim: p.Dim, Rows: p.Rows[n:]}
	first.X, rest.X = at(p.X, n*p.Dim)
	first.Y, rest.Y = at(p.Y, n)
	first.NoiseSD, rest.NoiseSD = at(p.NoiseSD, n)
	return first, rest
}

// Add puts more points of the same columns behind those of p.
func (p *Points) Add(more *Points) {
	p.X, p.Y, p.Rows = append(p.X, more.X...), append(p.Y, more.Y...), append(p.Rows, more.Rows...)
	p.NoiseSD = append(p.NoiseSD, more.NoiseSD...)
}

// PointReader reads points from a table, some at a time: what it holds does not
// grow with the table. It is not safe for concurrent use.
type PointReader struct {
	rows    *tableReader
	like    *Dataset
	target  bool
	noise   bool // the last column has the noise's standard deviations
	found   bool // a point
	dropped int
	err     error
}

// OpenPoints opens a table with the input columns of like: found by their
// names if the table has a header, else by their numbers, or in order if the
// table has no other columns. The target column may be there. Of spec, Path,
// SearchDirs, Header, Delimiter, Decimal and Missing are used. It may be a pipe, or -,
// standard input.
// Close must be called; whoever reads is let go when ctx ends.
func OpenPoints(ctx context.Context, spec Spec, like *Dataset) (*PointReader, error) {
	spec.Source = "csv"
	s, err := spec.withDefaults()
	if err != nil {
		return nil, err
	}
	path := s.Path
	if path != StandardInput {
		if path, err = find(ctx, s.Path, s.SearchDirs); err != nil {
			return nil, err
		}
	}
	src, err := openSource(ctx, path, true)
	if err != nil {
		return nil, err
	}
	p, err := newPointReader(src, filepath.Base(path), &s, like)
	if err != nil {
		src.Close()
	}
	return p, err
}

// ReadPoints is OpenPoints of rows that are there already: lines of JSON, an object each
// whose keys are the names of columns; errors call them file and count lines as rows. Of
// spec, Missing is used. Numbers have a decimal point, and no row holds units.
func ReadPoints(in io.Reader, file string, spec Spec, like *Dataset) (*PointReader, error) {
	s, err := Spec{Source: "csv", Path: file, Header: "yes", Delimiter: ",", Decimal: ".", Missing: spec.Missing}.withDefaults()
	if err != nil {
		return nil, err
	}
	src := &source{Reader: formats.Text(formats.JSONLines(in)), unnamed: -1}
	p, err := newPointReader(src, file, &s, like)
	if err == nil {
		p.rows.unit = false
	}
	return p, err
}

func newPointReader(src *source, file string, s *Spec, like *Dataset) (*PointReader, error) {
	p := &PointReader{like: like}
	rows, err := newTableReader(src, file, s, like.writing, func(f *form) ([]int, error) {
		chosen, target, err := likeColumns(like, file, f)
		if p.target = target >= 0; p.target {
			chosen = append(chosen, target)
		}
		if err == nil && f.header && like.NoiseIn != "" {
			if at := slices.Index(f.names, like.NoiseIn); at >= 0 && !slices.Contains(chosen, at) {
				chosen, p.noise = append(chosen, at), true
			}
		}
		f.levels = map[int]*levelNames{}
		for j := range like.read() {
			if names := like.Inputs[j].Levels; names != nil && err == nil {
				f.levels[chosen[j]] = newLevels(names)
			}
		}
		return chosen, err
	})
	if err != nil {
		return nil, err
	}
	p.rows = rows
	if src.pipe {
		p.rows.notices = append(p.rows.notices, "is a pipe: read once, as it comes")
	}
	return p, nil
}

// HasTarget reports whether the table has the target, too.
func (p *PointReader) HasTarget() bool { return p.target }

// Notices returns what the user should know of how the table is read, one line
// each; of levels that are not known what has been read tells.
func (p *PointReader) Notices() []string {
	notices := slices.Clip(p.rows.notices)
	for i := range p.rows.columns {
		c := &p.rows.columns[i]
		if text := c.levels.unknown(c.name); text != "" {
			notices = append(notices, text)
		}
	}
	return notices
}

// Dropped returns the number of rows that have been left out for a missing input.
func (p *PointReader) Dropped() int { return p.dropped }

// Err returns the error that ended the reading, if one did.
func (p *PointReader) Err() error {
	if p.err == io.EOF {
		return nil
	}
	return p.err
}

// Close closes the table.
func (p *PointReader) Close() error { return p.rows.src.Close() }

// Next returns the next so many points, fewer only if these are the last;
// io.EOF behind them. Its errors name the file, and where it applies the line and
// the column; a table without any point is one.
func (p *PointReader) Next(ctx context.Context, most int) (*Points, error) {
	b := &Points{Dim: p.like.Dim}
	if p.target {
		b.Y = []float64{}
	}
	if p.noise {
		b.NoiseSD = []float64{}
	}
	for p.err == nil && len(b.Rows) < most {
		first := p.rows.rows
		p.err = p.rows.fill(ctx, most-len(b.Rows))
		if p.err == nil || p.err == io.EOF {
			if err := p.take(b, first); err != nil {
				p.err = err
			}
		}
	}
	if p.found = p.found || len(b.Rows) > 0; p.err == io.EOF && !p.found {
		p.err = fmt.Errorf("%s: no rows to predict at: %s read, %d dropped for a missing input",
			p.rows.file, plural(p.rows.rows, "row"), p.dropped)
	}
	if p.err != nil && (p.err != io.EOF || len(b.Rows) == 0) {
		return nil, p.err
	}
	return b, nil
}

// take moves the rows that have been read, the first of which has the given
// number, from the table to b.
func (p *PointReader) take(b *Points, first int) error {
	columns, read := p.rows.columns, p.like.read()
	for j := range columns {
		if err := p.check(&columns[j], j); err != nil {
			return err
		}
	}
	for r := range p.rows.rows - first {
		whole := true
		for j := range read {
			whole = whole && !math.IsNaN(columns[j].values[r])
		}
		if !whole {
			p.dropped++
			continue
		}
		b.Rows = append(b.Rows, int32(first+r))
		from := len(b.X)
		for j, in := range p.like.Inputs[:read] {
			b.X = append(b.X, columns[j].since(&in, r))
		}
		if read < b.Dim {
			if err := p.like.knows(b.X[from:]); err != nil {
				return fmt.Errorf("%s: row %d: %w", p.rows.file, first+r+1, err)
			}
			b.X = append(b.X[:from], p.like.widen(b.X[from:])...)
		}
		if p.target {
			b.Y = append(b.Y, columns[read].values[r])
		}
		if p.noise {
			c := &columns[len(columns)-1]
			v := c.values[r]
			if math.IsNaN(v) {
				v = 0
			} else if !(v > 0) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: row %d: column %s, the standard deviation of the noise (data.noise_column), is %v; it must be above 0, "+
					"or missing", p.rows.file, first+r+1, quoteText(c.name), v)
			}
			b.NoiseSD = append(b.NoiseSD, v)
		}
	}
	for j := range columns {
		columns[j].values, columns[j].nanos, columns[j].larges = columns[j].values[:0], nil, columns[j].larges[:0]
		columns[j].offsets = columns[j].offsets[:0]
	}
	return nil
}

// check finds time stamps where the training data have numbers, and the other way
// round.
func (p *PointReader) check(c *tableColumn, j int) error {
	want := j < p.like.read() && p.like.Inputs[j].Time // the target never is a time
	if k := p.like.calendar; want && k != nil && k.wall && c.zoned > 0 {
		return fmt.Errorf("%s: column %d (%s) holds time stamps with a zone, but those of the training data have none; leave it out",
			p.rows.file, c.number, quoteText(c.name))
	}
	if c.kind == kindUnknown || (c.kind == kindTime) == want {
		return nil
	}
	return fmt.Errorf("%s: column %d (%s) holds %s, but %s in the training data",
		p.rows.file, c.number, quoteText(c.name), kindName(!want), kindName(want))
}

// since returns the value of a row as it stands in an input column of a dataset.
// Whole microseconds and nanoseconds are subtracted, not rounded seconds.
func (c *tableColumn) since(in *Column, row int) float64 {
	v := c.values[row]
	if !in.Time {
		return v
	}
	v = stampSeconds(float64(c.base+int64(v)-in.Origin.UnixMicro()), c.nanoAt(row)-in.Origin.Nanosecond()%1000)
	if in.Unit == "d" {
		v /= secondsPerDay
	}
	return v
}

// likeColumns finds the columns of a dataset in another table; target is −1
// if it is not there.
func likeColumns(like *Dataset, file string, f *form) (inputs []int, target int, err error) {
	own := like.Inputs[:like.read()] // others are made
	if f.header {
		for _, c := range own {
			i, err := like.find(&c, file, f.names)
			if err != nil {
				return nil, 0, err
			}
			inputs = append(inputs, i)
		}
		if i, err := like.find(&like.Target, file, f.names); err == nil && f.names[i] == like.Target.Name && !slices.Contains(inputs, i) {
			return inputs, i, nil
		}
		return inputs, -1, nil
	}
	last := like.Target.Number
	for _, c := range own {
		last = max(last, c.Number)
	}
	if last > 0 && len(f.names) >= last || last == 0 && len(f.names) == len(own)+1 {
		for j, c := range own {
			if last == 0 {
				c.Number = j + 1
			}
			inputs = append(inputs, c.Number-1)
		}
		if last == 0 {
			return inputs, len(own), nil
		}
		return inputs, like.Target.Number - 1, nil
	}
	if len(f.names) != len(own) {
		return nil, 0, fmt.Errorf("%s: has %s, but %s needed", file, plural(len(f.names), "column"), needed(len(own)))
	}
	for j := range own {
		inputs = append(inputs, j)
	}
	return inputs, -1, nil
}

// find finds a column of d in another table by its name. Where several have that
// name they are in the same order as in d's own table; the target may be left out.
func (d *Dataset) find(c *Column, file string, names []string) (int, error) {
	places := func(names []string) (at []int) {
		for i, n := range names {
			if n == c.Name {
				at = append(at, i)
			}
		}
		return at
	}
	was, now := places(d.names), places(names)
	if len(was) < 2 || len(now) == 0 {
		return lookup(c.Name, file, names)
	}
	if len(now) == len(was)-1 && c.Number != d.Target.Number {
		was = slices.DeleteFunc(was, func(i int) bool { return i == d.Target.Number-1 })
	}
	i := slices.Index(was, c.Number-1)
	if i < 0 || len(now) != len(was) {
		return 0, fmt.Errorf("%s: %s named %s, but %d in the training data", file, plural(len(now), "column"), quoteText(c.Name), len(was))
	}
	return now[i], nil
}

func needed(n int) string {
	if n == 1 {
		return "1 input is"
	}
	return fmt.Sprintf("%d inputs are", n)
}

func kindName(isTime bool) string {
	if isTime {
		return "time stamps"
	}
	return "numbers"
}
