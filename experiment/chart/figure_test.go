package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"example.com/kestrel/experiment/chart/svgtest"
	"example.com/kestrel/internal/must"
)

// nowhere is a canvas for texts to be measured on.
func nowhere() draw.Canvas { return draw.New(vgimg.New(100, 100)) }

func TestFigurePointsAreWhereTheyShouldBe(t *testing.T) {
	c := RGB{0x12, 0x34, 0x56}
	f := &Figure{
		Name: "f", Title: "title", XLabel: "time (s)", YLabel: "error (K)", XMin: 0, XMax: 10, YMin: -2, YMax: 8,
		Lines: []Line{{Name: "a", X: []float64{1, 2, 6}, Lo: []float64{0, 3, -1}, Swatch: Swatch{Light: c}}},
	}
	for _, test := range []struct {
		name       string
		change     func()
		across, up [3]float64 // parts of the frame, worked out by hand
	}{
		{"linear", func() {}, [3]float64{.1, .2, .6}, [3]float64{.2, .5, .1}},
		{"downwards", func() { f.YMin, f.YMax = 8, -2 }, [3]float64{.1, .2, .6}, [3]float64{.8, .5, .9}},
		{"logarithmic", func() {
			f.LogX, f.LogY = true, true
			f.XMin, f.XMax, f.YMin, f.YMax = .1, 1000, .01, 100
			f.Lines[0].X, f.Lines[0].Lo = []float64{1, 10, 100}, []float64{1, .1, 10}
		}, [3]float64{.25, .5, .75}, [3]float64{.5, .25, .75}},
	} {
		test.change()
		paths, _ := svgtest.Drawn(t, f)
		left, right, bottom, top := svgtest.FrameOf(t, paths)
		parts := svgtest.Stroked(paths, c)
		if len(parts) == 0 || len(parts[0]) != 3 {
			t.Fatalf("%s: %v", test.name, parts)
		}
		for i, p := range parts[0] {
			x, y := left+test.across[i]*(right-left), bottom+test.up[i]*(top-bottom)
			if !svgtest.Near(p[0], x) || !svgtest.Near(p[1], y) {
				t.Errorf("%s: point %d at %v, not at %.2f %.2f", test.name, i, p, x, y)
			}
		}
	}
}

func TestFigureTicksAreWhereTheySay(t *testing.T) {
	for _, test := range []struct {
		lo, hi float64
		log    bool
	}{
		{0, 1, false}, {-3, 17, false}, {8, -2, false}, {0.00085, 0.0011, false}, {-4e5, 6e5, false}, {1e6, 1e6 + 3, false},
		{1e-12, 7e-12, false},
		{-1e249, 7e248, false}, {0.02, 130, true}, {1e-9, 3, true}, {3, 8, true}, {1e-240, 1e240, true}, {41, 43, true}, {0.3, 2, true},
	} {
		a := figureAxis{lo: test.lo, hi: test.hi, log: test.log, from: 0, to: 300}
		ticks, factor := a.ticks(6)
		times := 1.
		if factor.text != "" {
			times = readTick(t, factor)
		}
		labelled := 0
		for _, k := range ticks {
			if !a.contains(k.at) {
				t.Errorf("%v: tick %g is outside", test, k.at)
			}
			if k.text == "" {
				continue
			}
			labelled++
			// As exact as labels of a few digits are: to a hundredth of the axis.
			said := readTick(t, k.tickText) * times
			if math.Abs(a.part(said)-a.part(k.at)) > 1e-6 {
				t.Errorf("%v: tick at %g says %g", test, k.at, said)
			}
		}
		if labelled < 2 || labelled > 12 {
			t.Errorf("%v: %d labels: %v", test, labelled, ticks)
		}
	}
}

// readTick reads 1.5, −2, 10⁻³, ×10⁵ and 3×10².
func readTick(t *testing.T, k tickText) float64 {
	t.Helper()
	plain := func(s string) float64 { return svgtest.ParseNumber(t, strings.ReplaceAll(s, "−", "-")) }
	if k.raised == "" {
		return plain(k.text)
	}
	before, power, times := strings.Cut(k.text, "×")
	if !times {
		before, power = "", k.text
	}
	if power != "10" {
		t.Fatalf("tick %v", k)
	}
	v := math.Pow(10, plain(k.raised))
	if before != "" {
		v *= plain(before)
	}
	return v
}

