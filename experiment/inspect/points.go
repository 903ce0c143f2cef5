package inspect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/vbks/mixture"
)

// PointKind says what part a row of the data has.
type PointKind uint8

const (
	PointSeen   PointKind = iota // a training row that the evaluation has seen
	PointUnseen                  // a training row still to come
	PointTest                    // held out
)

// PointSet is rows of the data for drawing, ordered by kind and then by X.
type PointSet struct {
	X, Y                []float64
	Kind                []PointKind
	Seen, Unseen, Tests int // rows that there are, drawn or not
	// Alone: the column is the only input, or all others are made of it, so that a
	// curve along it is what is believed at the rows.
	Alone bool
}

// Points returns the rows of the data against an input column: at most so many
// (0: all; less than 6 is taken as 6). Where there are more, the column's range
// is cut into buckets, and of each bucket and kind the rows with the least and
// the greatest target are kept, so that no spike is lost.
func (i *Inspector) Points(column, most int) (*PointSet, error) {
	if err := i.input(column); err != nil {
		return nil, err
	}
	return points(i.subject.Data, len(i.seen()), column, most), nil
}

// Unseen returns the rows of a subject of which nothing has been learned yet, as
// Inspector.Points does.
func Unseen(s *prepare.Subject, column, most int) (*PointSet, error) {
	if column < 0 || column >= s.Data.Dim {
		return nil, fmt.Errorf("there is no input %d", column)
	}
	return points(s.Data, 0, column, most), nil
}

// points are the rows of data of which so many training rows have been seen.
func points(d *datasets.Dataset, seen, column, most int) *PointSet {
	parts := [][]int32{PointSeen: d.Train[:seen], PointUnseen: d.Train[seen:], PointTest: d.Test}
	set := &PointSet{Seen: len(parts[0]), Unseen: len(parts[1]), Tests: len(parts[2])}
	total := set.Seen + set.Unseen + set.Tests
	if most <= 0 {
		most = total
	}
	most = max(most, 2*len(parts))
	spare := most
	for _, rows := range parts {
		spare -= min(2, len(rows))
	}
	value := func(r int32) float64 { return d.X[int(r)*d.Dim+column] }
	_, set.Alone = d.Along(nil)
	set.Alone = d.Dim == 1 || set.Alone && column == 0
	for kind, rows := range parts {
		share := len(rows)
		if total > most {
			share = min(2, len(rows)) + int(float64(spare)*float64(len(rows))/float64(total))
		}
		rows = thinned(rows, share, value, func(r int32) float64 { return d.Y[r] })
		for _, r := range rows {
			set.X, set.Y, set.Kind = append(set.X, value(r)), append(set.Y, d.Y[r]), append(set.Kind, PointKind(kind))
		}
	}
	return set
}

// Fitted is rows of the data with what is believed at their own inputs, ordered by
// the column that was asked for, which is X of the curve.
type Fitted struct {
	Curve
	Y    []float64
	Kind []PointKind // PointSeen or PointTest
}

// Fitted predicts at most so many rows (0: all) at their own inputs, with one kernel,
// or averaged if kernel is "": training rows seen and test rows, of each kind as many
// as it has of all, evenly taken.
func (i *Inspector) Fitted(ctx context.Context, column int, kernel string, most int) (*Fitted, error) {
	if err := i.input(column); err != nil {
		return nil, err
	}
	d := i.subject.Data
	kinds := map[int32]PointKind{}
	var rows []int32
	all := len(i.seen()) + len(d.Test)
	for kind, part := range map[PointKind][]int32{PointSeen: i.seen(), PointTest: d.Test} {
		share := len(part)
		if most > 0 && all > most {
			share = max(min(2, len(part)), most*len(part)/all)
		}
		for _, r := range evenly(part, share) {
			rows, kinds[r] = append(rows, r), kind
		}
	}
	value := func(r int32) float64 { return d.X[int(r)*d.Dim+column] }
	slices.SortFunc(rows, func(a, b int32) int { return cmp.Or(cmp.Compare(value(a), value(b)), cmp.Compare(a, b)) })
	p, err := i.predictRows(ctx, rows, kernel)
	if err != nil {
		return nil, err
	}
	f := &Fitted{Y: d.Targets(rows)}
	var x []float64
	for _, r := range rows {
		x, f.Kind = append(x, value(r)), append(f.Kind, kinds[r])
	}
	f.Curve = *i.belief(p, x, 0.95)
	return f, nil
}

