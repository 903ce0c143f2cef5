package plot

import (
	"math"
	"testing"
)

// An interval lies where its ends are, of ten cells one a tenth; the reference is seen
// where it does not reach.
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		low, high, at, reference float64
		glyphs                   Glyphs
		want                     string
	}{
		{0.2, 0.5, 0.35, 0.95, Braille, "  ─●──   │"},
		{0.75, 1, 0.9, 0.8, Braille, "       ──●"},
		{-3, 0.05, -1, 0.5, ASCII, "o    |"},
		{math.NaN(), 0.5, 0.3, 0.5, Braille, ""},
		{math.Inf(-1), 0.5, 0.3, 0.5, Braille, ""},
	} {
		cv := NewCanvas(10, 1)
		Interval(cv, 0, 0, 10, c.low, c.high, c.at, c.reference, Style{}, Style{}, c.glyphs)
		if got := cv.Plain(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
