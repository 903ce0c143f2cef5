package picture

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"example.com/kestrel/ui/plot"
)

// Picture is one that is to be seen on some cells of the screen.
type Picture struct {
	Cells plot.Rect
	Of    string       // what it shows: pictures on the same cells with the same Of are the same
	Paint func(*Image) // may be called on another goroutine

	// Free are the cells of the picture, from its corner, whose characters are seen.
	Free []image.Point
}

// Same reports whether two pictures need not be told apart.
func (p *Picture) Same(q *Picture) bool {
	if p == nil || q == nil {
		return p == q
	}
	return p.Cells == q.Cells && p.Of == q.Of
}

// Sequence is what puts a picture onto its cells, the cursor left where it is. ground is
// the terminal's background.
func (t *Terminal) Sequence(p *Picture, ground color.RGBA) string {
	cellW, cellH := t.painted(p.Cells.W, p.Cells.H)
	img := &Image{RGBA: image.NewRGBA(image.Rect(0, 0, p.Cells.W*cellW, p.Cells.H*cellH)), CellW: cellW, CellH: cellH, Ground: ground}
	if t.Protocol == Sixel { // sixels stay where another picture paints nothing
		draw.Draw(img, img.Rect, image.NewUniform(ground), image.Point{}, draw.Src)
	}
	p.Paint(img)
	for _, at := range p.Free {
		cell := image.Rect(at.X*cellW, at.Y*cellH, (at.X+1)*cellW, (at.Y+1)*cellH)
		draw.Draw(img, cell, image.Transparent, image.Point{}, draw.Src)
	}
	var text string
	if t.Protocol == Kitty { // which fits a picture to its cells
		text = apc(img.RGBA, p.Cells.W, p.Cells.H)
	} else {
		text = sixels(img.RGBA, p.Cells.W*t.CellW, p.Cells.H*t.CellH)
	}
	return ansi.SaveCursor + ansi.CursorPosition(p.Cells.X+1, p.Cells.Y+1) + text + ansi.RestoreCursor
}

// shown is the number of the picture that is shown, another one of which takes its place.
const shown = 0x6b657302

// Gone is what takes away a picture that is shown, without its cells. Sixels go when the
// screen is drawn anew; ok is then false.
func (t *Terminal) Gone() (text string, ok bool) {
	if t.Protocol != Kitty {
		return "", false
	}
	return ansi.KittyGraphics(nil, "a=d", "d=I", "i="+number(shown), "q=2"), true
}

// mostChunk is how much of a picture kitty's protocol takes in one sequence, in base64.
const mostChunk = 4096

// apc is a picture as a PNG, on w x h cells below their characters, in kitty's
// graphics protocol.
func apc(img image.Image, w, h int) string {
	var file bytes.Buffer
	if err := png.Encode(&file, img); err != nil {
		return "" // of no image that is there
	}
	data := base64.StdEncoding.EncodeToString(file.Bytes())
	keys := []string{"a=T", "f=100", "t=d", "i=" + number(shown), "p=1", "c=" + number(w), "r=" + number(h), "z=-1", "C=1", "q=2"}
	var b strings.Builder
	for len(data) > mostChunk {
		b.WriteString(ansi.KittyGraphics([]byte(data[:mostChunk]), append(keys, "m=1")...))
		data, keys = data[mostChunk:], []string{"q=2"}
	}
	b.WriteString(ansi.KittyGraphics([]byte(data), append(keys, "m=0")...))
	return b.String()
}

func number(n int) string { return strconv.Itoa(n) }
