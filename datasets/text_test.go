package datasets

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Of all characters, those that steer a terminal become � and no others: the controls of
// both sets, the separators of lines and paragraphs, and the explicit controls of the
// order of writing, as Unicode's annex 9 lists them.
func TestPlainTextSteersNothing(t *testing.T) {
	steering := map[rune]bool{'\u2028': true, '\u2029': true}
	for _, span := range [][2]rune{{0, 0x1f}, {0x7f, 0x9f}, {0x61c, 0x61c}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}} {
		for r := span[0]; r <= span[1]; r++ {
			steering[r] = true
		}
	}
	var all, plain, line strings.Builder
	for r := range utf8.MaxRune + 1 {
		if !utf8.ValidRune(r) {
			continue
		}
		all.WriteRune(r)
		kept, inLine := r, r
		if r == '\n' || r == '\t' {
			inLine = ' '
		} else if steering[r] {
			kept, inLine = utf8.RuneError, utf8.RuneError
		}
		plain.WriteRune(kept)
		line.WriteRune(inLine)
	}
	for name, texts := range map[string][2]string{
		"Plain": {Plain(all.String()), plain.String()}, "PlainLine": {PlainLine(all.String()), line.String()},
	} {
		if texts[0] == texts[1] {
			continue
		}
		original, got := []rune(all.String()), []rune(texts[0])
		for i, want := range []rune(texts[1]) {
			if i >= len(got) || got[i] != want {
				t.Fatalf("%s of %U, want %U", name, original[i], want)
			}
		}
	}
}
