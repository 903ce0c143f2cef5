package grid

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"example.com/kestrel/internal/must"
)

// Words begin and numbers end in the same column, by the width that a terminal gives
// characters; nothing steers it, and lines have no spaces at their ends.
func TestWrite(t *testing.T) {
	var b strings.Builder
	table := Table{Heads: []string{"kernel", "q*", "mark"}, Left: []int{0, 2}}
	table.Row("PER×LIN", "0.93", "")
	table.Row("東京", "12.5", "equal")
	must.OK(t, table.Write(&b))
	want := "" +
		"kernel     q*  mark\n" +
		"────────────────────\n" +
		"PER×LIN  0.93\n" +
		"東京     12.5  equal\n"
	if got := b.String(); got != want {
		t.Errorf("\n%q, want\n%q", got, want)
	}
}

// In little room what matters least is left out, then names lose their middle; what stays is as it was.
func TestWriteInLittleRoom(t *testing.T) {
	table := Table{Heads: []string{"rank", "kernel", "q*", "local ELBO", "mark"}, Left: []int{1, 4},
		Less: []string{"local ELBO", "q*"}, Names: 1}
	table.Row("1", "LIN[age]+SE[area]+CAT[東京]+RW[time]", "0.93", "-12.5", "")
	table.Row("2", "RW[time]", "0.07", "-14.1", "told apart")
	lines := func(width int) []string {
		var b strings.Builder
		table.Width = width
		must.OK(t, table.Write(&b))
		return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	}
	for width, want := range map[int]string{
		0: "   1  LIN[age]+SE[area]+CAT[東京]+RW[time]  0.93       -12.5", 72: "   1  LIN[age]+SE[area]+CAT[東京]+RW[time]  0.93       -12.5",
		71: "   1  LIN[age]+SE[area]+CAT[東京]+RW[time]  0.93", 60: "   1  LIN[age]+SE[area]+CAT[東京]+RW[time]  0.93",
		59: "   1  LIN[age]+SE[area]+CAT[東京]+RW[time]", 50: "   1  LIN[age]+SE[area…[東京]+RW[time]",
		10: "   1  LIN[age]+SE[…]+RW[time]",
	} {
		if got := lines(width)[2]; got != want {
			t.Errorf("in %d: %q, want %q", width, got, want)
		}
	}
	for width := 44; width < 80; width++ {
		for _, l := range lines(width) {
			if ansi.StringWidth(l) > width {
				t.Errorf("in %d: %q", width, l)
			}
		}
	}
	if len(table.Heads) != 5 || len(table.Rows[0]) != 5 || table.Rows[0][1] != "LIN[age]+SE[area]+CAT[東京]+RW[time]" {
		t.Errorf("the table has become %+v", table)
	}
}

func TestMarkdown(t *testing.T) {
	var b strings.Builder
	table := Table{Heads: []string{"method", "CRPS"}, Left: []int{0}}
	table.Row("kestrel", "4.5")
	must.OK(t, table.Markdown(&b))
	if got, want := b.String(), "| method | CRPS |\n|---|---:|\n| kestrel | 4.5 |\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Lines end at spaces, at most 100 columns wide, and have all words in their order.
func TestParagraph(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat("kestrel predict --horizon 東京 ", 20))
	var b strings.Builder
	must.OK(t, Paragraph(&b, text))
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if strings.Join(lines, " ") != text || len(lines) < 5 {
		t.Errorf("%q", lines)
	}
	for _, l := range lines {
		if n := len([]rune(l)) + strings.Count(l, "東京")*2; n > 100 {
			t.Errorf("%d columns: %q", n, l)
		}
	}
}

// What stands in a cell of a page does not end it.
func TestMarkdownBars(t *testing.T) {
	table := Table{Heads: []string{"a|b"}, Left: []int{0}}
	table.Row("c|d")
	var b strings.Builder
	if err := table.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); n != 2 {
			t.Errorf("%q has %d bars", line, n)
		}
	}
}

// A number keeps its % where a line is broken.
func TestParagraphKeepsPercent(t *testing.T) {
	var out strings.Builder
	must.OK(t, Paragraph(&out, strings.Repeat("word ", 15)+"a 95 % or")) // 95 would have room, and no % behind it
	if got := out.String(); got != strings.Repeat("word ", 15)+"a\n95 % or\n" {
		t.Errorf("%q", got)
	}
}
