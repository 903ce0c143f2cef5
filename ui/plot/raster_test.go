package plot

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

var allGlyphs = []Glyphs{Braille, Blocks, Halves, ASCII}

// dotsOf reads the dots of a canvas back: from the Unicode names of braille
// dots and from the shapes of blocks, not from the tables of the program.
func dotsOf(t *testing.T, c *Canvas, r Rect, g Glyphs) map[[2]int]bool {
	t.Helper()
	out := map[[2]int]bool{}
	quadrants := map[rune]string{'▘': "1000", '▝': "0100", '▀': "1100", '▖': "0010", '▌': "1010", '▞': "0110", '▛': "1110",
		'▗': "0001", '▚': "1001", '▐': "0101", '▜': "1101", '▄': "0011", '▙': "1011", '▟': "0111", '█': "1111"}
	for y := range r.H {
		for x := range r.W {
			ch := c.At(r.X+x, r.Y+y).Rune
			switch {
			case ch == ' ':
			case g == Braille && ch > 0x2800 && ch <= 0x28ff:
				// Dots 1 2 3 7 are the left column from above, 4 5 6 8 the right one.
				for i, dot := range []int{1, 2, 3, 7, 4, 5, 6, 8} {
					if (ch-0x2800)>>(dot-1)&1 != 0 {
						out[[2]int{2*x + i/4, 4*y + i%4}] = true
					}
				}
			case g == Blocks && quadrants[ch] != "":
				for i, on := range quadrants[ch] {
					if on == '1' {
						out[[2]int{2*x + i%2, 2*y + i/2}] = true
					}
				}
			case g == Halves && strings.ContainsRune("▀▄█", ch):
				if ch != '▄' {
					out[[2]int{x, 2 * y}] = true
				}
				if ch != '▀' {
					out[[2]int{x, 2*y + 1}] = true
				}
			default:
				t.Fatalf("cell %d,%d is %q", x, y, ch)
			}
		}
	}
	return out
}

// naive is a slow rasteriser for points whose x does not decrease.
func naive(x, lo, hi []float64, xMax, yMin, yMax float64, w, h int, connect bool) map[[2]int]bool {
	out := map[[2]int]bool{}
	type column struct{ col, top, bottom, first, last int }
	row := func(v float64) int { return int(math.Round((yMax - v) * float64(h-1) / (yMax - yMin))) }
	var before *column
	for i := 0; i < len(x); {
		if math.IsNaN(lo[i]) {
			before = nil
			i++
			continue
		}
		c := column{col: int(math.Floor(x[i]*float64(w-1)/xMax + 0.5)), top: math.MaxInt, bottom: math.MinInt,
			first: (row(lo[i]) + row(hi[i])) / 2}
		for ; i < len(x) && !math.IsNaN(lo[i]) && int(math.Floor(x[i]*float64(w-1)/xMax+0.5)) == c.col; i++ {
			c.top, c.bottom = min(c.top, row(hi[i])), max(c.bottom, row(lo[i]))
			c.last = (row(lo[i]) + row(hi[i])) / 2
		}
		for y := c.top; y <= c.bottom; y++ {
			out[[2]int{c.col, y}] = true
		}
		if before != nil && connect {
			a, b := *before, c
			if b.col-a.col == 1 {
				// Rows between the two columns go to the nearer one, the middle one to the right.
				for y := a.bottom + 1; y < b.top; y++ {
					out[[2]int{map[bool]int{true: a.col, false: b.col}[y-a.bottom < b.top-y], y}] = true
				}
				for y := b.bottom + 1; y < a.top; y++ {
					out[[2]int{map[bool]int{true: a.col, false: b.col}[a.top-y < y-b.bottom], y}] = true
				}
			} else {
				dx, dy := float64(b.col-a.col), float64(b.first-a.last)
				steps := max(dx, math.Abs(dy))
				for s := 0.0; s <= steps; s++ {
					px := math.Floor(s*dx/steps + 0.5)
					py := math.Copysign(math.Floor(s*math.Abs(dy)/steps+0.5), dy)
					out[[2]int{a.col + int(px), a.last + int(py)}] = true
				}
			}
		}
		keep := c
		before = &keep
	}
	return out
}

