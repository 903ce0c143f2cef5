package ui

import (
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/note"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// mostCopied is more than some terminals take into the clipboard, in bytes.
const mostCopied = 70_000

// copyPrompt asks what is to go into the clipboard.
type copyPrompt struct {
	b  *bench
	at int
}

// copies are what can be copied.
func (b *bench) copies() []struct{ key, name, text string } {
	all := []struct{ key, name, text string }{
		{"s", "what was found", words.PlainLine(b.found().Text())},
		{"t", "the table of kernels", b.copiedTable()},
		{"c", "the command that makes this run again", "kestrel run " + words.Shell(filepath.Join(b.path, record.ConfigFile))},
		{"o", "the command that shows it", "kestrel open " + words.Shell(b.path)},
	}
	if command := b.found().Command; command != "" {
		all = append(all, struct{ key, name, text string }{"n", "the command of what to do next", command})
	}
	return all
}

func (b *bench) askCopy() tea.Cmd {
	b.app.prompt = &copyPrompt{b: b}
	return nil
}

func (p *copyPrompt) update(msg tea.Msg) tea.Cmd {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	all := p.b.copies()
	switch k.String() {
	case "up":
		p.at = max(0, p.at-1)
	case "down", "tab":
		p.at = min(p.at+1, len(all)-1)
	}
	for i, c := range all {
		if c.key == k.String() {
			p.at, p.b.app.prompt = i, nil
			return p.copy()
		}
	}
	return nil
}

func (p *copyPrompt) accept() (tea.Cmd, bool) { return p.copy(), true }

func (p *copyPrompt) copy() tea.Cmd {
	c := p.b.copies()[p.at]
	return toClipboard(c.name, c.text)
}

// toClipboard gives the terminal a text for the clipboard (OSC 52). It does not answer.
func toClipboard(name, text string) tea.Cmd {
	if text == "" { // it would empty the clipboard
		return note.Say(note.Warning, "not copied: there is no evaluation yet")
	}
	if len(text) > mostCopied {
		return note.Say(note.Warning, "%s is too long for the clipboard of a terminal; e writes it to files", name)
	}
	return tea.Batch(tea.SetClipboard(text), note.Say(note.Good, "copied %s, if the terminal lets programs do that", name))
}

func (p *copyPrompt) draw(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	all := p.b.copies()
	card := draw.Card(c, r, t, "Copy", min(60, r.W-4), len(all)+2)
	for i, o := range all {
		style := t.Text
		if i == p.at {
			style = t.Strong
		}
		x := c.TextFit(card.X, card.Y+i, 3, o.key, t.Key)
		c.TextFit(x+1, card.Y+i, card.X+card.W-x-1, o.name, style)
	}
	draw.Keys(c, card.X, card.Y+card.H-1, card.W, t, [][2]string{{"enter", "copy"}, {"esc", "back"}})
}

// copiedTable is the kernels with what is known of them, between tabs; "" before the
// first evaluation.
func (b *bench) copiedTable() string {
	kernels := ranked(b.hist.Evaluation)
	if len(kernels) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("rank\tkernel\tq*\tBayes\tlocal ELBO\n")
	for _, k := range kernels {
		fmt.Fprintf(&out, "%d\t%s\t%g\t%g\t%g\n", k.Fit.Rank, words.PlainLine(b.kernelName(k.ID)), float64(k.Fit.Posterior), float64(k.Fit.Bayes),
			float64(k.Fit.ELBO))
	}
	return out.String()
}
