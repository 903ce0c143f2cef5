package ui

import (
	"strings"

	"kestrel/ui/plot"
)

// wrap breaks a text into lines of at most w columns, at spaces where it can.
func wrap(text string, w int) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		now := ""
		for word := range strings.FieldsSeq(line) {
			for plot.TextWidth(word) > w && w > 0 {
				if now != "" {
					out = append(out, now)
					now = ""
				}
				head, used := 0, 0
				for i, r := range word {
					if used+plot.Width(r) > w {
						break
					}
					used += plot.Width(r)
					head = i + len(string(r))
				}
				if head == 0 {
					break
				}
				out = append(out, word[:head])
				word = word[head:]
			}
			switch {
			case now == "":
				now = word
			case plot.TextWidth(now)+1+plot.TextWidth(word) <= w:
				now += " " + word
			default:
				out = append(out, now)
				now = word
			}
		}
		out = append(out, now)
	}
	return out
}

// drawWrapped writes a text into r and returns the lines used.
func drawWrapped(c *plot.Canvas, r plot.Rect, text string, s plot.Style) int {
	lines := wrap(text, r.W)
	for i, l := range lines {
		if i < r.H {
			c.TextFit(r.X, r.Y+i, r.W, l, s)
		}
	}
	return min(len(lines), r.H)
}
