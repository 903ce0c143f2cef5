package theme

import (
	"github.com/charmbracelet/colorprofile"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/ui/plot"
)

// ChartStyles are the styles of what is not data in a chart.
func (t *Theme) ChartStyles() plot.ChartStyles {
	return plot.ChartStyles{Axis: t.Border, Label: t.Faint, Title: t.Faint, Cursor: t.Strong, Empty: t.Faint}
}

// Series is the style of a kernel's line and name.
func (t *Theme) Series(s chart.Swatch) plot.Style {
	switch {
	case t.Profile < colorprofile.ANSI:
		return plot.Style{}
	case t.Profile == colorprofile.ANSI:
		return plot.Style{FG: plot.Indexed(s.ANSI16)}
	case t.Profile == colorprofile.ANSI256 && t.Dark:
		return plot.Style{FG: plot.Indexed(s.Dark256)}
	case t.Profile == colorprofile.ANSI256:
		return plot.Style{FG: plot.Indexed(s.Light256)}
	case t.Dark:
		return plot.Style{FG: plot.RGB(s.Dark.R, s.Dark.G, s.Dark.B)}
	}
	return plot.Style{FG: plot.RGB(s.Light.R, s.Light.G, s.Light.B)}
}

// Swatch is a style for the i-th of some lines that are no kernels.
func (t *Theme) Swatch(i int) plot.Style {
	all := chart.Swatches()
	return t.Series(all[i%len(all)])
}

// Plain reports whether there are no colours to tell lines by.
func (t *Theme) Plain() bool { return t.Profile < colorprofile.ANSI }

// Signs reports whether kernels need signs beside their names, because their colours
// are the same or none.
func (t *Theme) Signs() bool { return t.Profile <= colorprofile.ANSI }

// Mark is the character on the i-th line where there are no colours.
func (t *Theme) Mark(i int) rune {
	if !t.Plain() {
		return 0
	}
	return []rune("ox+*")[i%4]
}

// SignOf is a swatch's mark in the glyphs of the terminal.
func (t *Theme) SignOf(w chart.Swatch) rune {
	if t.Glyphs == plot.ASCII {
		return w.Letter
	}
	return w.Mark
}

// TestMark is the sign of a row held out.
func (t *Theme) TestMark() rune {
	if t.Glyphs == plot.ASCII {
		return 'x'
	}
	return '×'
}
