package main

import (
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Pixels of a cell, of the letters in it, from its top to their foot, and of the
// edge.
const width, height, letter, foot, edge = 8, 16, 13, 12, 12

// A span is the screens from one to before another.
type span struct{ from, to int }

func (s span) name() string { return fmt.Sprintf("f%d-%d", s.from, s.to) }

// draw makes the SVG. What stands in a line for several screens is in it once.
// Where nothing moves, in a program that knows no animation or for who wants none,
// one screen is shown, still from 0.
func draw(film []screen, seconds float64, still int, title string) string {
	lines, columns := 0, 0
	for _, s := range film {
		lines = max(lines, len(s))
		for _, l := range s {
			columns = max(columns, len(l))
		}
	}
	var body strings.Builder
	moving := map[span]bool{}
	for y := range lines {
		row := make([]string, len(film))
		for i, s := range film {
			if y < len(s) {
				row[i] = drawLine(s[y])
			}
		}
		fmt.Fprintf(&body, `<g transform="translate(%d %d)">`, edge, edge+y*height)
		for from := 0; from < len(row); {
			s := span{from, from + 1}
			for s.to < len(row) && row[s.to] == row[from] {
				s.to++
			}
			from = s.to
			switch {
			case row[s.from] == "":
			case s == span{0, len(film)}:
				body.WriteString(row[s.from])
			case s.from <= still && still < s.to:
				fmt.Fprintf(&body, `<g class="%s">%s</g>`, s.name(), row[s.from])
				moving[s] = true
			default:
				fmt.Fprintf(&body, `<g class="%s" opacity="0">%s</g>`, s.name(), row[s.from])
				moving[s] = true
			}
		}
		body.WriteString("</g>\n")
	}

	var b strings.Builder
	w, h := columns*width+2*edge, lines*height+2*edge
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" fill="%s">`+"\n",
		w, h, w, h, ink)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>\n", escaped(title))
	fmt.Fprintf(&b, "text{font:%dpx ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}\n", letter)
	b.WriteString(".b{font-weight:bold}.u{text-decoration:underline}.l{fill:none}.d{fill:none;stroke-width:2;stroke-linecap:round}\n")
	order := slices.SortedFunc(maps.Keys(moving), func(a, b span) int { return (a.from-b.from)*len(film) + a.to - b.to })
	for _, s := range order {
		percent := 100 / float64(len(film))
		fmt.Fprintf(&b, "@keyframes %s{0%%{opacity:0}%.4g%%{opacity:1}%.4g%%{opacity:0}}",
			s.name(), percent*float64(s.from), percent*float64(s.to))
		fmt.Fprintf(&b, ".%s{animation:%s %.4gs step-end infinite}\n", s.name(), s.name(), seconds*float64(len(film)))
	}
	b.WriteString("@media (prefers-reduced-motion:reduce){g{animation:none!important}}\n</style>\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="%s"/>`+"\n%s</svg>\n", w, h, paper, body.String())
	return b.String()
}

// drawLine draws a line of cells, from y = 0 to height.
func drawLine(cells []cell) string {
	var b strings.Builder
	paths(&b, cells, func(x int, c cell) (string, string) {
		if c.behind == "" {
			return "", ""
		}
		return "fill=" + c.behind, box(x, 0, width, height)
	})
	paths(&b, cells, func(x int, c cell) (string, string) {
		class, path := shape(c.char, x)
		if class == "" {
			return "fill=" + c.colour, path
		}
		return "class=" + class + " stroke=" + c.colour, path
	})
	for from := 0; from < len(cells); {
		to := from + 1
		if !written(cells[from]) {
			from = to
			continue
		}
		for end := to; end < len(cells) && end <= to+1; end++ { // over one space, not over two
			if !alike(cells[end], cells[from]) {
				break
			}
			if written(cells[end]) {
				to = end + 1
			}
		}
		writeText(&b, from*width, cells[from:to])
		from = to
	}
	return b.String()
}

// writeText writes cells of one style, whose letters take the room of the cells in
// any font.
func writeText(b *strings.Builder, x int, cells []cell) {
	fmt.Fprintf(b, `<text x="%d" y="%d"`, x, foot)
	if len(cells) > 1 {
		fmt.Fprintf(b, ` textLength="%d"`, len(cells)*width)
	}
	if c := cells[0].colour; c != ink {
		fmt.Fprintf(b, ` fill="%s"`, c)
	}
	switch c := cells[0]; {
	case c.bold && c.underlined:
		b.WriteString(` class="b u"`)
	case c.bold:
		b.WriteString(` class="b"`)
	case c.underlined:
		b.WriteString(` class="u"`)
	}
	var text strings.Builder
	for _, c := range cells {
		text.WriteRune(c.char)
	}
	fmt.Fprintf(b, ">%s</text>", escaped(text.String()))
}

// alike reports whether two cells can be in one text.
func alike(a, b cell) bool {
	return (a.char == ' ' || written(a)) && a.colour == b.colour && a.bold == b.bold && a.underlined == b.underlined
}

// written reports whether a cell has a letter.
func written(c cell) bool {
	_, drawn := shape(c.char, 0)
	return c.char != ' ' && drawn == ""
}

// paths writes a path for each style among the cells, in the order of the first.
// A style is a list of attributes, name=value.
func paths(b *strings.Builder, cells []cell, of func(x int, c cell) (style, path string)) {
	var styles []string
	all := map[string]string{}
	for i, c := range cells {
		style, path := of(i*width, c)
		if path == "" {
			continue
		}
		if _, known := all[style]; !known {
			styles = append(styles, style)
		}
		all[style] = joined(all[style], path)
	}
	for _, s := range styles {
		b.WriteString("<path")
		for attribute := range strings.FieldsSeq(s) {
			name, value, _ := strings.Cut(attribute, "=")
			fmt.Fprintf(b, ` %s="%s"`, name, value)
		}
		fmt.Fprintf(b, ` d="%s"/>`, all[s])
	}
}

// joined appends a path to another one, of which a horizontal line goes on where
// the other ends.
func joined(path, next string) string {
	var x, to, y int
	if n, _ := fmt.Sscanf(next, "M%d %dH%d", &x, &y, &to); n == 3 {
		if before, ok := strings.CutSuffix(path, fmt.Sprintf("H%d", x)); ok && y == height/2 {
			return before + strings.TrimPrefix(next, fmt.Sprintf("M%d %d", x, y))
		}
	}
	return path + next
}

func escaped(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err) // a Builder takes everything
	}
	return b.String()
}
