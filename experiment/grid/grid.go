// Package grid lays out tables that are printed once, as text or in Markdown.
package grid

import (
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/x/ansi"

	"example.com/kestrel/experiment/words"
)

// Table is a heading and rows with as many cells. Cells are one line, without anything
// that steers a terminal.
type Table struct {
	Heads []string
	Rows  [][]string
	Left  []int // columns of words; numbers end in the same place

	Width int      // of the lines at most, as far as that can be had; 0: any
	Less  []string // heads of columns that are left out where there is no room for all, the first one first
	Names int      // then the column whose cells are cut in the middle; 0: none
}

// leastName is how far names are cut.
const leastName = 24

// fitted is the table in its width.
func (t *Table) fitted() *Table {
	if t.Width <= 0 {
		return t
	}
	out, names := *t, ""
	if t.Names > 0 {
		names = t.Heads[t.Names]
	}
	for _, head := range t.Less {
		if out.over() <= 0 {
			return &out
		}
		if at := slices.Index(out.Heads, head); at >= 0 {
			out = out.without(at)
		}
	}
	if at := slices.Index(out.Heads, names); names != "" && at >= 0 && out.over() > 0 {
		most := max(leastName, out.widths()[at]-out.over())
		out.Rows = slices.Clone(out.Rows)
		for i, cells := range out.Rows {
			out.Rows[i] = slices.Clone(cells)
			out.Rows[i][at] = cut(cells[at], most)
		}
	}
	return &out
}

// widths are those of the columns.
func (t *Table) widths() []int {
	out := make([]int, len(t.Heads))
	for _, cells := range append([][]string{t.Heads}, t.Rows...) {
		for i, c := range cells {
			out[i] = max(out[i], ansi.StringWidth(c))
		}
	}
	return out
}

// over is how many columns of characters the table is too wide.
func (t *Table) over() int {
	over := gap*(len(t.Heads)-1) - t.Width
	for _, w := range t.widths() {
		over += w
	}
	return over
}

// without is the table without a column.
func (t *Table) without(at int) Table {
	out := *t
	out.Heads, out.Rows, out.Left = slices.Delete(slices.Clone(t.Heads), at, at+1), nil, nil
	for _, cells := range t.Rows {
		out.Rows = append(out.Rows, slices.Delete(slices.Clone(cells), at, at+1))
	}
	for _, l := range t.Left {
		if l != at {
			if l > at {
				l--
			}
			out.Left = append(out.Left, l)
		}
	}
	return out
}

// cut is a text of at most so many columns of characters, without its middle.
func cut(text string, most int) string {
	width := ansi.StringWidth(text)
	if width <= most {
		return text
	}
	head := ansi.Truncate(text, most/2, "")
	room := most - 1 - ansi.StringWidth(head)
	tail := ansi.TruncateLeft(text, width-room, "")
	if ansi.StringWidth(tail) > room { // it begins with a wide character
		tail = ansi.TruncateLeft(text, width-room+1, "")
	}
	return head + "…" + tail
}

// Row adds a row.
func (t *Table) Row(cells ...string) { t.Rows = append(t.Rows, cells) }

func (t *Table) left(column int) bool {
	return slices.Contains(t.Left, column)
}

// gap stands between columns.
const gap = 2

// Write writes the table with columns as wide as the terminal counts characters, a line
// below the heading, and no spaces at the ends of lines.
func (t *Table) Write(w io.Writer) error {
	t = t.fitted()
	made := table.New().Headers(t.Heads...).Rows(t.Rows...).Border(lipgloss.NormalBorder()).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderColumn(false).Wrap(false).
		StyleFunc(func(_, column int) lipgloss.Style {
			s := lipgloss.NewStyle()
			if column > 0 {
				s = s.PaddingLeft(gap)
			}
			if t.left(column) {
				return s
			}
			return s.Align(lipgloss.Right)
		}).String()
	var b strings.Builder
	for line := range strings.Lines(made) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes the table for a page.
func (t *Table) Markdown(w io.Writer) error {
	var b strings.Builder
	row := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + strings.ReplaceAll(c, "|", `\|`) + " |")
		}
		b.WriteString("\n")
	}
	row(t.Heads)
	b.WriteString("|")
	for i := range t.Heads {
		if t.left(i) {
			b.WriteString("---|")
		} else {
			b.WriteString("---:|")
		}
	}
	b.WriteString("\n")
	for _, cells := range t.Rows {
		row(cells)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// paragraphWidth is how wide a paragraph is at most: as a narrow terminal is.
const paragraphWidth = 79

// Paragraph writes a text in lines that can be read, broken at spaces only, so that what
// is to be typed stays whole.
func Paragraph(w io.Writer, text string) error {
	var b strings.Builder
	at := 0
	for i, word := range words.Unbroken(text) {
		width := ansi.StringWidth(word)
		switch {
		case i == 0:
		case at+1+width > paragraphWidth:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += width
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}
