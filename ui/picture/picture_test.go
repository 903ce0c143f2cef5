package picture

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi/kitty"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/ui/plot"
)

// A picture is the same as itself and as what shows the same on the same cells; none is the
// same as none alone.
func TestSamePictures(t *testing.T) {
	of := func(what string, x int) *Picture { return &Picture{Of: what, Cells: plot.Rect{X: x, W: 4, H: 2}} }
	all := []*Picture{nil, of("a", 0), of("a", 1), of("b", 0)}
	for i, p := range all {
		for j, q := range all {
			if p.Same(q) != (i == j) {
				t.Errorf("%+v and %+v: same %v", p, q, p.Same(q))
			}
		}
	}
	if !of("a", 0).Same(of("a", 0)) {
		t.Error("two that show the same on the same cells are told apart")
	}
}

// Nothing is asked where something else keeps what is written, and kitty's protocol only
// where a terminal has it.
func TestQuestion(t *testing.T) {
	for _, c := range []struct {
		env            map[string]string
		asks, forKitty bool
	}{
		{map[string]string{"TERM": "xterm-256color"}, true, false},
		{map[string]string{"TERM": "xterm-kitty"}, true, true},
		{map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, true, true},
		{map[string]string{"TERM": "xterm-kitty", "TMUX": "/tmp/tmux"}, false, false},
		{map[string]string{"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"}, false, false},
		{map[string]string{"TERM": "screen"}, false, false},
		{map[string]string{"TERM": "xterm-kitty", "STY": "1.pts"}, false, false},
		{map[string]string{"TERM": "xterm-kitty", "NO_COLOR": "1"}, false, false},
		{map[string]string{"TERM": "dumb"}, false, false},
		{map[string]string{"TERM": "linux"}, false, false},
		{nil, false, false},
	} {
		text := Question(func(name string) string { return c.env[name] })
		if strings.HasSuffix(text, "\x1b[c") != c.asks || strings.Contains(text, "\x1b_G") != c.forKitty || c.asks == (text == "") {
			t.Errorf("%v: %q", c.env, text)
		}
	}
}

// A terminal has what it says that it has, and no pictures until it has told how large
// its characters are.
func TestHear(t *testing.T) {
	size := uv.CellSizeEvent{Width: 10, Height: 20}
	ok := uv.KittyGraphicsEvent{Options: kitty.Options{ID: probe}, Payload: []byte("OK")}
	for _, c := range []struct {
		answers []any
		want    Protocol
		can     bool
	}{
		{[]any{size, uv.PrimaryDeviceAttributesEvent{62, 4}}, Sixel, true},
		{[]any{size, uv.PrimaryDeviceAttributesEvent{62, 22}}, None, false},
		{[]any{uv.PrimaryDeviceAttributesEvent{62, 4}}, Sixel, false},
		{[]any{ok, size, uv.PrimaryDeviceAttributesEvent{62}}, Kitty, true},
		{[]any{uv.KittyGraphicsEvent{Options: kitty.Options{ID: probe}, Payload: []byte("ENOTSUP")}, size,
			uv.PrimaryDeviceAttributesEvent{62}}, None, false},
		{[]any{uv.KittyGraphicsEvent{Options: kitty.Options{ID: 7}, Payload: []byte("OK")}, size,
			uv.PrimaryDeviceAttributesEvent{62}}, None, false},
		{[]any{uv.CellSizeEvent{Width: 1 << 30, Height: 1 << 30}, uv.PrimaryDeviceAttributesEvent{62, 4}}, Sixel, false},
	} {
		var term Terminal
		for _, a := range c.answers {
			if !term.Hear(a) {
				t.Errorf("%v is not heard", a)
			}
		}
		if term.Protocol != c.want || term.Can(80, 20) != c.can || term.Can(0, 5) || term.Can(1000, 1000) {
			t.Errorf("%v: %+v", c.answers, term)
		}
	}
	if new(Terminal).Hear(uv.FocusEvent{}) {
		t.Error("an event of something else is taken")
	}
}

