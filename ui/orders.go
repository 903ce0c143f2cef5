package ui

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"kestrel/experiment"
	"kestrel/ui/plot"
	"kestrel/vbks"
)

// order carries an order out in a command; what it says is shown.
func order(f func() (string, error)) tea.Cmd {
	return func() tea.Msg {
		text, err := f()
		if err != nil {
			return noteMsg{text: err.Error(), level: failure}
		}
		return noteMsg{text: text, level: good}
	}
}

func (b *bench) pauseWord() string {
	if b.state() == experiment.Paused {
		return "resume"
	}
	return "pause"
}

func (b *bench) pause() tea.Cmd {
	run := b.session.Run
	if b.state() == experiment.Paused {
		return order(func() (string, error) { return "the run goes on", run.Resume() })
	}
	return order(func() (string, error) { return "paused; space goes on", run.Pause() })
}

func (b *bench) stop() tea.Cmd {
	run := b.session.Run
	return order(func() (string, error) {
		return "stopped, with everything written; r goes on", run.Stop("stopped by the user")
	})
}

// canRevise reports whether there is a belief that orders can change.
func (b *bench) canRevise() bool {
	return b.owns() && b.hist.Evaluation != nil && b.state() != experiment.Failed
}

func (b *bench) anyPruned() bool { return len(b.pruned()) > 0 }

// pruned lists the kernels that could be restored.
func (b *bench) pruned() []string {
	var ids []string
	if e := b.hist.Evaluation; e != nil {
		for i := range e.Kernels {
			if e.Kernels[i].Status == vbks.Pruned {
				ids = append(ids, e.Kernels[i].ID)
			}
		}
	}
	return ids
}

// prunedMsg says what a pruning took, so that it can be undone.
type prunedMsg struct {
	ids  []string
	text string
}

// restore takes back the kernel under the cursor if it is pruned, else those
// pruned last, else all.
func (b *bench) restore() tea.Cmd {
	all := b.pruned()
	ids := slices.DeleteFunc(slices.Clone(b.taken), func(id string) bool { return !slices.Contains(all, id) })
	what := "the kernels pruned last"
	if slices.Contains(all, b.main.table.cursor) {
		ids, what = []string{b.main.table.cursor}, b.main.table.cursor
	} else if len(ids) == 0 {
		ids, what = all, "all pruned kernels"
	}
	run, when := b.session.Run, "they take part from the next evaluation on"
	if b.settled() {
		when += ", which r makes"
	}
	return order(func() (string, error) {
		return fmt.Sprintf("restored %s (%d); %s", what, len(ids), when), run.Restore(ids)
	})
}

// prunePrompt asks what to keep, and shows what would go.
type prunePrompt struct {
	b     *bench
	field field
	keep  []experiment.Kernel // best first
	drop  []experiment.Kernel
	mass  float64 // of those kept
	err   error
}

func (b *bench) askPrune() tea.Cmd {
	n := 0
	for i := range b.hist.Evaluation.Kernels {
		if b.hist.Evaluation.Kernels[i].Fit != nil {
			n++
		}
	}
	p := &prunePrompt{b: b, field: newField(strconv.Itoa(max(1, min(10, n/2))), "5, or 99 %")}
	p.field.given = true
	p.preview()
	b.app.prompt = p
	return nil
}

func (p *prunePrompt) update(msg tea.Msg) tea.Cmd {
	p.field.update(msg)
	p.preview()
	return nil
}

// preview divides the live kernels as the text says: a number of kernels, or a
// share of the posterior.
func (p *prunePrompt) preview() {
	p.keep, p.drop, p.mass, p.err = nil, nil, 0, nil
	live := ranked(p.b.hist.Evaluation)
	text := strings.TrimSpace(p.field.value())
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	count, mass := 0, 0.0
	switch {
	case err != nil || !(v > 0) || math.IsInf(v, 0):
		p.err = errors.New("a number of kernels to keep, such as 5, or a share of the belief, such as 99 % or 0.99")
		return
	case percent && v <= 100:
		mass = v / 100
	case !percent && v < 1:
		mass = v
	case percent || v != math.Trunc(v):
		p.err = errors.New("a whole number of kernels, or a share of at most 100 %")
		return
	default:
		count = int(min(v, float64(len(live))))
	}
	for i, k := range live {
		if count > 0 && i < count || mass > 0 && p.mass < mass-1e-12 {
			p.keep = append(p.keep, k)
			p.mass += float64(k.Fit.Posterior)
			continue
		}
		p.drop = append(p.drop, k)
	}
	if len(p.drop) == 0 {
		p.err = errors.New("that keeps all kernels: nothing to prune")
	}
}