// thinned keeps at most so many rows, at least 2 where there are more: of each
// bucket of x those with the least and the greatest y. They come sorted by x.
func thinned(rows []int32, most int, x, y func(int32) float64) []int32 {
	kept := slices.Clone(rows)
	if len(rows) > most {
		low, high := math.Inf(1), math.Inf(-1)
		for _, r := range rows {
			low, high = min(low, x(r)), max(high, x(r))
		}
		type pair struct{ least, greatest int32 }
		buckets := make([]pair, max(1, most/2))
		for b := range buckets {
			buckets[b] = pair{-1, -1}
		}
		for _, r := range rows {
			at := 0
			if high > low {
				at = min(len(buckets)-1, int((x(r)-low)/(high-low)*float64(len(buckets))))
			}
			b := &buckets[at]
			if b.least < 0 || y(r) < y(b.least) {
				b.least = r
			}
			if b.greatest < 0 || y(r) > y(b.greatest) {
				b.greatest = r
			}
		}
		kept = kept[:0]
		for _, b := range buckets {
			if b.least >= 0 {
				kept = append(kept, b.least)
			}
			if b.greatest >= 0 && b.greatest != b.least {
				kept = append(kept, b.greatest)
			}
		}
	}
	slices.SortStableFunc(kept, func(a, b int32) int { return cmp.Compare(x(a), x(b)) })
	return kept
}

// Residuals compares predictions with targets, row by row.
type Residuals struct {
	Evaluation   int
	IDs          []string  // the kernels averaged
	Test         bool      // at test rows, else at training rows seen
	Of           int       // rows that there are, of which these are evenly taken
	Inputs       int       // columns of X
	X            []float64 // rows x Inputs, row-major
	Y, Mean, SD  []float64 // SD of y, noise included
	Standardised []float64 // (Y − Mean)/SD, of the transformed target; infinite where that has no Y

	RMSE, MAE, NLPD, Coverage95 float64 // of these rows
}

// Residuals predicts at most so many rows (0: all) with one kernel, or averaged
// if kernel is "": test rows if there are any, else training rows seen.
func (i *Inspector) Residuals(ctx context.Context, kernel string, most int) (*Residuals, error) {
	rows, test := i.common()
	r := &Residuals{Evaluation: i.Evaluation(), Test: test, Of: len(rows), Inputs: i.subject.Data.Dim}
	rows = evenly(rows, most)
	p, err := i.predictRows(ctx, rows, kernel)
	if err != nil {
		return nil, err
	}
	mapped := p.In(i.subject.Scaler)
	s, err := mapped.Score(i.subject.Data.Targets(rows))
	if err != nil {
		return nil, fmt.Errorf("residuals: %w", err)
	}
	r.IDs = p.IDs
	r.RMSE, r.MAE, r.NLPD, r.Coverage95 = s.RMSE, s.MAE, s.NLPD, s.Coverage[mixture.Coverage95]
	for at, row := range rows {
		mean, sd := mapped.Moments(at, true)
		y := i.subject.Data.Y[row]
		r.X = append(r.X, i.subject.Data.Row(int(row))...)
		r.Y, r.Mean, r.SD = append(r.Y, y), append(r.Mean, mean), append(r.SD, sd)
		r.Standardised = append(r.Standardised, mapped.Standardised(at, y))
	}
	return r, nil
}

// common returns the rows that kernels are compared on: those held out, else
// those seen.
func (i *Inspector) common() (rows []int32, test bool) {
	if len(i.subject.Data.Test) > 0 {
		return i.subject.Data.Test, true
	}
	return i.seen(), false
}

// evenly takes at most so many rows, evenly; 0: all.
func evenly(rows []int32, most int) []int32 {
	if most <= 0 || len(rows) <= most {
		return rows
	}
	out := make([]int32, most)
	for i := range out {
		out[i] = rows[i*len(rows)/most]
	}
	return out
}
