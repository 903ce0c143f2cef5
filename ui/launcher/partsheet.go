package launcher

import (
	"slices"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/plot"
)

var partNames = map[part]string{
	targetPart: "target", inputsPart: "inputs", kernelsPart: "kernels", growthPart: "grow", inducingPart: "inducing", seedPart: "seed",
	devicePart: "device",
	splitPart:  "held out", timePart: "time", calendarPart: "calendar", holidaysPart: "holidays", zonePart: "zone", outPart: "out",
	startPart: "start",
}

// partSheet shows a setting, and below it what is wrong with it.
func (l *Launcher) partSheet(s *sheet, c *choice, p part) {
	t := s.t
	focused := (l.focus == onParts || l.focus == onSpace) && l.part == p
	head := func(x, y, w, h int) {
		l.screen.parts = append(l.screen.parts, partArea{p, plot.Rect{X: x, Y: y, W: w, H: h}.Intersect(s.c.Bounds())})
		style := t.Faint
		if focused {
			style = t.Focus.With(plot.Bold)
		}
		s.c.TextFit(x, y, labelWidth-1, partNames[p], style)
	}
	room := max(1, s.w-labelWidth)
	switch p {
	case targetPart, splitPart, timePart, devicePart, growthPart:
		value := c.device
		var found *datasets.Summary
		if l.preview != nil && !l.reading { // else it may be of other settings
			found = l.preview.Summary
		}
		switch p {
		case splitPart:
			value = c.splitText(found)
		case timePart:
			value = c.timeText(found)
		case growthPart:
			value = c.growthText()
		}
		if p == targetPart {
			value = "?"
			if c.target >= 0 {
				value = c.columns[c.target].Name
			}
		}
		s.add(1, func(x, y, w int) {
			head(x, y, w, 1)
			open, end := "‹ ", " ›"
			if t.Glyphs == plot.ASCII {
				open, end = "< ", " >"
			}
			at := s.c.TextFit(x+labelWidth, y, room, open, t.Key)
			style := t.Text
			if focused {
				style = style.With(plot.Reverse)
			}
			at = s.c.TextFit(at, y, x+w-at-2, value, style)
			s.c.TextFit(at, y, x+w-at, end, t.Key)
		})
	case inputsPart:
		l.inputSheet(s, c, focused, head)
	case calendarPart:
		l.calendarSheet(s, c, focused, head)
	case startPart:
		s.add(1, func(x, y, w int) {
			head(x, y, w, 1)
			style, text := t.Faint, "enter starts the run"
			if focused {
				style = t.Text.With(plot.Reverse)
			} else if l.focus == onParts || l.focus == onSpace { // where enter does something else
				text = "on this line, or after esc, enter starts the run"
			}
			s.c.TextFit(x+labelWidth, y, room, text, style)
		})
	default:
		note := ""
		if p == kernelsPart {
			note = l.kernelsNote()
		}
		wide := room
		const least = 16 // columns of what is written
		if plot.TextWidth(note)+least > room {
			note, _, _ = strings.Cut(note, kernelsOf)
		}
		if n := plot.TextWidth(note); n > 0 && room >= n+least {
			wide -= n + 2
		}
		f := c.text(p)
		s.add(1, func(x, y, w int) {
			head(x, y, w, 1)
			f.Draw(s.c, x+labelWidth, y, wide, t, focused)
			if wide < room {
				s.c.TextRight(x+w, y, note, t.Good)
			}
		})
		l.wrongSheet(s, f, p, wide, focused)
		if p == kernelsPart && l.focus == onSpace {
			l.spaceSheet(s)
		} else if p == kernelsPart && focused {
			s.indented(labelWidth, config.SpaceSyntax+"; enter: chosen by input; f1: help", t.Faint)
		}
		if p == inducingPart && focused {
			s.indented(labelWidth, "a number, or auto: few for all kernels, more for the best", t.Faint)
		}
		return
	}
	l.wrongSheet(s, nil, p, room, focused)
}

// kernelsOf is between the number of kernels and what has decided on them, for which there
// may be no room.
const kernelsOf = " of"

