package plot

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestBar(t *testing.T) {
	for _, k := range []struct {
		w        int
		fraction float64
		g        Glyphs
		want     string
	}{
		{8, 1, Braille, "████████"}, {8, 0.5, Braille, "████"}, {8, 0.0625, Blocks, "▌"}, {4, 0.28125, Braille, "█▏"},
		{8, 0, Braille, ""}, {8, -1, Braille, ""}, {8, 7, Braille, "████████"}, {8, math.NaN(), Braille, ""}, {8, math.Inf(1), Braille, ""},
		{8, 0.5625, Halves, "████▌"}, {8, 0.5, ASCII, "####"}, {8, 0.57, ASCII, "#####"}, {0, 1, Braille, ""}, {-2, 1, Braille, ""},
	} {
		c := NewCanvas(10, 1)
		Bar(c, 0, 0, k.w, k.fraction, Style{}, k.g)
		if got := c.Plain(); got != k.want {
			t.Errorf("%v of %d cells, glyphs %v: %q, want %q", k.fraction, k.w, k.g, got, k.want)
		}
	}
}

func TestHistogram(t *testing.T) {
	c := NewCanvas(4, 2)
	Histogram(c, c.Bounds(), []int{0, 8, 16, 4}, Style{}, Braille)
	if got, want := c.Plain(), "  █\n ██▄"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Eight counts in four cells: pairs.
	c.Reset(4, 2)
	Histogram(c, c.Bounds(), []int{0, 0, 3, 5, 16, 0, 1, 3}, Style{}, Braille)
	if got, want := c.Plain(), "  █\n ██▄"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	c.Reset(2, 1)
	Histogram(c, c.Bounds(), []int{1, 1000000}, Style{}, ASCII)
	if got, want := c.Plain(), ".#"; got != want {
		t.Errorf("got %q, want %q: a single one is seen", got, want)
	}
}

func TestSmallChartsAtAnySizeStayInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for round := range 600 {
		size := sizes[round%len(sizes)]
		r := Rect{3, 2, size[0], size[1]}
		c := sentinel(max(0, size[0])+6, max(0, size[1])+4)
		g := allGlyphs[rng.IntN(4)]
		Bar(c, 3, 2, min(r.W, c.w-6)*min(1, max(r.H, 0)), rng.NormFloat64(), Style{}, g)
		var counts []int
		for range rng.IntN(300) {
			counts = append(counts, rng.IntN(40)*rng.IntN(2)-1)
		}
		Histogram(c, r, counts, Style{}, g)
		var m [][]float64
		for range rng.IntN(30) {
			m = append(m, nasty(rng))
		}
		o := HeatMapOptions{Labels: []string{"核核核", "a", ""}, Glyphs: g, NoValues: rng.IntN(2) == 0}
		if rng.IntN(2) == 0 {
			o.Color = func(t float64) Style {
				if !(t >= 0 && t <= 1) {
					panic("out of the scale")
				}
				return Style{BG: 5}
			}
		}
		if rng.IntN(2) == 0 {
			o.Mark = &[2]int{rng.IntN(4), rng.IntN(4)}
		}
		l := HeatMap(c, r, m, o)
		if in := l.Plot.Intersect(r); !l.Plot.Empty() && in != l.Plot {
			t.Fatalf("the heat map %v is not within %v", l.Plot, r)
		}
		untouched(t, c, r, m)
	}
}

func TestHeatMap(t *testing.T) {
	m := [][]float64{{1, -0.5}, {math.NaN(), 0}}
	o := HeatMapOptions{Min: -1, Max: 1, Labels: []string{"SE", "核"},
		Color: func(t float64) Style { return Style{BG: RGB(0, 0, uint8(100*t))} }}
	c := NewCanvas(24, 3)
	l := HeatMap(c, c.Bounds(), m, o)
	want := "        1      2\nSE 1   1.00  −0.50\n核 2    ·     0.00"
	if got := c.Plain(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	seen := map[[2]int]int{}
	for y := range 3 {
		for x := range 24 {
			row, col, ok := l.At(x, y)
			if !ok {
				continue
			}
			seen[[2]int{row, col}]++
			want := Style{BG: RGB(0, 0, uint8(100*(m[row][col]+1)/2))}
			if math.IsNaN(m[row][col]) {
				want = Style{}
			}
			if got := c.At(x, y).Style; got != want {
				t.Errorf("cell %d,%d of row %d, column %d has %v, want %v", x, y, row, col, got, want)
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d of 4 elements are shown", len(seen))
	}
}

// A trend stands as high as its fractions, to an eighth; the least that is not 0 is seen.
func TestTrend(t *testing.T) {
	way := []float64{0, 1e-6, 0.125, 0.5, 1, 2, math.NaN(), -1, 0.76}
	for g, want := range map[Glyphs]string{Braille: " ▁▁▄██  ▆", Blocks: " ▁▁▄██  ▆", Halves: " ▄▄▄██  █", ASCII: " ..###  #"} {
		c := NewCanvas(9, 1)
		Trend(c, 0, 0, way, Style{}, g)
		if got := c.Plain(); got != want {
			t.Errorf("%v: %q, want %q", g, got, want)
		}
	}
}
