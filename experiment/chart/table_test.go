package chart

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image/png"
	"math"
	"reflect"
	"slices"
	"testing"

	"example.com/kestrel/internal/must"
)

// The table of a figure has its numbers.
func TestFigureTable(t *testing.T) {
	f := &Figure{Name: "fit", Lines: []Line{{Name: "mean", X: []float64{1, 2}, Lo: []float64{.5, math.NaN()}},
		{X: []float64{1}, Lo: []float64{7}}},
		Bands:  []Band{{Name: "95 % of y", X: []float64{1}, Lo: []float64{-1}, Hi: []float64{1e-300}}},
		Points: []Points{{Name: "=rows", X: []float64{3}, Y: []float64{4}}}}
	want := [][]string{{"kind", "series", "x", "low", "high"}, {"line", "mean", "1", "0.5", ""}, {"line", "mean", "2", "", ""},
		{"band", "95 % of y", "1", "-1", "1e-300"}, {"points", "'=rows", "3", "4", ""}}
	read := func(f *Figure) [][]string {
		var b bytes.Buffer
		must.OK(t, f.writeTable(&b))
		rows, err := csv.NewReader(&b).ReadAll()
		must.OK(t, err)
		return rows
	}
	if got := read(f); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if table, err := f.Table(); err != nil || table.Name != "fit.csv" || !bytes.HasPrefix(table.Text, []byte("kind,series,")) {
		t.Errorf("%s: %q, %v", table.Name, table.Text, err)
	}
	cells := OfCells("similarity", "", Cells{Names: []string{"SE", "PER"}, Values: [][]float64{{1, -.5}, {-.5, 1}},
		Text: func(v float64) string { return fmt.Sprintf("%g", v) }})
	if got := read(cells); !slices.Equal(got[2], []string{"SE", "PER", "-0.5"}) || len(got) != 5 {
		t.Errorf("%q", got)
	}
	// Orange is above 0 and blue below, the first row above.
	var b bytes.Buffer
	must.OK(t, cells.writePNG(&b))
	img, err := png.Decode(&b)
	must.OK(t, err)
	at := func(x, y float64) (r, b uint32) {
		size := img.Bounds().Size()
		r, _, b, _ = img.At(int(x*float64(size.X)), int(y*float64(size.Y))).RGBA()
		return r, b
	}
	if r, b := at(.35, .15); r <= b {
		t.Error("the first cell is not orange")
	}
	if r, b := at(.85, .15); r >= b {
		t.Error("the second cell is not blue")
	}
}
