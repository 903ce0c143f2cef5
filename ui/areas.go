package ui

import (
	"math"

	"github.com/charmbracelet/colorprofile"

	"kestrel/experiment"
	"kestrel/ui/plot"
)

// shaded reports whether areas can be told by their background.
func (t *theme) shaded() bool { return t.profile > colorprofile.ANSI }

// bandStyles are those of the areas of y and of f: backgrounds where there are
// enough colours.
func (t *theme) bandStyles() (y, f plot.Style) {
	if !t.shaded() {
		return t.faint, t.faint
	}
	if t.dark {
		return plot.Style{BG: plot.RGB(0x1d, 0x29, 0x36)}, plot.Style{BG: plot.RGB(0x2b, 0x41, 0x57)}
	}
	return plot.Style{BG: plot.RGB(0xe9, 0xf1, 0xf9)}, plot.Style{BG: plot.RGB(0xcb, 0xdf, 0xf1)}
}

// tint is the area around a line in a swatch's colour.
func (t *theme) tint(w experiment.Swatch) plot.Style {
	if !t.shaded() {
		return t.series(w)
	}
	ground := 0xff
	if t.dark {
		ground = 0x10
	}
	rgb := w.On(t.dark)
	mix := func(v uint8) uint8 { return uint8((int(v) + 3*ground) / 4) }
	return plot.Style{BG: plot.RGB(mix(rgb.R), mix(rgb.G), mix(rgb.B))}
}

// diverging returns the colours from −1 to 1; nil where there are too few.
func (t *theme) diverging() func(float64) plot.Style {
	if !t.shaded() {
		return nil
	}
	// Blue over the ground to orange, the pair that every eye tells apart.
	low, mid, high := [3]float64{0x2f, 0x7f, 0xc0}, [3]float64{0x1c, 0x1f, 0x24}, [3]float64{0xc8, 0x7a, 0x1e}
	if !t.dark {
		low, mid, high = [3]float64{0x6a, 0xb0, 0xe2}, [3]float64{0xf4, 0xf4, 0xf4}, [3]float64{0xf0, 0xae, 0x5a}
	}
	text := t.text
	return func(u float64) plot.Style {
		u = max(0, min(1, u))
		from, to, part := mid, high, 2*u-1
		if u < 0.5 {
			to, part = low, 1-2*u
		}
		var c [3]uint8
		for i := range c {
			c[i] = uint8(math.Round(from[i] + part*(to[i]-from[i])))
		}
		return text.On(plot.RGB(c[0], c[1], c[2]))
	}
}
