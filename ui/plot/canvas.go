// Package plot draws in character cells: a canvas of styled cells, charts with
// axes, bands and legends, heat maps, bars. It knows nothing of terminals
// beyond the escape sequences of colours, and nothing of the program's state.
package plot

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Rect is a rectangle of cells. One without width or height is empty.
type Rect struct{ X, Y, W, H int }

// Empty reports whether there is no cell in r.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Contains reports whether the cell (x, y) is in r.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && y >= r.Y && x < r.X+r.W && y < r.Y+r.H
}

// Inset returns r without dx columns left and right and dy rows above and
// below.
func (r Rect) Inset(dx, dy int) Rect {
	return Rect{r.X + dx, r.Y + dy, max(0, r.W-2*dx), max(0, r.H-2*dy)}
}

// Intersect returns the cells that are in both.
func (r Rect) Intersect(s Rect) Rect {
	x, y := max(r.X, s.X), max(r.Y, s.Y)
	out := Rect{x, y, min(r.X+r.W, s.X+s.W) - x, min(r.Y+r.H, s.Y+s.H) - y}
	if out.Empty() {
		return Rect{X: x, Y: y}
	}
	return out
}

// Cell is one character with its style. Wide characters are followed by a cell
// whose rune is 0.
type Cell struct {
	Rune  rune
	Style Style
}

// Canvas is a grid of cells. Everything drawn beyond its edges, or outside the
// clipping rectangle, is left out, so any size is safe, also 0 x 0. The zero
// Canvas has no cells.
type Canvas struct {
	w, h  int
	cells []Cell
	clip  Rect
	size  int // of what Render wrote last
}

// NewCanvas returns a canvas of spaces.
func NewCanvas(w, h int) *Canvas {
	c := &Canvas{}
	c.Reset(w, h)
	return c
}

// Reset makes the canvas w x h and clears it; the memory is used again.
func (c *Canvas) Reset(w, h int) {
	w, h = max(0, w), max(0, h)
	c.w, c.h, c.clip = w, h, Rect{0, 0, w, h}
	if cap(c.cells) < w*h {
		c.cells = make([]Cell, w*h)
	}
	c.cells = c.cells[:w*h]
	for i := range c.cells {
		c.cells[i] = Cell{Rune: ' '}
	}
}

// Bounds returns the whole canvas.
func (c *Canvas) Bounds() Rect { return Rect{0, 0, c.w, c.h} }

// Clip restricts drawing to r, within the present restriction, until the
// returned function is called.
func (c *Canvas) Clip(r Rect) (undo func()) {
	old := c.clip
	c.clip = old.Intersect(r)
	return func() { c.clip = old }
}

// At returns a cell; beyond the edges it is a space.
func (c *Canvas) At(x, y int) Cell {
	if !c.Bounds().Contains(x, y) {
		return Cell{Rune: ' '}
	}
	return c.cells[y*c.w+x]
}

// Set writes one character of width 1.
func (c *Canvas) Set(x, y int, r rune, s Style) {
	if c.clip.Contains(x, y) {
		c.put(x, y, r, s)
	}
}

// put writes into a cell; half of a wide character that it cuts becomes a
// space.
func (c *Canvas) put(x, y int, r rune, s Style) {
	i := y*c.w + x
	if c.cells[i].Rune == 0 && x > 0 {
		c.cells[i-1].Rune = ' '
	}
	if x+1 < c.w && c.cells[i+1].Rune == 0 {
		c.cells[i+1].Rune = ' '
	}
	c.cells[i] = Cell{r, s}
}

// Text writes a line of text and returns the column behind it, as if nothing
// had been clipped. Control characters appear as �, combining ones are left out.
func (c *Canvas) Text(x, y int, text string, s Style) int {
	for i, r := range text {
		w := widthAt(text, i, r)
		switch {
		case w == 0:
			continue
		case w == 1:
			c.Set(x, y, visible(r), s)
		case c.clip.Contains(x, y) && c.clip.Contains(x+1, y):
			c.put(x, y, r, s)
			c.put(x+1, y, 0, s)
			c.cells[y*c.w+x].Rune = r // put took it for a cut one
		default:
			c.Set(x, y, ' ', s)
			c.Set(x+1, y, ' ', s)
		}
		x += w
	}
	return x
}

// TextRight writes text that ends before column x.
func (c *Canvas) TextRight(x, y int, text string, s Style) {
	c.Text(x-TextWidth(text), y, text, s)
}

// TextFit writes text within w columns, cut with … where it is too long.
func (c *Canvas) TextFit(x, y, w int, text string, s Style) int {
	return c.Text(x, y, Truncate(text, w), s)
}

// Fill sets all cells of r.
func (c *Canvas) Fill(r Rect, ch rune, s Style) {
	r = r.Intersect(c.clip)
	for y := r.Y; y < r.Y+r.H; y++ {
		for x := r.X; x < r.X+r.W; x++ {
			c.put(x, y, ch, s)
		}
	}
}

