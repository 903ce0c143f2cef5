package ui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kestrel/experiment"
	"kestrel/ui/plot"
)

// noteTime is how long a note stays before the progress takes its place.
const noteTime = 8 * time.Second

// draw draws the header, the view and the lines below.
func (b *bench) draw(c *plot.Canvas, r plot.Rect) {
	t := b.app.theme
	b.drawHeader(c, plot.Rect{X: r.X, Y: r.Y, W: r.W, H: 1}, t)
	body := plot.Rect{X: r.X, Y: r.Y + 1, W: r.W, H: r.H - 2}
	if r.H >= 14 {
		body.H--
		b.drawStatus(c, plot.Rect{X: r.X, Y: r.Y + r.H - 2, W: r.W, H: 1}, t)
		b.drawBottom(c, plot.Rect{X: r.X, Y: r.Y + r.H - 1, W: r.W, H: 1}, t)
	} else if last := (plot.Rect{X: r.X, Y: r.Y + r.H - 1, W: r.W, H: 1}); b.app.noteFresh() {
		b.drawStatus(c, last, t)
	} else {
		b.drawBottom(c, last, t)
	}
	b.views[b.at].draw(c, body, t)
}

// noteFresh reports whether the last note is to be seen.
func (a *app) noteFresh() bool {
	return a.note.text != "" && a.opts.now().Sub(a.note.at) < noteTime
}

// stateText says how the run stands.
func (b *bench) stateText(t *theme) (string, plot.Style) {
	s := b.state()
	switch s {
	case experiment.Running:
		if !b.owns() && !b.alive && b.snapped {
			return "crashed", t.bad
		}
		return string(s), t.good
	case experiment.Paused, experiment.Stopping, experiment.Stopped:
		return string(s), t.warn
	case experiment.Failed:
		return string(s), t.bad
	}
	return string(s), t.strong
}

// elapsed is the run's time, less pauses.
func (b *bench) elapsed() time.Duration {
	worked := time.Duration(b.hist.Seconds * float64(time.Second))
	if b.owns() && b.snapshot.Elapsed > worked {
		return b.snapshot.Elapsed
	}
	if !b.owns() && b.state() == experiment.Running && b.alive {
		return worked + max(0, b.app.opts.now().Sub(b.hist.Time))
	}
	return worked
}

