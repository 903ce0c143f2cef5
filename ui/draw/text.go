// Package draw draws what all screens have alike: text in lines, frames, and the
// line of keys.
package draw

import (
	"strings"

	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/plot"
)

// Wrap breaks a text into lines of at most w columns, at spaces where it can.
func Wrap(text string, w int) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		now := ""
		for _, word := range words.Unbroken(line) {
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

// Wrapped writes a text into r and returns the lines used.
func Wrapped(c *plot.Canvas, r plot.Rect, text string, s plot.Style) int {
	lines := Wrap(text, r.W)
	for i, l := range lines {
		if i < r.H {
			c.TextFit(r.X, r.Y+i, r.W, l, s)
		}
	}
	return min(len(lines), r.H)
}

// LinesFor breaks a text into lines of w columns, the last of which takes what is
// left where there would be more than so many.
func LinesFor(text string, w, most int) []string {
	lines := Wrap(text, w)
	if most = max(1, most); len(lines) > most {
		lines = append(lines[:most-1:most-1], strings.Join(lines[most-1:], " "))
	}
	return lines
}

// Lines writes lines of text from line `from` on.
func Lines(c *plot.Canvas, r plot.Rect, lines []string, from int, s plot.Style) {
	from = max(0, min(from, len(lines)-r.H))
	for i := 0; i < r.H && from+i < len(lines); i++ {
		c.TextFit(r.X, r.Y+i, r.W, lines[from+i], s)
	}
}

// Empty writes a text in the middle of a part of the screen.
func Empty(c *plot.Canvas, r plot.Rect, text string, s plot.Style) {
	lines := Wrap(text, r.W-2)
	y := r.Y + max(0, (r.H-len(lines))/2)
	for i, l := range lines {
		if i < r.H {
			c.TextFit(r.X+max(0, (r.W-plot.TextWidth(l))/2), y+i, r.W, l, s)
		}
	}
}
