package plot

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// nasty are series that have broken charts.
func nasty(rng *rand.Rand) []float64 {
	nan, inf := math.NaN(), math.Inf(1)
	sets := [][]float64{
		nil, {}, {1}, {nan}, {inf}, {-inf, inf}, {0, 0, 0}, {3, 3}, {nan, 1, nan}, {1e300, -1e300, 0}, {math.MaxFloat64, -math.MaxFloat64},
		{5e-324, 1e-323}, {0, 5e-324}, {1, 1 + 1e-15, 1 - 1e-15}, {-1, 0, 1, inf, 2}, {1e15, 1e15 + 1}, {1e-300, 2e-300, 1e300},
		{0.1, 0.2, 0.4, 0.3, 0.9}, {-5, -7, -6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
	}
	if i := rng.IntN(len(sets) + 1); i < len(sets) {
		return sets[i]
	}
	y := make([]float64, rng.IntN(500))
	for i := range y {
		y[i] = rng.NormFloat64() * math.Pow(10, rng.Float64()*4)
	}
	return y
}

func narrowed(y []float64) []float32 {
	if y == nil {
		return nil
	}
	out := make([]float32, len(y))
	for i, v := range y {
		out[i] = float32(v)
	}
	return out
}

func nastyChart(rng *rand.Rand, ra *Raster) *Chart {
	flip := func() bool { return rng.IntN(2) == 0 }
	names := []string{"", "SE", "PER×LIN×RQ .79", "核核核", "a very long name of a kernel, longer than any chart is wide, really"}
	axis := func() Axis {
		a := Axis{Log: rng.IntN(3) == 0, Robust: flip(), Title: names[rng.IntN(5)], Unit: names[rng.IntN(3)], Hide: rng.IntN(8) == 0}
		switch rng.IntN(6) {
		case 0:
			a.Min, a.Max = 0, 1
		case 1:
			a.Min, a.Max = -1e-5, 1e300
		case 2:
			a.Min, a.Max = math.NaN(), math.Inf(1)
		case 3:
			a.Include = []float64{0, 1, math.NaN()}
		}
		switch rng.IntN(8) {
		case 0:
			a.Labels = []Tick{{0, "0 %"}, {1, "100 % of all the data that there are"}, {0.5, "核"}, {math.NaN(), "?"}}
		case 1:
			a.Format = func(v, step float64) string { return "same" }
		}
		return a
	}
	ch := &Chart{X: axis(), Y: axis(), Glyphs: allGlyphs[rng.IntN(4)], LabelEnds: flip(), Legend: flip(),
		Empty: names[rng.IntN(5)], Raster: ra}
	for range rng.IntN(7) {
		l := Line{Y: nasty(rng), Name: names[rng.IntN(5)], Label: names[rng.IntN(5)], Dash: rng.IntN(5) - 1,
			Priority: rng.IntN(3) - 1, Focus: rng.IntN(5) == 0, Step: flip()}
		if flip() {
			l.X = nasty(rng)
		}
		if flip() {
			l.Hi = nasty(rng)
		}
		if flip() {
			l.Y32, l.Hi32, l.Y, l.Hi = narrowed(l.Y), narrowed(l.Hi), nil, nil
		}
		if flip() {
			l.Mark = 'x'
		}
		ch.Lines = append(ch.Lines, l)
	}
	for range rng.IntN(3) {
		b := Band{Name: names[rng.IntN(5)], Lo: nasty(rng), Hi: nasty(rng)}
		if flip() {
			b.X = nasty(rng)
		}
		if flip() {
			b.Style.BG = Indexed(3)
		}
		ch.Bands = append(ch.Bands, b)
	}
	for range rng.IntN(3) {
		ch.Scatters = append(ch.Scatters, Scatter{Name: names[rng.IntN(5)], X: nasty(rng), Y: nasty(rng), Mark: []rune{0, '+'}[rng.IntN(2)]})
	}
	for range rng.IntN(3) {
		ch.Markers = append(ch.Markers, Marker{X: rng.NormFloat64(), Text: names[rng.IntN(5)]})
	}
	if flip() {
		at := rng.NormFloat64()
		ch.Cursor = &at
	}
	return ch
}

// sentinel is a canvas in which every cell drawn on is known.
func sentinel(w, h int) *Canvas {
	c := NewCanvas(w, h)
	c.Fill(c.Bounds(), '#', Style{FG: Indexed(99)})
	return c
}

func untouched(t *testing.T, c *Canvas, r Rect, what any) {
	t.Helper()
	for y := range c.h {
		for x := range c.w {
			cell := c.At(x, y)
			if !r.Contains(x, y) && cell != (Cell{'#', Style{FG: Indexed(99)}}) {
				t.Fatalf("drawn into %d,%d, outside %v: %q\n%+v", x, y, r, cell.Rune, what)
			}
			if cell.Rune == 0 && (x == 0 || Width(c.At(x-1, y).Rune) != 2) || Width(cell.Rune) == 2 && c.At(x+1, y).Rune != 0 {
				t.Fatalf("half of a wide character at %d,%d\n%+v", x, y, what)
			}
		}
	}
}

var sizes = [][2]int{{0, 0}, {1, 1}, {2, 1}, {-3, 5}, {5, -1}, {3, 3}, {7, 2}, {11, 4}, {12, 9}, {40, 12}, {120, 36}, {240, 60}}

func TestAnyChartAtAnySizeStaysInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var ra Raster // shared, so that nothing of one chart is left for the next
	for round := range 1500 {
		size := sizes[round%len(sizes)]
		if size[0] > 40 && round%3 > 0 {
			size = [2]int{rng.IntN(60), rng.IntN(20)}
		}
		r := Rect{3, 2, size[0], size[1]}
		ch := nastyChart(rng, &ra)
		c := sentinel(max(0, size[0])+6, max(0, size[1])+4)
		l := ch.Draw(c, r)
		untouched(t, c, r, ch)
		if !l.Plot.Empty() {
			if in := l.Plot.Intersect(r); in != l.Plot {
				t.Fatalf("the plot %v is not within %v", l.Plot, r)
			}
			if !(l.XMin < l.XMax) || !(l.YMin < l.YMax) || math.IsInf(l.XMax-l.XMin, 0) || math.IsInf(l.YMax-l.YMin, 0) {
				t.Fatalf("limits %v..%v, %v..%v", l.XMin, l.XMax, l.YMin, l.YMax)
			}
		}
		_ = l.Note()
		c.Render()
	}
}