func TestFigureGapsAndExtents(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	c := RGB{0x12, 0x34, 0x56}
	f := &Figure{Name: "f", YMin: 0, YMax: 10, XMin: 0, XMax: 10, Lines: []Line{{
		X: []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, nan, 9}, Lo: []float64{1, 2, nan, 3, 4, inf, 5, 6, 7, 8, 9}, Swatch: Swatch{Light: c},
	}}}
	count := func() (lengths []int) {
		paths, _ := svgtest.Drawn(t, f)
		for _, part := range svgtest.Stroked(paths, c) {
			lengths = append(lengths, len(part))
		}
		return lengths
	}
	// The last value stands alone: it is no line.
	if got := count(); !slices.Equal(got, []int{2, 2, 3}) {
		t.Errorf("parts of %v points", got)
	}
	// A merged value is an upright stroke from the least to the greatest, the
	// nearer end first.
	f.Lines[0].X, f.Lines[0].Lo, f.Lines[0].Hi = []float64{0, 5, 10}, []float64{8, 2, 1}, []float64{8, 6, 1}
	paths, _ := svgtest.Drawn(t, f)
	left, right, bottom, top := svgtest.FrameOf(t, paths)
	part := svgtest.Stroked(paths, c)[0]
	want := [][2]float64{{0, .8}, {.5, .6}, {.5, .2}, {1, .1}}
	for i, w := range want {
		if x, y := left+w[0]*(right-left), bottom+w[1]*(top-bottom); len(part) != 4 || !svgtest.Near(part[i][0], x) ||
			!svgtest.Near(part[i][1], y) {
			t.Fatalf("%v, not %v", part, want)
		}
	}
	// A line that leaves the frame is cut there.
	f.Lines[0] = Line{X: []float64{0, 10}, Lo: []float64{5, 25}, Swatch: Swatch{Light: c}}
	paths, _ = svgtest.Drawn(t, f)
	part = svgtest.Stroked(paths, c)[0]
	if end := part[len(part)-1]; !svgtest.Near(end[0], left+.25*(right-left)) || !svgtest.Near(end[1], top) {
		t.Errorf("it ends at %v", end)
	}
}

func TestFigureOfManyPointsLosesNoSpike(t *testing.T) {
	const n = 100_000
	c := RGB{0x12, 0x34, 0x56}
	l := Line{X: make([]float64, n), Lo: make([]float64, n), Swatch: Swatch{Light: c}}
	for i := range n {
		l.X[i], l.Lo[i] = float64(i), math.Sin(float64(i))
	}
	l.Lo[31_415], l.Lo[62_831] = 9, -7
	f := &Figure{Name: "f", YMin: -10, YMax: 10, XMin: 0, XMax: n, Lines: []Line{l},
		Points: []Points{{X: l.X, Y: l.Lo, Swatch: Swatch{Light: c}}}}
	var b bytes.Buffer
	must.OK(t, f.WriteSVG(&b))
	if b.Len() > 4<<20 {
		t.Errorf("%d bytes", b.Len())
	}
	paths, _ := svgtest.Read(t, b.Bytes())
	left, right, bottom, top := svgtest.FrameOf(t, paths)
	for _, spike := range [][2]float64{{.31415, .95}, {.62831, .15}} {
		x, y := left+spike[0]*(right-left), bottom+spike[1]*(top-bottom)
		if !slices.ContainsFunc(svgtest.Stroked(paths, c), func(part [][2]float64) bool {
			return slices.ContainsFunc(part, func(p [2]float64) bool { return svgtest.Near(p[0], x) && svgtest.Near(p[1], y) })
		}) {
			t.Errorf("the spike at %v is lost", spike)
		}
	}
	points := 0
	for _, part := range svgtest.Stroked(paths, c) {
		points += len(part)
	}
	if most := 4 * int((right-left)/figureColumn+2); points > most {
		t.Errorf("%d points, at most %d can be seen", points, most)
	}
}

