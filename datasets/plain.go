package datasets

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain makes foreign text fit for a terminal: what would steer it (control
// characters of either set, ESC and the 8-bit CSI among them), reorder what
// stands beside it, or is no UTF-8 becomes �. Line feeds and tabs stay.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && steers(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}

// PlainLine is Plain for a text that must stay one line: line feeds and tabs
// become spaces.
func PlainLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case steers(r):
			return utf8.RuneError
		}
		return r
	}, text)
}

// steers reports whether a character has an effect beyond its own place:
// controls, separators of lines and paragraphs, and the controls of the order
// of writing (Unicode annex 9). strings.Map hands over what is no UTF-8 as
// utf8.RuneError.
func steers(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}
