package theme

import (
	"testing"

	"github.com/charmbracelet/colorprofile"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/ui/plot"
)

// On a terminal of few colours every style is one of its own, chosen here: none is
// left to what the nearest to a true colour happens to be.
func TestStylesAreTheTerminalsOwn(t *testing.T) {
	trueColour := plot.RGB(0, 0, 0) &^ plot.Color(0xffffff)
	for profile, most := range map[colorprofile.Profile]plot.Color{colorprofile.ANSI256: 255, colorprofile.ANSI: 15} {
		for _, dark := range []bool{true, false} {
			th := New(profile, dark, plot.Braille)
			y, f := th.BandStyles()
			all := []plot.Style{th.Text, th.Faint, th.Strong, th.Border, th.Focus, th.Title, th.Key, th.Good, th.Warn, th.Bad, th.Selected, y, f}
			for _, w := range chart.Swatches() {
				all = append(all, th.Series(w), th.Tint(w))
			}
			if colour := th.Diverging(); colour != nil {
				for i := range 21 {
					all = append(all, colour(float64(i)/20))
				}
			}
			for i, s := range all {
				for _, c := range []plot.Color{s.FG, s.BG} {
					if c&trueColour != 0 || c&0xffffff > most {
						t.Errorf("%v, dark %v: style %d has the colour %#x", profile, dark, i, c)
					}
				}
			}
		}
	}
}

// The areas of y and of f, the ground and a selected row look different.
func TestAreasDiffer(t *testing.T) {
	for _, profile := range []colorprofile.Profile{colorprofile.ANSI256, colorprofile.TrueColor} {
		for _, dark := range []bool{true, false} {
			th := New(profile, dark, plot.Braille)
			y, f := th.BandStyles()
			if y.BG == f.BG || y.BG == 0 || f.BG == 0 || th.Selected.BG == 0 {
				t.Errorf("%v, dark %v: y %#x, f %#x, selected %#x", profile, dark, y.BG, f.BG, th.Selected.BG)
			}
		}
	}
}
