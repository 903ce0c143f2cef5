package datasets

import (
	"encoding/binary"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// utf16Text reads UTF-16 as UTF-8, without its byte order mark. What is no
// UTF-16, an odd byte at the end too, becomes U+FFFD, each half of a pair its
// own; golang.org/x/text makes one of two low halves in a row.
type utf16Text struct {
	from  io.Reader
	order binary.ByteOrder
	raw   []byte // read; the first kept bytes of it are not decoded yet
	kept  int
	text  []byte // decoded, not handed over yet
	begun bool
	err   error
}

// newUTF16Text returns nil if a text that begins so is not UTF-16 with a byte
// order mark.
func newUTF16Text(from io.Reader, begin []byte) io.Reader {
	u := &utf16Text{from: from, order: binary.LittleEndian}
	switch {
	case len(begin) < 2:
		return nil
	case begin[0] == 0xff && begin[1] == 0xfe:
	case begin[0] == 0xfe && begin[1] == 0xff:
		u.order = binary.BigEndian
	default:
		return nil
	}
	return u
}

func (u *utf16Text) Read(p []byte) (int, error) {
	for len(u.text) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		u.decode()
	}
	n := copy(p, u.text)
	u.text = u.text[n:]
	return n, nil
}

// decode reads on. A surrogate at the end waits for its other half.
func (u *utf16Text) decode() {
	if u.raw == nil {
		u.raw = make([]byte, 1<<16)
	}
	n, err := u.from.Read(u.raw[u.kept:])
	raw, text := u.raw[:u.kept+n], u.text[:0]
	u.err, u.kept = err, 0
	at := 0
	for ; at+2 <= len(raw); at += 2 {
		r := rune(u.order.Uint16(raw[at:]))
		if utf16.IsSurrogate(r) {
			if at+4 > len(raw) && err == nil {
				break
			}
			low := rune(0)
			if at+4 <= len(raw) {
				low = rune(u.order.Uint16(raw[at+2:]))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				at += 2
			}
		}
		if u.begun || r != '\ufeff' {
			text = utf8.AppendRune(text, r)
		}
		u.begun = true
	}
	if err == nil {
		u.kept = copy(u.raw, raw[at:])
	} else if at < len(raw) {
		text = utf8.AppendRune(text, utf8.RuneError)
	}
	u.text = text
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
