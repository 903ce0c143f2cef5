package ui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
	"example.com/kestrel/vbks"
)

// reoptimisePrompt asks how to go on.
type reoptimisePrompt struct {
	b      *bench
	names  []string
	hints  []string
	fields []input.Field
	at     int
}

// inducing is the number of inducing inputs, 0 before the run has begun.
func (b *bench) inducing() int {
	if n := len(b.hist.Inducing); n > 0 {
		return b.hist.Inducing[n-1]
	}
	return 0
}

func (b *bench) askReoptimise() tea.Cmd {
	p := &reoptimisePrompt{b: b,
		names: []string{"further evaluations", "steps of each", "inducing inputs", "batch"},
		hints: []string{"2", "as before", "as before", "as before"},
	}
	if b.hist.Start != nil {
		p.hints[2] = fmt.Sprintf("as before (%d)", b.inducing())
	}
	for i, h := range p.hints {
		v := ""
		if i == 0 {
			v = "2"
		}
		f := input.NewField(v, h)
		f.Given = v != ""
		p.fields = append(p.fields, f)
	}
	b.app.prompt = p
	return nil
}

func (p *reoptimisePrompt) update(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "tab", "down":
			p.at = (p.at + 1) % len(p.fields)
			return nil
		case "shift+tab", "up":
			p.at = (p.at + len(p.fields) - 1) % len(p.fields)
			return nil
		}
	}
	p.fields[p.at].Update(msg)
	return nil
}

// change reads the fields.
func (p *reoptimisePrompt) change() (vbks.Change, error) {
	var v [4]int
	for i := range p.fields {
		text := strings.TrimSpace(p.fields[i].Value())
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1e6 {
			return vbks.Change{}, fmt.Errorf("%s: a whole number from 1 to 1000000", p.names[i])
		}
		v[i] = n
	}
	return vbks.Change{Rounds: v[0], Steps: v[1], Inducing: v[2], Batch: v[3]}, nil
}

func (p *reoptimisePrompt) accept() (tea.Cmd, bool) {
	change, err := p.change()
	if err != nil {
		return nil, false
	}
	run := p.b.steered()
	if run == nil { // its process has gone meanwhile
		return p.b.onlyWatched(), true
	}
	text := "re-optimising"
	for i := range p.fields {
		if v := strings.TrimSpace(p.fields[i].Value()); v != "" {
			text += fmt.Sprintf(", %s: %s", p.names[i], v)
		}
	}
	return p.b.order(p.b.in(record.Running), func() (string, error) { return text, run.Reoptimize(change) }), true
}

func (p *reoptimisePrompt) draw(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	width := min(56, r.W-4)
	text, style := "the surviving kernels go on from where they are; G lets neighbours of the best come, or no more", t.Faint
	if _, err := p.change(); err != nil {
		text, style = err.Error(), t.Warn
	}
	lines := draw.Wrap(text, width)
	card := draw.Card(c, r, t, "Re-optimise", width, len(p.fields)+len(lines)+3)
	for i := range p.fields {
		style := t.Text
		if i == p.at {
			style = t.Strong
		}
		c.TextFit(card.X, card.Y+i, 20, p.names[i], style)
		p.fields[i].Draw(c, card.X+22, card.Y+i, card.W-22, t, i == p.at)
	}
	draw.Lines(c, plot.Rect{X: card.X, Y: card.Y + len(p.fields) + 1, W: card.W, H: len(lines)}, lines, 0, style)
	draw.Keys(c, card.X, card.Y+card.H-1, card.W, t, [][2]string{{"enter", "go on"}, {"tab", "next"}, {"esc", "back"}})
}
