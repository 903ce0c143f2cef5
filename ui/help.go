package ui

import (
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// help explains the words of what is shown, and lists what keys do, which is made from
// the bindings themselves.
type help struct {
	title  string // the view that it is about, "" for none
	terms  []term
	groups []input.Group
	from   int // first line shown
	last   int // lines that could be scrolled
	keys   int // the line with which keys begin; 0: they stand beside
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
	case "tab":
		if h.from >= min(h.keys, h.last) {
			h.from = 0
		} else {
			h.from = h.keys
		}
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

// helpLine is a heading, or a word or key with what it means or does.
type helpLine struct{ key, text string }

// words explains the words, in w columns.
func (h *help) words(w int) (out []helpLine) {
	for i, t := range h.terms {
		if i == 0 {
			out = append(out, helpLine{text: "words"})
		}
		if t.word == "" {
			out = append(out, helpLine{}, helpLine{text: t.text})
			continue
		}
		out = append(out, entry(t.word, t.text, w)...)
	}
	return out
}

// lines lists the keys with what they do, in w columns.
func (h *help) lines(w int) []helpLine {
	var out []helpLine
	for _, g := range h.groups {
		if len(out) > 0 {
			out = append(out, helpLine{})
		}
		out = append(out, helpLine{text: g.Name})
		for _, b := range g.All {
			if b.Label != "" {
				out = append(out, entry(b.Label, b.About, w)...)
			}
		}
	}
	return out
}

// entry is a key or word with what stands beside it, in w columns.
func entry(key, text string, w int) (out []helpLine) {
	if plot.TextWidth(key) >= helpKey { // it has a line for itself
		out, key = append(out, helpLine{key: key}), " "
	}
	for i, line := range draw.Wrap(text, w) {
		if i > 0 {
			key = " "
		}
		out = append(out, helpLine{key, line})
	}
	return out
}

const (
	helpWide = 78 // columns of a list
	helpKey  = 14 // of them for the key
	helpHint = 66 // for the keys that close it in full
)

func (h *help) draw(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	width := min(helpWide, r.W-4)
	title := "Keys"
	if len(h.terms) > 0 {
		title = "Help: " + h.title
	}
	beside := len(h.terms) > 0 && r.W >= 2*helpWide+6
	text := max(10, width-helpKey-1)
	if beside {
		text -= 2 // between the lists
	}
	terms, keys := h.words(text), h.lines(text)
	lists := [][]helpLine{keys}
	switch h.keys = 0; {
	case beside:
		lists, width = [][]helpLine{terms, keys}, 2*helpWide+2
	case len(terms) > 0:
		h.keys = len(terms) + 1
		lists[0] = append(append(terms, helpLine{}), keys...)
	}
	longest := 0
	for _, l := range lists {
		longest = max(longest, len(l))
	}
	card := draw.Card(c, r, t, title, width, min(longest+2, r.H-4))
	room := max(0, card.H-2)
	h.last = max(0, longest-room)
	h.from = min(h.from, h.last)
	draw.ScrollMarks(c, plot.Rect{X: card.X - 2, Y: card.Y - 1, W: card.W + 4, H: card.H + 2}, t, h.from, h.last-h.from)
	for n, list := range lists {
		part := card
		if beside {
			part.X, part.W = card.X+n*(helpWide+2), helpWide-2
		}
		for i := h.from; i < min(len(list), h.from+room); i++ {
			l, y := list[i], card.Y+i-h.from
			if l.key == "" {
				c.TextFit(part.X, y, part.W, l.text, t.Title)
				continue
			}
			if l.text == "" {
				c.TextFit(part.X+1, y, part.W-1, l.key, t.Key)
				continue
			}
			c.TextFit(part.X+1, y, helpKey-1, l.key, t.Key)
			c.TextFit(part.X+helpKey+1, y, part.W-helpKey-1, l.text, t.Text)
		}
	}
	hint := [][2]string{{"q esc or another key", "close this help only"}}
	if card.W < helpHint {
		hint = [][2]string{{"q esc", "close help"}}
	}
	if h.keys > 0 && h.last > 0 {
		name := "keys"
		if h.from >= min(h.keys, h.last) {
			name = "words"
		}
		hint = append(hint, [2]string{"tab", name})
	}
	if h.last > 0 {
		hint = append(hint, [2]string{"↑ ↓", "scroll"})
	}
	draw.Keys(c, card.X, card.Y+card.H-1, card.W, t, hint)
}
