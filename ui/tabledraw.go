package ui

import (
	"fmt"
	"math"

	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
	"example.com/kestrel/vbks"
)

// widths shares w columns out; the least important go first where room is
// scarce. 0: not shown.
func (t *table) widths(w int) (rank, name, bar, post, bayes, gap, slack, span int) {
	rank, post = 4, 5
	longest, gapWide, slackWide, spanWide, trend := 6, 8, 0, 0, 0
	for i := range t.rows {
		if t.rows[i].rank > 0 {
			trend = trendWide
		}
		own := plot.TextWidth(t.rows[i].name)
		if len(t.rows[i].flags) > 0 { // and a mark, apart from it and from what follows
			own += 2
		}
		longest = max(longest, own)
		if t.rows[i].se > 0 {
			gapWide = 13
		}
		if !math.IsNaN(t.rows[i].slack) {
			slackWide = 6
		}
		if !math.IsNaN(t.rows[i].low) {
			spanWide = 9
		}
	}
	if t.signs {
		longest += 2
	}
	name = min(longest, max(6, w-rank-post-3))
	// A long name gives way to the gap, and where there is room for both to its range.
	if spare := w - rank - post - 8 - 4; spare >= 24 {
		name = min(name, spare)
	}
	if spare := w - rank - post - 8 - spanWide - 5; spare >= 24 {
		name = min(name, spare)
	}
	left := w - rank - 1 - name - 1 - post - 1
	t.trend = 0
	for _, want := range []struct {
		size *int
		n    int
	}{{&gap, 8}, {&span, spanWide}, {&bayes, 5}, {&t.trend, trend}, {&gap, gapWide}, {&slack, slackWide}, {&bar, 4}} {
		if want.n == 0 || want.size == &bar && t.trend > 0 { // which ends as high as a bar is long
			continue
		}
		need := want.n - *want.size
		if *want.size == 0 {
			need++
		}
		if left >= need {
			left -= need
			*want.size = want.n
		}
	}
	if span > 0 {
		more := max(0, min(9, left))
		span, left = span+more, left-more
	}
	if bar > 0 {
		bar += max(0, min(12, left))
	}
	return
}

// trendWide is how many columns the way of q* so far takes.
const trendWide = 7

// leastTrend is the part of the largest q* below which the way of one is nothing: lines
// along the ground of all that have never been believed in would hide those that were.
const leastTrend = 0.02

// drawTrend draws q* of a kernel from the beginning to the evaluation looked at, as high
// as the largest of the table is now.
func (t *table) drawTrend(c *plot.Canvas, x, y int, b *bench, k *row, most float64, style plot.Style, g plot.Glyphs) {
	s := b.hist.Series(k.index, history.QuantityPosterior)
	n := s.Len()
	if at := b.main.cursor; at >= 0 {
		n = min(n, at+1)
	}
	var way [trendWide]float64
	for i := range way {
		way[i] = math.NaN()
		if last := (i+1)*n/trendWide - 1; last >= 0 {
			if way[i] = s.Last(last) / max(most, 1e-9); way[i] < leastTrend {
				way[i] = 0
			}
		}
	}
	plot.Trend(c, x, y, way[:], style, g)
}

// scale returns where a gap stands among those of the table, from 0 to 1: about the
// leader's, where it matters, by nats, far from it by their logarithm.
func (t *table) scale() func(gap float64) float64 {
	low, high := -1.0, 1.0
	for i := range t.rows {
		if k := &t.rows[i]; k.rank > 0 && !math.IsNaN(k.low) && !math.IsInf(k.low, 0) && !math.IsInf(k.high, 0) {
			low, high = math.Min(low, k.low), math.Max(high, k.high)
		}
	}
	from, to := math.Asinh(low), math.Asinh(high)
	return func(gap float64) float64 { return (math.Asinh(gap) - from) / (to - from) }
}

