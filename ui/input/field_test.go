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
