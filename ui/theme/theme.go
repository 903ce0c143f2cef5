// Package theme is how things look on this terminal: its colours, or what does
// their work where there are none, and its characters.
package theme

import (
	"github.com/charmbracelet/colorprofile"

	"example.com/kestrel/ui/plot"
)

// Theme is how things look on this terminal.
type Theme struct {
	Profile colorprofile.Profile
	Dark    bool
	Glyphs  plot.Glyphs

	Text, Faint, Strong, Border, Focus, Title, Key, Good, Warn, Bad, Selected plot.Style
}

// PlainProfile is a terminal, or a file, without colours.
const PlainProfile = colorprofile.ASCII

// New chooses styles for what the terminal can show. Without colours,
// weight and reversal do their work.
func New(profile colorprofile.Profile, dark bool, glyphs plot.Glyphs) *Theme {
	t := &Theme{Profile: profile, Dark: dark, Glyphs: glyphs}
	t.Strong = plot.Style{Attr: plot.Bold}
	t.Title = plot.Style{Attr: plot.Bold}
	t.Selected = plot.Style{Attr: plot.Reverse}
	pick := func(d, l plot.Color, d16, l16 uint8) plot.Style {
		switch {
		case profile < colorprofile.ANSI:
			return plot.Style{}
		case profile == colorprofile.ANSI && dark:
			return plot.Style{FG: plot.Indexed(d16)}
		case profile == colorprofile.ANSI:
			return plot.Style{FG: plot.Indexed(l16)}
		case dark:
			return plot.Style{FG: d}
		}
		return plot.Style{FG: l}
	}
	rgb := func(v uint32) plot.Color { return plot.RGB(uint8(v>>16), uint8(v>>8), uint8(v)) }
	t.Faint = pick(rgb(0x8a8f98), rgb(0x6b7078), 7, 8)
	t.Border = pick(rgb(0x4b515b), rgb(0xb4b9c1), 8, 7)
	t.Focus = pick(rgb(0x56b4e9), rgb(0x0072b2), 14, 4)
	t.Key = pick(rgb(0xe6b450), rgb(0x8f5a00), 11, 5)
	t.Good = pick(rgb(0x4fd1a5), rgb(0x00694d), 10, 2)
	t.Warn = pick(rgb(0xf0a63c), rgb(0x9a5b00), 11, 5)
	t.Bad = pick(rgb(0xff8f6b), rgb(0xb23a00), 9, 1)
	if profile < colorprofile.ANSI {
		t.Key, t.Bad, t.Warn = t.Strong, t.Strong, t.Strong
		t.Focus = t.Strong
	} else {
		bg, bg16 := rgb(0x2a3340), uint8(0)
		if !dark {
			bg, bg16 = rgb(0xdce9f5), 7
		}
		if profile > colorprofile.ANSI {
			t.Selected = plot.Style{BG: bg}
		} else if dark {
			t.Selected = plot.Style{Attr: plot.Reverse}
		} else {
			t.Selected = plot.Style{BG: plot.Indexed(bg16)}
		}
		t.Bad.Attr |= plot.Bold
	}
	return t
}