func (t *table) draw(c *plot.Canvas, r plot.Rect, b *bench, th *theme.Theme, focused bool) {
	defer c.Clip(r)()
	if t.typing != nil {
		x := c.Text(r.X, r.Y, "/", th.Key)
		t.typing.Draw(c, x, r.Y, r.W-1, th, true)
		r.Y, r.H = r.Y+1, r.H-1
	}
	if r.Empty() {
		return
	}
	t.signs = th.Signs()
	coloured := b.coloured()
	rank, name, bar, post, bayes, gap, slack, span := t.widths(r.W)
	early := b.hist.Evaluation == nil && b.hist.Start != nil
	if early { // words stand in the place of numbers
		bar, post, bayes, gap, slack, span = 0, 0, 0, 0, 0, 0
		name = max(6, min(name, r.W-rank-2-plot.TextWidth(bestSoFar)))
	}
	t.header = plot.Rect{X: r.X, Y: r.Y, W: r.W, H: 1}
	t.area = plot.Rect{X: r.X, Y: r.Y + 1, W: r.W, H: r.H - 1}
	xs := r.X
	head := func(col column, w int, right bool) (x, end int) {
		x, end = xs, xs+w
		t.edges[col] = [2]int{x, end}
		text, style := columnNames[col], th.Faint
		if t.sort == col {
			style = th.Strong
			text += map[bool]string{false: "↓", true: "↑"}[t.down]
		}
		if w > 0 {
			if right {
				c.TextRight(end, r.Y, text, style)
			} else {
				c.TextFit(x, r.Y, w, text, style)
			}
			xs = end + 1
		}
		return x, end
	}
	t.edges = [columns][2]int{}
	_, rankEnd := head(byRank, rank, true)
	nameX, _ := head(byName, name, false)
	trendX := xs // where what is said instead of numbers begins
	if t.trend > 0 || early {
		c.TextFit(xs, r.Y, max(t.trend, trendWide), "so far", th.Faint)
		xs += t.trend + 1
	}
	barX := xs
	if bar > 0 {
		xs += bar + 1
	}
	_, postEnd := head(byPosterior, post, true)
	_, bayesEnd := head(byBayes, bayes, true)
	_, gapEnd := head(byGap, gap, true)
	spanX := xs
	if span > 0 {
		c.TextFit(spanX, r.Y, span, "its range", th.Faint)
		xs += span + 1
	}
	_, slackEnd := head(bySlack, slack, true)
	t.page = max(1, r.H-1)
	at := t.place()
	t.top = max(0, min(t.top, len(t.rows)-t.page))
	t.top = min(max(t.top, at-t.page+1), at)
	scale, settled := t.scale(), b.found().Settled
	most := 0.0
	for i := range t.rows {
		most = max(most, t.rows[i].posterior)
	}
	names := t.namesIn(name)
	for i := range min(t.page, len(t.rows)-t.top) {
		k, y := &t.rows[t.top+i], r.Y+1+i
		style, text, sign := th.Text, th.Text, ' '
		if coloured[k.id] { // the others are grey on the chart, and would have the colours of these
			style, sign = th.Series(b.palette.Of(k.id)), th.SignOf(b.palette.Of(k.id))
		}
		if k.status != vbks.Live && k.status != "" {
			style, text = th.Faint, th.Faint
		}
		if k.rank > 0 {
			s, mark := text, ""
			switch k.mark {
			case record.MarkEqual, record.MarkClose:
				s, mark = th.Good, "="
			case record.MarkApart:
				mark = "≠"
			}
			c.TextRight(rankEnd, y, mark+fmt.Sprint(k.rank), s)
		}
		left, wide := nameX, name
		if t.signs {
			c.Set(nameX, y, sign, style)
			left, wide = nameX+2, name-2
		}
		short := names[i]
		if len(k.flags) > 0 { // what they say stands on the kernel's card
			if plot.TextWidth(short)+2 > wide {
				short = plot.FitName(k.name, max(1, wide-2))
			}
			c.Set(left+plot.TextWidth(short)+1, y, '!', th.Warn)
		}
		c.Text(left, y, short, style)
		switch {
		case k.stage != vbks.Idle:
			c.TextFit(trendX, y, r.X+r.W-trendX, k.stageText(r.X+r.W-trendX), th.Faint)
		case k.status == vbks.Failed || k.status == vbks.Pruned:
			word, st := string(k.status), th.Faint
			if k.status == vbks.Failed {
				st = th.Bad
			}
			if !math.IsNaN(k.posterior) { // left out
				if belief := "q* " + number(k.posterior); plot.TextWidth(word+", "+belief) <= r.X+r.W-trendX {
					word += ", " + belief
				} else if plot.TextWidth(belief) <= r.X+r.W-trendX {
					word = belief
				}
			}
			if k.reason != "" && k.reason != vbks.ByRequest &&
				(math.IsNaN(k.posterior) || plot.TextWidth(word+": "+k.reason) <= r.X+r.W-trendX) { // else its q* would be cut
				word += ": " + k.reason
			}
			if k.waits {
				if word, st = b.waitText(), th.Warn; plot.TextWidth(word) > r.X+r.W-trendX {
					word = "waiting"
				}
			}
			c.TextFit(trendX, y, r.X+r.W-trendX, word, st)
		default:
			if t.trend > 0 {
				t.drawTrend(c, trendX, y, b, k, most, style, th.Glyphs)
			}
			if bar > 0 && k.posterior > 0 {
				plot.Bar(c, barX, y, bar, k.posterior/max(most, 1e-9), style, th.Glyphs)
			}
			sure := text
			if !settled {
				sure = th.Faint
			}
			c.TextRight(postEnd, y, number(k.posterior), sure)
			if bayes > 0 {
				c.TextRight(bayesEnd, y, number(k.bayes), th.Faint)
			}
			if gap > 0 {
				s := gapText(k.gap, k.se)
				if plot.TextWidth(s) > gap {
					s = gapText(k.gap, 0)
				}
				c.TextRight(gapEnd, y, s, text)
			}
			if span > 0 && k.rank > 0 {
				plot.Interval(c, spanX, y, span, scale(k.low), scale(k.high), scale(k.gap), scale(0), style, th.Faint, th.Glyphs)
			}
			if slack > 0 && !math.IsNaN(k.slack) {
				c.TextRight(slackEnd, y, words.Nats(k.slack), th.Faint)
			}
		}
		if t.top+i == at {
			c.Restyle(plot.Rect{X: r.X, Y: y, W: r.W, H: 1}, underCursor(th, focused))
		}
	}
	if len(t.rows) == 0 && t.total > 0 {
		c.TextFit(r.X, r.Y+1, r.W, "no kernel matches "+t.filter, th.Faint)
	}
}

// underCursor is how the line of a cursor looks, in a part of the screen that keys are for or not.
func underCursor(t *theme.Theme, focused bool) func(plot.Style) plot.Style {
	return func(s plot.Style) plot.Style {
		if t.Selected.Attr&plot.Reverse != 0 {
			if focused {
				return s.With(plot.Reverse)
			}
			return s.With(plot.Underline)
		}
		s.BG = t.Selected.BG
		if focused {
			s.Attr |= plot.Bold
		}
		return s
	}
}