func TestChartBeyondTheCanvas(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 50 {
		ch := nastyChart(rng, nil)
		c := sentinel(20, 8)
		ch.Draw(c, Rect{-10, -4, 60, 30})
		ch.Draw(c, Rect{100, 100, 60, 30})
	}
}

// TestAxisLabelsDoNotTouch reads the rows and columns of labels back.
func TestAxisLabelsDoNotTouch(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 600 {
		lo := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(12)-6))
		hi := lo + math.Pow(10, float64(rng.IntN(12)-6))*rng.Float64()
		ch := &Chart{X: Axis{Min: lo, Max: hi}, Y: Axis{Min: lo, Max: hi}, Lines: []Line{{X: []float64{lo, hi}, Y: []float64{lo, hi}}}}
		if rng.IntN(3) == 0 {
			ch.X = Axis{Min: math.Abs(lo), Max: math.Abs(lo) * math.Pow(10, 1+5*rng.Float64()), Log: true}
		}
		w, h := 10+rng.IntN(110), 4+rng.IntN(36)
		c := NewCanvas(w, h)
		l := ch.Draw(c, c.Bounds())
		end := -2
		for _, k := range ch.Raster.ticksX {
			if k.Text == "" {
				continue
			}
			if k.x < max(end+2, 0) || k.x+TextWidth(k.Text) > w {
				t.Fatalf("label %q at %d, after %d, of %d columns\n%s", k.Text, k.x, end, w, c.Plain())
			}
			end = k.x + TextWidth(k.Text)
			if cell, ok := l.cellX(k.At); !ok || cell != k.cell || k.x > cell || end <= cell {
				t.Fatalf("label %q is not at its tick\n%s", k.Text, c.Plain())
			}
			var got []rune
			for x := k.x; x < end; x++ {
				got = append(got, c.At(x, h-1).Rune)
			}
			if string(got) != k.Text {
				t.Fatalf("label %q is drawn as %q\n%s", k.Text, string(got), c.Plain())
			}
		}
		seen := map[string]bool{}
		for y := l.Plot.Y; y < l.Plot.Y+l.Plot.H; y++ {
			var row []rune
			for x := range max(l.Plot.X-1, 0) {
				row = append(row, c.At(x, y).Rune)
			}
			if text := strings.TrimSpace(string(row)); text != "" {
				if seen[text] {
					t.Fatalf("label %q twice\n%s", text, c.Plain())
				}
				seen[text] = true
			}
		}
	}
}

