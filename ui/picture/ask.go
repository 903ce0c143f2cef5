package picture

import (
	"slices"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Protocol is how a terminal takes pictures.
type Protocol int

const (
	None Protocol = iota
	Kitty
	Sixel
)

// probe is the number of the picture that kitty's protocol is asked with.
const probe = 0x6b657301

// Terminal is what is known of a terminal. The zero Terminal shows no pictures.
type Terminal struct {
	Protocol     Protocol
	CellW, CellH int // pixels

	kitty bool // it has answered
}

// Question is what a terminal is asked at first: for kitty's protocol, for the size of
// a cell, and for its attributes, which every terminal has an answer to, so that by then
// the others have come or will not. "" where nothing is asked: tmux and screen keep what
// goes through them, and the attributes are theirs; kitty's protocol is asked for only
// where the environment names a terminal that has it, since some others print what they
// do not know.
func Question(env func(string) string) string {
	term := env("TERM")
	if env("TMUX") != "" || env("STY") != "" || env("NO_COLOR") != "" || term == "" {
		return ""
	}
	for _, kept := range []string{"screen", "tmux", "dumb", "linux"} {
		if strings.HasPrefix(term, kept) {
			return ""
		}
	}
	text := ""
	program := env("TERM_PROGRAM")
	if term == "xterm-kitty" || term == "xterm-ghostty" || env("KITTY_WINDOW_ID") != "" || env("KONSOLE_VERSION") != "" ||
		slices.Contains([]string{"ghostty", "WezTerm", "kitty"}, program) {
		text = ansi.KittyGraphics([]byte("AAAA"), "a=q", "t=d", "f=24", "s=1", "v=1", "i="+number(probe))
	}
	return text + SizeQuestion + ansi.RequestPrimaryDeviceAttributes
}

// SizeQuestion asks for the size of a cell, XTWINOPS 16.
const SizeQuestion = "\x1b[16t"

// attributeSixel is in the primary device attributes of terminals that show sixels.
const attributeSixel = 4

// Hear takes an answer in, and reports whether msg is one.
func (t *Terminal) Hear(msg any) bool {
	switch msg := msg.(type) {
	case uv.KittyGraphicsEvent:
		t.kitty = t.kitty || msg.Options.ID == probe && string(msg.Payload) == "OK"
	case uv.CellSizeEvent:
		if t.CellW, t.CellH = msg.Width, msg.Height; t.CellW < 1 || t.CellH < 1 || t.CellW > mostCell || t.CellH > mostCell {
			t.CellW, t.CellH = 0, 0
		}
	case uv.PrimaryDeviceAttributesEvent:
		switch {
		case t.kitty:
			t.Protocol = Kitty
		case slices.Contains(msg, attributeSixel):
			t.Protocol = Sixel
		}
	default:
		return false
	}
	return true
}

const (
	mostCell   = 200     // pixels of a cell in one direction
	mostPixels = 4 << 20 // of a picture as it is painted
	mostShrunk = 3       // times as wide and as high it may be shown
)

// Can reports whether a picture on so many cells can be shown.
func (t *Terminal) Can(w, h int) bool {
	if t.Protocol == None || t.CellW <= 0 || w <= 0 || h <= 0 {
		return false
	}
	cellW, cellH := t.painted(w, h)
	return w*h*cellW*cellH <= mostPixels
}

// painted is how many pixels of a cell are painted: where cells are many and large, as of a
// wide window on a screen of high resolution, each stands for several.
func (t *Terminal) painted(w, h int) (cellW, cellH int) {
	for k := 1; ; k++ {
		cellW, cellH = max(1, t.CellW/k), max(1, t.CellH/k)
		if k == mostShrunk || w*h*cellW*cellH <= mostPixels {
			return cellW, cellH
		}
	}
}
