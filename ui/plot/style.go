package plot

import (
	"strconv"
	"strings"
)

// Color is the terminal's default (0), one of its 256 colours, or red, green
// and blue.
type Color uint32

const (
	colorIndexed Color = 1 << 24
	colorRGB     Color = 2 << 24
)

// Indexed returns a colour of the terminal's palette; 0 to 15 are those that
// every terminal has.
func Indexed(i uint8) Color { return colorIndexed | Color(i) }

// RGB returns a true colour.
func RGB(r, g, b uint8) Color { return colorRGB | Color(r)<<16 | Color(g)<<8 | Color(b) }

// steps are the shades of the 6 x 6 x 6 colours of 256, as in xterm.
var steps = [...]uint8{0, 0x5f, 0x87, 0xaf, 0xd7, 0xff}

// RGB returns the red, green and blue of a colour, those of 256 as xterm has them; ok is
// false of the default and of the first 16, which every terminal has its own of.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	v := uint32(c & 0xffffff)
	switch {
	case c&colorRGB != 0:
		return uint8(v >> 16), uint8(v >> 8), uint8(v), true
	case c&colorIndexed == 0 || v < 16:
		return 0, 0, 0, false
	case v >= 232:
		grey := uint8(8 + 10*(v-232))
		return grey, grey, grey, true
	}
	v -= 16
	return steps[v/36], steps[v/6%6], steps[v%6], true
}

// Attr is a set of attributes of characters.
type Attr uint8

const (
	Bold Attr = 1 << iota
	Faint
	Italic
	Underline
	Reverse
)

// Style is how a cell looks. The zero Style is the terminal's own.
type Style struct {
	FG, BG Color
	Attr   Attr
}

// With returns the style with further attributes.
func (s Style) With(a Attr) Style {
	s.Attr |= a
	return s
}

// On returns the style with another background.
func (s Style) On(bg Color) Style {
	s.BG = bg
	return s
}

// begin writes the escape sequence that sets the style whatever was before.
func (s Style) begin(b *strings.Builder) {
	b.WriteString("\x1b[")
	for i, code := range [...]string{"1", "2", "3", "4", "7"} {
		if s.Attr&(1<<i) != 0 {
			b.WriteByte(';')
			b.WriteString(code)
		}
	}
	s.FG.write(b, 30)
	s.BG.write(b, 40)
	b.WriteByte('m')
}

func (c Color) write(b *strings.Builder, base int) {
	num := func(n int) {
		var buf [3]byte
		b.WriteByte(';')
		b.Write(strconv.AppendInt(buf[:0], int64(n), 10))
	}
	switch v := int(c & 0xffffff); {
	case c&colorRGB != 0:
		num(base + 8)
		num(2)
		num(v >> 16)
		num(v >> 8 & 0xff)
		num(v & 0xff)
	case c&colorIndexed == 0:
	case v < 8:
		num(base + v)
	case v < 16:
		num(base + 60 + v - 8)
	default:
		num(base + 8)
		num(5)
		num(v)
	}
}
