package datasets

import (
	"bytes"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	utf "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// newUTF16Text reads UTF-16 as UTF-8, without its byte order mark, and returns nil
// if a text that begins so is not UTF-16 with such a mark. What is no UTF-16, an
// odd byte at the end too, becomes U+FFFD.
func newUTF16Text(from io.Reader, begin []byte) io.Reader {
	if !bytes.HasPrefix(begin, []byte{0xff, 0xfe}) && !bytes.HasPrefix(begin, []byte{0xfe, 0xff}) {
		return nil
	}
	return transform.NewReader(from, utf.UTF16(utf.BigEndian, utf.ExpectBOM).NewDecoder())
}

// carriageReturns reads a text whose lines end in a carriage return alone, as of
// old Macintoshes, with line feeds in their place.
type carriageReturns struct{ io.Reader }

func (c carriageReturns) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	for i, b := range p[:n] {
		if b == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// readable returns a name as UTF-8. One that is not is taken for Windows-1252,
// which differs from Latin-1 in nothing that can be printed.
func readable(name string) (text string, converted bool) {
	if utf8.ValidString(name) {
		return name, false
	}
	var b strings.Builder
	for i := range len(name) {
		r := charmap.Windows1252.DecodeByte(name[i])
		if r >= 0x80 && r < 0xa0 { // a control where the code page has nothing
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String(), true
}

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
