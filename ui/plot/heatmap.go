package plot

import (
	"math"
	"strconv"
)

// HeatMapOptions are how a heat map looks.
type HeatMapOptions struct {
	Min, Max float64 // ends of the colour scale; Min >= Max: from the data
	// Color gives the style of a place in the scale, from 0 to 1, its
	// background the colour. Nil: shades.
	Color    func(t float64) Style
	Label    Style
	Labels   []string               // of the rows; columns have their numbers, from 1
	Format   func(v float64) string // of values, written where cells are wide enough; nil: two decimals
	NoValues bool
	Bare     bool // the cells are left to a picture, on which all of the matrix has room
	Glyphs   Glyphs
	Mark     *[2]int // a row and column to mark, from 0
}

// HeatLayout is where a heat map's cells are.
type HeatLayout struct {
	Plot         Rect
	CellW, CellH int  // 0 of a picture
	Rows, Cols   int  // that are shown; the others have no room
	Values       bool // numbers stand in the cells
}

// At returns the row and column of the matrix at a cell of the canvas.
func (l HeatLayout) At(x, y int) (row, col int, ok bool) {
	if !l.Plot.Contains(x, y) {
		return 0, 0, false
	}
	return (y - l.Plot.Y) * l.Rows / l.Plot.H, (x - l.Plot.X) * l.Cols / l.Plot.W, true
}

// left and top are where a column of the matrix begins, and a row.
func (l *HeatLayout) left(col int) int { return l.Plot.X + col*l.Plot.W/l.Cols }

func (l *HeatLayout) top(row int) int { return l.Plot.Y + row*l.Plot.H/l.Rows }

// HeatMap draws a matrix, row 0 at the top, with cells of 2 to 7 columns by 1
// to 3 rows. What is not finite is a dot.
func HeatMap(c *Canvas, r Rect, m [][]float64, o HeatMapOptions) HeatLayout {
	cols := 0
	for _, row := range m {
		cols = max(cols, len(row))
	}
	if r.Empty() || cols == 0 {
		return HeatLayout{}
	}
	defer c.Clip(r)()
	lo, hi := o.Min, o.Max
	if !(lo < hi) {
		e := newExtent(false)
		for _, row := range m {
			add(&e, row)
		}
		if lo, hi = 0, 1; !e.empty() {
			lo, hi = widen(e.lo, e.hi, false)
		}
	}
	if o.Format == nil {
		o.Format = func(v float64) string { return fixed(v, 2) }
	}

	// Columns: names, row numbers, cells.
	names := 0
	for i := range min(len(m), len(o.Labels)) {
		names = max(names, TextWidth(o.Labels[i]))
	}
	numbers := len(strconv.Itoa(len(m)))
	margin := min(names+1+numbers+1, r.W*2/5)
	if margin < numbers+3 || r.W < 8 {
		margin = 0
	}
	head := 0
	if r.H >= 3 {
		head = 1
	}
	l := HeatLayout{Plot: Rect{r.X + margin, r.Y + head, r.W - margin, r.H - head}}
	values := 0
	for _, row := range m {
		for _, v := range row {
			values = max(values, TextWidth(o.Format(v)))
		}
	}
	widest := 4
	if !o.NoValues && values+2 <= 9 {
		widest = values + 2
	}
	if o.Bare && len(m) > 0 {
		l.Cols, l.Rows = cols, len(m)
		l.Plot.W = min(l.Plot.W, 2*l.Plot.H) // so that cells are about square
		o.heads(c, r, l, margin, numbers)
		return l
	}
	l.CellW = min(max(l.Plot.W/cols, min(2, l.Plot.W)), widest)
	l.CellH = min(max(l.Plot.H/len(m), 1), max(1, l.CellW/2), 3)
	l.Cols, l.Rows = min(cols, l.Plot.W/l.CellW), min(len(m), l.Plot.H/l.CellH)
	l.Plot.W, l.Plot.H = l.Cols*l.CellW, l.Rows*l.CellH

	l.Values = !o.NoValues && l.CellW > values
	g := o.Glyphs.lines()
	for i := range l.Rows {
		for k := range min(l.Cols, len(m[i])) {
			cell := Rect{l.Plot.X + k*l.CellW, l.Plot.Y + i*l.CellH, l.CellW, l.CellH}
			text, middle := "", cell.Y+(cell.H-1)/2
			s, v := Style{}, m[i][k]
			marked := o.Mark != nil && o.Mark[0] == i && o.Mark[1] == k
			switch t := min(max((v-lo)/(hi-lo), 0), 1); {
			case v-v != 0:
				s, text = o.Label, string(g.missing)
			case o.Color != nil:
				s = o.Color(t)
				c.Fill(cell, ' ', s)
				if !o.NoValues && cell.W > values { // numbers of neighbours stay apart
					text = o.Format(v)
				}
			default:
				c.Fill(cell, o.Glyphs.shadeOf(t), s)
				if !o.NoValues && cell.W >= values+2 {
					c.Fill(Rect{cell.X, middle, cell.W, 1}, ' ', s)
					text = o.Format(v)
				}
			}
			if w := TextWidth(text); w > 0 && w <= cell.W {
				// Numbers end in the same column of all cells.
				end := cell.X + cell.W - (cell.W-min(max(values, w), cell.W))/2
				if v-v != 0 {
					end = cell.X + (cell.W+w+1)/2
				}
				c.Text(end-w, middle, text, s)
			}
			if marked {
				c.Restyle(cell, func(s Style) Style { return s.With(Reverse | Bold) })
			}
		}
	}
	o.heads(c, r, l, margin, numbers)
	return l
}