// A picture arrives as it was painted, on its cells, by both protocols; of a Free cell
// nothing is painted.
func TestSequence(t *testing.T) {
	red, blue := color.RGBA{255, 0, 0, 255}, color.RGBA{0, 0, 255, 255}
	ground := color.RGBA{20, 40, 60, 255}
	p := &Picture{Cells: plot.Rect{X: 6, Y: 2, W: 5, H: 3}, Free: []image.Point{{X: 1, Y: 1}}, Paint: func(m *Image) {
		draw.Draw(m, image.Rect(0, 0, 20, 15), image.NewUniform(red), image.Point{}, draw.Src)
		draw.Draw(m, image.Rect(35, 24, 40, 33), image.NewUniform(blue), image.Point{}, draw.Src)
	}}
	want := func(x, y int) color.RGBA {
		switch {
		case x >= 8 && x < 16 && y >= 11 && y < 22:
			return color.RGBA{}
		case x < 20 && y < 15:
			return red
		case x >= 35 && y >= 24:
			return blue
		}
		return ground
	}
	for _, protocol := range []Protocol{Kitty, Sixel} {
		term := Terminal{Protocol: protocol, CellW: 8, CellH: 11}
		text := term.Sequence(p, ground)
		if !strings.HasPrefix(text, "\x1b7\x1b[3;7H") || !strings.HasSuffix(text, "\x1b8") {
			t.Errorf("%d: begins with %.20q, ends with %q", protocol, text, text[len(text)-10:])
		}
		got := decode(t, text)
		if got.Bounds() != image.Rect(0, 0, 40, 33) {
			t.Fatalf("%d: a picture of %v", protocol, got.Bounds())
		}
		for y := range 33 {
			for x := range 40 {
				r, g, b, a := got.At(x, y).RGBA()
				wr, wg, wb, wa := want(x, y).RGBA()
				if protocol == Kitty && want(x, y) == ground {
					wr, wg, wb, wa = 0, 0, 0, 0 // the terminal's own is seen
				}
				for i, d := range [...]float64{float64(r) - float64(wr), float64(g) - float64(wg), float64(b) - float64(wb), float64(a) - float64(wa)} {
					if math.Abs(d) > 0x10000/150. { // sixels have percents
						t.Fatalf("%d: at %d, %d channel %d is off by %v", protocol, x, y, i, d)
					}
				}
			}
		}
	}
}

// A picture on many large cells, of a screen of high resolution, is painted with fewer pixels:
// kitty has it fill its cells, sixels are as large as these. What is painted stays in its cells.
func TestLargePictures(t *testing.T) {
	const w, h = 200, 50
	red := color.RGBA{255, 0, 0, 255}
	p := &Picture{Cells: plot.Rect{W: w, H: h}, Free: []image.Point{{X: 30, Y: 20}}, Paint: func(m *Image) {
		if m.Rect.Dx()*m.Rect.Dy() > mostPixels || m.Rect.Dx() != w*m.CellW || m.Rect.Dy() != h*m.CellH {
			t.Errorf("painted on %v, cells of %d x %d", m.Rect, m.CellW, m.CellH)
		}
		draw.Draw(m, image.Rect(100*m.CellW, 10*m.CellH, 101*m.CellW, 11*m.CellH), image.NewUniform(red), image.Point{}, draw.Src)
	}}
	for _, protocol := range []Protocol{Kitty, Sixel} {
		term := Terminal{Protocol: protocol, CellW: 21, CellH: 41}
		if !term.Can(w, h) || term.Can(1000, 1000) {
			t.Errorf("%d: can %v", protocol, term.Can(w, h))
		}
		text := term.Sequence(p, color.RGBA{A: 255})
		got := decode(t, text)
		cellW, cellH := 21, 41
		if protocol == Kitty {
			cellW, cellH = term.painted(w, h)
			if !strings.Contains(text, "c=200,r=50") {
				t.Errorf("kitty is not told the cells: %.120q", text)
			}
		}
		if got.Bounds() != image.Rect(0, 0, w*cellW, h*cellH) {
			t.Fatalf("%d: %v", protocol, got.Bounds())
		}
		for y := 9 * cellH; y < 12*cellH; y++ {
			for x := 99 * cellW; x < 102*cellW; x++ {
				r, _, _, _ := got.At(x, y).RGBA()
				if in := x/cellW == 100 && y/cellH == 10; (r > 0x8000) != in {
					t.Fatalf("%d: at %d, %d of cells of %d x %d red is %x", protocol, x, y, cellW, cellH, r)
				}
			}
		}
		if _, _, _, a := got.At(30*cellW+cellW/2, 20*cellH+cellH/2).RGBA(); a != 0 {
			t.Errorf("%d: a cell that is to be seen is painted over", protocol)
		}
	}
}

// Of more colours than sixels have none is far from what it was.
func TestManyColours(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			img.SetRGBA(x, y, color.RGBA{uint8(4 * x), uint8(4 * y), uint8(x * y / 16), 255})
		}
	}
	got := decode(t, sixels(img, 64, 64))
	for y := range 64 {
		for x := range 64 {
			r, g, b, _ := got.At(x, y).RGBA()
			wr, wg, wb, _ := img.At(x, y).RGBA()
			if off := max(math.Abs(float64(r)-float64(wr)), math.Abs(float64(g)-float64(wg)), math.Abs(float64(b)-float64(wb))); off > 0x2400 {
				t.Fatalf("at %d, %d off by %v", x, y, off/0x101)
			}
		}
	}
}