func TestLabelsOfTheCallerAreNotDoubled(t *testing.T) {
	ch := &Chart{Y: Axis{Min: 0, Max: 1, Format: func(v, _ float64) string { return Number(v, 1) }}, Lines: []Line{{Y: []float64{0, 1}}}}
	c := NewCanvas(30, 16)
	ch.Draw(c, c.Bounds())
	if n := strings.Count(c.Plain(), "1┤"); n != 1 {
		t.Errorf("label 1 stands %d times\n%s", n, c.Plain())
	}
}

func TestEndLabelsDoNotOverlap(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for range 300 {
		h := 3 + rng.IntN(20)
		n := 1 + rng.IntN(25)
		ch := &Chart{LabelEnds: true, Y: Axis{Min: 0, Max: 1, Hide: true}, X: Axis{Hide: true}}
		for i := range n {
			end := rng.Float64() * rng.Float64()
			ch.Lines = append(ch.Lines, Line{Y: []float64{0, end}, Label: "L" + string(rune('a'+i)), Priority: rng.IntN(4)})
		}
		c := NewCanvas(30, h+1)
		l := ch.Draw(c, c.Bounds())
		rows := map[string]int{}
		for y := range l.Plot.H {
			text := strings.TrimSpace(string([]rune{c.At(27, y).Rune, c.At(28, y).Rune, c.At(29, y).Rune}))
			if text == "" {
				continue
			}
			rows[strings.TrimSpace(text)] = y
		}
		if want := min(n, l.Plot.H); len(rows) != want {
			t.Fatalf("%d labels, want %d\n%s", len(rows), want, c.Plain())
		}
		for i, a := range ch.Lines {
			ra, okA := rows[a.Label]
			for k, b := range ch.Lines {
				rb, okB := rows[b.Label]
				if !okA && okB && a.Priority > b.Priority {
					t.Fatalf("%s is left out for %s, which is less important", a.Label, b.Label)
				}
				if okA && okB && l.Lines[i].EndY < l.Lines[k].EndY && ra >= rb {
					t.Fatalf("%s is below %s, its line is above\n%s", a.Label, b.Label, c.Plain())
				}
			}
		}
	}
}

func TestSpread(t *testing.T) {
	for _, k := range []struct {
		want []int
		h    int
		rows []int
	}{
		{[]int{0, 3, 7}, 8, []int{0, 3, 7}},
		{[]int{5, 5, 5}, 10, []int{4, 5, 6}},
		{[]int{0, 0, 0}, 10, []int{0, 1, 2}},
		{[]int{9, 9, 9}, 10, []int{7, 8, 9}},
		{[]int{2, 2, 9}, 10, []int{2, 3, 9}},
		{[]int{1, 1, 1, 1}, 4, []int{0, 1, 2, 3}},
	} {
		var labels []endLabel
		for _, w := range k.want {
			labels = append(labels, endLabel{want: w})
		}
		spread(labels, k.h)
		var got []int
		for _, l := range labels {
			got = append(got, l.row)
		}
		if !slices.Equal(got, k.rows) {
			t.Errorf("labels wanted at %v of %d rows are at %v, want %v", k.want, k.h, got, k.rows)
		}
	}
}

