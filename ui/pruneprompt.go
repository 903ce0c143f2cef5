package ui

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/asking"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// prunePrompt asks what to keep, and shows what would go.
type prunePrompt struct {
	b     *bench
	field input.Field
	keep  []record.Kernel // best first
	drop  []record.Kernel
	mass  float64 // of those kept
	err   error
	as    *record.Evaluation // that this was made from

	asking   asking.Latest
	asked    []string  // ids whose posterior was asked for last
	forecast []float64 // of those kept; nil: not known
}

func (b *bench) askPrune() tea.Cmd {
	n := 0
	for i := range b.hist.Evaluation.Kernels {
		if b.hist.Evaluation.Kernels[i].Fit != nil {
			n++
		}
	}
	p := &prunePrompt{b: b, field: input.NewField(strconv.Itoa(max(1, min(10, n/2))), "5, or 99 %")}
	p.field.Given = true
	b.app.prompt = p
	return p.look()
}

func (p *prunePrompt) update(msg tea.Msg) tea.Cmd {
	p.field.Update(msg)
	return p.look()
}

// look divides the kernels anew, and asks what would become of the belief.
func (p *prunePrompt) look() tea.Cmd {
	before := p.as
	p.preview()
	var ids []string
	for i := range p.keep {
		ids = append(ids, p.keep[i].ID)
	}
	if p.as == before && slices.Equal(ids, p.asked) {
		return nil
	}
	p.asked, p.forecast = ids, nil
	b := p.b
	if p.err != nil || b.steered() == nil { // who only watches cannot prune
		p.asking.Drop()
		return nil
	}
	about := p.as
	return p.asking.Ask(b.ctx, func(ctx context.Context, serial int) tea.Msg {
		if ctx.Err() != nil {
			return forecastMsg{of: p, serial: serial}
		}
		q, err := b.forecast(ctx, about, ids)
		if err != nil {
			q = nil // pruning itself says why
		}
		return forecastMsg{p, serial, q}
	})
}

// forecast asks what the belief of an evaluation would be over these kernels alone.
func (b *bench) forecast(ctx context.Context, about *record.Evaluation, ids []string) ([]float64, error) {
	if s := b.session; s != nil {
		i, err := s.Run.Inspect(ctx)
		if err != nil {
			return nil, err
		}
		defer i.Close()
		return i.Forecast(ctx, ids)
	}
	b.inspect.mu.Lock() // the run's data need not be read again
	defer b.inspect.mu.Unlock()
	i, err := b.inspect.take(ctx, about, b.openInspector)
	if err != nil {
		return nil, err
	}
	return i.Forecast(ctx, ids)
}

// forecastMsg is the posterior that a pruning would give.
type forecastMsg struct {
	of        *prunePrompt
	serial    int
	posterior []float64
}

func (p *prunePrompt) forecasted(msg forecastMsg) tea.Cmd {
	fresh, next := p.asking.Done(msg.serial)
	if fresh {
		p.forecast = msg.posterior
	}
	return next
}

// renew makes the preview anew where an evaluation has come meanwhile.
func (p *prunePrompt) renew() tea.Cmd {
	if p.as == p.b.hist.Evaluation || p.b.hist.Evaluation == nil {
		return nil
	}
	return p.look()
}

// preview divides the live kernels as the text says: a number of kernels, or a
// share of the posterior.
func (p *prunePrompt) preview() {
	p.keep, p.drop, p.mass, p.err, p.as = nil, nil, 0, nil, p.b.hist.Evaluation
	live := ranked(p.b.hist.Evaluation)
	text := strings.TrimSpace(p.field.Value())
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
	b, left, run := p.b, len(p.keep), p.b.steered()
	if run == nil { // its process has gone meanwhile
		return b.onlyWatched(), true
	}
	still := func() bool { return slices.Contains(b.pruned(), ids[0]) }
	return b.order(still, func() (string, error) {
		return fmt.Sprintf("pruned %d kernels, %d stay; u takes them back", len(ids), left), run.Prune(ids)
	}), true
}

func (p *prunePrompt) draw(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	const width = 60
	var about []string
	for _, text := range []string{"What goes takes no part in further evaluations, which are faster then; u takes it back.", p.outlook()} {
		about = append(about, draw.Wrap(text, min(width, r.W-4))...)
	}
	card := draw.Card(c, r, t, "Prune", width, 9+len(about))
	x := c.Text(card.X, card.Y, "keep the first ", t.Text)
	p.field.Draw(c, x, card.Y, 12, t, true)
	c.TextFit(x+13, card.Y, card.X+card.W-x-13, "kernels, or a share of belief", t.Faint)
	if p.err != nil {
		draw.Wrapped(c, plot.Rect{X: card.X, Y: card.Y + 2, W: card.W, H: card.H - 3}, p.err.Error(), t.Warn)
	} else {
		line := func(y int, head string, ks []record.Kernel, style plot.Style) {
			names := make([]string, len(ks))
			for i := range ks {
				names[i] = p.b.kernelName(ks[i].ID)
			}
			c.TextFit(card.X, y, card.W, head, style)
			c.TextFit(card.X+2, y+1, card.W-2, strings.Join(names, "  "), t.Faint)
		}
		line(card.Y+2, fmt.Sprintf("stay: %d, with %s of the belief", len(p.keep), percentText(p.mass)), p.keep, t.Good)
		line(card.Y+4, fmt.Sprintf("go: %d, with %s", len(p.drop), percentText(max(0, 1-p.mass))), p.drop, t.Warn)
		y := card.Y + 6
		if tied := p.tiedDropped(); tied > 0 {
			c.TextFit(card.X, y, card.W, fmt.Sprintf("%d of those that go cannot be told from the leader", tied), t.Warn)
			y++
		}
		draw.Lines(c, plot.Rect{X: card.X, Y: y, W: card.W, H: max(0, card.Y+card.H-2-y)}, about, 0, t.Text)
	}
	c.Fill(plot.Rect{X: card.X, Y: card.Y + card.H - 1, W: card.W, H: 1}, ' ', plot.Style{})
	draw.Keys(c, card.X, card.Y+card.H-1, card.W, t, [][2]string{{"enter", "prune"}, {"esc", "back"}})
}

// outlook says what pruning does to the belief, and why: fewer kernels are believed in
// otherwise, not by what those that go had.
func (p *prunePrompt) outlook() string {
	text := "q* is of the kernels that there are, and softer among few: it is found anew for those that stay"
	if len(p.forecast) > 0 {
		text += fmt.Sprintf(", the leader's goes from %s to %s", number(float64(p.keep[0].Fit.Posterior)), number(p.forecast[0]))
	}
	return text + ". Gaps stay as they are."
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
