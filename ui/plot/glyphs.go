package plot

import "github.com/NimbleMarkets/ntcharts/v2/canvas/runes"

// Glyphs says which characters the terminal's font has.
type Glyphs int

const (
	Braille Glyphs = iota // 2 x 4 dots in a cell
	Blocks                // quadrants, 2 x 2, and eighths of blocks
	Halves                // half blocks, 1 x 2: the fonts of consoles without more (CP437)
	ASCII                 // 1 x 3 by the height of ' - .
)

// dots returns how many dots a cell has across and down.
func (g Glyphs) dots() (across, down int) {
	switch g {
	case Blocks:
		return 2, 2
	case Halves:
		return 1, 2
	case ASCII:
		return 1, 3
	}
	return 2, 4
}

// maxAcross and maxDown bound what dots returns.
const maxAcross, maxDown = 2, 4

// dotBit returns the bit of a dot in a cell's mask.
func (g Glyphs) dotBit(x, y int) uint8 {
	if g != Braille {
		across, _ := g.dots()
		return 1 << (y*across + x)
	}
	// Unicode numbers the upper six dots by columns and then the lowest two.
	return [maxAcross][maxDown]uint8{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}[x][y]
}

// rune returns the character of a mask.
func (g Glyphs) rune(mask uint8) rune {
	switch g {
	case Blocks:
		return [16]rune{' ', '▘', '▝', '▀', '▖', '▌', '▞', '▛', '▗', '▚', '▐', '▜', '▄', '▙', '▟', '█'}[mask&15]
	case Halves:
		return [4]rune{' ', '▀', '▄', '█'}[mask&3]
	case ASCII:
		return [8]rune{' ', '\'', '-', '\'', '.', '|', '.', '|'}[mask&7]
	}
	return runes.BrailleBlockOffset | rune(mask)
}

// lines are the characters of frames and axes.
type lines struct {
	horizontal, vertical                         rune
	topLeft, topRight, bottomLeft, bottomRight   rune
	tickLeft, tickDown, corner, cursor           rune
	up, down, point, focus, shade, missing, more rune
	upper, lower                                 rune // halves of a cell
}

func (g Glyphs) lines() lines {
	l := lines{
		horizontal: runes.LineHorizontal, vertical: runes.LineVertical,
		topLeft: runes.ArcDownRight, topRight: runes.ArcDownLeft,
		bottomLeft: runes.ArcUpRight, bottomRight: runes.ArcUpLeft,
		tickLeft: runes.LineVerticalLeft, tickDown: runes.LineHorizontalDown, corner: runes.LineUpRight,
		cursor: '┊', up: '▲', down: '▼', point: '●', focus: '▸', shade: '░', missing: '·', more: '…',
		upper: '▀', lower: '▄',
	}
	switch g {
	case Halves:
		l.topLeft, l.topRight = runes.LineDownRight, runes.LineDownLeft
		l.bottomLeft, l.bottomRight = runes.LineUpRight, runes.LineUpLeft
		l.cursor, l.point, l.focus = ':', '*', '►'
	case ASCII:
		l = lines{
			horizontal: '-', vertical: '|', topLeft: '+', topRight: '+', bottomLeft: '+', bottomRight: '+',
			tickLeft: '+', tickDown: '+', corner: '+', cursor: ':', up: '^', down: 'v', point: 'O', focus: '>',
			shade: ':', missing: '.', more: '~',
		}
	}
	return l
}
