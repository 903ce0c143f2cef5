package experiment

import (
	"context"
	"fmt"
	"math"

	"kestrel/datasets"
)

// Preview is what is to be seen of the data of a config before a run.
type Preview struct {
	Summary   *datasets.Summary
	Input     datasets.Column // the first input: X of Points
	Target    datasets.Column
	Points    PointSet // training rows as PointUnseen, and test rows
	Histogram Histogram
}

// Histogram counts values in bins of equal width from Low to High.
type Histogram struct {
	Low, High float64
	Counts    []int
}

// PreviewData loads the data of a config, as a run would, and thins the target
// against the first input to at most so many points (less than 8 is taken as
// 8), with the least and greatest of every stretch. The histogram is that of
// the target over all rows kept. Errors are those of LoadData.
func PreviewData(ctx context.Context, c Config, points int) (*Preview, error) {
	d, s, err := LoadData(ctx, &c)
	if err != nil {
		return nil, err
	}
	p := &Preview{Summary: datasets.Describe(d, s), Target: d.Target}
	if d.Dim == 0 {
		return nil, fmt.Errorf("%s has no input column", d.Name)
	}
	p.Input = d.Inputs[0]
	points = max(8, points)
	// A quarter for the test rows, unless there are fewer.
	tests := min(len(d.Test), max(points/4, points-len(d.Train)))
	x := func(r int32) float64 { return d.X[int(r)*d.Dim] }
	y := func(r int32) float64 { return d.Y[r] }
	p.Points.Unseen, p.Points.Tests = len(d.Train), len(d.Test)
	for _, part := range []struct {
		kind PointKind
		rows []int32
		most int
	}{{PointUnseen, d.Train, points - tests}, {PointTest, d.Test, tests}} {
		for _, r := range thinned(part.rows, part.most, x, y) {
			p.Points.X, p.Points.Y, p.Points.Kind = append(p.Points.X, x(r)), append(p.Points.Y, y(r)), append(p.Points.Kind, part.kind)
		}
	}
	p.Histogram = histogram(d.Y)
	return p, nil
}

// histogram uses as many bins as the root of the number of values, 8 to 40.
func histogram(values []float64) Histogram {
	h := Histogram{Low: math.Inf(1), High: math.Inf(-1)}
	for _, v := range values {
		h.Low, h.High = min(h.Low, v), max(h.High, v)
	}
	bins := min(40, max(8, int(math.Sqrt(float64(len(values))))))
	h.Counts = make([]int, bins)
	for _, v := range values {
		// Divided first: the width of the range may be beyond floats.
		at := v/(h.High/2-h.Low/2) - h.Low/(h.High/2-h.Low/2)
		if math.IsNaN(at) {
			at = 0 // all are equal
		}
		h.Counts[max(0, min(bins-1, int(at/2*float64(bins))))]++
	}
	return h
}
