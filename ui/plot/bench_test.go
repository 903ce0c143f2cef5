package plot

import (
	"math"
	"testing"
)

// benchmarkChart draws and renders n random walks of some points each at
// 120x36, posterior-like: float32, X shared.
func benchmarkChart(b *testing.B, n, points int, log bool) {
	ch := &Chart{LabelEnds: true, Y: Axis{Log: log}}
	x := make([]float64, points)
	for i := range x {
		x[i] = float64(i)
	}
	state := uint32(1)
	for k := range n {
		y := make([]float32, points)
		v := 0.0
		for i := range y {
			state = state*1664525 + 1013904223
			v += float64(state>>8)/(1<<24) - 0.5
			y[i] = float32(math.Exp(v / math.Sqrt(float64(points))))
		}
		line := Line{X: x, Y32: y, Style: Style{FG: RGB(90, 90, 90)}}
		if k%18 == 0 {
			line.Style.FG, line.Priority, line.Label = RGB(uint8(k), 200, 90), 1+k, "PER*LIN"
		}
		ch.Lines = append(ch.Lines, line)
	}
	c := NewCanvas(120, 36)
	size := 0
	b.ReportAllocs()
	for b.Loop() {
		c.Reset(120, 36)
		ch.Draw(c, c.Bounds())
		size = len(c.Render())
	}
	b.ReportMetric(float64(size), "bytes/frame")
}

func BenchmarkChart144x1000(b *testing.B)    { benchmarkChart(b, 144, 1000, false) }
func BenchmarkChart144x1000Log(b *testing.B) { benchmarkChart(b, 144, 1000, true) }
func BenchmarkChart10x1000(b *testing.B)     { benchmarkChart(b, 10, 1000, false) }
func BenchmarkChart10x100000(b *testing.B)   { benchmarkChart(b, 10, 100000, false) }

// The heat map, trends and bars of architecture.md's comparison with ntcharts.

func BenchmarkHeatMap(b *testing.B) {
	const n, w, h = 36, 144, 36
	m := make([][]float64, n)
	for i := range m {
		for k := range n {
			m[i] = append(m[i], math.Cos(float64(i-k)/9))
		}
	}
	var colours [64]Style
	for i := range colours {
		colours[i].BG = RGB(uint8(4*i), 80, uint8(255-4*i))
	}
	c := NewCanvas(w+3, h+1)
	o := HeatMapOptions{Min: -1, Max: 1, Color: func(t float64) Style { return colours[min(63, int(t*64))] }, NoValues: true}
	b.ReportAllocs()
	for b.Loop() {
		HeatMap(c, c.Bounds(), m, o)
	}
}

func BenchmarkTrends(b *testing.B) {
	c, way := NewCanvas(8, 40), []float64{0, .1, .2, .3, .5, .7, .9, 1}
	b.ReportAllocs()
	for b.Loop() {
		for y := range 40 {
			Trend(c, 0, y, way, Style{FG: RGB(68, 136, 204)}, Braille)
		}
	}
}

func BenchmarkBars(b *testing.B) {
	c := NewCanvas(16, 40)
	b.ReportAllocs()
	for b.Loop() {
		for y := range 40 {
			Bar(c, 0, y, 16, float64(y)/40, Style{FG: RGB(68, 136, 204)}, Braille)
		}
	}
}
