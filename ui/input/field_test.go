package input

import (
	"strings"
	"testing"

	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// A field that is not edited shows its beginning, and that there is more.
func TestFieldShowsItsBeginning(t *testing.T) {
	f := NewField("SE, PER*SE, (PER + RQ)*LIN", "")
	c := plot.NewCanvas(20, 1)
	th := theme.New(theme.PlainProfile, true, plot.Braille)
	f.Draw(c, 0, 0, 12, th, false)
	if text := strings.TrimSpace(c.Plain()); text != "SE, PER*SE,…" {
		t.Errorf("%q", text)
	}
	if at := f.ColumnOf(4, 12, false); at != 4 {
		t.Errorf("the fifth character is in column %d", at)
	}
	c = plot.NewCanvas(20, 1)
	f.Draw(c, 0, 0, 12, th, true)
	if text := strings.TrimSpace(c.Plain()); !strings.HasSuffix(text, "RQ)*LIN") {
		t.Errorf("%q while it is edited at its end", text)
	}
}

// Each character is where ColumnOf says, or out of sight; wide ones too. A field that is
// edited has one cursor.
func TestColumnsOfCharacters(t *testing.T) {
	th := theme.New(theme.PlainProfile, true, plot.Braille)
	for _, text := range []string{"SE+LIN", "a核bc🚀de, PER*SE", ""} {
		for _, focused := range []bool{false, true} {
			for w := 1; w < 20; w++ {
				f := NewField(text, "")
				c := plot.NewCanvas(30, 1)
				f.Draw(c, 3, 0, w, th, focused)
				cursors := 0
				for x := range 30 {
					if c.At(x, 0).Style.Attr&plot.Reverse != 0 {
						cursors++
					}
				}
				if cursors != map[bool]int{true: 1}[focused] {
					t.Errorf("%q in %d columns, edited %v: %d cursors", text, w, focused, cursors)
				}
				seen := 0
				for i, r := range []rune(text) {
					at := f.ColumnOf(i, w, focused)
					if at < 0 {
						continue
					}
					seen++
					// The last column is the sign for more where the text is cut, or half of a wide character.
					if got := c.At(3+at, 0).Rune; got != r && at < w-2 {
						t.Errorf("%q in %d columns: %q in column %d, want %q", text, w, got, at, r)
					}
				}
				if text != "" && seen == 0 && w > 1 {
					t.Errorf("%q in %d columns: nothing is in sight", text, w)
				}
			}
		}
	}
	f := NewField("SE+LIN", "")
	if got := f.ColumnOf(0, 10, false); got != 0 {
		t.Errorf("the first character is in column %d", got)
	}
}
