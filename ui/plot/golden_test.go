package plot

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the frames in testdata anew; look at them before committing")

// posteriorFrame is a run at 62 % of the data: three kernels of interest, grey
// ones that stay low, one of which is pruned.
func posteriorFrame(g Glyphs) *Chart {
	const n = 300
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.62 * float64(i+1) / n
	}
	ch := &Chart{
		Glyphs: g, LabelEnds: true, Y: Axis{Min: 0, Max: 1},
		X: Axis{Min: 0, Max: 1, Labels: []Tick{{0, "0 %"}, {.25, "25 %"}, {.5, "50 %"}, {.75, "75 %"}, {1, "100 % of data"}}},
	}
	add := func(l Line, f func(float64) float64) {
		l.X, l.Y = x, make([]float64, n)
		for i, v := range x {
			l.Y[i] = f(v)
		}
		ch.Lines = append(ch.Lines, l)
	}
	for k := range 5 {
		add(Line{}, func(t float64) float64 {
			if k == 2 && t > 0.35 {
				return math.NaN()
			}
			return .02 + .08*math.Exp(-4*t)*(1+math.Sin(30*t+float64(2*k)))
		})
	}
	add(Line{Label: "PER×LIN×RQ", Value: " .79", Name: "PER×LIN×RQ", Focus: true},
		func(t float64) float64 { return .05 + .75/(1+math.Exp(-16*(t-.3))) })
	add(Line{Label: "PER×LIN×SE", Value: " .11", Name: "PER×LIN×SE", Dash: 1, Priority: 1},
		func(t float64) float64 { return .1 + .3*math.Exp(-60*(t-.2)*(t-.2)) })
	add(Line{Label: "PER×LIN", Value: " .10", Name: "PER×LIN", Dash: 2, Priority: 1},
		func(t float64) float64 { return .1 + .2*math.Exp(-40*(t-.4)*(t-.4)) })
	return ch
}

// rmseFrame is an error against time with a gap, a spike and a reference.
func rmseFrame(g Glyphs) *Chart {
	const n = 160
	var x, y []float64
	for i := range n {
		x = append(x, 0.4*float64(i))
		y = append(y, 1.2*math.Exp(-float64(i)/14)+.031+.004*math.Sin(float64(i*i)))
	}
	y[70], y[71], y[72], y[73], y[74] = math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()
	y[110] = 0.4
	return &Chart{
		Glyphs: g, Legend: true, Y: Axis{Title: "RMSE", Log: true}, X: Axis{Title: "seconds"},
		Lines: []Line{
			{Name: "VBKS", X: x, Y: y, Priority: 1},
			{Name: "best kernel", X: []float64{0, x[n-1]}, Y: []float64{.027, .027}, Dash: 2},
		},
		Markers: []Marker{{X: 24, Text: "pruned to 10"}},
	}
}

// fitFrame is data with a mean and a band, and one outlier.
func fitFrame(g Glyphs) *Chart {
	var x, mean, lo, hi, dx, dy []float64
	for i := range 240 {
		v := -10 + 20*float64(i)/239
		m, w := v*math.Sin(v)/2, .5+v*v/60
		x, mean, lo, hi = append(x, v), append(mean, m), append(lo, m-w), append(hi, m+w)
		if i%3 == 0 && math.Abs(v) > 1 {
			dx, dy = append(dx, v), append(dy, m+w*math.Sin(float64(i*i)))
		}
	}
	dy[20] = 60
	at := 4.2
	return &Chart{
		Glyphs: g, Legend: true, Cursor: &at, Y: Axis{Title: "y", Robust: true}, X: Axis{Title: "x", Unit: "days"},
		Bands:    []Band{{Name: "95 %", X: x, Lo: lo, Hi: hi}},
		Scatters: []Scatter{{Name: "data", X: dx, Y: dy}},
		Lines:    []Line{{Name: "mean", X: x, Y: mean, Focus: true}},
	}
}

func heatFrame(c *Canvas, g Glyphs) {
	names := []string{"PER×LIN×RQ", "PER×LIN×SE", "PER×LIN", "核×LIN", "SE", "(PER+RQ)×LIN"}
	m := make([][]float64, len(names))
	for i := range m {
		for k := range m {
			m[i] = append(m[i], math.Cos(float64(i-k)/2))
		}
	}
	m[2][4], m[4][2] = math.NaN(), math.NaN()
	HeatMap(c, c.Bounds(), m, HeatMapOptions{Min: -1, Max: 1, Labels: names, Glyphs: g})
}

func TestGoldenFrames(t *testing.T) {
	chart := func(f func(Glyphs) *Chart) func(*Canvas, Glyphs) {
		return func(c *Canvas, g Glyphs) {
			c.Box(c.Bounds(), "Kernel posterior", "144 live", Style{}, Style{}, g, g == ASCII)
			f(g).Draw(c, c.Bounds().Inset(1, 1))
		}
	}
	for _, k := range []struct {
		name string
		w, h int
		g    Glyphs
		draw func(*Canvas, Glyphs)
	}{
		{"posterior-76x18", 76, 18, Braille, chart(posteriorFrame)},
		{"posterior-76x18-blocks", 76, 18, Blocks, chart(posteriorFrame)},
		{"posterior-76x18-halves", 76, 18, Halves, chart(posteriorFrame)},
		{"posterior-76x18-ascii", 76, 18, ASCII, chart(posteriorFrame)},
		{"posterior-30x8", 30, 8, Braille, chart(posteriorFrame)},
		{"rmse-60x14", 60, 14, Braille, chart(rmseFrame)},
		{"fit-76x18", 76, 18, Braille, chart(fitFrame)},
		{"fit-76x18-ascii", 76, 18, ASCII, chart(fitFrame)},
		{"heat-60x14", 60, 14, Braille, heatFrame},
	} {
		c := NewCanvas(k.w, k.h)
		k.draw(c, k.g)
		got := c.Plain() + "\n"
		path := filepath.Join("testdata", k.name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
		}
	}
}
