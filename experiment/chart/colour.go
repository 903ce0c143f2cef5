package chart

import (
	"fmt"
	"hash/fnv"
	"slices"
)

// RGB is a colour of sRGB. It is a color.Color.
type RGB struct{ R, G, B uint8 }

// RGBA implements color.Color.
func (c RGB) RGBA() (r, g, b, a uint32) {
	return uint32(c.R) * 0x101, uint32(c.G) * 0x101, uint32(c.B) * 0x101, 0xffff
}

// Hex writes the colour as "#rrggbb".
func (c RGB) Hex() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Swatch is how a kernel looks, in charts, tables and exports alike: a colour
// for every kind of terminal, and what tells it apart without colour.
type Swatch struct {
	Light, Dark       RGB   // on light and on dark ground
	Light256, Dark256 uint8 // of 256 colours, on these
	ANSI16            uint8 // with Dash unlike any other's
	Dash              int   // style of a line, 0 (whole) to 3
	Mark              rune  // one column wide
	Letter            rune  // the mark in ASCII
}

// On returns the colour for a dark or a light ground.
func (s Swatch) On(dark bool) RGB {
	if dark {
		return s.Dark
	}
	return s.Light
}

// swatches are hues of Okabe and Ito (the first six) and of Paul Tol's "muted"
// scheme, with lightness changed until each has a contrast of 3 to its ground, on
// dark ground to that of a selected row too, and all can be told apart with normal
// sight, protanopia and deuteranopia. Those of 256 colours were searched for among
// the cube's by the same rules, since the nearest ones cannot be told apart.
var swatches = [...]Swatch{
	{RGB{0x00, 0x61, 0xa0}, RGB{0x40, 0x92, 0xe0}, 26, 39, 4, 0, '●', 'o'},    // blue
	{RGB{0xca, 0x85, 0x00}, RGB{0xfa, 0xa5, 0x1d}, 100, 214, 3, 1, '■', '#'},  // orange
	{RGB{0x00, 0x71, 0x3f}, RGB{0x88, 0xe1, 0xa2}, 23, 48, 2, 2, '▲', '^'},    // green
	{RGB{0xb8, 0x47, 0x00}, RGB{0xdf, 0x50, 0x20}, 88, 202, 9, 3, '◆', '*'},   // vermilion
	{RGB{0xcc, 0x79, 0xa7}, RGB{0xd5, 0x97, 0xad}, 139, 182, 13, 0, '▼', 'v'}, // purple
	{RGB{0x23, 0x9d, 0xd7}, RGB{0x69, 0xd3, 0xff}, 32, 159, 6, 1, '○', '0'},   // sky
	{RGB{0x33, 0x22, 0x88}, RGB{0x51, 0x77, 0xfa}, 19, 135, 12, 2, '□', '='},  // indigo
	{RGB{0x94, 0x92, 0x45}, RGB{0xc6, 0xc6, 0x66}, 137, 227, 3, 3, '△', '+'},  // olive
	{RGB{0x87, 0x22, 0x56}, RGB{0xb9, 0x58, 0x9d}, 53, 170, 5, 0, '◇', 'x'},   // wine
	{RGB{0xce, 0x61, 0x70}, RGB{0xc6, 0x5c, 0x59}, 125, 203, 1, 1, '▽', '%'},  // rose
}

// Swatches returns all swatches, by slot.
func Swatches() []Swatch { return slices.Clone(swatches[:]) }

// Palette gives kernels their swatches, by identity: the same kernel looks the
// same in every run as far as possible, and those in focus at once look
// different. The zero value is ready for use; it is not safe for concurrent
// use.
type Palette struct {
	owners [len(swatches)]owner
	clock  int
}

// owner is the kernel that holds a slot.
type owner struct {
	id   string
	seen int // last time in focus, 0: the slot is free
}

// preferred is a kernel's slot where nobody else is in the way.
func preferred(id string) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() % uint32(len(swatches)))
}

// Focus says which kernels are in focus now, and gives those that hold no slot
// one of their own: the preferred one if it is free, else the next one that is,
// else that of the kernel longest out of focus. A kernel keeps its slot until
// it is taken in that way. Of more kernels than there are slots the last ones
// get none.
func (p *Palette) Focus(ids []string) {
	p.clock++
	for i := range p.owners {
		if o := &p.owners[i]; o.seen > 0 && slices.Contains(ids, o.id) {
			o.seen = p.clock
		}
	}
	for _, id := range ids {
		if p.slot(id) >= 0 {
			continue
		}
		// Beginning at the preferred slot, the one least lately in focus: free
		// ones never were.
		best := preferred(id)
		for j := range len(p.owners) {
			if i := (preferred(id) + j) % len(p.owners); p.owners[i].seen < p.owners[best].seen {
				best = i
			}
		}
		if p.owners[best].seen < p.clock {
			p.owners[best] = owner{id, p.clock}
		}
	}
}

// slot returns the slot that a kernel holds, −1 if none.
func (p *Palette) slot(id string) int {
	return slices.IndexFunc(p.owners[:], func(o owner) bool { return o.seen > 0 && o.id == id })
}

// Of returns a kernel's swatch: that of its slot, or of the slot it prefers.
func (p *Palette) Of(id string) Swatch {
	if i := p.slot(id); i >= 0 {
		return swatches[i]
	}
	return swatches[preferred(id)]
}
