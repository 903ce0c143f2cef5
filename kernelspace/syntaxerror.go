package kernelspace

import (
	"fmt"
	"strings"
	"unicode"
)

// SyntaxError says where and why an expression could not be read.
type SyntaxError struct {
	Input string // the whole expression
	Col   int    // 0-based offset, in runes
	Msg   string // what is wrong there and what to do
}

// maxShown is how much of a long expression an error message repeats.
const maxShown = 60

// Error returns one line with the expression, the 1-based column and the reason.
func (e *SyntaxError) Error() string {
	shown, n := e.Input, 0
	for i := range shown {
		if n == maxShown {
			shown = shown[:i] + "…"
			break
		}
		n++
	}
	return fmt.Sprintf("kernel expression %q, column %d: %s", shown, e.Col+1, e.Msg)
}

// maxBefore and maxBehind are how much of a long expression Caret shows on
// either side of the column.
const (
	maxBefore = 100
	maxBehind = 60
)

// Caret returns two lines: the expression, of a long one the part around the
// column, and a ^ under the column.
func (e *SyntaxError) Caret() string {
	runes, col := []rune(e.Input), e.Col
	head, tail := "", ""
	if len(runes) > maxBefore+maxBehind {
		if end := col + maxBehind; end < len(runes) {
			runes, tail = runes[:end], "…"
		}
		if begin := col - maxBefore; begin > 0 {
			runes, head, col = runes[begin:], "…", maxBefore+1
		}
	}
	line := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' ' // one cell each, or the caret would not line up
	}, string(runes))
	return head + line + tail + "\n" + strings.Repeat(" ", col) + "^"
}