func TestFigureBands(t *testing.T) {
	c := RGB{0x12, 0x34, 0x56}
	f := &Figure{
		Name: "f", XMin: 0, XMax: 10, YMin: 0, YMax: 10,
		Bands: []Band{{Name: "95 % band", X: []float64{0, 5, 6, 7, 10}, Lo: []float64{1, 2, math.NaN(), 2, 1}, Hi: []float64{3, 20, 5, 4, 3},
			Swatch: Swatch{Light: c}}},
		Points: []Points{{Name: "data", X: []float64{1, 2, 20, math.NaN()}, Y: []float64{5, 6, 5, 5}, Swatch: Swatch{Light: RGB{1, 2, 3}}}},
	}
	paths, texts := svgtest.Drawn(t, f)
	left, right, bottom, top := svgtest.FrameOf(t, paths)
	areas, circles := 0, 0
	for _, p := range paths {
		switch strings.ToLower(p.Fill) {
		case RGB{0x11, 0x33, 0x55}.Hex(), c.Hex(): // transparent colours lose a bit
			for _, part := range p.Parts {
				if part[0][1] > top+1 {
					continue // in the legend
				}
				areas++
				for _, q := range part {
					if q[0] < left-.02 || q[0] > right+.02 || q[1] < bottom-.02 || q[1] > top+.02 {
						t.Errorf("a band leaves the frame: %v", q)
					}
				}
			}
		case RGB{1, 2, 3}.Hex():
			circles += len(p.Parts)
		}
	}
	if areas != 2 || circles != 2+1 {
		t.Errorf("%d areas and %d points, with the legend's", areas, circles)
	}
	for _, want := range []string{"95 % band", "data"} {
		if !slices.ContainsFunc(texts, func(s svgtest.Text) bool { return s.Text == want && s.Y > top }) {
			t.Errorf("%q is not named above the frame", want)
		}
	}
}

func TestFigureNamesAreApart(t *testing.T) {
	for _, n := range []int{2, 10, 11, 40} {
		f := &Figure{Name: "f", XMin: 0, XMax: 1, YMin: 0, YMax: 1}
		for i := range n {
			f.Lines = append(f.Lines, Line{Name: fmt.Sprintf("kernel %d", i), X: []float64{0, 1}, Lo: []float64{.5, .001 * float64(i%3)}})
		}
		paths, texts := svgtest.Drawn(t, f)
		_, right, bottom, top := svgtest.FrameOf(t, paths)
		var at []float64
		for _, s := range texts {
			if strings.HasPrefix(s.Text, "kernel ") {
				at = append(at, s.Y)
				if s.X < right || s.Y < bottom-tickSize || s.Y > top+tickSize {
					t.Errorf("%d names: %q at %g %g", n, s.Text, s.X, s.Y)
				}
			}
		}
		more := slices.ContainsFunc(texts, func(s svgtest.Text) bool { return strings.HasPrefix(s.Text, "and ") })
		if more != (n == 40) || !more && len(at) != n {
			t.Errorf("%d names: %d are there, and more: %v", n, len(at), more)
		}
		slices.Sort(at)
		for i := 1; i < len(at); i++ {
			if at[i]-at[i-1] < tickSize {
				t.Errorf("%d names: two are %g apart", n, at[i]-at[i-1])
			}
		}
	}
}

// TestMoveApart compares with the best of all places on a grid.
func TestMoveApart(t *testing.T) {
	const gap, lo, hi, step = 3, 0, 20, 0.5
	for _, at := range [][]float64{{1, 8, 15}, {5, 5, 5}, {0, 0, 19.5}, {18, 19, 20}, {2, 4.5, 9}, {-4, 30, 31}, {10}} {
		got := moveApart(at, gap, lo, hi)
		cost := func(places []float64) (sum float64) {
			for i, v := range places {
				sum += (v - at[i]) * (v - at[i])
			}
			return sum
		}
		best := math.Inf(1)
		var try func(places []float64)
		try = func(places []float64) {
			if len(places) == len(at) {
				best = min(best, cost(places))
				return
			}
			from := float64(lo)
			if n := len(places); n > 0 {
				from = places[n-1] + gap
			}
			for v := from; v <= hi; v += step {
				try(append(slices.Clone(places), v))
			}
		}
		try(nil)
		for i, v := range got {
			if v < lo-1e-9 || v > hi+1e-9 || i > 0 && v-got[i-1] < gap-1e-9 {
				t.Errorf("%v: %v", at, got)
			}
		}
		if cost(got) > best+1e-9 {
			t.Errorf("%v: %v costs %g, the best on the grid %g", at, got, cost(got), best)
		}
	}
}