// clock writes a length of time: 0:41, 12:05, 1:02:03.
func clock(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// drawHeader writes what the run is and how it stands.
func (b *bench) drawHeader(c *plot.Canvas, r plot.Rect, t *theme) {
	word, style := b.stateText(t)
	right := []string{clock(b.elapsed())}
	if e := b.hist.Evaluation; e != nil {
		right = append(right, fmt.Sprintf("%.0f %% of data", 100*e.Proportion))
	}
	if eta, ok := b.hist.ETA(); ok && b.state() == experiment.Running && word == string(experiment.Running) {
		right = append(right, clock(eta)+" left")
	}
	tail := " " + strings.Join(right, " · ")
	width := plot.TextWidth(word) + plot.TextWidth(tail)
	for len(right) > 1 && width > r.W-12 {
		right = right[:len(right)-1]
		tail = " " + strings.Join(right, " · ")
		width = plot.TextWidth(word) + plot.TextWidth(tail)
	}
	x := r.X + r.W - 1 - width
	c.Text(c.Text(x, r.Y, word, style), r.Y, tail, t.text)

	at := r.X + 1
	room := x - 2
	at = c.TextFit(at, r.Y, room-at, "kestrel", t.title)
	for _, s := range b.describe() {
		if at+3+plot.TextWidth(s) > room && at > r.X+9 {
			break
		}
		at = c.TextFit(at, r.Y, room-at, " · ", t.faint)
		at = c.TextFit(at, r.Y, room-at, s, t.text)
	}
}

// describe says what the run is, the most important first.
func (b *bench) describe() []string {
	s := b.hist.Start
	if s == nil {
		return []string{filepath.Base(b.path)}
	}
	data := s.Data.Name
	if s.Data.Kernel != "" {
		data = "synthetic " + b.kernelName(s.Data.Kernel)
	}
	out := []string{s.Name, fmt.Sprintf("%s (%d rows)", data, s.Data.Train)}
	e := b.hist.Evaluation
	live, failed, pruned := len(s.Kernels), 0, 0
	if e != nil {
		live = 0
		for i := range e.Kernels {
			switch e.Kernels[i].Status {
			case "live":
				live++
			case "failed":
				failed++
			default:
				pruned++
			}
		}
	}
	kernels := fmt.Sprintf("%d kernels", len(s.Kernels))
	if live != len(s.Kernels) {
		kernels = fmt.Sprintf("%d of %d kernels", live, len(s.Kernels))
	}
	out = append(out, kernels)
	if failed > 0 {
		out = append(out, fmt.Sprintf("%d failed", failed))
	}
	device, _, _ := strings.Cut(s.Device, " ")
	lanes := fmt.Sprintf("%s %d lanes", device, s.Lanes)
	if s.Lanes == 1 {
		lanes = device + " 1 lane"
	}
	return append(out, lanes, fmt.Sprintf("M = %d", b.inducing()), fmt.Sprintf("seed %d", s.Seed))
}

// kernelName is a kernel as it is written for reading.
func (b *bench) kernelName(id string) string {
	if s := b.hist.Start; s != nil {
		if k := b.hist.Index(id); k >= 0 && k < len(s.Kernels) && s.Kernels[k].ID == id {
			return s.Kernels[k].Name
		}
	}
	return id
}

// drawStatus writes the last note, or what the run is doing.
func (b *bench) drawStatus(c *plot.Canvas, r plot.Rect, t *theme) {
	x, room := r.X+1, r.W-2
	if b.app.noteFresh() {
		style := map[level]plot.Style{good: t.good, warning: t.warn, failure: t.bad}[b.app.note.level]
		c.TextFit(x, r.Y, room, b.app.note.text, style)
		return
	}
	e := b.hist.Evaluation
	made, planned := 0, 0
	if e != nil {
		made, planned = e.Index, e.Planned
	} else if b.hist.Start != nil {
		planned = b.hist.Start.Planned
	}
	switch state := b.state(); {
	case b.failure != nil:
		c.TextFit(x, r.Y, room, b.failure.Error(), t.bad)
	case state == experiment.Running && !b.owns() && !b.alive && b.snapped:
		c.TextFit(x, r.Y, room, fmt.Sprintf("the process of this run is gone since %s; what it wrote is here", b.hist.Time.Local().Format("2006-01-02 15:04")), t.bad)
	case state.Settled() || state == experiment.Paused:
		text := b.hist.Reason
		if state == experiment.Paused {
			text += " in evaluation " + fmt.Sprint(made+1)
		}
		c.TextFit(x, r.Y, room, text, t.faint)
	case state == experiment.Ready:
		c.TextFit(x, r.Y, room, "waiting for the first event", t.faint)
	default:
		text := fmt.Sprintf("evaluation %d of %d", min(made+1, planned), planned)
		if rate := b.hist.Rate(); rate > 0 {
			text += fmt.Sprintf(" · %s each", rateText(rate))
		}
		x = c.TextFit(x, r.Y, room, text, t.faint)
		p := b.snapshot.Progress
		if p.Total > 0 && b.owns() {
			x = c.TextFit(x, r.Y, r.X+r.W-1-x, fmt.Sprintf(" · %s %d/%d ", p.Phase, p.Done, p.Total), t.faint)
			if w := min(20, r.X+r.W-2-x); w >= 5 {
				c.Fill(plot.Rect{X: x, Y: r.Y, W: w, H: 1}, '·', t.border)
				plot.Bar(c, x, r.Y, w, float64(p.Done)/float64(p.Total), t.focus, t.glyphs)
			}
		}
	}
}

func rateText(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.2g s", d.Seconds())
	}
	return clock(d)
}

// drawBottom writes the keys that matter now, and the views.
func (b *bench) drawBottom(c *plot.Canvas, r plot.Rect, t *theme) {
	b.app.tabs = b.app.tabs[:0]
	end := r.X + r.W - 1
	short, apart := r.W < 118, 2
	if short {
		apart = 1
	}
	var tabs []string
	width := 0
	for i, v := range b.views {
		name := fmt.Sprintf("%d %s", i+1, v.name())
		if short && i != b.at {
			name = fmt.Sprint(i + 1)
		}
		tabs = append(tabs, name)
		width += plot.TextWidth(name) + apart
	}
	if width > r.W*2/3 {
		tabs, width = nil, 0
	}
	x := end - width + apart
	for i, name := range tabs {
		style := t.faint
		if i == b.at {
			style = t.focus.With(plot.Bold)
		}
		b.app.tabs = append(b.app.tabs, plot.Rect{X: x, Y: r.Y, W: plot.TextWidth(name), H: 1})
		x = c.Text(x, r.Y, name, style) + apart
	}
	var keys, more [][2]string
	for _, g := range b.app.groups() {
		for _, k := range g.all {
			switch {
			case k.short == "" || k.off:
			case g.name == runKeys || g.name == globalKeys:
				keys = append(keys, [2]string{k.label, k.short})
			default:
				more = append(more, [2]string{k.label, k.short})
			}
		}
	}
	if b.at > 0 || b.main.table.typing != nil {
		keys = append(more, keys...) // what only this view has is not known yet
	} else {
		keys = slices.Insert(keys, max(0, len(keys)-2), more...)
	}
	// help and quit must be seen.
	if n := len(keys); n > 2 {
		need := func(ks [][2]string) (w int) {
			for _, k := range ks {
				w += plot.TextWidth(k[0]) + 1 + plot.TextWidth(k[1]) + 2
			}
			return w
		}
		tail := keys[n-2:]
		head := keys[:n-2]
		for len(head) > 0 && need(head)+need(tail) > r.W-width-1 {
			head = head[:len(head)-1]
		}
		keys = append(append([][2]string{}, head...), tail...)
	}
	drawKeys(c, r.X+1, r.Y, r.W-width-1, t, keys)
}