func bare(g Glyphs, yMin, yMax float64) *Chart {
	return &Chart{Glyphs: g, X: Axis{Hide: true}, Y: Axis{Hide: true, Min: yMin, Max: yMax}}
}

func TestLinesAreAsTheNaiveRasteriserDrawsThem(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for round := range 400 {
		g := allGlyphs[round%3]
		across, down := g.dots()
		r := Rect{2, 1, 1 + rng.IntN(30), 1 + rng.IntN(12)}
		w, h := r.W*across, r.H*down
		n := 2 + rng.IntN([]int{4, 20, 300}[rng.IntN(3)])
		x, lo, hi := make([]float64, n), make([]float64, n), make([]float64, n)
		lo32, hi32 := make([]float32, n), make([]float32, n)
		ranges := rng.IntN(2) == 1
		for i := range n {
			x[i] = float64(i)
			if round%7 == 0 && i > 0 { // uneven
				x[i] = x[i-1] + float64(rng.IntN(4))
			}
			// Sixteenths are the same in float32, and rarely between two dots.
			lo[i] = float64(rng.IntN(1600)) / 16
			hi[i] = lo[i]
			if ranges {
				hi[i] = min(100, lo[i]+float64(rng.IntN(300))/16)
			}
			if rng.IntN(9) == 0 {
				lo[i], hi[i] = math.NaN(), math.NaN()
			}
			lo32[i], hi32[i] = float32(lo[i]), float32(hi[i])
		}
		if x[n-1] == 0 {
			continue
		}
		line := Line{X: x, Y: lo, Hi: hi}
		if !ranges {
			line.Hi = nil
		}
		if round%2 == 1 {
			line = Line{X: x, Y32: lo32}
			if ranges {
				line.Hi32 = hi32
			}
		}
		ch := bare(g, 0, 100)
		ch.X.Min, ch.X.Max = 0, x[n-1]
		ch.Lines = []Line{line}
		c := NewCanvas(40, 20)
		l := ch.Draw(c, r)
		if l.Plot != r {
			t.Fatalf("the plot is %v, want %v", l.Plot, r)
		}
		got, want := dotsOf(t, c, r, g), naive(x, lo, hi, x[n-1], 0, 100, w, h, true)
		for y := range h {
			for col := range w {
				if p := [2]int{col, y}; got[p] != want[p] {
					t.Fatalf("round %d, glyphs %v, %d points on %dx%d dots: dot %v is %v, want %v\n%s\n%v %v %v",
						round, g, n, w, h, p, got[p], want[p], c.Plain(), x, lo, hi)
				}
			}
		}
	}
}

// TestLinesThatLeaveThePlot: between the edges, where the arrows are, the dots are
// those of a line without limits, also where it comes back from far beyond.
func TestLinesThatLeaveThePlot(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for round := range 200 {
		g := allGlyphs[round%3]
		across, down := g.dots()
		r := Rect{2, 1, 5 + rng.IntN(25), 4 + rng.IntN(9)}
		w, h := r.W*across, r.H*down
		n := w * (1 + rng.IntN(3)) // no column of dots is left out
		x, y := make([]float64, n), make([]float64, n)
		for i := range n {
			x[i] = float64(i)
			y[i] = float64(rng.IntN(1600)) / 16
			if rng.IntN(3) == 0 {
				y[i] = 1000*float64(rng.IntN(3)) - 1000 // -1000, 0, 1000
			}
		}
		ch := bare(g, 20, 80)
		ch.X.Min, ch.X.Max = 0, x[n-1]
		ch.Lines = []Line{{X: x, Y: y}}
		c := NewCanvas(40, 20)
		ch.Draw(c, r)
		inner := Rect{r.X, r.Y + 1, r.W, r.H - 2}
		got, want := dotsOf(t, c, inner, g), naive(x, y, y, x[n-1], 20, 80, w, h, true)
		for row := range inner.H * down {
			for col := range w {
				if got[[2]int{col, row}] != want[[2]int{col, row + down}] {
					t.Fatalf("round %d, glyphs %v, %d points on %dx%d dots: dot %d,%d is %v\n%s\n%v",
						round, g, n, w, h, col, row+down, got[[2]int{col, row}], c.Plain(), y)
				}
			}
		}
	}
}

