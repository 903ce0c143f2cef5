package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// A histogram of residuals stays in its place, with the axis in the last row of it, and
// needs three rows; those that it has no bar for are counted.
func TestHistogramOfResiduals(t *testing.T) {
	look := theme.New(colorprofile.TrueColor, true, plot.Braille)
	z := []float64{-5, -4.5, -1, -.5, 0, 0, .5, 1, 9}
	for h := range 9 {
		var c plot.Canvas
		c.Reset(70, 12)
		r := plot.Rect{X: 3, Y: 2, W: 60, H: h}
		(*fitView)(nil).drawHistogram(&c, r, look, z, look.Text)
		lines := strings.Split(c.Plain(), "\n")
		for y := range 12 {
			for x := range 70 {
				if !r.Contains(x, y) && c.At(x, y).Rune != ' ' {
					t.Fatalf("%d rows: %q at %d, %d is outside:\n%s", h, c.At(x, y).Rune, x, y, c.Plain())
				}
			}
		}
		if drawn := strings.TrimSpace(c.Plain()) != ""; drawn != (h >= 3) {
			t.Errorf("%d rows: drawn %v", h, drawn)
		}
		if h < 3 {
			continue
		}
		if axis := strings.Join(strings.Fields(lines[r.Y+h-1]), " "); axis != "−4 −2 0 2 4 sd" {
			t.Errorf("%d rows: the last is %q", h, axis)
		}
		if !strings.Contains(lines[r.Y], "2 below, 1 above") {
			t.Errorf("%d rows: the first is %q", h, lines[r.Y])
		}
	}
}
