package picture

import (
	"image"
	"image/color"
	"image/draw"

	"example.com/kestrel/ui/plot"
)

// Heat paints a matrix over a whole picture, row 0 at the top, its cells of equal size
// within a pixel. style gives the background of a value; what is not finite is left out.
// mark is a cell with a frame, nil none.
func Heat(m *Image, matrix [][]float64, style func(v float64) plot.Style, mark *[2]int) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	cell := func(i, k int) image.Rectangle {
		n := len(matrix[i])
		return image.Rect(k*w/n, i*h/len(matrix), (k+1)*w/n, (i+1)*h/len(matrix))
	}
	for i, row := range matrix {
		for k, v := range row {
			if v-v != 0 {
				continue
			}
			if r, g, b, ok := style(v).BG.RGB(); ok {
				draw.Draw(m.RGBA, cell(i, k), image.NewUniform(color.RGBA{r, g, b, 255}), image.Point{}, draw.Src)
			}
		}
	}
	if mark == nil || mark[0] >= len(matrix) || mark[1] >= len(matrix[mark[0]]) {
		return
	}
	frame := image.NewUniform(m.colour(plot.Style{}))
	at, thick := cell(mark[0], mark[1]), max(1, m.CellH/10)
	out := at.Inset(-thick)
	for _, side := range []image.Rectangle{
		{out.Min, image.Pt(out.Max.X, at.Min.Y)}, {image.Pt(out.Min.X, at.Max.Y), out.Max},
		{out.Min, image.Pt(at.Min.X, out.Max.Y)}, {image.Pt(at.Max.X, out.Min.Y), out.Max},
	} {
		draw.Draw(m.RGBA, side.Intersect(m.Rect), frame, image.Point{}, draw.Src)
	}
}
