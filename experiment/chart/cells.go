package chart

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
)

// Cells is a square of numbers from −1 to 1 as colours, the first row
// above; row and column i stand at i + 1 on the axes.
type Cells struct {
	Names  []string // of rows and columns
	Values [][]float64
	Text   func(v float64) string // in the cells where there is room; nil: none
}

// OfCells is a figure of nothing but cells. Rows are named, columns numbered
// as the rows are.
func OfCells(name, title string, cells Cells) *Figure {
	n := float64(len(cells.Values))
	f := &Figure{Name: name, Title: title, Cells: &cells, XMin: .5, XMax: n + .5, YMin: n + .5, YMax: .5, Width: 7, Height: 5.6}
	for i := range cells.Values {
		f.XAt, f.YAt = append(f.XAt, float64(i+1)), append(f.YAt, float64(i+1))
	}
	f.YTicks = func(y float64) string {
		i := int(math.Round(y)) - 1
		if i < 0 || i >= len(cells.Names) {
			return ""
		}
		return cells.Names[i] + "  " + strconv.Itoa(i+1)
	}
	return f
}

// cells draws the colours of the square.
func (p *figureDrawing) cells() {
	if p.Cells == nil {
		return
	}
	n := len(p.Cells.Values)
	for row, values := range p.Cells.Values {
		for col, v := range values[:min(n, len(values))] {
			low := vg.Point{X: p.x.place(float64(col) + .5), Y: p.y.place(float64(row) + 1.5)}
			high := vg.Point{X: p.x.place(float64(col) + 1.5), Y: p.y.place(float64(row) + .5)}
			if math.IsNaN(v) {
				continue
			}
			p.canvas.SetColor(diverging(v))
			p.canvas.Fill(vg.Rectangle{Min: low, Max: high}.Path())
			if text := p.cellText(v, high.X-low.X, high.Y-low.Y); text != "" {
				p.write((low.X+high.X)/2, (low.Y+high.Y)/2-noteSize*.36, text, noteSize, .5, inkText)
			}
		}
	}
}

func (p *figureDrawing) cellText(v float64, w, h vg.Length) string {
	if p.Cells.Text == nil || h < noteSize+2 {
		return ""
	}
	text := Printable(p.Cells.Text(v))
	if p.width(text, noteSize) > w-2 {
		return ""
	}
	return text
}

// diverging is the colour of a number from −1, blue, over 0, white, to 1, orange:
// the pair that every eye tells apart.
func diverging(v float64) color.Color {
	end := [3]float64{0xf0, 0xae, 0x5a}
	if v < 0 {
		end = [3]float64{0x6a, 0xb0, 0xe2}
	}
	part := min(math.Abs(v), 1)
	mix := func(i int) uint8 { return uint8(math.Round(255 + part*(end[i]-255))) }
	return color.NRGBA{mix(0), mix(1), mix(2), 0xff}
}