// TestNoSpikeIsLost: one extreme value among 100,000, anywhere, sets its dot.
func TestNoSpikeIsLost(t *testing.T) {
	const n = 100000
	y := make([]float32, n)
	r := Rect{0, 0, 80, 20}
	c := NewCanvas(r.W, r.H)
	for _, at := range []int{0, 1, 777, 31234, 65536, n - 2, n - 1} {
		for _, v := range []float32{1, -1} {
			for dash := range 4 {
				y[at] = v
				ch := bare(Braille, -1, 1)
				ch.Lines = []Line{{Y32: y, Dash: dash}}
				c.Reset(r.W, r.H)
				ch.Draw(c, r)
				col := int(math.Round(float64(at) / (n - 1) * 159))
				row := map[float32]int{1: 0, -1: 79}[v]
				if !dotsOf(t, c, r, Braille)[[2]int{col, row}] {
					t.Errorf("value %v at %d is not seen in column %d, dash %d:\n%s", v, at, col, dash, c.Plain())
				}
				y[at] = 0
			}
		}
	}
}

// TestHigherPriorityTakesTheCell: the focus is drawn as if it were alone, in
// its style, whatever is beneath; equals share cells.
func TestHigherPriorityTakesTheCell(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	walk := func() []float64 {
		y := make([]float64, 60)
		for i := range y {
			y[i] = rng.Float64()
		}
		return y
	}
	grey, top := Style{FG: Indexed(8)}, Style{FG: Indexed(1)}
	lines := []Line{{Y: walk(), Style: top, Focus: true}}
	for range 5 {
		lines = append(lines, Line{Y: walk(), Style: grey, Priority: rng.IntN(2)})
	}
	r := Rect{0, 0, 40, 10}
	draw := func(lines []Line) *Canvas {
		ch := bare(Braille, 0, 1)
		ch.Lines = lines
		c := NewCanvas(r.W, r.H)
		ch.Draw(c, r)
		return c
	}
	all, alone := draw(lines), draw(lines[:1])
	for y := range r.H {
		for x := range r.W {
			if cell := alone.At(x, y); cell.Rune != ' ' && all.At(x, y) != cell {
				t.Fatalf("cell %d,%d is %v, want %v", x, y, all.At(x, y), cell)
			}
		}
	}
	both := draw([]Line{{Y: lines[1].Y}, {Y: lines[2].Y}})
	want := dotsOf(t, draw([]Line{{Y: lines[1].Y}}), r, Braille)
	for p := range dotsOf(t, draw([]Line{{Y: lines[2].Y}}), r, Braille) {
		want[p] = true
	}
	got := dotsOf(t, both, r, Braille)
	for p := range want {
		if !got[p] {
			t.Errorf("dot %v of two equal lines is missing", p)
		}
	}
	if len(got) != len(want) {
		t.Errorf("two equal lines have %d dots, want %d", len(got), len(want))
	}
}

func TestSegmentsAreCutWhereTheyLeave(t *testing.T) {
	// From (0, 0) to (10, 10), seen from 4 to 6 and from 0 to 10: the same
	// straight line, although no point is within the limits.
	ch := bare(Braille, 0, 10)
	ch.X.Min, ch.X.Max = 4, 6
	ch.Lines = []Line{{X: []float64{0, 10}, Y: []float64{0, 10}}}
	r := Rect{0, 0, 20, 10}
	c := NewCanvas(r.W, r.H)
	ch.Draw(c, r)
	got := dotsOf(t, c, r, Braille)
	for col := range 40 {
		x := 4 + 2*float64(col)/39
		row := (10 - x) / 10 * 39
		if !got[[2]int{col, int(row + 0.5)}] && !got[[2]int{col, int(row)}] && !got[[2]int{col, int(row + 1)}] {
			t.Errorf("column %d lacks a dot at row %.1f\n%s", col, row, c.Plain())
		}
	}
	if len(got) > 44 {
		t.Errorf("%d dots for a flat line over 40 columns", len(got))
	}
}

