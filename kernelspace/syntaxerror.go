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
	shown := []rune(e.Input)
	if len(shown) > maxShown {
		shown = append(shown[:maxShown:maxShown], '…')
	}
	return fmt.Sprintf("kernel expression %q, column %d: %s", string(shown), e.Col+1, e.Msg)
}

// Caret returns two lines: the expression, and a ^ under the column.
func (e *SyntaxError) Caret() string {
	line := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' ' // one cell each, or the caret would not line up
	}, e.Input)
	return line + "\n" + strings.Repeat(" ", e.Col) + "^"
}
