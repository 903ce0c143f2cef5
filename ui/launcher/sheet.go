package launcher

import (
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// block is a piece of the preview: so many lines, drawn from (x, y) on w columns.
type block struct {
	h    int
	draw func(x, y, w int)
}

// sheet is the preview in the making: blocks one below the other.
type sheet struct {
	c      *plot.Canvas
	t      *theme.Theme
	w      int
	blocks []block
	flex   int // index of the block that takes what is left over, −1: none
	// Blocks to be seen, from inclusive to exclusive; from −1: any.
	from, to int
}

func (s *sheet) add(h int, draw func(x, y, w int)) { s.blocks = append(s.blocks, block{h, draw}) }

func (s *sheet) gap() { s.add(1, func(int, int, int) {}) }

// text adds wrapped text.
func (s *sheet) text(text string, style plot.Style) { s.indented(0, text, style) }

func (s *sheet) indented(by int, text string, style plot.Style) {
	for _, l := range draw.Wrap(text, max(1, s.w-by)) {
		s.add(1, func(x, y, w int) { s.c.TextFit(x+by, y, w-by, l, style) })
	}
}

// labelWidth is the width of what stands before a value.
const labelWidth = 10

// pair adds a label with its value.
func (s *sheet) pair(label, value string, style plot.Style) {
	for i, l := range draw.Wrap(value, max(1, s.w-labelWidth)) {
		s.add(1, func(x, y, w int) {
			if i == 0 {
				s.c.TextFit(x, y, labelWidth-1, label, s.t.Faint)
			}
			s.c.TextFit(x+labelWidth, y, w-labelWidth, l, style)
		})
	}
}

// heightOf returns the height of blocks.
func heightOf(blocks []block) int {
	h := 0
	for _, b := range blocks {
		h += b.h
	}
	return h
}

// place draws the blocks that are seen from line `scroll` on, and returns the
// line it really began with.
func (s *sheet) place(r plot.Rect, scroll int) int {
	if s.flex >= 0 {
		if left := r.H - heightOf(s.blocks); left > 0 {
			s.blocks[s.flex].h += left
		}
	}
	scroll = max(0, min(scroll, heightOf(s.blocks)-r.H))
	if s.from >= 0 {
		top := heightOf(s.blocks[:s.from])
		scroll = min(max(scroll, top+heightOf(s.blocks[s.from:s.to])-r.H), top)
	}
	defer s.c.Clip(r)()
	y := r.Y - scroll
	for _, b := range s.blocks {
		if y+b.h > r.Y && y < r.Y+r.H {
			b.draw(r.X, y, r.W)
		}
		y += b.h
	}
	return scroll
}