func TestLayoutGoesBothWays(t *testing.T) {
	for _, g := range allGlyphs {
		for _, log := range []bool{false, true} {
			ch := &Chart{Glyphs: g, X: Axis{Min: 1, Max: 1000, Log: log}, Y: Axis{Min: 2, Max: 50, Log: log}, Lines: []Line{{Y: []float64{2, 50}}}}
			c := NewCanvas(50, 14)
			l := ch.Draw(c, Rect{3, 2, 44, 11})
			for x := l.Plot.X; x < l.Plot.X+l.Plot.W; x++ {
				if got, ok := l.cellX(l.XAt(x)); got != x || !ok {
					t.Errorf("column %d is %v, which is in column %d", x, l.XAt(x), got)
				}
			}
			for y := l.Plot.Y; y < l.Plot.Y+l.Plot.H; y++ {
				if got, ok := l.cellY(l.yAt(y)); got != y || !ok {
					t.Errorf("row %d is %v, which is in row %d", y, l.yAt(y), got)
				}
			}
			if x, ok := l.cellX(1); x != l.Plot.X || !ok {
				t.Errorf("the least x is in column %d", x)
			}
			if y, ok := l.cellY(50); y != l.Plot.Y || !ok {
				t.Errorf("the largest y is in row %d", y)
			}
			if _, ok := l.cellX(1e6); ok {
				t.Error("1e6 is in the plot")
			}
		}
	}
	var none Layout
	if _, ok := none.cellX(1); ok || !math.IsNaN(none.XAt(3)) {
		t.Error("a chart that was not drawn has cells")
	}
}

func TestNearestIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	for range 2000 {
		xs := make([]float64, rng.IntN(8))
		for i := range xs {
			xs[i] = float64(rng.IntN(10))
		}
		slices.Sort(xs)
		x := float64(rng.IntN(24))/2 - 1
		want := -1
		for i, v := range xs {
			if want < 0 || math.Abs(v-x) < math.Abs(xs[want]-x) {
				want = i
			}
		}
		if got := nearestIndex(xs, x); got != want {
			t.Fatalf("nearestIndex(%v, %v) = %d, want %d", xs, x, got, want)
		}
	}
	if nearestIndex([]float64{1}, math.NaN()) != -1 {
		t.Error("NaN is near something")
	}
}

func TestZoomAndPan(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for range 5000 {
		lo, hi := -10.0, 30.0
		a := lo + rng.Float64()*20
		b := a + 1e-3 + rng.Float64()*(hi-a-1e-3)
		at := a + rng.Float64()*(b-a)
		f := math.Pow(2, rng.Float64()*6-3)
		x, y := ZoomRange(a, b, at, f, lo, hi)
		if x < lo || y > hi || x >= y || math.Abs((y-x)-min((b-a)*f, hi-lo)) > 1e-9 {
			t.Fatalf("ZoomRange(%v, %v, %v, %v) = %v, %v", a, b, at, f, x, y)
		}
		if x > lo && y < hi && math.Abs((at-x)/(y-x)-(at-a)/(b-a)) > 1e-9 {
			t.Fatalf("ZoomRange(%v, %v, %v, %v) = %v, %v: the place moved", a, b, at, f, x, y)
		}
		part := rng.Float64()*4 - 2
		p, q := Pan(a, b, part, lo, hi)
		if p < lo || q > hi || math.Abs((q-p)-(b-a)) > 1e-9 || p > lo && q < hi && math.Abs(p-a-part*(b-a)) > 1e-9 {
			t.Fatalf("Pan(%v, %v, %v) = %v, %v", a, b, part, p, q)
		}
	}
}

