package plot

import "testing"

// Colours of the palette are those of xterm's table, a cube and a ramp; true colours are
// themselves, and those that every terminal has its own of are none.
func TestColoursOfThePalette(t *testing.T) {
	for i, want := range map[uint8][3]uint8{
		16: {0, 0, 0}, 17: {0, 0, 95}, 21: {0, 0, 255}, 46: {0, 255, 0}, 67: {95, 135, 175}, 196: {255, 0, 0}, 231: {255, 255, 255},
		232: {8, 8, 8}, 244: {128, 128, 128}, 255: {238, 238, 238},
	} {
		if r, g, b, ok := Indexed(i).RGB(); !ok || [3]uint8{r, g, b} != want {
			t.Errorf("%d is %d, %d, %d, %v, want %v", i, r, g, b, ok, want)
		}
	}
	for _, c := range []Color{0, Indexed(0), Indexed(1), Indexed(15)} {
		if _, _, _, ok := c.RGB(); ok {
			t.Errorf("%x has red, green and blue", c)
		}
	}
	if r, g, b, ok := RGB(1, 20, 255).RGB(); !ok || r != 1 || g != 20 || b != 255 {
		t.Errorf("%d, %d, %d, %v", r, g, b, ok)
	}
}