// decode reads a picture as a terminal would.
func decode(t *testing.T, text string) image.Image {
	t.Helper()
	if strings.Contains(text, "\x1b_G") {
		var data strings.Builder
		for _, m := range regexp.MustCompile("\x1b_G([^;\x1b]*);([^\x1b]*)\x1b\\\\").FindAllStringSubmatch(text, -1) {
			if data.WriteString(m[2]); len(m[2]) > 4096 {
				t.Error("too long a sequence")
			}
		}
		file, err := base64.StdEncoding.DecodeString(data.String())
		must.OK(t, err)
		img, err := png.Decode(bytes.NewReader(file))
		must.OK(t, err)
		return img
	}
	m := regexp.MustCompile("\x1bP0;1q\"1;1;([0-9]+);([0-9]+)([^\x1b]*)\x1b\\\\").FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no sixels: %.60q", text)
	}
	atoi := func(s string) int {
		n, err := strconv.Atoi(s)
		must.OK(t, err)
		return n
	}
	w, h := atoi(m[1]), atoi(m[2])
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	colours := map[int]color.RGBA{}
	var now color.RGBA
	x, y := 0, 0
	for _, token := range regexp.MustCompile(`#[0-9;]+|![0-9]+.|[$-]|[?-~]`).FindAllString(m[3], -1) {
		times, c := 1, token[0]
		switch c {
		case '#':
			var i, r, g, b int
			if n, _ := fmt.Sscanf(token, "#%d;2;%d;%d;%d", &i, &r, &g, &b); n == 4 {
				colours[i] = color.RGBA{uint8(r * 255 / 100), uint8(g * 255 / 100), uint8(b * 255 / 100), 255}
			}
			now = colours[i]
			continue
		case '$':
			x = 0
			continue
		case '-':
			x, y = 0, y+6
			continue
		case '!':
			times, c = atoi(token[1:len(token)-1]), token[len(token)-1]
		}
		for range times {
			for bit := range 6 {
				if (c-'?')>>bit&1 == 1 {
					if x >= w || y+bit >= h {
						t.Fatalf("a pixel at %d, %d of %d x %d", x, y+bit, w, h)
					}
					img.SetRGBA(x, y+bit, now)
				}
			}
			x++
		}
	}
	return img
}

// A heat map's cells have their colours, a chart's line, band and points are where the
// axes say.
func TestPainted(t *testing.T) {
	m := &Image{RGBA: image.NewRGBA(image.Rect(0, 0, 90, 60)), CellW: 9, CellH: 20, Ground: color.RGBA{A: 255}}
	Heat(m, [][]float64{{0, 1, 2}, {3, math.NaN(), 5}}, func(v float64) plot.Style { return plot.Style{BG: plot.RGB(uint8(40*v), 7, 9)} }, nil)
	for _, at := range [][3]int{{15, 15, 0}, {45, 15, 40}, {75, 29, 80}, {0, 31, 120}, {89, 59, 200}} {
		if got := m.RGBAAt(at[0], at[1]); got != (color.RGBA{uint8(at[2]), 7, 9, 255}) {
			t.Errorf("at %v: %v", at, got)
		}
	}
	if got := m.RGBAAt(45, 45); got.A != 0 {
		t.Errorf("what is no number has the colour %v", got)
	}

	ch := plot.Chart{
		Lines:    []plot.Line{{Style: plot.Style{FG: plot.RGB(255, 0, 0)}, X: []float64{0, 10}, Y: []float64{0, 10}}},
		Bands:    []plot.Band{{Style: plot.Style{BG: plot.RGB(0, 90, 0)}, X: []float64{0, 10}, Lo: []float64{6, 6}, Hi: []float64{8, 8}}},
		Scatters: []plot.Scatter{{Style: plot.Style{FG: plot.RGB(0, 0, 255)}, X: []float64{8}, Y: []float64{2}}},
		X:        plot.Axis{Min: 0, Max: 10, Hide: true}, Y: plot.Axis{Min: 0, Max: 10, Hide: true}, Bare: true,
	}
	// Of points that lack one of their values nothing is painted.
	ch.Lines[0].X = append(ch.Lines[0].X, 0, 3)
	ch.Scatters[0].Y = append(ch.Scatters[0].Y, 9)
	ch.Bands[0].Hi = append(ch.Bands[0].Hi, 9)
	c := plot.NewCanvas(40, 20)
	l := ch.Draw(c, c.Bounds())
	if plain := strings.TrimSpace(c.Plain()); plain != "" {
		t.Errorf("a bare chart draws %q", plain)
	}
	m = &Image{RGBA: image.NewRGBA(image.Rect(0, 0, 400, 400)), CellW: 10, CellH: 20}
	Chart(m, &ch, l)
	red, green, blue := color.RGBA{255, 0, 0, 255}, color.RGBA{0, 90, 0, 255}, color.RGBA{0, 0, 255, 255}
	for _, at := range []struct {
		x, y float64 // on the axes
		want color.RGBA
	}{{5, 5, red}, {7, 7, red}, {2, 7, green}, {9, 6.2, green}, {2, 7.8, green}, {8, 2, blue}, {2, 9, color.RGBA{}}, {2, 5.6, color.RGBA{}}} {
		// The first dot of an axis is as wide as all others: its centre is half a dot in.
		x := (at.x/10*79 + 0.5) / 80 * 400
		y := 400 - (at.y/10*79+0.5)/80*400
		got := m.RGBAAt(int(x), int(y))
		if at.want == red && got.R > 150 && got.G < 60 && got.B == 0 { // a line thinner than two pixels
			continue
		}
		if got != at.want {
			t.Errorf("at (%v, %v): %v, want %v", at.x, at.y, got, at.want)
		}
	}
}