func TestRobustLimitsKeepTheOthersVisible(t *testing.T) {
	y := make([]float64, 200)
	for i := range y {
		y[i] = 1 + math.Sin(float64(i)/9)
	}
	y[120], y[60] = 1e6, -1e6
	ch := &Chart{Lines: []Line{{Y: y}}, Y: Axis{Robust: true}}
	c := NewCanvas(60, 12)
	l := ch.Draw(c, c.Bounds())
	if l.YMin < -2.1 || l.YMax > 4.1 || l.Clipped != 2 {
		t.Errorf("limits %v..%v, %d clipped; want about the sine's, 2", l.YMin, l.YMax, l.Clipped)
	}
	up, _ := l.cellX(120)
	down, _ := l.cellX(60)
	if c.At(up, l.Plot.Y).Rune != '▲' || c.At(down, l.Plot.Y+l.Plot.H-1).Rune != '▼' {
		t.Errorf("no arrows at columns %d and %d\n%s", up, down, c.Plain())
	}
	if strings.Count(c.Plain(), "▲")+strings.Count(c.Plain(), "▼") != 2 {
		t.Errorf("more than two arrows\n%s", c.Plain())
	}
	points := &Chart{Scatters: []Scatter{{X: []float64{0, 120, 120, 199}, Y: []float64{0, 9, 9, 1}}}, Y: Axis{Min: 0, Max: 1}}
	c.Reset(60, 12)
	l = points.Draw(c, c.Bounds())
	up, _ = l.cellX(120)
	if l.Clipped != 2 || c.At(up, l.Plot.Y).Rune != '▲' {
		t.Errorf("%d points clipped, want 2 and an arrow\n%s", l.Clipped, c.Plain())
	}
	// Without outliers robust limits hide nothing.
	y[120], y[60] = 1, 1
	if l := ch.Draw(c, c.Bounds()); l.Clipped != 0 || l.YMin > 0 || l.YMax < 1.99 {
		t.Errorf("limits %v..%v clip %d values of a sine", l.YMin, l.YMax, l.Clipped)
	}
}

func TestLimitsFollowWhatIsShown(t *testing.T) {
	ch := &Chart{Lines: []Line{{Y: []float64{100, 1, 2, 3, 100}}}, X: Axis{Min: 1, Max: 3}, Y: Axis{Include: []float64{0}}}
	c := NewCanvas(60, 12)
	if l := ch.Draw(c, c.Bounds()); l.YMin != 0 || l.YMax > 4 || l.YMax < 3 {
		t.Errorf("limits %v..%v, want 0 to 3 or a little more", l.YMin, l.YMax)
	}
}

func TestBandCoversWhatIsBetween(t *testing.T) {
	x, lo, hi := []float64{0, 10}, []float64{2, 4}, []float64{6, 8}
	for _, g := range allGlyphs {
		for _, bg := range []Color{0, Indexed(4)} {
			ch := bare(g, 0, 10)
			ch.X.Min, ch.X.Max = 0, 10
			ch.Bands = []Band{{X: x, Lo: lo, Hi: hi, Style: Style{BG: bg}}}
			ch.Lines = []Line{{X: x, Y: []float64{4, 6}, Style: Style{FG: Indexed(1)}}}
			c := NewCanvas(40, 20)
			l := ch.Draw(c, c.Bounds())
			for cy := range 20 {
				for cx := range 40 {
					at, v := l.XAt(cx), l.yAt(cy)
					depth := min(v-(2+at/5), 6+at/5-v) // inside by so much
					cell := c.At(cx, cy)
					marked := cell.Rune != ' '
					if bg != 0 {
						marked = cell.Style.BG == bg
					}
					if depth > 0.8 && !marked || depth < -0.8 && marked {
						t.Fatalf("glyphs %v, background %v: cell %d,%d is %q %v, %.2f inside\n%s", g, bg, cx, cy, cell.Rune, cell.Style, depth, c.Plain())
					}
				}
			}
		}
	}
}

