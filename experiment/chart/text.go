package chart

import (
	"image/color"
	"math"
	"strings"
	"unicode"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of letters, in points.
const (
	titleSize  = 10
	labelSize  = 9
	tickSize   = 8
	noteSize   = 7
	raisedSize = 6
)

// lettering writes texts on a canvas.
type lettering struct {
	canvas draw.Canvas
	fonts  *font.Cache
}

func newLettering(c draw.Canvas) lettering {
	return lettering{c, font.NewCache(liberation.Collection())}
}

func (l *lettering) face(size vg.Length, bold bool) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if bold {
		f.Weight = stdfont.WeightBold
	}
	return l.fonts.Lookup(f, size)
}

func (l *lettering) width(text string, size vg.Length) vg.Length {
	face := l.face(size, false)
	return face.Width(text)
}

// write puts a text at a point: align 0 begins there, ½ is centred, 1 ends
// there. The point is on the base line.
func (l *lettering) write(x, y vg.Length, text string, size vg.Length, align float64, c color.Color) {
	l.put(x, y, text, l.face(size, false), align, c)
}

func (l *lettering) put(x, y vg.Length, text string, face font.Face, align float64, c color.Color) {
	if text == "" {
		return
	}
	l.canvas.SetColor(c)
	l.canvas.FillString(face, vg.Point{X: x - vg.Length(align)*face.Width(text), Y: y}, text)
}

// tick writes a number with its exponent.
func (l *lettering) tick(x, y vg.Length, t tickText, align float64) {
	x -= vg.Length(align) * l.tickWidth(t)
	l.write(x, y, t.text, tickSize, 0, inkText)
	l.write(x+l.width(t.text, tickSize)+.5, y+tickSize*.4, t.raised, raisedSize, 0, inkText)
}

func (l *lettering) tickWidth(t tickText) vg.Length {
	w := l.width(t.text, tickSize)
	if t.raised != "" {
		w += l.width(t.raised, raisedSize) + .5
	}
	return w
}

// upwards is write turned to the left.
func (l *lettering) upwards(x, y vg.Length, text string, size vg.Length, align float64, c color.Color) {
	l.canvas.Push()
	l.canvas.Translate(vg.Point{X: x, Y: y})
	l.canvas.Rotate(math.Pi / 2)
	l.write(0, 0, text, size, align, c)
	l.canvas.Pop()
}

// fit shortens a text to a width.
func (l *lettering) fit(text string, size, width vg.Length) string {
	if l.width(text, size) <= width {
		return text
	}
	runes := []rune(text)
	n := len(runes)
	for n > 0 && l.width(string(runes[:n])+"…", size) > width {
		n--
	}
	return string(runes[:n]) + "…"
}

// Printable makes foreign text one line that XML can hold.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
