package ui

import (
	"github.com/charmbracelet/colorprofile"

	"kestrel/experiment"
	"kestrel/ui/plot"
)

// chartStyles are the styles of what is not data in a chart.
func (t *theme) chartStyles() plot.ChartStyles {
	return plot.ChartStyles{Axis: t.border, Label: t.faint, Title: t.faint, Cursor: t.strong, Empty: t.faint}
}

// series is the style of a kernel's line and name.
func (t *theme) series(s experiment.Swatch) plot.Style {
	switch {
	case t.profile < colorprofile.ANSI:
		return plot.Style{}
	case t.profile == colorprofile.ANSI:
		return plot.Style{FG: plot.Indexed(s.ANSI16)}
	case t.profile == colorprofile.ANSI256:
		return plot.Style{FG: plot.Indexed(s.ANSI256)}
	case t.dark:
		return plot.Style{FG: plot.RGB(s.Dark.R, s.Dark.G, s.Dark.B)}
	}
	return plot.Style{FG: plot.RGB(s.Light.R, s.Light.G, s.Light.B)}
}

// swatch is a style for the i-th of some lines that are no kernels.
func (t *theme) swatch(i int) plot.Style {
	all := experiment.Swatches()
	return t.series(all[i%len(all)])
}

// plain reports whether there are no colours to tell lines by.
func (t *theme) plain() bool { return t.profile < colorprofile.ANSI }

// mark is the character on the i-th line where there are no colours.
func (t *theme) mark(i int) rune {
	if !t.plain() {
		return 0
	}
	return []rune("ox+*")[i%4]
}

// signOf is a swatch's mark in the glyphs of the terminal.
func (t *theme) signOf(w experiment.Swatch) rune {
	if t.glyphs == plot.ASCII {
		return w.Letter
	}
	return w.Mark
}

// testMark is the sign of a row held out.
func (t *theme) testMark() rune {
	if t.glyphs == plot.ASCII {
		return 'x'
	}
	return '×'
}
