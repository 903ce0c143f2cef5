package ui

import (
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// help lists what keys do; it is made from the bindings themselves.
type help struct {
	groups []input.Group
	from   int // first line shown
	last   int // lines that could be scrolled
}

// key scrolls; any other key but those closes help.
func (h *help) key(key string) (closed bool) {
	switch key {
	case "down", "j":
		h.from++
	case "up", "k":
		h.from--
	case "pgdown", "space":
		h.from += 10
	case "pgup":
		h.from -= 10
	case "home":
		h.from = 0
	case "end":
		h.from = h.last
	default:
		return true
	}
	h.from = max(0, min(h.from, h.last))
	return false
}

func (h *help) wheel(down bool) {
	if down {
		h.from = min(h.from+3, h.last)
	} else {
		h.from = max(h.from-3, 0)
	}
}

// helpLine is a heading, or a key with what it does.
type helpLine struct{ key, text string }

// lines lists the keys with what they do, in w columns.
func (h *help) lines(w int) []helpLine {
	var out []helpLine
	for _, g := range h.groups {
		if len(out) > 0 {
			out = append(out, helpLine{})
		}
		out = append(out, helpLine{text: g.Name})
		for _, b := range g.All {
			if b.Label == "" {
				continue
			}
			for i, text := range draw.Wrap(b.About, w) {
				key := b.Label
				if i > 0 {
					key = " "
				}
				out = append(out, helpLine{key, text})
			}
		}
	}
	return out
}

func (h *help) draw(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	width := min(78, r.W-4)
	lines := h.lines(max(10, width-15))
	card := draw.Card(c, r, t, "Keys", width, min(len(lines)+2, r.H-4))
	room := max(0, card.H-2)
	h.last = max(0, len(lines)-room)
	h.from = min(h.from, h.last)
	for i, l := range lines[h.from:min(len(lines), h.from+room)] {
		y := card.Y + i
		if l.key == "" {
			c.TextFit(card.X, y, card.W, l.text, t.Title)
			continue
		}
		c.TextFit(card.X+1, y, 13, l.key, t.Key)
		c.TextFit(card.X+15, y, card.W-15, l.text, t.Text)
	}
	hint := [][2]string{{"any key", "closes"}}
	if h.last > 0 {
		hint = append([][2]string{{"↑ ↓", "scroll"}}, hint...)
	}
	draw.Keys(c, card.X, card.Y+card.H-1, card.W, t, hint)
}
