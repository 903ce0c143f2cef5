package ui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/format"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// draw draws the header, the view and the lines below.
func (b *bench) draw(c *plot.Canvas, r plot.Rect) {
	t := b.app.theme
	b.drawHeader(c, plot.Rect{X: r.X, Y: r.Y, W: r.W, H: 1}, t)
	body := plot.Rect{X: r.X, Y: r.Y + 1, W: r.W, H: r.H - 2}
	last := plot.Rect{X: r.X, Y: r.Y + r.H - 1, W: r.W, H: 1}
	text, style := b.status(t)
	lines := draw.LinesFor(text, r.W-2, r.H/4)
	switch {
	case r.H >= 14:
		body.H -= len(lines)
		status := plot.Rect{X: r.X, Y: last.Y - len(lines), W: r.W, H: len(lines)}
		if text == "" {
			b.drawProgress(c, status, t)
		} else {
			draw.Lines(c, status.Inset(1, 0), lines, 0, style)
		}
		b.drawBottom(c, last, t)
	case b.app.noteFresh():
		body.H -= len(lines) - 1
		draw.Lines(c, plot.Rect{X: r.X + 1, Y: r.Y + r.H - len(lines), W: r.W - 2, H: len(lines)}, lines, 0, style)
	default:
		b.drawBottom(c, last, t)
	}
	b.views[b.at].draw(c, body, t)
}

// stateText says how the run stands.
func (b *bench) stateText(t *theme.Theme) (string, plot.Style) {
	s := b.state()
	if b.crashed() {
		return "crashed", t.Bad
	}
	switch s {
	case record.Running:
		return string(s), t.Good
	case record.Paused, record.Stopping, record.Stopped:
		return string(s), t.Warn
	case record.Failed:
		return string(s), t.Bad
	}
	return string(s), t.Strong
}

// elapsed is the run's time, less pauses.
func (b *bench) elapsed() time.Duration {
	worked := time.Duration(float64(b.hist.Seconds) * float64(time.Second))
	if b.steered() != nil && b.snapshot.Elapsed > worked {
		return b.snapshot.Elapsed
	}
	if b.steered() == nil && b.state() == record.Running && b.snapped && !b.crashed() {
		return worked + max(0, b.app.opts.now().Sub(b.hist.Time))
	}
	return worked
}

// drawHeader writes what the run is and how it stands.
func (b *bench) drawHeader(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	word, style := b.stateText(t)
	right := []string{format.Clock(b.elapsed())}
	if e := b.hist.Evaluation; e != nil {
		right = append(right, fmt.Sprintf("%.0f %% of data", 100*e.Proportion))
	}
	if b.state() == record.Running && word == string(record.Running) {
		if text := b.leftText(); text != "" {
			right = append(right, text)
		}
	}
	tail := " " + strings.Join(right, " · ")
	width := plot.TextWidth(word) + plot.TextWidth(tail)
	for len(right) > 1 && width > r.W-12 {
		right = right[:len(right)-1]
		tail = " " + strings.Join(right, " · ")
		width = plot.TextWidth(word) + plot.TextWidth(tail)
	}
	x := r.X + r.W - 1 - width
	c.Text(c.Text(x, r.Y, word, style), r.Y, tail, t.Text)

	at := r.X + 1
	room := x - 2
	at = c.TextFit(at, r.Y, room-at, "kestrel", t.Title)
	for _, s := range b.describe((room - at) * 2 / 3) {
		if at+3+plot.TextWidth(s) > room && at > r.X+9 {
			break
		}
		at = c.TextFit(at, r.Y, room-at, " · ", t.Faint)
		at = c.TextFit(at, r.Y, room-at, s, t.Text)
	}
}

// leftText says how long the run will take: the one place where that is told, but for
// the minute before the first evaluation.
func (b *bench) leftText() string {
	within := time.Duration(0)
	if b.steered() != nil {
		within = b.phaseLeft()
	}
	left, ok := b.hist.Left(b.elapsed(), within)
	switch {
	case !ok:
		return ""
	case left < time.Second:
		return "longer than expected"
	}
	return format.Clock(left) + " left"
}

