package chart

import (
	"cmp"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"example.com/kestrel/experiment/words"
)

// markNote is the text of a mark, in one of the rows above the frame.
type markNote struct {
	text     string
	at, left vg.Length // of the mark, of the text
	width    vg.Length
	row      int
}

// Rows of notes.
const (
	mostRows = 3
	noteStep = noteSize + 1.5
)

// placeNotes finds a place for each text above the frame, beside its mark: the
// heaviest first, of equals from the right, each in the lowest row where it fits,
// its short form only where the whole one fits nowhere.
func (p *figureDrawing) placeNotes() {
	marks := slices.SortedStableFunc(slices.Values(p.Marks), func(a, b AxisMark) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.X, a.X))
	})
	for _, m := range marks {
		if !p.x.contains(m.X) || m.Text == "" {
			continue
		}
		if n, ok := p.placeNote(&m); ok {
			p.rows = max(p.rows, n.row+1)
			p.notes = append(p.notes, n)
		} else {
			p.unnamed++
		}
	}
}

// placeNote tries the places of a mark's text.
func (p *figureDrawing) placeNote(m *AxisMark) (n markNote, ok bool) {
	n.at = p.x.place(m.X)
	for _, text := range []string{m.Text, m.Short} {
		if text == "" {
			continue
		}
		n.text = p.fit(Printable(text), noteSize, (p.x.to-p.x.from)*.4)
		n.width = p.width(n.text, noteSize)
		for n.row = range mostRows {
			for _, n.left = range []vg.Length{n.at + 2, n.at - 2 - n.width} {
				if n.left >= p.x.from && n.left+n.width <= p.canvas.Max.X-border && p.clear(&n) {
					return n, true
				}
			}
		}
	}
	return n, false
}

// clear reports whether neither the text nor the lead of a note touches those of
// the others.
func (p *figureDrawing) clear(n *markNote) bool {
	const between, beside = 5, 1.5
	crosses := func(lead, over *markNote) bool { // the lead of a note goes up through the rows below its own
		return lead.row >= over.row && lead.at > over.left-beside && lead.at < over.left+over.width+beside
	}
	for i := range p.notes {
		o := &p.notes[i]
		if n.row == o.row && n.left < o.left+o.width+between && o.left < n.left+n.width+between || crosses(n, o) || crosses(o, n) {
			return false
		}
	}
	return true
}

// headRoom is the height above the frame that is taken by notes, or by the
// factor of the vertical axis.
func (p *figureDrawing) headRoom() vg.Length {
	h := vg.Length(p.rows) * noteStep
	if h > 0 {
		h += 3
	}
	if p.yFactor.text != "" {
		h = max(h, tickSize+3)
	}
	return h
}

// vertical draws the lines of the marks.
func (p *figureDrawing) vertical() {
	dashed := draw.LineStyle{Color: InkMark, Width: frameWidth, Dashes: []vg.Length{2, 2}}
	for _, m := range p.Marks {
		if p.x.contains(m.X) {
			at := p.x.place(m.X)
			p.canvas.StrokeLine2(dashed, at, p.frame.Min.Y, at, p.frame.Max.Y)
		}
	}
}

func (p *figureDrawing) writeNotes() {
	for _, n := range p.notes {
		y := p.frame.Max.Y + 3.5 + vg.Length(n.row)*noteStep
		p.canvas.StrokeLine2(draw.LineStyle{Color: InkMark, Width: 0.4}, n.at, p.frame.Max.Y, n.at, y+noteSize*.7)
		p.write(n.left, y, n.text, noteSize, 0, inkNote)
	}
}

// foot says what is not in the figure.
func (p *figureDrawing) foot() {
	var notes []string
	if p.left > 0 {
		notes = append(notes, words.Count(p.left, "value")+" not above 0, without a place on a logarithmic axis")
	}
	if p.unnamed > 0 {
		notes = append(notes, words.Count(p.unnamed, "mark")+" without a text, for want of room")
	}
	if len(notes) > 0 {
		text := p.fit(strings.Join(notes, "; "), noteSize, p.canvas.Size().X-2*border)
		p.write(p.canvas.Max.X-border, border, text, noteSize, 1, inkNote)
	}
}

// AxisMark is what was done to a run at one place of an axis.
type AxisMark struct {
	X           float64
	Text, Short string // Short is for where Text has no room; "" if there is none
	Weight      int    // of two with room for one text, the heavier has it
}