// heads writes the labels of rows and columns.
func (o *HeatMapOptions) heads(c *Canvas, r Rect, l HeatLayout, margin, numbers int) {
	style := func(i, axis int) Style {
		if o.Mark != nil && o.Mark[axis] == i {
			return o.Label.With(Bold | Reverse)
		}
		return o.Label
	}
	if margin > 0 {
		last, names := -1, FitNames(o.Labels, margin-numbers-2)
		for i := range l.Rows {
			y := l.top(i) + max(0, l.top(i+1)-l.top(i)-1)/2
			if marked := o.Mark != nil && o.Mark[0] == i; y == last && !marked {
				continue // rows of a picture may be lower than a line of text
			}
			last = y
			c.Fill(Rect{r.X, y, margin - 1, 1}, ' ', Style{})
			if i < len(names) {
				c.TextFit(r.X, y, margin-numbers-2, names[i], style(i, 0))
			}
			c.TextRight(l.Plot.X-1, y, strconv.Itoa(i+1), style(i, 0))
		}
	}
	if l.Plot.Y == r.Y {
		return
	}
	// Every number where there is room, else every second, fifth, tenth.
	every := 1
	for _, every = range []int{1, 2, 5, 10, 20, 50, 100} {
		if len(strconv.Itoa(l.Cols))+1 <= every*l.Plot.W/l.Cols {
			break
		}
	}
	for k := range l.Cols {
		text := strconv.Itoa(k + 1)
		if (k+1)%every == 0 && TextWidth(text)+1 <= every*l.Plot.W/l.Cols {
			x := l.left(k) + (l.left(k+1)-l.left(k)-TextWidth(text)+1)/2
			c.Text(max(x, r.X), r.Y, text, style(k, 1))
		}
	}
}

// shadeOf returns a character as dark as t is large, from 0 to 1.
func (g Glyphs) shadeOf(t float64) rune {
	ramp := []rune(" ░▒▓█")
	if g == ASCII {
		ramp = []rune(" .:=%#")
	}
	return ramp[int(math.Floor(min(t, 0.9999)*float64(len(ramp))))]
}