// describe says what the run is, the most important first, the first of it in w columns
// where that can be.
func (b *bench) describe(w int) []string {
	s := b.hist.Start
	if s == nil {
		return []string{filepath.Base(b.path)}
	}
	out := b.describeData(w)
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
	if e != nil && len(e.Kernels) < len(s.Kernels) { // they come and go
		kernels = fmt.Sprintf("%d kernels of %d tried", live, len(s.Kernels))
	} else if live != len(s.Kernels) {
		kernels = fmt.Sprintf("%d of %d kernels", live, len(s.Kernels))
	}
	out = append(out, kernels)
	if failed > 0 {
		out = append(out, fmt.Sprintf("%d failed", failed))
	}
	lanes := fmt.Sprintf("%s %d lanes", s.DeviceKind, s.Lanes)
	if s.Lanes == 1 {
		lanes = s.DeviceKind + " 1 lane"
	}
	return append(out, lanes, fmt.Sprintf("M = %d", b.inducing()), fmt.Sprintf("seed %d", s.Seed))
}

// describeData says what the run is called and what it explains from what, as much as has
// room in w columns.
func (b *bench) describeData(w int) (parts []string) {
	s := b.hist.Start
	rows := fmt.Sprintf(" (%d rows)", s.Data.Train)
	if s.Data.Kernel != "" {
		return []string{s.Name, "synthetic " + b.kernelName(s.Data.Kernel) + rows}
	}
	text := s.Explains()
	if text == "" {
		return []string{s.Name, s.Data.Name + rows}
	}
	file := s.Data.Name
	if s.Data.Path != "" {
		file = filepath.Base(s.Data.Path)
	}
	var named []string
	if s.Name != s.Data.Name {
		named = []string{s.Name}
	}
	for _, text := range []string{file + ": " + text + rows, file + ": " + text, s.Data.Name + ": " + s.Target().Name + rows} {
		if parts = append(named[:len(named):len(named)], text); plot.TextWidth(strings.Join(parts, " · ")) <= w {
			break
		}
	}
	return parts
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

// toldLast is the last notice of the last evaluation or since, "" if there is none.
func (b *bench) toldLast() string {
	lines, _ := b.hist.Lines()
	for _, l := range slices.Backward(lines) {
		switch l.Type {
		case record.EventNotice:
			text, _, _ := strings.Cut(l.Text, "\n")
			return text
		case record.EventEvaluation:
			return ""
		}
	}
	return ""
}

// lowScreen is the height below which three lines of a verdict would take those of a chart.
const lowScreen = 30

// foundSays reports whether the sentence of the bench says what a notice does, what the run is
// worth beside baselines: on the bench that is not told twice, and of the other views it does
// not take the room where there is little.
func (b *bench) foundSays(notice string) bool {
	most, _ := foundLines(b.app.h)
	return (b.at == 0 || b.app.h < lowScreen) && most > 0 && slices.Contains(b.hist.Verdict(), notice)
}

// status is the last note, or how the run stands; "" while it goes on.
func (b *bench) status(t *theme.Theme) (string, plot.Style) {
	state := b.state()
	switch {
	case b.app.busy != "" && !b.app.leaving:
		return b.app.busy + " …", t.Text
	case b.app.noteFresh():
		return b.app.note.Text, b.app.note.Level.Style(t)
	case b.failure != nil:
		return b.failure.Error(), t.Bad
	case b.crashed():
		return fmt.Sprintf("the process of this run is gone since %s; what it wrote is here; %s",
			b.hist.Time.Local().Format("2006-01-02 15:04"), b.whatGoesOn()), t.Bad
	case state.Settled():
		text := b.hist.Reason
		if b.broken() {
			text += " · " + b.whatGoesOn()
		}
		if n := len(b.waiting); n > 0 {
			text += fmt.Sprintf(" · %d %s", n, b.waitText())
		}
		if told := b.toldLast(); state == record.Finished && told != "" && !b.foundSays(told) {
			text += " · " + told
		}
		return text, t.Faint
	case state == record.Paused:
		return fmt.Sprintf("%s in evaluation %d", b.hist.Reason, b.made()+1), t.Faint
	case state == record.Ready:
		return "waiting for the first event", t.Faint
	}
	return "", t.Faint
}

// made is the number of the last evaluation, 0 before the first.
func (b *bench) made() int {
	if e := b.hist.Evaluation; e != nil {
		return e.Index
	}
	return 0
}

// drawProgress writes what the run is doing.
func (b *bench) drawProgress(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	x, room := r.X+1, r.W-2
	made, planned := b.made(), 0
	if e := b.hist.Evaluation; e != nil {
		planned = e.Planned
	} else if b.hist.Start != nil {
		planned = b.hist.Start.Planned
	}
	text := fmt.Sprintf("evaluation %d of %d", min(made+1, planned), planned)
	if rate := b.hist.Rate(); rate > 0 {
		text += fmt.Sprintf(" · %s each", rateText(rate))
	}
	x = c.TextFit(x, r.Y, room, text, t.Faint)
	if n := len(b.snapshot.Workers); n > 0 {
		lanes := 0
		for _, w := range b.snapshot.Workers {
			lanes += w.Lanes
		}
		text := fmt.Sprintf(" · %s, %s", words.Count(n, "worker"), words.Count(lanes, "lane"))
		x = c.TextFit(x, r.Y, r.X+r.W-1-x, text, t.Faint)
	}
	p := b.snapshot.Progress
	if p.Total > 0 && b.steered() != nil {
		text := fmt.Sprintf(" · %s %d/%d ", p.Phase, p.Done, p.Total)
		x = c.TextFit(x, r.Y, r.X+r.W-1-x, text, t.Faint)
		if w := min(20, r.X+r.W-2-x); w >= 5 {
			c.Fill(plot.Rect{X: x, Y: r.Y, W: w, H: 1}, '·', t.Border)
			plot.Bar(c, x, r.Y, w, float64(p.Done)/float64(p.Total), t.Focus, t.Glyphs)
		}
	}
}

func rateText(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.2g s", d.Seconds())
	}
	return format.Clock(d)
}

