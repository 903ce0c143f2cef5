package ui

import (
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

// update edits the text.
func (f *field) update(msg tea.Msg) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		if f.given && k.Text != "" {
			f.input.SetValue("")
		}
		f.given = false
	}
	f.input, _ = f.input.Update(msg) // the command is the cursor's blinking, which is not shown
}

// draw writes the text in w columns, scrolled so that the cursor is seen.
func (f *field) draw(c *plot.Canvas, x, y, w int, t *theme, focused bool) {
	text, style := f.value(), t.text
	if text == "" {
		text, style = f.hint, t.faint
	}
	if w <= 0 {
		return
	}
	defer c.Clip(plot.Rect{X: x, Y: y, W: w, H: 1})()
	runes := []rune(text)
	pos := 0
	if f.value() != "" {
		pos = min(f.input.Position(), len(runes))
	}
	shift := max(0, plot.TextWidth(string(runes[:pos]))+1-w)
	c.Text(x-shift, y, text, style)
	if focused {
		cx := x - shift + plot.TextWidth(string(runes[:pos]))
		c.Restyle(plot.Rect{X: cx, Y: y, W: 1, H: 1}, func(s plot.Style) plot.Style { return s.With(plot.Reverse) })
	}
}
