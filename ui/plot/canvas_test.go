package plot

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestTextClipsAndKeepsWideCharactersWhole(t *testing.T) {
	c := NewCanvas(6, 2)
	if end := c.Text(0, 0, "核LIN", Style{}); end != 5 {
		t.Errorf("Text ended at %d, want 5: two columns for 核 and three letters", end)
	}
	c.Set(1, 0, 'x', Style{}) // cuts 核
	c.Text(5, 1, "核", Style{})
	c.Text(-1, 1, "核b", Style{})
	if got, want := c.Plain(), " xLIN\n b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for x := range 6 {
		if c.At(x, 0).Rune == 0 || c.At(x, 1).Rune == 0 {
			t.Errorf("half of a wide character is left in column %d", x)
		}
	}
}

func TestTextReplacesControlCharacters(t *testing.T) {
	c := NewCanvas(9, 1)
	c.Text(0, 0, "a\x1b[m\nb\u202e", Style{})
	if got, want := c.Plain(), "a�[m�b�"; got != want && got != "a�[m�b" {
		t.Errorf("got %q, want %q", got, want)
	}
	if strings.ContainsAny(c.Render(), "\x1b\n") {
		t.Errorf("control characters got through: %q", c.Render())
	}
}

// A row is as wide for Bubble Tea, which places what stands beside it, as it is
// here.
func TestRowsAreAsWideAsBubbleTeaCounts(t *testing.T) {
	for _, text := range []string{
		"PER×LIN + RQ²", "核🚀é", "e\u0301x", "\u0600", "a\u2066b\u2069", "\u061cx", "\U000e0041\U000e007f", "🇨🇭👍🏽", "स्ते", "\xffb",
		"\u25fd\u25fe▶",
	} {
		c := NewCanvas(20, 1)
		end := c.Text(0, 0, text, Style{})
		c.Set(19, 0, '|', Style{})
		if got := ansi.StringWidthWc(c.Plain()); got != 20 || end != TextWidth(text) {
			t.Errorf("%q: %d columns, want 20; it ends at %d, TextWidth is %d", text, got, end, TextWidth(text))
		}
	}
}

func TestTruncate(t *testing.T) {
	for _, k := range []struct {
		text string
		w    int
		want string
	}{{"kernel", 6, "kernel"}, {"kernel", 4, "ker…"}, {"核核核", 4, "核…"}, {"核核", 4, "核核"}, {"ab", 1, "…"}, {"ab", 0, ""}, {"", 3, ""}} {
		if got := Truncate(k.text, k.w); got != k.want || TextWidth(got) > max(k.w, 0) {
			t.Errorf("Truncate(%q, %d) = %q, want %q", k.text, k.w, got, k.want)
		}
	}
}

