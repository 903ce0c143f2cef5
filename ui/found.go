package ui

import (
	"example.com/kestrel/experiment/finding"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// found is what the run has found as of the last event.
func (b *bench) found() finding.Finding {
	state := b.hist.State
	if b.crashed() {
		state = rundir.Crashed
	}
	if b.finding.version != b.version+1 || b.finding.state != state {
		b.finding = foundAt{finding.As(&b.hist.Standing, state, b.path), b.version + 1, state}
	}
	return b.finding.Finding
}

// foundAt is a finding, the version of the history that it is of, plus 1, and how the
// run stood.
type foundAt struct {
	finding.Finding
	version int
	state   record.State
}

// foundLines is how many lines of a screen what was found may take, and how many where it
// would lack something else: the table keeps five rows and more.
func foundLines(h int) (most, atNeed int) {
	switch {
	case h < 14:
		return 0, 0
	case h < 17:
		return 2, 2
	case h < 20:
		return 3, 3
	}
	most = max(3, h/9)
	return most, most + 1
}

// drawFound writes what was found at the top of r, grey while it is not settled, and
// returns what is left of r.
func (b *bench) drawFound(c *plot.Canvas, r plot.Rect, t *theme.Theme) plot.Rect {
	most, atNeed := foundLines(r.H)
	f := b.found()
	fits := func(text string) bool { return len(draw.Wrap(text, r.W-2)) <= most }
	short := f.Shortened(fits)
	if most < atNeed && !f.Tells(short) {
		most = atNeed
		short = f.Shortened(fits)
	}
	text := short.Text()
	if text == "" || most == 0 {
		return r
	}
	style := t.Text
	switch {
	case f.Warns():
		style = t.Warn
	case !f.Settled:
		style = t.Faint
	}
	lines := draw.LinesFor(text, r.W-2, most)
	draw.Lines(c, plot.Rect{X: r.X + 1, Y: r.Y, W: r.W - 2, H: len(lines)}, lines, 0, style)
	return plot.Rect{X: r.X, Y: r.Y + len(lines), W: r.W, H: r.H - len(lines)}
}

// gapRange is where the gap of a kernel to the leader may lie, nats: by windows, by the bounds on
// their log evidences, or by twice its standard error; ok is false where nothing is
// known beyond the gap.
func gapRange(k, leader *record.Fit, gap float64) (low, high float64, ok bool) {
	switch {
	case k == leader:
		return 0, 0, false
	case k.Windows != nil && leader.Windows != nil:
		return gap - float64(k.Windows.Low+leader.Windows.High), gap + float64(k.Windows.High+leader.Windows.Low), true
	case k.Evidence != nil && leader.Evidence != nil:
		volume := float64(k.Volume - leader.Volume)
		return float64(k.Evidence.Lower-leader.Evidence.Upper) + volume, float64(k.Evidence.Upper-leader.Evidence.Lower) + volume, true
	case k.SE > 0:
		return gap - 2*float64(k.SE), gap + 2*float64(k.SE), true
	}
	return 0, 0, false
}