// kernelsNote says how many kernels there would be and, where the data decide, which
// these are; "" as long as that is not known.
func (l *Launcher) kernelsNote() string {
	r, p := l.resolved, l.planned
	switch {
	case r == nil || r.err != nil:
		return ""
	case p == nil && r.config.Kernels.Undecided() && l.previewErr == nil:
		return ""
	case p == nil:
		return words.Count(r.kernels, "kernel")
	case p.decided && strings.HasPrefix(p.config.Kernels.Set, "series"):
		return words.Count(p.kernels, "kernel") + kernelsOf + " a series"
	case p.decided && len(p.config.Kernels.Expressions) > 0:
		return words.Count(p.kernels, "kernel") + kernelsOf + " these inputs"
	}
	return words.Count(p.kernels, "kernel")
}

// wrongSheet says what is wrong with a part, with a caret under the place.
func (l *Launcher) wrongSheet(s *sheet, f *input.Field, p part, wide int, focused bool) {
	r := l.resolved
	if r == nil || r.err == nil || r.part != p {
		return
	}
	if col := r.caret(); col >= 0 && f != nil {
		s.add(1, func(x, y, w int) {
			if at := f.ColumnOf(col, wide, focused); at >= 0 {
				s.c.TextFit(x+labelWidth+at, y, 1, "^", s.t.Bad)
			}
		})
	}
	s.indented(labelWidth, r.reason(), s.t.Bad)
}

// inputSheet shows the columns that can be inputs.
func (l *Launcher) inputSheet(s *sheet, c *choice, focused bool, head func(x, y, w, h int)) {
	var all []chip
	for i := range c.columns {
		if c.usable(i) {
			name := c.columns[i].Name
			if as := c.statedType(i); as != "" {
				name += ": " + as
			}
			all = append(all, chip{i, name, c.inputs[i]})
		}
	}
	chipSheet(s, all, c.column, focused, head)
	if text := c.noForecast(); text != "" {
		style := s.t.Faint
		if !slices.Equal(c.inputs, c.usual(c.target)) {
			style = s.t.Warn
		}
		s.indented(labelWidth, text, style)
	}
}

// calendarSheet shows the inputs that can be made of the time stamps.
func (l *Launcher) calendarSheet(s *sheet, c *choice, focused bool, head func(x, y, w, h int)) {
	var all []chip
	for i, name := range calendarNames() {
		all = append(all, chip{i, name, slices.Contains(c.calendar, name)})
	}
	chipSheet(s, all, c.calendarAt, focused, head)
}

// chip is something that can be taken in or out.
type chip struct {
	column int
	text   string
	in     bool
}

// chipSheet shows chips, as many to a line as fit; at is the column under the cursor.
func chipSheet(s *sheet, all []chip, cursor int, focused bool, head func(x, y, w, h int)) {
	var rows [][]chip
	used := 0
	room := max(1, s.w-labelWidth)
	for _, ch := range all {
		text := "[ ] " + ch.text
		if ch.in {
			text = "[x] " + ch.text
		}
		ch.text = plot.Truncate(text, min(room, 28))
		text = ch.text
		if n := plot.TextWidth(text); len(rows) == 0 || used+2+n > room {
			rows, used = append(rows, nil), n
		} else {
			used += 2 + n
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], ch)
	}
	// With very many columns, the lines around the cursor.
	const most = 6
	from := 0
	if len(rows) > most {
		for i, row := range rows {
			if len(row) > 0 && row[0].column <= cursor {
				from = max(0, min(i-most/2, len(rows)-most))
			}
		}
		rows = rows[from : from+most]
	}
	if len(rows) == 0 {
		rows = [][]chip{nil}
	}
	s.add(len(rows), func(x, y, w int) {
		head(x, y, w, len(rows))
		for i, row := range rows {
			at := x + labelWidth
			for _, ch := range row {
				style := s.t.Faint
				if ch.in {
					style = s.t.Text
				}
				if focused && ch.column == cursor {
					style = style.With(plot.Reverse)
				}
				at = s.c.TextFit(at, y+i, x+w-at, ch.text, style) + 2
			}
			if row == nil {
				s.c.TextFit(at, y+i, x+w-at, "no column of numbers is left", s.t.Bad)
			}
		}
	})
}