func TestFigureNamesMayHoldAnything(t *testing.T) {
	name := "a<b & \"c\" 'd' \x00\x1b[31m \xff\uffff\n</text>"
	f := &Figure{
		Name: "f", Title: name, XLabel: name, YLabel: name,
		Lines:  []Line{{Name: "x<&>\x07", X: []float64{1, 2}, Lo: []float64{1, 2}}},
		Marks:  []AxisMark{{X: 1.5, Text: "m<&>\x07"}},
		XTicks: func(float64) string { return "<\x01>" },
	}
	_, texts := svgtest.Drawn(t, f)
	has := func(match func(string) bool) bool {
		return slices.ContainsFunc(texts, func(s svgtest.Text) bool { return match(s.Text) })
	}
	title := Printable(name)
	if strings.ContainsAny(title, "\x00\x1b\n\x07") || !strings.HasPrefix(title, "a<b & \"c\" 'd' ") {
		t.Errorf("%q", title)
	}
	if !has(func(s string) bool { return s == title }) {
		t.Errorf("the title is not in %v", texts)
	}
	for _, s := range []string{"x<&>�", "m<&>�", "<�>"} {
		if !has(func(text string) bool { return text == s }) {
			t.Errorf("%q is not in %v", s, texts)
		}
	}
	must.OK(t, f.writePNG(io.Discard))
}

func TestFigureFontHasTheSigns(t *testing.T) {
	l := newLettering(nowhere())
	for _, bold := range []bool{false, true} {
		face := l.face(tickSize, bold)
		for _, r := range "×²·σ±−θℓτ…’q*()0123456789%" {
			var b sfnt.Buffer
			if k, err := face.Face.GlyphIndex(&b, r); err != nil || k == 0 {
				t.Errorf("%s has no %c", face.Name(), r)
			}
		}
	}
}

func TestFigureImage(t *testing.T) {
	c := RGB{0x12, 0x34, 0x56}
	f := &Figure{Name: "f", XMin: 0, XMax: 1, YMin: 0, YMax: 1,
		Lines: []Line{{X: []float64{0, 1}, Lo: []float64{.5, .5}, Swatch: Swatch{Light: c}, Width: 4}}}
	for _, size := range [][4]float64{{0, 0, 7 * 192, 4.5 * 192}, {3, 2, 3 * 192, 2 * 192}} {
		f.Width, f.Height = size[0], size[1]
		var b bytes.Buffer
		must.OK(t, f.writePNG(&b))
		m, err := png.Decode(&b)
		must.OK(t, err)
		if s := m.Bounds().Size(); float64(s.X) != size[2] || float64(s.Y) != size[3] {
			t.Errorf("%v: image of %v", size, s)
		}
		if toRGB(m.At(0, 0)) != (RGB{255, 255, 255}) {
			t.Error("the ground is not white")
		}
		found := false
		for y := range m.Bounds().Dy() {
			found = found || toRGB(m.At(m.Bounds().Dx()/2, y)) == c
		}
		if !found {
			t.Error("the line is not there")
		}
	}
}

func toRGB(c color.Color) RGB {
	r, g, b, _ := c.RGBA()
	return RGB{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}
}

