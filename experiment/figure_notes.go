package experiment

import (
	"cmp"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// markNote is the text of a mark, in one of the rows above the frame.
type markNote struct {
	text     string
	at, left vg.Length // of the mark, of the text
	row      int
}

// Rows of notes.
const (
	mostRows = 3
	noteStep = noteSize + 1.5
)

// placeNotes finds a place for each text above the frame, beside its mark, in
// the lowest row where it fits. From the right, so that no text is crossed by
// the lead of another.
func (p *plate) placeNotes() {
	const between = 5
	var starts [mostRows]vg.Length // of the texts that are there
	for i := range starts {
		starts[i] = farAway
	}
	marks := slices.SortedStableFunc(slices.Values(p.Marks), func(a, b FigureMark) int { return cmp.Compare(b.X, a.X) })
	for _, m := range marks {
		if !p.x.contains(m.X) || m.Text == "" {
			continue
		}
		n := markNote{text: p.fit(printable(m.Text), noteSize, (p.x.to-p.x.from)*.4), at: p.x.place(m.X)}
		w := p.width(n.text, noteSize)
		if n.left = n.at + 2; n.left+w > p.canvas.Max.X-border {
			n.left = n.at - 2 - w
		}
		for n.row < mostRows && n.left+w+between > starts[n.row] && n.at < starts[n.row]-1 {
			n.row++
		}
		if n.row == mostRows || n.left+w+between > starts[n.row] {
			p.unnamed++
			continue
		}
		starts[n.row] = min(n.left, n.at)
		p.rows = max(p.rows, n.row+1)
		p.notes = append(p.notes, n)
	}
}

// headRoom is the height above the frame that is taken by notes, or by the
// factor of the vertical axis.
func (p *plate) headRoom() vg.Length {
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
func (p *plate) vertical() {
	dashed := draw.LineStyle{Color: inkMark, Width: frameWidth, Dashes: []vg.Length{2, 2}}
	for _, m := range p.Marks {
		if p.x.contains(m.X) {
			at := p.x.place(m.X)
			p.canvas.StrokeLine2(dashed, at, p.frame.Min.Y, at, p.frame.Max.Y)
		}
	}
}

func (p *plate) writeNotes() {
	for _, n := range p.notes {
		y := p.frame.Max.Y + 3.5 + vg.Length(n.row)*noteStep
		p.canvas.StrokeLine2(draw.LineStyle{Color: inkMark, Width: 0.4}, n.at, p.frame.Max.Y, n.at, y+noteSize*.7)
		p.write(n.left, y, n.text, noteSize, 0, inkNote)
	}
}

// foot says what is not in the figure.
func (p *plate) foot() {
	var notes []string
	if p.left > 0 {
		notes = append(notes, count(p.left, "value")+" not above 0, without a place on a logarithmic axis")
	}
	if p.unnamed > 0 {
		notes = append(notes, count(p.unnamed, "mark")+" without a text, for want of room")
	}
	if len(notes) > 0 {
		text := p.fit(strings.Join(notes, "; "), noteSize, p.canvas.Size().X-2*border)
		p.write(p.canvas.Max.X-border, border, text, noteSize, 1, inkNote)
	}
}
