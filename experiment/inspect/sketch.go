package inspect

import (
	"context"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/prepare"
)

// Sketch is what can be drawn of data while a run of them is being prepared.
type Sketch struct {
	Input  datasets.ColumnSummary // a time, else the first: what an axis needs of it
	Target datasets.ColumnSummary // name and unit
	Points PointSet               // as those of Preview
}

// Sketching is a context in which the preparing of a run shows a sketch of at most so many points.
func Sketching(ctx context.Context, points int, show func(*Sketch)) context.Context {
	return prepare.Showing(ctx, func(d *datasets.Dataset) { show(SketchOf(d, points)) })
}

// SketchOf looks through the rows of d once; nil where there is nothing to be drawn.
func SketchOf(d *datasets.Dataset, points int) *Sketch {
	if d.Dim == 0 || d.N() == 0 {
		return nil
	}
	column := 0
	for i := range d.Inputs {
		if d.Inputs[i].Time {
			column = i
			break
		}
	}
	in := &d.Inputs[column]
	s := &Sketch{
		Input:  datasets.ColumnSummary{Name: in.Name, Role: "input", Unit: in.Unit, Min: d.X[column], Max: d.X[column]},
		Target: datasets.ColumnSummary{Name: d.Target.Name, Role: "target", Unit: d.Target.Unit},
		Points: rowsAlong(d, column, points),
	}
	for i := range d.N() {
		x := d.X[i*d.Dim+column]
		s.Input.Min, s.Input.Max = min(s.Input.Min, x), max(s.Input.Max, x)
	}
	for _, name := range in.Levels {
		s.Input.Levels = append(s.Input.Levels, datasets.Level{Name: name})
	}
	if in.Time {
		s.Input.First = in.Format(s.Input.Min)
	}
	return s
}