func TestUnsortedLinesAreDrawnPointByPoint(t *testing.T) {
	ch := bare(Braille, 0, 9)
	ch.X.Min, ch.X.Max = 0, 9
	// A square, the corners of which are at dots that are exact.
	ch.Lines = []Line{{X: []float64{0, 9, 9, 0, 0}, Y: []float64{0, 0, 9, 9, 0}}}
	c := NewCanvas(5, 3)
	ch.Draw(c, c.Bounds())
	if got, want := c.Plain(), "⡏⠉⠉⠉⢹\n⡇   ⢸\n⣇⣀⣀⣀⣸"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestStepKeepsTheValue(t *testing.T) {
	ch := bare(Braille, 0, 1)
	ch.X.Min, ch.X.Max = 0, 9
	ch.Lines = []Line{{X: []float64{0, 6, 9}, Y: []float64{0, 1, 1}, Step: true}}
	c := NewCanvas(5, 2)
	ch.Draw(c, c.Bounds())
	// Along the lowest row to column 6 of 10, up there, along the highest.
	if got, want := c.Plain(), "   ⡏⠉\n⣀⣀⣀⡇"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestGapsAreCounted(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, k := range []struct {
		y                          []float64
		log                        bool
		gaps, nonPositive, clipped int
	}{
		{[]float64{1, 2, 3}, false, 0, 0, 0},
		{[]float64{nan, 1, nan, nan, 2, inf, 3, nan}, false, 2, 0, 0},
		{[]float64{nan, nan}, false, 0, 0, 0},
		{[]float64{1, 0, 2, -3, -4, 5}, true, 2, 3, 0},
		{[]float64{1, 200, 2, -300, 5}, false, 0, 0, 2},
	} {
		for _, w := range []int{1, 2, 30} { // all points in one column, or each in its own
			ch := bare(Braille, 0.5, 100)
			ch.Y.Log = k.log
			ch.Lines = []Line{{Y: k.y}}
			c := NewCanvas(w, 8)
			l := ch.Draw(c, c.Bounds())
			if l.Gaps != k.gaps || l.NonPositive != k.nonPositive || l.Clipped != k.clipped {
				t.Errorf("%v over %d cells: %d gaps, %d not positive, %d clipped; want %d, %d, %d", k.y, w,
					l.Gaps, l.NonPositive, l.Clipped, k.gaps, k.nonPositive, k.clipped)
			}
		}
	}
}

func TestIsolatedPointsAreDrawn(t *testing.T) {
	nan := math.NaN()
	ch := bare(Braille, 0, 1)
	ch.Lines = []Line{{Y: []float64{nan, 1, nan, 0, nan}}}
	c := NewCanvas(10, 1)
	ch.Draw(c, c.Bounds())
	if got := len(dotsOf(t, c, c.Bounds(), Braille)); got != 2 {
		t.Errorf("%d dots, want 2: %q", got, c.Plain())
	}
}

// TestLineIsThin: one dot in each column
// of a flat line and one in each row of a steep one.
func TestLineIsThin(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	var ra Raster
	for range 500 {
		ra.reset(20, 10, Braille)
		ra.next(true, Style{}, 0)
		x0, y0, x1, y1 := rng.IntN(40), rng.IntN(40), rng.IntN(40), rng.IntN(40)
		ra.line(x0, y0, x1, y1)
		c := NewCanvas(20, 10)
		ra.compose(c, c.Bounds(), Braille)
		dx, dy := max(x1-x0, x0-x1), max(y1-y0, y0-y1)
		if got, want := len(dotsOf(t, c, c.Bounds(), Braille)), max(dx, dy)+1; got != want {
			t.Fatalf("%d,%d to %d,%d has %d dots, want %d\n%s", x0, y0, x1, y1, got, want, c.Plain())
		}
	}
}