// Restyle changes the styles of the cells of r and keeps their characters.
func (c *Canvas) Restyle(r Rect, change func(Style) Style) {
	r = r.Intersect(c.clip)
	for y := r.Y; y < r.Y+r.H; y++ {
		for x := r.X; x < r.X+r.W; x++ {
			cell := &c.cells[y*c.w+x]
			cell.Style = change(cell.Style)
		}
	}
}

// Plain returns the characters without styles, a line for each row, without
// spaces at the ends of lines.
func (c *Canvas) Plain() string {
	var b strings.Builder
	for y := range c.h {
		if y > 0 {
			b.WriteByte('\n')
		}
		end := c.w
		for end > 0 && c.cells[y*c.w+end-1].Rune == ' ' {
			end--
		}
		for _, cell := range c.cells[y*c.w : y*c.w+end] {
			if cell.Rune != 0 {
				b.WriteRune(cell.Rune)
			}
		}
	}
	return b.String()
}

// Render returns the canvas with escape sequences for its styles, one for each
// run of cells of equal style, a line for each row.
func (c *Canvas) Render() string {
	var b strings.Builder
	b.Grow(max(len(c.cells)*2, c.size+c.size/8))
	var buf [utf8.UTFMax]byte
	for y := range c.h {
		if y > 0 {
			b.WriteByte('\n')
		}
		var now Style
		for _, cell := range c.cells[y*c.w : (y+1)*c.w] {
			if cell.Rune == 0 {
				continue
			}
			if cell.Style != now && !(cell.Rune == ' ' && blank(cell.Style, now)) {
				cell.Style.begin(&b)
				now = cell.Style
			}
			if cell.Rune < utf8.RuneSelf {
				b.WriteByte(byte(cell.Rune))
			} else {
				b.Write(buf[:utf8.EncodeRune(buf[:], cell.Rune)])
			}
		}
		if now != (Style{}) {
			b.WriteString("\x1b[m")
		}
	}
	c.size = b.Len()
	return b.String()
}

// blank reports whether a space looks the same in both styles.
func blank(s, t Style) bool {
	return s.BG == t.BG && (s.Attr|t.Attr)&(Underline|Reverse) == 0
}

// Width returns how many columns a character takes: 0, 1 or 2, as Bubble Tea
// counts them before the terminal. Control characters take one, for what stands
// in their place.
func Width(r rune) int {
	if one(r) {
		return 1
	}
	return ansi.StringWidthWc(string(r))
}

// one reports whether a character takes one column without a look into tables.
func one(r rune) bool {
	switch {
	case r < 0xa0, r == utf8.RuneError:
		return true
	case r >= 0x2500 && r < 0x25fd, r >= 0x2800 && r < 0x2900:
		return true // boxes, blocks, braille: some locales make them wide, terminals do not
	}
	return false
}

// widthAt is Width of the character r at text[at:], without a copy of it.
func widthAt(text string, at int, r rune) int {
	if one(r) {
		return 1
	}
	return ansi.StringWidthWc(text[at : at+utf8.RuneLen(r)])
}

// TextWidth returns how many columns a text takes.
func TextWidth(text string) int {
	w := 0
	for i, r := range text {
		w += widthAt(text, i, r)
	}
	return w
}

// Truncate cuts a text to w columns, the last being … where it was longer.
func Truncate(text string, w int) string {
	if w <= 0 {
		return ""
	}
	if TextWidth(text) <= w {
		return text
	}
	var b strings.Builder
	used := 0
	for i, r := range text {
		n := widthAt(text, i, r)
		if used+n > w-1 {
			break
		}
		b.WriteRune(r)
		used += n
	}
	return b.String() + "…"
}

// FitName writes a name, such as that of a kernel, in w columns: first the spaces about
// its signs go, then its middle.
func FitName(text string, w int) string {
	if TextWidth(text) > w {
		text = strings.ReplaceAll(text, " + ", "+")
	}
	return TruncateMiddle(text, w)
}

// TruncateMiddle cuts a text to w columns, with … in its middle where it was longer:
// both ends tell more than one.
func TruncateMiddle(text string, w int) string {
	if TextWidth(text) <= w || w < 4 {
		return Truncate(text, w)
	}
	tail := (w - 1) / 2
	from, used := len(text), 0
	for from > 0 {
		r, n := utf8.DecodeLastRuneInString(text[:from])
		if used += Width(r); used > tail {
			break
		}
		from -= n
	}
	return Truncate(text[:from], w-TextWidth(text[from:])) + text[from:]
}

// visible replaces what would control the terminal or turn the direction of
// writing.
func visible(r rune) rune {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0, r == utf8.RuneError,
		r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff:
		return '�'
	}
	return r
}
