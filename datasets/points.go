package datasets

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
)

// Points are inputs to predict at, in the units of a dataset.
type Points struct {
	File    string
	SHA256  string
	Dim     int
	X       []float64 // N x Dim, row-major; time stamps count from the dataset's origin
	Y       []float64 // N targets, NaN where missing; nil if the file has no such column
	Rows    []int32   // N rows of the file, counted from 0
	Dropped int       // rows dropped for a missing input
}

// ReadPoints reads a table with the input columns of like: found by their
// names if the table has a header, else by their numbers, or in order if the
// table has no other columns. The target column may be there. Of spec, Path,
// SearchDirs, Header, Delimiter and Missing are used.
func ReadPoints(ctx context.Context, spec Spec, like *Dataset) (*Points, error) {
	spec.Source = "csv"
	s, err := spec.withDefaults()
	if err != nil {
		return nil, err
	}
	path, err := Resolve(s.Path, s.SearchDirs)
	if err != nil {
		return nil, err
	}
	hasTarget := false
	t, err := readTable(ctx, path, &s, func(f *form) ([]int, error) {
		chosen, target, err := likeColumns(like, filepath.Base(path), f)
		hasTarget = target >= 0
		if hasTarget {
			chosen = append(chosen, target)
		}
		return chosen, err
	})
	if err != nil {
		return nil, err
	}
	p := &Points{File: path, SHA256: t.sha256, Dim: like.Dim}
	for j, in := range like.Inputs {
		c := &t.columns[j]
		if c.kind == kindUnknown {
			continue
		}
		if (c.kind == kindTime) != in.Time {
			return nil, fmt.Errorf("%s: column %d (%s) holds %s, but %s in the training data", t.file, c.number, quoteText(c.name),
				kindName(c.kind == kindTime), kindName(in.Time))
		}
		if !in.Time {
			continue
		}
		// Whole microseconds are subtracted, not rounded seconds.
		shift := float64(c.origin.UnixMicro()-in.Origin.UnixMicro()) / 1e6
		per := 1.0
		if in.Unit == "d" {
			per = secondsPerDay
		}
		for i, v := range c.values {
			c.values[i] = (v + shift) / per
		}
	}
	for r := range t.rows {
		whole := true
		for j := range like.Dim {
			whole = whole && !math.IsNaN(t.columns[j].values[r])
		}
		if !whole {
			p.Dropped++
			continue
		}
		p.Rows = append(p.Rows, int32(r))
		for j := range like.Dim {
			p.X = append(p.X, t.columns[j].values[r])
		}
		if hasTarget {
			p.Y = append(p.Y, t.columns[like.Dim].values[r])
		}
	}
	if len(p.Rows) == 0 {
		return nil, fmt.Errorf("%s: no rows to predict at: %s read, %d dropped for a missing input", t.file, plural(t.rows, "row"), p.Dropped)
	}
	return p, nil
}

// likeColumns finds the columns of a dataset in another table; target is −1
// if it is not there.
func likeColumns(like *Dataset, file string, f *form) (inputs []int, target int, err error) {
	if f.header {
		for _, c := range like.Inputs {
			i, err := lookup(c.Name, file, f.names)
			if err != nil {
				return nil, 0, err
			}
			inputs = append(inputs, i)
		}
		for i, n := range f.names {
			if n == like.Target.Name {
				return inputs, i, nil
			}
		}
		return inputs, -1, nil
	}
	last := like.Target.Number
	for _, c := range like.Inputs {
		last = max(last, c.Number)
	}
	if last > 0 && len(f.names) >= last || last == 0 && len(f.names) == like.Dim+1 {
		for j, c := range like.Inputs {
			if last == 0 {
				c.Number = j + 1
			}
			inputs = append(inputs, c.Number-1)
		}
		if last == 0 {
			return inputs, like.Dim, nil
		}
		return inputs, like.Target.Number - 1, nil
	}
	if len(f.names) != like.Dim {
		return nil, 0, fmt.Errorf("%s: has %s, but %s needed", file, plural(len(f.names), "column"), needed(like.Dim))
	}
	for j := range like.Dim {
		inputs = append(inputs, j)
	}
	return inputs, -1, nil
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