func (p *prunePrompt) accept() (tea.Cmd, bool) {
	if p.err != nil {
		return nil, false
	}
	ids := make([]string, len(p.drop))
	for i := range p.drop {
		ids[i] = p.drop[i].ID
	}
	left, run := len(p.keep), p.b.session.Run
	return func() tea.Msg {
		if err := run.Prune(ids); err != nil {
			return noteMsg{text: err.Error(), level: failure}
		}
		return prunedMsg{ids, fmt.Sprintf("pruned %d kernels, %d go on; u takes them back", len(ids), left)}
	}, true
}

func (p *prunePrompt) draw(c *plot.Canvas, r plot.Rect, t *theme) {
	card := drawCard(c, r, t, "Prune", 60, 9)
	x := c.Text(card.X, card.Y, "keep the first ", t.text)
	p.field.draw(c, x, card.Y, 12, t, true)
	c.TextFit(x+13, card.Y, card.X+card.W-x-13, "kernels, or a share of belief", t.faint)
	if p.err != nil {
		c.TextFit(card.X, card.Y+2, card.W, p.err.Error(), t.warn)
	} else {
		line := func(y int, head string, ks []experiment.Kernel, style plot.Style) {
			names := make([]string, len(ks))
			for i := range ks {
				names[i] = p.b.kernelName(ks[i].ID)
			}
			c.TextFit(card.X, y, card.W, head, style)
			c.TextFit(card.X+2, y+1, card.W-2, strings.Join(names, "  "), t.faint)
		}
		line(card.Y+2, fmt.Sprintf("stay: %d, with %s of the belief", len(p.keep), percentText(p.mass)), p.keep, t.good)
		line(card.Y+4, fmt.Sprintf("go: %d, with %s", len(p.drop), percentText(max(0, 1-p.mass))), p.drop, t.warn)
		if tied := p.tiedDropped(); tied > 0 {
			c.TextFit(card.X, card.Y+6, card.W, fmt.Sprintf("%d of those that go cannot be told from the leader", tied), t.warn)
		}
	}
	drawKeys(c, card.X, card.Y+card.H-1, card.W, t, [][2]string{{"enter", "prune"}, {"esc", "back"}})
}

func (p *prunePrompt) tiedDropped() int {
	n := 0
	for i := range p.drop {
		if p.drop[i].Fit.Tied {
			n++
		}
	}
	return n
}

func percentText(p float64) string {
	switch {
	case p >= 0.9995 || p == 0:
		return fmt.Sprintf("%.0f %%", 100*p)
	case p < 0.001:
		return "less than 0.1 %"
	}
	return fmt.Sprintf("%.1f %%", 100*p)
}

// reoptimisePrompt asks how to go on.
type reoptimisePrompt struct {
	b      *bench
	names  []string
	hints  []string
	fields []field
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
		f := newField(v, h)
		f.given = v != ""
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
	p.fields[p.at].update(msg)
	return nil
}

// change reads the fields.
func (p *reoptimisePrompt) change() (vbks.Change, error) {
	var v [4]int
	for i := range p.fields {
		text := strings.TrimSpace(p.fields[i].value())
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1e6 {
			return vbks.Change{}, fmt.Errorf("%s: %q is not a whole number from 1 to 1000000", p.names[i], text)
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
	run := p.b.session.Run
	return order(func() (string, error) {
		text := "re-optimising"
		for i := range p.fields {
			if v := strings.TrimSpace(p.fields[i].value()); v != "" {
				text += fmt.Sprintf(", %s: %s", p.names[i], v)
			}
		}
		return text, run.Reoptimize(change)
	}), true
}

func (p *reoptimisePrompt) draw(c *plot.Canvas, r plot.Rect, t *theme) {
	card := drawCard(c, r, t, "Re-optimise", 56, len(p.fields)+4)
	for i := range p.fields {
		style := t.text
		if i == p.at {
			style = t.strong
		}
		c.TextFit(card.X, card.Y+i, 20, p.names[i], style)
		p.fields[i].draw(c, card.X+22, card.Y+i, card.W-22, t, i == p.at)
	}
	text, style := "the surviving kernels go on from where they are", t.faint
	if _, err := p.change(); err != nil {
		text, style = err.Error(), t.warn
	}
	c.TextFit(card.X, card.Y+len(p.fields)+1, card.W, text, style)
	drawKeys(c, card.X, card.Y+card.H-1, card.W, t, [][2]string{{"enter", "go on"}, {"tab", "next"}, {"esc", "back"}})
}

// export writes all traces as CSV and the chart as SVG, PNG and text.
func (b *bench) export() tea.Cmd {
	dir := filepath.Join(b.path, "export")
	screen, figure := b.screenText(), b.figure()
	path := b.path
	return order(func() (string, error) {
		if err := experiment.ExportRun(path, dir); err != nil {
			return "", err
		}
		if err := figure.Save(dir, screen); err != nil {
			return "", fmt.Errorf("exported the CSV files to %s, but the chart was not drawn: %w", dir, err)
		}
		return "exported posterior.csv, metrics.csv, kernels.csv and " + figure.Name + ".svg, .png, .txt to " + dir, nil
	})
}
