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

// linesFor breaks a text into lines of w columns, the last of which takes what is
// left where there would be more than so many.
func linesFor(text string, w, most int) []string {
	lines := wrap(text, w)
	if most = max(1, most); len(lines) > most {
		lines = append(lines[:most-1:most-1], strings.Join(lines[most-1:], " "))
	}
	return lines
}

// drawLines writes lines of text from line `from` on.
func drawLines(c *plot.Canvas, r plot.Rect, lines []string, from int, s plot.Style) {
	from = max(0, min(from, len(lines)-r.H))
	for i := 0; i < r.H && from+i < len(lines); i++ {
		c.TextFit(r.X, r.Y+i, r.W, lines[from+i], s)
	}
}

// drawEmpty writes a text in the middle of a part of the screen.
func drawEmpty(c *plot.Canvas, r plot.Rect, text string, s plot.Style) {
	lines := wrap(text, r.W-2)
	y := r.Y + max(0, (r.H-len(lines))/2)
	for i, l := range lines {
		if i < r.H {
			c.TextFit(r.X+max(0, (r.W-plot.TextWidth(l))/2), y+i, r.W, l, s)
		}
	}
}
