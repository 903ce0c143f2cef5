// Package grid lays out tables that are printed once, as text or in Markdown.
package grid

import (
	"io"
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
}

// Row adds a row.
func (t *Table) Row(cells ...string) { t.Rows = append(t.Rows, cells) }

func (t *Table) left(column int) bool {
	for _, c := range t.Left {
		if c == column {
			return true
		}
	}
	return false
}

// gap stands between columns.
const gap = 2

// Write writes the table with columns as wide as the terminal counts characters, a line
// below the heading, and no spaces at the ends of lines.
func (t *Table) Write(w io.Writer) error {
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