// drawBottom writes the keys that matter now, and the views.
func (b *bench) drawBottom(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	b.app.tabs = b.app.tabs[:0]
	end := r.X + r.W - 1
	short, apart := r.W < 118, 2
	if r.W < 132 { // orders of the run have the room
		apart = 1
	}
	var tabs []string
	width := 0
	for i, v := range b.views {
		if !b.offers(i) {
			tabs = append(tabs, "") // places are those of the views
			continue
		}
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
		if name == "" {
			b.app.tabs = append(b.app.tabs, plot.Rect{})
			continue
		}
		style := t.Faint
		if i == b.at {
			style = t.Focus.With(plot.Bold)
		}
		b.app.tabs = append(b.app.tabs, plot.Rect{X: x, Y: r.Y, W: plot.TextWidth(name), H: 1})
		x = c.Text(x, r.Y, name, style) + apart
	}
	var first, keys, more, leave [][2]string
	for _, g := range b.app.groups() {
		for _, k := range g.All {
			switch key := [2]string{k.Label, k.Short}; {
			case k.Short == "" || k.Off:
			case g.Name == globalKeys && k.Label == "L":
				leave = slices.Insert(leave, 0, key)
			case g.Name == globalKeys:
				leave = append(leave, key)
			case k.Label == "R": // of a run that was cut short
				first = append(first, key)
			case g.Name == runKeys:
				keys = append(keys, key)
			default:
				more = append(more, key)
			}
		}
	}
	tail := leave // the way to other runs, help and quit must be seen
	switch {
	case b.app.typist() != nil: // all others are letters then
		keys, tail = more, nil
	case b.at > 0:
		keys = slices.Concat(first, more, keys)
	default:
		keys = slices.Concat(first, keys, more)
	}
	need := func(ks [][2]string) (w int) {
		for _, k := range ks {
			w += plot.TextWidth(k[0]) + 1 + plot.TextWidth(k[1]) + 2
		}
		return w
	}
	for len(keys) > 0 && need(keys)+need(tail) > r.W-width-1 {
		keys = keys[:len(keys)-1]
	}
	if len(tail) > 0 && need(tail) > r.W-width-1 {
		tail = tail[1:]
	}
	keys = append(keys, tail...)
	draw.Keys(c, r.X+1, r.Y, r.W-width-1, t, keys)
}
