package ui

import (
	"strings"
	"unicode"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"kestrel/ui/plot"
)

// field is a line of text to edit. The library's model keeps text and cursor;
// it is drawn on the canvas.
type field struct {
	input textinput.Model
	hint  string // shown while it is empty
	given bool   // what stands there was proposed: the first character typed replaces it
}

func newField(value, hint string) field {
	in := textinput.New()
	in.Prompt = ""
	in.SetValue(value)
	in.CursorEnd()
	in.Focus()
	return field{input: in, hint: hint}
}

func (f *field) value() string { return f.input.Value() }

func (f *field) set(v string) {
	f.input.SetValue(v)
	f.input.CursorEnd()
}

// update edits the text: by a key, or by what is pasted, as if it were typed.
func (f *field) update(msg tea.Msg) {
	text, edits := "", false
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		text, edits = m.Text, true
	case tea.PasteMsg:
		text = typable(m.Content)
		msg, edits = tea.PasteMsg{Content: text}, text != ""
	}
	if edits {
		if f.given && text != "" {
			f.input.SetValue("")
		}
		f.given = false
	}
	f.input, _ = f.input.Update(msg) // the command is the cursor's blinking, which is not shown
}

// typable is what of a pasted text could have been typed on one line: line ends and
// tabs become spaces, or nothing at either end, other control characters go.
func typable(text string) string {
	text = strings.ReplaceAll(strings.TrimFunc(text, unicode.IsControl), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r) && unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, text)
}

// draw writes the text in w columns, scrolled so that the cursor is seen; one that
// is not being edited, from its beginning.
func (f *field) draw(c *plot.Canvas, x, y, w int, t *theme, focused bool) {
	text, style := f.value(), t.text
	if text == "" {
		text, style = f.hint, t.faint
	}
	if w <= 0 {
		return
	}
	defer c.Clip(plot.Rect{X: x, Y: y, W: w, H: 1})()
	if !focused {
		c.TextFit(x, y, w, text, style)
		return
	}
	runes := []rune(text)
	pos := 0
	if f.value() != "" {
		pos = min(f.input.Position(), len(runes))
	}
	shift := max(0, plot.TextWidth(string(runes[:pos]))+1-w)
	c.Text(x-shift, y, text, style)
	cx := x - shift + plot.TextWidth(string(runes[:pos]))
	c.Restyle(plot.Rect{X: cx, Y: y, W: 1, H: 1}, func(s plot.Style) plot.Style { return s.With(plot.Reverse) })
}

// columnOf returns where a rune of the text is drawn within w columns, −1 if it
// is scrolled out of sight.
func (f *field) columnOf(at, w int, focused bool) int {
	runes := []rune(f.value())
	width := func(n int) int { return plot.TextWidth(string(runes[:max(0, min(n, len(runes)))])) }
	column := width(at)
	if focused {
		column -= max(0, width(f.input.Position())+1-w)
	}
	if column < 0 || column >= w {
		return -1
	}
	return column
}
