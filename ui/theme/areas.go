package theme

import (
	"math"

	"github.com/charmbracelet/colorprofile"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/ui/plot"
)

// Shaded reports whether areas can be told by their background.
func (t *Theme) Shaded() bool { return t.Profile > colorprofile.ANSI }

// BandStyles are those of the areas of y and of f: backgrounds where there are
// enough colours.
func (t *Theme) BandStyles() (y, f plot.Style) {
	if !t.Shaded() {
		return t.Faint, t.Faint
	}
	if t.Dark {
		return plot.Style{BG: plot.RGB(0x1d, 0x29, 0x36)}, plot.Style{BG: plot.RGB(0x2b, 0x41, 0x57)}
	}
	return plot.Style{BG: plot.RGB(0xe9, 0xf1, 0xf9)}, plot.Style{BG: plot.RGB(0xcb, 0xdf, 0xf1)}
}

// Tint is the area around a line in a swatch's colour.
func (t *Theme) Tint(w chart.Swatch) plot.Style {
	if !t.Shaded() {
		return t.Series(w)
	}
	ground := 0xff
	if t.Dark {
		ground = 0x10
	}
	rgb := w.On(t.Dark)
	mix := func(v uint8) uint8 { return uint8((int(v) + 3*ground) / 4) }
	return plot.Style{BG: plot.RGB(mix(rgb.R), mix(rgb.G), mix(rgb.B))}
}

// Diverging returns the colours from −1 to 1; nil where there are too few.
func (t *Theme) Diverging() func(float64) plot.Style {
	if !t.Shaded() {
		return nil
	}
	// Blue over the ground to orange, the pair that every eye tells apart.
	low, mid, high := [3]float64{0x2f, 0x7f, 0xc0}, [3]float64{0x1c, 0x1f, 0x24}, [3]float64{0xc8, 0x7a, 0x1e}
	if !t.Dark {
		low, mid, high = [3]float64{0x6a, 0xb0, 0xe2}, [3]float64{0xf4, 0xf4, 0xf4}, [3]float64{0xf0, 0xae, 0x5a}
	}
	text := t.Text
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
