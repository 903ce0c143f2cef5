package ui

import (
	"github.com/charmbracelet/colorprofile"

	"kestrel/ui/plot"
)

// theme is how things look on this terminal.
type theme struct {
	profile colorprofile.Profile
	dark    bool
	glyphs  plot.Glyphs

	text, faint, strong, border, focus, title, key, good, warn, bad, selected plot.Style
}

// plainProfile is a terminal, or a file, without colours.
const plainProfile = colorprofile.ASCII

// newTheme chooses styles for what the terminal can show. Without colours,
// weight and reversal do their work.
func newTheme(profile colorprofile.Profile, dark bool, glyphs plot.Glyphs) *theme {
	t := &theme{profile: profile, dark: dark, glyphs: glyphs}
	t.strong = plot.Style{Attr: plot.Bold}
	t.title = plot.Style{Attr: plot.Bold}
	t.selected = plot.Style{Attr: plot.Reverse}
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
	t.faint = pick(rgb(0x8a8f98), rgb(0x6b7078), 7, 8)
	t.border = pick(rgb(0x4b515b), rgb(0xb4b9c1), 8, 7)
	t.focus = pick(rgb(0x56b4e9), rgb(0x0072b2), 14, 4)
	t.key = pick(rgb(0xe6b450), rgb(0x8f5a00), 11, 5)
	t.good = pick(rgb(0x4fd1a5), rgb(0x00694d), 10, 2)
	t.warn = pick(rgb(0xf0a63c), rgb(0x9a5b00), 11, 5)
	t.bad = pick(rgb(0xff8f6b), rgb(0xb23a00), 9, 1)
	if profile < colorprofile.ANSI {
		t.key, t.bad, t.warn = t.strong, t.strong, t.strong
		t.focus = t.strong
	} else {
		bg, bg16 := rgb(0x2a3340), uint8(0)
		if !dark {
			bg, bg16 = rgb(0xdce9f5), 7
		}
		if profile > colorprofile.ANSI {
			t.selected = plot.Style{BG: bg}
		} else if dark {
			t.selected = plot.Style{Attr: plot.Reverse}
		} else {
			t.selected = plot.Style{BG: plot.Indexed(bg16)}
		}
		t.bad.Attr |= plot.Bold
	}
	return t
}
