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
	// Of 256 colours each is chosen by hand: what a terminal makes of a true colour is
	// the nearest of the cube, which of a dark grey may be a teal.
	pick := func(d, l uint32, d256, l256, d16, l16 uint8) plot.Style {
		c := [...]plot.Color{rgb(l), plot.Indexed(l256), plot.Indexed(l16)}
		if dark {
			c = [...]plot.Color{rgb(d), plot.Indexed(d256), plot.Indexed(d16)}
		}
		switch profile {
		case colorprofile.TrueColor:
			return plot.Style{FG: c[0]}
		case colorprofile.ANSI256:
			return plot.Style{FG: c[1]}
		case colorprofile.ANSI:
			return plot.Style{FG: c[2]}
		}
		return plot.Style{}
	}
	t.Faint = pick(0x8a8f98, 0x6b7078, 246, 242, 7, 8)
	t.Border = pick(0x4b515b, 0xb4b9c1, 240, 249, 8, 7)
	t.Focus = pick(0x56b4e9, 0x0072b2, 75, 25, 14, 4)
	t.Key = pick(0xe6b450, 0x8f5a00, 179, 94, 11, 5)
	t.Good = pick(0x4fd1a5, 0x00694d, 79, 23, 10, 2)
	t.Warn = pick(0xf0a63c, 0x9a5b00, 215, 130, 11, 5)
	t.Bad = pick(0xff8f6b, 0xb23a00, 209, 124, 9, 1)
	if profile < colorprofile.ANSI {
		t.Key, t.Bad, t.Warn = t.Strong, t.Strong, t.Strong
		t.Focus = t.Strong
	} else {
		switch ground := pick(0x2a3340, 0xdce9f5, 237, 254, 0, 7).FG; {
		case profile > colorprofile.ANSI, !dark:
			t.Selected = plot.Style{BG: ground}
		default:
			t.Selected = plot.Style{Attr: plot.Reverse}
		}
		t.Bad.Attr |= plot.Bold
	}
	return t
}

func rgb(v uint32) plot.Color { return plot.RGB(uint8(v>>16), uint8(v>>8), uint8(v)) }
