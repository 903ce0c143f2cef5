package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Colours of a dark terminal where no others are asked for.
const ink, paper = "#c9d1d9", "#0d1117"

// A cell is a character and how it is shown; background is empty where it is the
// paper's.
type cell struct {
	char             rune
	colour, behind   string
	bold, underlined bool
}

// A screen is a list of lines, each as long as it was written.
type screen [][]cell

// pen is what escape sequences have switched on.
type pen struct {
	colour, behind             string
	bold, underlined, reversed bool
}

func (p pen) write(c rune) cell {
	out := cell{c, p.colour, p.behind, p.bold, p.underlined}
	if p.reversed {
		if out.behind == "" {
			out.behind = paper
		}
		out.colour, out.behind = out.behind, out.colour
	}
	return out
}

// parse reads what tmux capture-pane -e -p wrote: text, and SGR sequences (ECMA-48,
// 8.3.117), which hold on from one line to the next. Other sequences are left out.
func parse(text string) screen {
	var s screen
	p := pen{colour: ink}
	for line := range strings.SplitSeq(text, "\n") {
		var cells []cell
		for line != "" {
			if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
				end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
				if end < 0 {
					break
				}
				if rest[end] == 'm' {
					p.set(rest[:end])
				}
				line = rest[end+1:]
				continue
			}
			r, size := utf8.DecodeRuneInString(line)
			line = line[size:]
			if r >= ' ' {
				cells = append(cells, p.write(r))
			}
		}
		s = append(s, cells)
	}
	return s
}

// set does what the numbers of an SGR sequence say.
func (p *pen) set(numbers string) {
	var n []int
	for f := range strings.FieldsFuncSeq(numbers, func(r rune) bool { return r == ';' || r == ':' }) {
		v, _ := strconv.Atoi(f)
		n = append(n, v)
	}
	if len(n) == 0 {
		n = []int{0}
	}
	for i := 0; i < len(n); i++ {
		switch v := n[i]; {
		case v == 0:
			*p = pen{colour: ink}
		case v == 1, v == 22:
			p.bold = v == 1
		case v == 4, v == 24:
			p.underlined = v == 4
		case v == 7, v == 27:
			p.reversed = v == 7
		case v == 39:
			p.colour = ink
		case v == 49:
			p.behind = ""
		case v >= 30 && v <= 37:
			p.colour = indexed(v - 30)
		case v >= 90 && v <= 97:
			p.colour = indexed(v - 90 + 8)
		case v >= 40 && v <= 47:
			p.behind = indexed(v - 40)
		case v >= 100 && v <= 107:
			p.behind = indexed(v - 100 + 8)
		case v == 38 || v == 48:
			colour, took := ink, 0
			switch {
			case len(n) > i+2 && n[i+1] == 5:
				colour, took = indexed(n[i+2]), 2
			case len(n) > i+4 && n[i+1] == 2:
				colour, took = fmt.Sprintf("#%02x%02x%02x", n[i+2], n[i+3], n[i+4]), 4
			}
			if v == 38 {
				p.colour = colour
			} else {
				p.behind = colour
			}
			i += took
		}
	}
}

// indexed is colour i of xterm's 256: sixteen, a cube of six steps each, and greys.
func indexed(i int) string {
	sixteen := []string{
		"#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
		"#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc",
	}
	switch {
	case i < 16:
		return sixteen[i]
	case i < 232:
		step := func(k int) int {
			if k == 0 {
				return 0
			}
			return 55 + 40*k
		}
		i -= 16
		return fmt.Sprintf("#%02x%02x%02x", step(i/36), step(i/6%6), step(i%6))
	}
	v := 8 + 10*(i-232)
	return fmt.Sprintf("#%02x%02x%02x", v, v, v)
}
