package main

import (
	"fmt"
	"strings"
)

// arms are the lines of a character from the middle of its cell: 1 up, 2 right,
// 4 down, 8 left.
var arms = map[rune]int{
	'─': 10, '│': 5, '┌': 6, '┐': 12, '└': 3, '┘': 9, '├': 7, '┤': 13, '┬': 14, '┴': 11, '┼': 15,
}

// corners are the round ones: the edge at which the vertical arm ends (0 top, 1
// bottom), and that of the other (0 left, 1 right).
var corners = map[rune][2]int{'╭': {1, 1}, '╮': {1, 0}, '╰': {0, 1}, '╯': {0, 0}}

// shape is the path of a character that is drawn, in the cell that begins at x,
// and the class of its stroke, "" where it is filled. Others have no path.
func shape(c rune, x int) (class, path string) {
	middle := x + width/2
	if to, ok := corners[c]; ok {
		return "l", fmt.Sprintf("M%d %dQ%d %d %d %d", middle, to[0]*height, middle, height/2, x+to[1]*width, height/2)
	}
	var b strings.Builder
	switch a := arms[c]; {
	case a != 0:
		if a&10 != 0 {
			fmt.Fprintf(&b, "M%d %dH%d", middle-(a>>3&1)*width/2, height/2, middle+(a>>1&1)*width/2)
		}
		if a&5 != 0 {
			top, bottom := height/2*(1-(a&1)), height/2*(1+(a>>2&1))
			fmt.Fprintf(&b, "M%d %dv%d", middle, top, bottom-top)
		}
		return "l", b.String()
	case c > 0x2800 && c <= 0x28ff: // Braille: dots 1, 2, 3 and 7 stand on the left, 4, 5, 6 and 8 on the right
		places := [8][2]int{{2, 2}, {2, 6}, {2, 10}, {6, 2}, {6, 6}, {6, 10}, {2, 14}, {6, 14}}
		for i, p := range places {
			if (c-0x2800)>>i&1 == 1 {
				fmt.Fprintf(&b, "M%d %dh0", x+p[0], p[1])
			}
		}
		return "d", b.String()
	case c == '█':
		return "", box(x, 0, width, height)
	case c >= '▉' && c <= '▏': // seven eighths down to one, from the left
		return "", box(x, 0, width*int('▏'-c+1)/8, height)
	case c >= '▁' && c <= '▇': // one eighth up to seven, from below
		h := height * int(c-'▁'+1) / 8
		return "", box(x, height-h, width, h)
	case c == '▀':
		return "", box(x, 0, width, height/2)
	}
	return "", ""
}

func box(x, y, w, h int) string { return fmt.Sprintf("M%d %dh%dv%dh%dz", x, y, w, h, -w) }
