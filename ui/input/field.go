// Package input takes keys: a table of what they do, which is also what help is
// made from, and a line of text that they are typed into.
package input

import (
	"strings"
	"unicode"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// Field is a line of text to edit. The library's model keeps text and cursor;
// it is drawn on the canvas.
type Field struct {
	input textinput.Model
	hint  string // shown while it is empty
	Given bool   // what stands there was proposed: the first character typed replaces it
}

// NewField makes a field with its cursor at the end of the text; hint is shown while
// it is empty.
func NewField(value, hint string) Field {
	in := textinput.New()
	in.Prompt = ""
	in.SetValue(value)
	in.CursorEnd()
	in.Focus()
	return Field{input: in, hint: hint}
}

// Value is the text as it stands.
func (f *Field) Value() string { return f.input.Value() }

// Set replaces the text.
func (f *Field) Set(v string) {
	f.input.SetValue(v)
	f.input.CursorEnd()
}

// Update edits the text: by a key, or by what is pasted, as if it were typed.
func (f *Field) Update(msg tea.Msg) {
	text, edits := "", false
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		text, edits = m.Text, true
	case tea.PasteMsg:
		text = typable(m.Content)
		msg, edits = tea.PasteMsg{Content: text}, text != ""
	}
	if edits {
		if f.Given && text != "" {
			f.input.SetValue("")
		}
		f.Given = false
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

// Draw writes the text in w columns, scrolled so that the cursor is seen; one that
// is not being edited, from its beginning.
func (f *Field) Draw(c *plot.Canvas, x, y, w int, t *theme.Theme, focused bool) {
	text, style := f.Value(), t.Text
	if text == "" {
		text, style = f.hint, t.Faint
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
	if f.Value() != "" {
		pos = min(f.input.Position(), len(runes))
	}
	shift := max(0, plot.TextWidth(string(runes[:pos]))+1-w)
	c.Text(x-shift, y, text, style)
	cx := x - shift + plot.TextWidth(string(runes[:pos]))
	c.Restyle(plot.Rect{X: cx, Y: y, W: 1, H: 1}, func(s plot.Style) plot.Style { return s.With(plot.Reverse) })
}

// ColumnOf returns where a rune of the text is drawn within w columns, −1 if it
// is scrolled out of sight.
func (f *Field) ColumnOf(at, w int, focused bool) int {
	runes := []rune(f.Value())
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
