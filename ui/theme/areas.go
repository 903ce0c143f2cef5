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
	// A grey and a blue, so that they are told apart where only one of them is.
	switch is256 := t.Profile == colorprofile.ANSI256; {
	case is256 && t.Dark:
		return plot.Style{BG: plot.Indexed(238)}, plot.Style{BG: plot.Indexed(24)}
	case is256:
		return plot.Style{BG: plot.Indexed(253)}, plot.Style{BG: plot.Indexed(153)}
	case t.Dark:
		return plot.Style{BG: rgb(0x363b44)}, plot.Style{BG: rgb(0x17517d)}
	}
	return plot.Style{BG: rgb(0xe3e5e8)}, plot.Style{BG: rgb(0xaed3f2)}
}

// FanStyle is that of a forecast's band within that of y, 0 being the outermost of two.
func (t *Theme) FanStyle(i int) plot.Style {
	is256 := t.Profile == colorprofile.ANSI256
	switch i = min(i, 1); {
	case is256 && t.Dark:
		return plot.Style{BG: plot.Indexed([...]uint8{60, 61}[i])}
	case is256:
		return plot.Style{BG: plot.Indexed([...]uint8{189, 147}[i])}
	case t.Dark:
		return plot.Style{BG: rgb([...]uint32{0x3c3a63, 0x544f99}[i])}
	}
	return plot.Style{BG: rgb([...]uint32{0xdcd9f2, 0xbdb6ea}[i])}
}

// Tint is the area around a line in a swatch's colour.
func (t *Theme) Tint(w chart.Swatch) plot.Style {
	if !t.Shaded() {
		return t.Series(w)
	}
	if t.Profile == colorprofile.ANSI256 { // there are none so dark but greys
		return plot.Style{BG: plot.Indexed(map[bool]uint8{true: 237, false: 253}[t.Dark])}
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
	text := t.Text
	if t.Profile == colorprofile.ANSI256 {
		steps := [...]uint8{32, 31, 25, 24, 235, 58, 94, 130, 172}
		if !t.Dark {
			steps = [...]uint8{75, 111, 153, 189, 255, 230, 223, 216, 215}
		}
		return func(u float64) plot.Style {
			return text.On(plot.Indexed(steps[int(math.Round(max(0, min(1, u))*float64(len(steps)-1)))]))
		}
	}
	// Blue over the ground to orange, the pair that every eye tells apart.
	low, mid, high := [3]float64{0x2f, 0x7f, 0xc0}, [3]float64{0x1c, 0x1f, 0x24}, [3]float64{0xc8, 0x7a, 0x1e}
	if !t.Dark {
		low, mid, high = [3]float64{0x6a, 0xb0, 0xe2}, [3]float64{0xf4, 0xf4, 0xf4}, [3]float64{0xf0, 0xae, 0x5a}
	}
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
