package chart

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"testing"
)

var _ color.Color = RGB{}

// linearRGB decodes sRGB (IEC 61966-2-1).
func linearRGB(c RGB) [3]float64 {
	decode := func(b uint8) float64 {
		v := float64(b) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return [3]float64{decode(c.R), decode(c.G), decode(c.B)}
}

func luminance(v [3]float64) float64 { return 0.2126*v[0] + 0.7152*v[1] + 0.0722*v[2] }

// contrast is the ratio of WCAG 2.
func contrast(a, b RGB) float64 {
	x, y := luminance(linearRGB(a)), luminance(linearRGB(b))
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// sights are what the three kinds of cones make of linear RGB (Machado,
// Oliveira and Fernandes 2009, severity 1).
var sights = map[string][3][3]float64{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
}

// seen is CIE L*a*b* (D65) of a colour as somebody sees it.
func seen(c RGB, sight [3][3]float64) [3]float64 {
	v := linearRGB(c)
	var w [3]float64
	for i, row := range sight {
		w[i] = min(1, max(0, row[0]*v[0]+row[1]*v[1]+row[2]*v[2]))
	}
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124*w[0] + 0.3576*w[1] + 0.1805*w[2]) / 0.9505)
	y := f(luminance(w))
	z := f((0.0193*w[0] + 0.1192*w[1] + 0.9505*w[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func distance(a, b [3]float64) float64 {
	return math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
}

// ansi256 is the colour of an entry of xterm's cube.
func ansi256(n uint8) RGB {
	level := [6]uint8{0, 95, 135, 175, 215, 255}
	n -= 16
	return RGB{level[n/36], level[n/6%6], level[n%6]}
}

// Every colour can be read on its ground, and any two can be told apart by
// everybody. A difference of 2.3 is just noticeable.
func TestSwatchesCanBeToldApart(t *testing.T) {
	white, black := RGB{0xff, 0xff, 0xff}, RGB{0x10, 0x10, 0x10}
	chosen, chosen256 := RGB{0x2a, 0x33, 0x40}, RGB{0x3a, 0x3a, 0x3a} // rows that are selected, see ui/theme
	all := Swatches()
	for i, a := range all {
		for what, got := range map[string]float64{
			"Light on white": contrast(a.Light, white), "Dark on black": contrast(a.Dark, black),
			"Light256 on white": contrast(ansi256(a.Light256), white), "Dark256 on black": contrast(ansi256(a.Dark256), black),
			"Dark selected": contrast(a.Dark, chosen), "Dark256 selected": contrast(ansi256(a.Dark256), chosen256),
		} {
			if got < 3 {
				t.Errorf("slot %d: %s has a contrast of %.2f", i, what, got)
			}
		}
		if a.On(true) != a.Dark || a.On(false) != a.Light || a.Dash < 0 || a.Dash > 3 || a.ANSI16 < 1 || a.ANSI16 > 14 || a.ANSI16 == 7 ||
			a.ANSI16 == 8 {
			t.Errorf("slot %d: %+v", i, a)
		}
		for j, b := range all[:i] {
			for name, sight := range sights {
				for what, d := range map[string]float64{
					"Light":    distance(seen(a.Light, sight), seen(b.Light, sight)),
					"Dark":     distance(seen(a.Dark, sight), seen(b.Dark, sight)),
					"Light256": distance(seen(ansi256(a.Light256), sight), seen(ansi256(b.Light256), sight)),
					"Dark256":  distance(seen(ansi256(a.Dark256), sight), seen(ansi256(b.Dark256), sight)),
				} {
					if d < 12 {
						t.Errorf("slots %d and %d: %s differ by %.1f with %s sight", j, i, what, d, name)
					}
				}
			}
			if a.ANSI16 == b.ANSI16 && a.Dash == b.Dash || a.Mark == b.Mark || a.Letter == b.Letter {
				t.Errorf("slots %d and %d look alike", j, i)
			}
		}
	}
	if r, g, b, alpha := (RGB{0xff, 0x80, 0}).RGBA(); r != 0xffff || g != 0x8080 || b != 0 || alpha != 0xffff ||
		(RGB{1, 171, 16}).Hex() != "#01ab10" {
		t.Error(r, g, b, alpha)
	}
}

// The same events give the same colours; those in focus differ; nobody who is
// in focus, or could have kept a slot, loses it.
func TestPalette(t *testing.T) {
	size := len(Swatches())
	for trial := range 200 {
		rng := rand.New(rand.NewPCG(uint64(trial), 1))
		kernels := make([]string, 8+rng.IntN(30))
		for i := range kernels {
			kernels[i] = fmt.Sprintf("SE*PER[%d]", i)
		}
		var p, q Palette
		ever, lost := map[string]Swatch{}, map[string]int{} // when a kernel was last in focus
		for step := range 40 {
			rng.Shuffle(len(kernels), func(i, j int) { kernels[i], kernels[j] = kernels[j], kernels[i] })
			focus := kernels[:1+rng.IntN(8)]
			p.Focus(focus)
			q.Focus(focus)
			used := map[Swatch]string{}
			for _, id := range focus {
				s := p.Of(id)
				if other, ok := used[s]; ok {
					t.Fatalf("%s and %s share a slot", id, other)
				}
				used[s] = id
				if s != q.Of(id) {
					t.Fatal("the same events give other colours")
				}
				if was, ok := ever[id]; ok && was != s && (len(ever) <= size || lost[id] == step-1) {
					t.Fatalf("%s has changed its colour", id)
				}
				ever[id], lost[id] = s, step
			}
		}
	}
}

// By hand: a kernel takes the slot that it prefers, else the next, and the one
// longest out of focus gives way.
func TestPaletteRecycles(t *testing.T) {
	slots := Swatches()
	by := make([][]string, len(slots)) // kernels by preferred slot
	for i := 0; ; i++ {
		id := fmt.Sprint("k", i)
		s := preferred(id)
		if by[s] = append(by[s], id); len(by[s]) > 2 {
			done := true
			for _, ids := range by {
				done = done && len(ids) > 2
			}
			if done {
				break
			}
		}
	}
	var p Palette
	want := func(id string, slot int) {
		t.Helper()
		if p.Of(id) != slots[slot] {
			t.Errorf("%s has %c, want %c", id, p.Of(id).Mark, slots[slot].Mark)
		}
	}
	want(by[3][0], 3) // never in focus
	p.Focus([]string{by[3][0], by[3][1]})
	want(by[3][0], 3)
	want(by[3][1], 4)
	p.Focus([]string{by[4][0]})
	want(by[4][0], 5)
	want(by[3][1], 4)                                                                                 // kept out of focus
	p.Focus([]string{by[6][0], by[7][0], by[8][0], by[9][0], by[0][0], by[1][0], by[2][0], by[3][0]}) // all slots are held
	want(by[2][0], 2)
	p.Focus([]string{by[8][1]})
	want(by[8][1], 4) // by[3][1] was in focus at the beginning only
	want(by[3][1], 3) // and looks as if it had never been
	want(by[4][0], 5)
	ids := make([]string, 12)
	for i := range ids {
		ids[i] = by[0][i%3] + fmt.Sprint(i)
	}
	p.Focus(ids)
	distinct := map[Swatch]bool{}
	for _, id := range ids[:len(slots)] {
		distinct[p.Of(id)] = true
	}
	if len(distinct) != len(slots) {
		t.Errorf("%d colours for %d kernels", len(distinct), len(slots))
	}
}