func TestFigureErrors(t *testing.T) {
	nan := math.NaN()
	one := []Line{{X: []float64{1}, Lo: []float64{1}}}
	for want, f := range map[string]*Figure{
		`figure "f" has nothing to draw: no value of it is a finite number`: {Name: "f"},
		`figure "g" has nothing to draw: no value of it is a finite number above 0, as a logarithmic axis needs; take a linear one`: {Name: "g",
			LogY: true, Lines: []Line{{X: []float64{1, 2}, Lo: []float64{0, nan}}}},
		`figure "h": line "l" has lists of different lengths: [2 1 0]`: {Name: "h",
			Lines: []Line{{Name: "l", X: []float64{1, 2}, Lo: []float64{1}}}},
		`figure "i": its vertical axis cannot go from 0 to 1`: {Name: "i",
			LogY: true, YMax: 1, Lines: one},
		`figure "j": its horizontal axis cannot go from NaN to 1`: {Name: "j",
			XMin: nan, XMax: 1, Lines: one},
		`figure "k": 1000 x 4.5 in is no size for it; 2 x 1.5 to 40 x 40 are`: {Name: "k",
			Width: 1000, Lines: one},
		`figure "../l" cannot be saved: its name is no name of a file`: {Name: "../l", Lines: one},
		`figure "" cannot be saved: its name is no name of a file`:     {Lines: one},
	} {
		if files, err := f.Files("text"); err == nil || err.Error() != want || files != nil {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

// TestFigureOfStrangeValues must only end, with a picture.
func TestFigureOfStrangeValues(t *testing.T) {
	nan := math.NaN()
	for i, values := range [][]float64{
		{0}, {5, 5}, {-math.MaxFloat64, 7, math.MaxFloat64}, {-1e250, 1e250}, {math.SmallestNonzeroFloat64, 1}, {1e250, 1e-250}, {nan, 3, nan},
		{1, 1 + 1e-15}, {-1e-320, 1e-320, 1e-249},
	} {
		for _, log := range []bool{false, true} {
			if log && i == 0 {
				continue
			}
			f := &Figure{Name: "f", Width: 3, Height: 2, LogX: log, LogY: log, Lines: []Line{{Name: "l", X: values, Lo: values}},
				Points: []Points{{Name: "p", X: values, Y: values}},
				Bands:  []Band{{Name: "b", X: values, Lo: values, Hi: values}}}
			paths, _ := svgtest.Drawn(t, f)
			for _, p := range paths {
				for _, part := range p.Parts {
					for _, q := range part {
						if math.IsNaN(q[0]) || math.IsNaN(q[1]) || math.Abs(q[0]) > 1e4 || math.Abs(q[1]) > 1e4 {
							t.Errorf("%v: a point at %v", values, q)
						}
					}
				}
			}
			must.OK(t, f.writePNG(io.Discard))
		}
	}
}

func TestFigureSaysWhatALogarithmicAxisLeavesOut(t *testing.T) {
	f := &Figure{Name: "f", LogY: true, Lines: []Line{{X: []float64{1, 2, 3, 4}, Lo: []float64{1, 0, -1, 2}}}}
	_, texts := svgtest.Drawn(t, f)
	if !slices.ContainsFunc(texts, func(s svgtest.Text) bool {
		return s.Text == "2 values not above 0, without a place on a logarithmic axis"
	}) {
		t.Errorf("%v", texts)
	}
}

func TestFigureMarks(t *testing.T) {
	f := &Figure{Name: "f", XMin: 0, XMax: 100, Lines: []Line{{X: []float64{0, 100}, Lo: []float64{0, 1}}}}
	for i := range 200 {
		f.Marks = append(f.Marks, AxisMark{X: float64(i) / 4, Text: fmt.Sprintf("pruned %d", i)})
	}
	f.Marks = append(f.Marks, AxisMark{X: 99.9, Text: "at the end"}, AxisMark{X: 200, Text: "outside"})
	paths, texts := svgtest.Drawn(t, f)
	left, right, _, top := svgtest.FrameOf(t, paths)
	lines := 0
	for _, p := range svgtest.Stroked(paths, svgtest.Grey(InkMark)) {
		if len(p) == 2 && svgtest.Near(p[0][0], p[1][0]) && svgtest.Near(p[1][1], top) {
			lines++
		}
	}
	if lines != 201 {
		t.Errorf("%d lines of 201", lines)
	}
	named := 0
	for _, s := range texts {
		if strings.HasPrefix(s.Text, "pruned") || s.Text == "at the end" {
			named++
			if s.X < left || s.X > right || s.Y < top {
				t.Errorf("%q at %g %g", s.Text, s.X, s.Y)
			}
		}
		if s.Text == "outside" {
			t.Error("a mark outside is named")
		}
	}
	if foot := fmt.Sprintf("%d marks without a text, for want of room", 201-named); named < 4 ||
		!slices.ContainsFunc(texts, func(s svgtest.Text) bool { return s.Text == foot }) {
		t.Errorf("%d named; no %q", named, foot)
	}
}

func TestFilesOfAFigure(t *testing.T) {
	f := &Figure{Name: "posterior", Lines: []Line{{Name: "a", X: []float64{1, 2}, Lo: []float64{3, 4}}}}
	all, err := f.Files("drawn\n")
	must.OK(t, err)
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	if want := []string{"posterior.svg", "posterior.png", "posterior.txt"}; !slices.Equal(names, want) {
		t.Fatalf("%v", names)
	}
	if string(all[2].Text) != "drawn\n" {
		t.Errorf("%q", all[2].Text)
	}
	svg := all[0].Text
	if _, texts := svgtest.Read(t, svg); !slices.ContainsFunc(texts, func(s svgtest.Text) bool { return s.Text == "a" }) {
		t.Errorf("%v", texts)
	}
	if !bytes.Contains(svg, []byte("Liberation Sans,Arial")) {
		t.Error("no other fonts are named")
	}
	if all, err := f.Files(""); err != nil || len(all) != 2 {
		t.Errorf("%d files without a text, %v", len(all), err)
	}
}