func TestCursorAndMarkers(t *testing.T) {
	at := 5.0
	ch := &Chart{Cursor: &at, Markers: []Marker{{X: 2, Text: "pruned"}, {X: 2.1, Text: "below"}, {X: 9.9, Text: "end"}},
		Lines: []Line{{Y: []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, Focus: true}}}
	c := NewCanvas(60, 14)
	l := ch.Draw(c, c.Bounds())
	x, _ := l.cellX(5)
	y, _ := l.cellY(5)
	if c.At(x, y).Rune != '●' || c.At(x, l.Plot.Y).Rune != '┊' {
		t.Errorf("no crosshair at %d,%d\n%s", x, y, c.Plain())
	}
	text := c.Plain()
	if !strings.Contains(text, "┊pruned") || !strings.Contains(text, "┊below") || !strings.Contains(text, "end") {
		t.Errorf("markers are wrong\n%s", text)
	}
	if c.At(x, 13).Style.Attr&Reverse == 0 {
		t.Errorf("x of the crosshair is not below it\n%s", text)
	}
}

func TestEmptyChartSaysSo(t *testing.T) {
	ch := &Chart{Empty: "nothing yet", Lines: []Line{{Y: []float64{math.NaN()}}, {}}}
	c := NewCanvas(21, 3)
	if l := ch.Draw(c, c.Bounds()); !l.Plot.Empty() {
		t.Errorf("an empty chart has the plot %v", l.Plot)
	}
	if got, want := c.Plain(), "\n     nothing yet\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDrawAllocatesLittle(t *testing.T) {
	ch := &Chart{}
	x := make([]float64, 500)
	for i := range x {
		x[i] = float64(i)
	}
	for range 50 {
		ch.Lines = append(ch.Lines, Line{X: x, Y: make([]float64, 500)})
	}
	c := NewCanvas(80, 24)
	ch.Draw(c, c.Bounds())
	if n := testing.AllocsPerRun(20, func() { ch.Draw(c, c.Bounds()) }); n > 60 {
		t.Errorf("%v allocations", n)
	}
}

// yAt returns the y in the middle of a row of cells.
func (l Layout) yAt(cell int) float64 {
	_, down := l.Glyphs.dots()
	return at(l.Plot.Y+l.Plot.H-1-cell, l.Plot.H, down, l.YMin, l.YMax, l.YLog)
}

// What is written at the end of a line has the room that no line has come to, and a tick at
// 0 that stands alone has no decimals.
func TestRoomRightOfLines(t *testing.T) {
	name := "a name of many a letter"
	c := NewCanvas(60, 9)
	ch := Chart{LabelEnds: true, Raster: &Raster{}, Lines: []Line{{Label: name, Value: " .25", X: []float64{0, 1}, Y: []float64{3e-4, 4e-4}}}}
	ch.X.Min, ch.X.Max, ch.Y.Min, ch.Y.Max = 0, 10, -1e-5, 4.2e-4
	ch.Draw(c, c.Bounds())
	if got := c.Plain(); !strings.Contains(got, name+" .25") || strings.Contains(got, "0.0") {
		t.Error(got)
	}
}

// Where there is nothing but axes the chart says why, in their middle.
func TestAxesWithNothing(t *testing.T) {
	c := NewCanvas(60, 9)
	ch := Chart{Empty: "the first evaluation is under way", Raster: &Raster{}, Lines: []Line{{}}}
	ch.X.Min, ch.X.Max, ch.Y.Min, ch.Y.Max = 0, 1, 0, 1
	ch.Draw(c, c.Bounds())
	if got := c.Plain(); !strings.Contains(got, ch.Empty) || !strings.Contains(got, "1.0") {
		t.Error(got)
	}
	ch.Lines = []Line{{X: []float64{0, 1}, Y: []float64{0, 1}}}
	c = NewCanvas(60, 9)
	ch.Draw(c, c.Bounds())
	if got := c.Plain(); strings.Contains(got, ch.Empty) {
		t.Error(got)
	}
}