func TestClipNestsAndEnds(t *testing.T) {
	c := NewCanvas(5, 1)
	outer := c.Clip(Rect{1, 0, 3, 1})
	inner := c.Clip(Rect{0, 0, 2, 1})
	c.Fill(c.Bounds(), 'i', Style{})
	inner()
	c.Set(3, 0, 'o', Style{})
	outer()
	c.Set(4, 0, 'e', Style{})
	if got, want := c.Plain(), " i oe"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRenderShowsTheSameAsTheCells reads the escape sequences back.
func TestRenderShowsTheSameAsTheCells(t *testing.T) {
	styles := []Style{{}, {FG: Indexed(1)}, {FG: Indexed(12), Attr: Bold}, {FG: RGB(1, 2, 3), BG: Indexed(200)},
		{BG: RGB(9, 8, 7), Attr: Reverse | Underline}}
	codes := map[Style]string{
		styles[0]: "", styles[1]: "31", styles[2]: "1;94", styles[3]: "38;2;1;2;3;48;5;200", styles[4]: "4;7;48;2;9;8;7",
	}
	c := NewCanvas(40, 3)
	for i := range 120 {
		c.Set(i%40, i/40, []rune("a ⠿█ ")[i%5], styles[(i*i/7)%len(styles)])
	}
	x, y, now := 0, 0, ""
	rest := c.Render()
	for rest != "" {
		if code, after, ok := strings.Cut(rest, "m"); ok && strings.HasPrefix(code, "\x1b[") {
			now, rest = strings.TrimPrefix(strings.TrimPrefix(code, "\x1b["), ";"), after
			continue
		}
		r := []rune(rest[:min(len(rest), 8)])[0]
		rest = rest[len(string(r)):]
		if r == '\n' {
			if x != 40 || now != "" {
				t.Fatalf("line %d ends at column %d in style %q", y, x, now)
			}
			x, y = 0, y+1
			continue
		}
		cell := c.At(x, y)
		if r != cell.Rune {
			t.Fatalf("cell %d,%d: %q, want %q", x, y, r, cell.Rune)
		}
		if want := codes[cell.Style]; now != want {
			// Of a space only the background and lines are seen.
			seen := func(code string) (s string) {
				for st, k := range codes {
					if k == code {
						return codes[Style{BG: st.BG, Attr: st.Attr & (Underline | Reverse)}]
					}
				}
				return "unknown " + code
			}
			bg := func(code string) bool { return strings.Contains(code, "48;") || strings.Contains(code, "7") }
			if r != ' ' || seen(now) != seen(want) && (bg(now) || bg(want)) {
				t.Fatalf("cell %d,%d %q: style %q, want %q", x, y, r, now, want)
			}
		}
		x++
	}
	if y != 2 || now != "" {
		t.Errorf("ends in line %d in style %q", y, now)
	}
}

func TestRenderOfABlankCanvasHasNoStyles(t *testing.T) {
	c := NewCanvas(3, 2)
	c.Fill(c.Bounds(), ' ', Style{FG: Indexed(3), Attr: Bold})
	if got := c.Render(); got != "   \n   " {
		t.Errorf("got %q", got)
	}
}

func TestBox(t *testing.T) {
	draw := func(w, h int, g Glyphs, focused bool) string {
		c := NewCanvas(w, h)
		c.Box(c.Bounds(), "Kernels", "144 live", Style{}, Style{}, g, focused)
		return c.Plain()
	}
	for _, k := range []struct {
		w, h    int
		g       Glyphs
		focused bool
		want    string
	}{
		{24, 3, Braille, false, "╭ Kernels ─── 144 live ╮\n│                      │\n╰──────────────────────╯"},
		{24, 3, Blocks, true, "╭▸Kernels ─── 144 live ╮\n│                      │\n╰──────────────────────╯"},
		{24, 2, ASCII, true, "+>Kernels --- 144 live +\n+----------------------+"},
		{15, 2, Halves, false, "┌ Kernels ────┐\n└─────────────┘"},
		{9, 2, Braille, false, "╭ Kern… ╮\n╰───────╯"},
		{2, 2, Braille, false, "╭╮\n╰╯"},
	} {
		if got := draw(k.w, k.h, k.g, k.focused); got != k.want {
			t.Errorf("%dx%d:\n%s\nwant\n%s", k.w, k.h, got, k.want)
		}
	}
	for w := range 6 {
		for h := range 3 {
			draw(w, h, Braille, true)
		}
	}
	(&Canvas{}).Box(Rect{-5, -5, -1, 3}, "核", "核", Style{}, Style{}, ASCII, false)
}

// A name that is cut keeps both ends, and is never wider than there is room.
func TestNamesAreCutInTheMiddle(t *testing.T) {
	for _, c := range []struct {
		w    int
		want string
	}{{30, "(PER + RQ)×LIN + SE"}, {17, "(PER+RQ)×LIN+SE"}, {15, "(PER+RQ)×LIN+SE"}, {12, "(PER+R…IN+SE"}, {5, "(P…SE"}, {2, "(…"}, {0, ""}} {
		if got := FitName("(PER + RQ)×LIN + SE", c.w); got != c.want {
			t.Errorf("in %d columns %q, want %q", c.w, got, c.want)
		}
	}
	for w := range 12 {
		for _, text := range []string{"核核核核核核", "a核b核c核d", "PER×LIN×RQ", "é́é́é́é́é́é́é́"} {
			if got := TruncateMiddle(text, w); TextWidth(got) > w {
				t.Errorf("%q in %d columns is %q", text, w, got)
			}
		}
	}
}

// What a line is called stands near its highest point, on nothing else.
func TestPeaksAreNamed(t *testing.T) {
	y := make([]float64, 100)
	for i := range y {
		y[i] = 10 * math.Exp(-float64((i-40)*(i-40))/200)
	}
	ch := &Chart{Lines: []Line{{Y: y, Peak: "led once"}, {Y: make([]float64, 100)}}, Y: Axis{Min: 0, Max: 14}}
	c := NewCanvas(80, 20)
	l := ch.Draw(c, c.Bounds())
	x, _ := l.cellX(40)
	top, _ := l.cellY(10)
	for row, line := range strings.Split(c.Plain(), "\n") {
		if at := strings.Index(line, "led once"); at >= 0 {
			if at = TextWidth(line[:at]); row < top-peakRows || row > top || x < at || x > at+8 {
				t.Errorf("the name stands at %d,%d, the peak at %d,%d", at, row, x, top)
			}
			return
		}
	}
	t.Errorf("no name\n%s", c.Plain())
}

// All ticks are within the limits of their axis, and what it is called is on the chart.
func TestTicksAreWithinTheData(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for range 300 {
		span, from := math.Exp(20*rng.Float64()-10), 100*(rng.Float64()-0.5)
		var x, y []float64
		for range 40 {
			x, y = append(x, from+span*rng.Float64()), append(y, span*rng.NormFloat64())
		}
		slices.Sort(x)
		ch := &Chart{Lines: []Line{{X: x, Y: y}}, X: Axis{Title: "when", Unit: "days"}, Y: Axis{Title: "load", Unit: "MW"}}
		c := NewCanvas(48+rng.IntN(100), 10+rng.IntN(30))
		l := ch.Draw(c, c.Bounds())
		for _, k := range ch.Raster.ticksX {
			if slack := 1e-9 * span; k.At < l.XMin-slack || k.At > l.XMax+slack || k.At < x[0]-slack || k.At > x[39]+slack {
				t.Errorf("a tick at %v, x from %v to %v", k.At, x[0], x[39])
			}
		}
		for _, k := range ch.Raster.ticksY {
			if slack := 1e-9 * span; k.At < l.YMin-slack || k.At > l.YMax+slack {
				t.Errorf("a tick at %v, the axis from %v to %v", k.At, l.YMin, l.YMax)
			}
		}
		if text := c.Plain(); !strings.Contains(text, "when (days)") || !strings.Contains(text, "load (MW)") {
			t.Errorf("no captions\n%s", text)
		}
	}
}

// Of lines that lie on each other no mark hides another's.
func TestMarksDoNotCollide(t *testing.T) {
	ch := bare(Braille, 0, 2)
	for _, mark := range "abcd" {
		ch.Lines = append(ch.Lines, Line{Y: slices.Repeat([]float64{1}, 200), Mark: mark})
	}
	c := NewCanvas(72, 5)
	ch.Draw(c, c.Bounds())
	for _, mark := range "abcd" {
		if n := strings.Count(c.Plain(), string(mark)); n < 6 {
			t.Errorf("%d marks %c on 72 columns\n%s", n, mark, c.Plain())
		}
	}
}
