package launcher

import (
	"strings"

	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

func (l *Launcher) drawPreview(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	title, right := "preview", ""
	i := l.list.current()
	if i != nil {
		if title = i.label; i.typed {
			title = strings.TrimSpace(l.typed.Value())
		}
		if title == "" {
			title = "path"
		}
	}
	if l.reading {
		right = "reading …"
	}
	if l.starting {
		right = "starting …"
	}
	in := draw.Panel(c, r, t, title, right, l.focus == onParts || l.focus == onSpace)
	in = plot.Rect{X: in.X + 1, Y: in.Y, W: in.W - 2, H: in.H}
	if in.Empty() {
		return
	}
	s := &sheet{c: c, t: t, w: in.W, flex: -1, from: -1}
	switch {
	case i == nil:
		s.text("Nothing in the list fits the filter; esc drops it.", t.Faint)
	case i.run != nil:
		l.runSheet(s, i.run)
	case l.resolved != nil && l.resolved.run != nil:
		l.runSheet(s, l.resolved.run)
	case l.chosen() == nil:
		s.text("Type or paste the path of a table of numbers: .csv, .tsv, .txt or .dat, also compressed; "+
			"or of a config (.toml) or a run's folder.", t.Text)
		s.gap()
		s.text("tab completes; ~ is your home folder.", t.Faint)
	default:
		l.choiceSheet(s, i)
	}
	l.scroll = s.place(in, l.scroll)
	draw.ScrollMarks(c, r, t, l.scroll, heightOf(s.blocks)-l.scroll-in.H)
}

// choiceSheet shows a config or table with its settings and data.
func (l *Launcher) choiceSheet(s *sheet, i *item) {
	t, c, r := s.t, l.chosen(), l.resolved
	if i.about != "" {
		s.text(i.about, t.Text)
		s.gap()
	}
	switch {
	case c.base == nil && r != nil && r.err != nil:
		if len(r.ways) > 0 {
			s.text(strings.Join(r.ways, "  "), t.Text)
			s.gap()
		}
		s.text(r.err.Error(), t.Bad)
		return
	case c.base == nil:
		s.text("reading …", t.Faint)
		return
	}
	for _, p := range c.parts() {
		from := len(s.blocks)
		l.partSheet(s, c, p)
		if (l.focus == onParts || l.focus == onSpace) && l.part == p && s.from < from { // else it says itself what is to be seen
			s.from, s.to = from, len(s.blocks)
		}
	}
	l.estimateSheet(s)
	if r != nil && r.err != nil && r.part == noPart {
		s.gap()
		s.text(r.err.Error(), t.Bad)
	}
	s.gap()
	switch {
	case l.previewErr != nil:
		s.text(l.previewErr.Error(), t.Bad)
	case l.preview == nil && l.reading:
		s.text("reading the data …", t.Faint)
	case l.preview != nil:
		l.dataSheet(s, l.preview)
	}
}

// estimateSheet says how long it will take.
func (l *Launcher) estimateSheet(s *sheet) {
	switch {
	case l.resolved == nil || l.resolved.err != nil || l.previewErr != nil:
	case l.estimErr != nil:
		s.pair("takes", "not known: "+l.estimErr.Error(), s.t.Faint)
	case l.estimate != nil:
		s.pair("takes", l.estimate.String(), s.t.Text)
	default:
		s.pair("takes", "measuring …", s.t.Faint)
	}
}
