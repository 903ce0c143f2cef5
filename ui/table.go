package ui

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
	"example.com/kestrel/vbks"
)

// ranked returns the live kernels of an evaluation, best first.
func ranked(e *record.Evaluation) []record.Kernel {
	var out []record.Kernel
	if e == nil {
		return nil
	}
	for i := range e.Kernels {
		if e.Kernels[i].Fit != nil {
			out = append(out, e.Kernels[i])
		}
	}
	slices.SortFunc(out, func(a, b record.Kernel) int { return cmp.Compare(a.Fit.Rank, b.Fit.Rank) })
	return out
}

// column is one of the table's columns.
type column int

const (
	byRank column = iota
	byName
	byPosterior
	byBayes
	byGap
	bySlack
	byStatus
	columns
)

var columnNames = [columns]string{"#", "kernel", "q*", "Bayes", "gap", "slack", "state"}

// row is one kernel in the table, at the evaluation that is looked at.
type row struct {
	id, name                  string
	index                     int // in the history
	rank                      int // 0: not live
	before                    int // of one not live: its last rank, 0 if it never had one
	posterior, bayes, gap, se float64
	slack                     float64 // of the bounds on the log evidence, NaN where there are none
	mark                      string  // as record.Fit.Mark
	flags                     []vbks.Flag
	low, high                 float64 // of the gap, NaN where nothing is known of it
	tied                      bool
	status                    vbks.Status
	reason                    string
	stage                     vbks.Stage // before the first evaluation
	waits                     bool       // restored, without numbers before the next evaluation
}

// table is the ranked kernels. Its cursor stays on a kernel, wherever it moves.
type table struct {
	rows  []row // as sorted and filtered
	total int
	// Of all, at the evaluation that is looked at.
	live, failed, tied int
	sort               column
	down               bool         // against the column's own order
	filter             string       // part of a name
	typing             *input.Field // the filter being typed
	cursor             string       // kernel id
	held               bool         // the cursor was put there by the user; else it is on the leader
	top                int          // first row shown
	page               int          // rows shown
	trend              int          // columns of the way of q* so far, 0: not shown
	signs              bool         // stand before the names of kernels in colour

	area   plot.Rect // of the rows
	header plot.Rect
	edges  [columns][2]int // of the headers, for the mouse
}

// build lists the kernels as of the last evaluation, or of point `at` of the
// history if that is not negative.
func (t *table) build(b *bench, at int) {
	t.rows, t.live, t.failed, t.tied = t.rows[:0], 0, 0, 0
	e := b.hist.Evaluation
	if e == nil {
		if b.hist.Start != nil {
			t.total = len(b.hist.Start.Kernels)
			t.live = t.total
			for i, k := range b.hist.Start.Kernels {
				t.add(row{id: k.ID, name: k.Name, index: i, posterior: math.NaN(), bayes: math.NaN(), gap: math.NaN(),
					slack: math.NaN(), low: math.NaN(), high: math.NaN()})
			}
			t.stages(b)
		}
		t.order()
		return
	}
	t.total = len(e.Kernels)
	leader := &record.Fit{}
	if l := e.Leader(); l != nil {
		leader = l.Fit
	}
	for i := range e.Kernels {
		k := &e.Kernels[i]
		h := b.hist.Index(k.ID)
		r := row{id: k.ID, name: b.kernelName(k.ID), index: h, status: k.Status, reason: k.Reason,
			posterior: math.NaN(), bayes: math.NaN(), gap: math.NaN(), se: math.NaN(), slack: math.NaN(), low: math.NaN(), high: math.NaN()}
		r.waits = at < 0 && b.waiting[k.ID]
		switch {
		case at >= 0:
			r.status = b.hist.StatusAt(h, at)
			r.posterior = b.hist.Series(h, history.QuantityPosterior).Last(at)
			r.bayes = b.hist.Series(h, history.QuantityBayes).Last(at)
			r.gap = b.hist.Series(h, history.QuantityGap).Last(at)
			if v := b.hist.Series(h, history.QuantityRank).Last(at); !math.IsNaN(v) {
				r.rank = int(v)
			}
		case k.Fit != nil:
			f := k.Fit
			r.rank, r.tied, r.posterior, r.bayes, r.se = f.Rank, f.Tied, float64(f.Posterior), float64(f.Bayes), float64(f.SE)
			r.mark = f.Mark(leader)
			if slack, ok := f.Slack(); ok {
				r.slack = slack
			}
			r.gap = b.hist.Series(h, history.QuantityGap).Last(len(b.hist.Moments()) - 1)
			r.flags = f.Flags
			if low, high, ok := gapRange(f, leader, r.gap); ok {
				r.low, r.high = low, high
			}
		case k.Left != nil:
			r.posterior, r.bayes = float64(k.Left.Posterior), float64(k.Left.Bayes)
		}
		switch {
		case r.status == vbks.Live:
			t.live++
		case r.status == vbks.Failed:
			t.failed++
		}
		if r.tied {
			t.tied++
		}
		if r.rank == 0 {
			r.before = b.hist.LastRank(h, at)
		}
		t.add(r)
	}
	t.order()
}

func (t *table) add(r row) {
	if t.filter != "" && !strings.Contains(plainName(r.name)+" "+plainName(r.id), plainName(t.filter)) {
		return
	}
	t.rows = append(t.rows, r)
}

// plainName is a name for comparing: spaces, case and the sign of products do not matter.
func plainName(s string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "×", "*", "·", "*").Replace(s))
}

func (t *table) order() {
	sign := 1
	if t.down {
		sign = -1
	}
	number := func(a, b float64) int { // larger first, missing last either way
		switch an, bn := math.IsNaN(a), math.IsNaN(b); {
		case an && bn:
			return 0
		case an:
			return 1
		case bn:
			return -1
		}
		return sign * cmp.Compare(b, a)
	}
	rank := func(a, b row, sign int) int {
		switch {
		case (a.rank == 0) != (b.rank == 0):
			return b.rank - a.rank // not live: behind
		case a.rank == 0 && (a.before == 0) != (b.before == 0):
			return b.before - a.before
		}
		return sign * cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.before, b.before))
	}
	slices.SortStableFunc(t.rows, func(a, b row) int {
		c := 0
		switch t.sort {
		case byRank:
			if c = rank(a, b, sign); c == 0 && a.rank == 0 && a.status == "" { // before the first evaluation
				c = cmp.Or(number(a.gap, b.gap), cmp.Compare(b.stage, a.stage)) // working, then queued
			}
		case byName:
			c = sign * cmp.Compare(a.name, b.name)
		case byPosterior:
			c = number(a.posterior, b.posterior)
		case byBayes:
			c = number(a.bayes, b.bayes)
		case byGap:
			c = number(a.gap, b.gap)
		case bySlack:
			c = number(a.slack, b.slack)
		case byStatus:
			c = sign * cmp.Compare(a.status, b.status)
		}
		return cmp.Or(c, rank(a, b, 1), cmp.Compare(a.name, b.name))
	})
}

// namesIn are the names of the rows that are shown, in w columns.
func (t *table) namesIn(w int) []string {
	if t.signs {
		w -= 2
	}
	var names []string
	for i := range min(t.page, len(t.rows)-t.top) {
		names = append(names, t.rows[t.top+i].name)
	}
	return plot.FitNames(names, w)
}

// place returns the row of the cursor; the first where its kernel is not listed.
func (t *table) place() int {
	return max(0, slices.IndexFunc(t.rows, func(r row) bool { return r.id == t.cursor }))
}

// move puts the cursor on another row.
func (t *table) move(by int) {
	if len(t.rows) > 0 {
		t.choose(t.rows[max(0, min(len(t.rows)-1, t.place()+by))].id)
	}
}

// choose puts the cursor on a kernel, where it stays.
func (t *table) choose(id string) { t.cursor, t.held = id, true }

// current returns the row under the cursor.
func (t *table) current() (row, bool) {
	if len(t.rows) == 0 {
		return row{}, false
	}
	return t.rows[t.place()], true
}

// sortBy sorts by a column; by the same again, the other way round.
func (t *table) sortBy(c column) {
	if t.sort == c {
		t.down = !t.down
	} else {
		t.sort, t.down = c, false
	}
}

// nextColumn sorts by the next column that is shown.
func (t *table) nextColumn() {
	t.down = false
	for range columns {
		t.sort = (t.sort + 1) % columns
		if e := t.edges[t.sort]; e[1] > e[0] {
			return
		}
	}
}

// number writes a probability in five columns: 1.00, .79, .005, <.001.
func number(p float64) string {
	switch {
	case math.IsNaN(p):
		return "·"
	case p >= 0.995:
		return "1.00"
	case p == 0:
		return "0"
	case p < 0.0005:
		return "<.001"
	case p < 0.01:
		return strings.TrimPrefix(fmt.Sprintf("%.3f", p), "0")
	}
	return strings.TrimPrefix(fmt.Sprintf("%.2f", p), "0")
}

// gapText writes a gap in nats.
func gapText(g, se float64) string {
	if math.IsNaN(g) {
		return "·"
	}
	s := plot.Minus(words.Nats(g))
	if se > 0 && math.Abs(g) >= 0.005 {
		s += " ±" + words.Nats(se)
	}
	return s
}

// widths shares w columns out; the least important go first where room is
// scarce. 0: not shown.
func (t *table) widths(w int) (rank, name, bar, post, bayes, gap, slack, span int) {
	rank, post = 4, 5
	longest, gapWide, slackWide, spanWide := 6, 8, 0, 0
	for i := range t.rows {
		longest = max(longest, plot.TextWidth(t.rows[i].name))
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
	for _, want := range []struct {
		size *int
		n    int
	}{{&gap, 8}, {&span, spanWide}, {&bayes, 5}, {&gap, gapWide}, {&slack, slackWide}, {&bar, 4}} {
		if want.n == 0 {
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
	t.trend = 0
	if bar > 0 && left > trendWide {
		t.trend, left = trendWide, left-trendWide-1
	}
	if bar > 0 {
		bar += max(0, min(12, left))
	}
	return
}

// trendWide is how many columns the way of q* so far takes.
const trendWide = 8

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
			way[i] = s.Last(last) / max(most, 1e-9)
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
	trendX := xs
	if t.trend > 0 {
		c.TextFit(xs, r.Y, t.trend, "so far", th.Faint)
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
			case record.MarkEqual:
				s, mark = th.Good, "="
			case record.MarkApart:
				mark = "≠"
			}
			c.TextRight(rankEnd, y, mark+fmt.Sprint(k.rank), s)
		}
		at, wide := nameX, name
		if t.signs {
			c.Set(nameX, y, sign, style)
			at, wide = nameX+2, name-2
		}
		short := names[i]
		c.Text(at, y, short, style)
		if len(k.flags) > 0 { // what they say stands on the kernel's card
			c.Set(at+min(wide, plot.TextWidth(short)+1), y, '!', th.Warn)
		}
		switch {
		case k.stage != vbks.Idle:
			c.TextFit(barX, y, r.X+r.W-barX, k.stageText(), th.Faint)
		case k.status == vbks.Failed || k.status == vbks.Pruned:
			word, st := string(k.status), th.Faint
			if k.status == vbks.Failed {
				st = th.Bad
			}
			if !math.IsNaN(k.posterior) { // left out
				if belief := "q* " + number(k.posterior); plot.TextWidth(word+", "+belief) <= r.X+r.W-barX {
					word += ", " + belief
				} else if plot.TextWidth(belief) <= r.X+r.W-barX {
					word = belief
				}
			}
			if k.reason != "" && k.reason != vbks.ByRequest &&
				(math.IsNaN(k.posterior) || plot.TextWidth(word+": "+k.reason) <= r.X+r.W-barX) { // else its q* would be cut
				word += ": " + k.reason
			}
			if k.waits {
				if word, st = b.waitText(), th.Warn; plot.TextWidth(word) > r.X+r.W-barX {
					word = "waiting"
				}
			}
			c.TextFit(barX, y, r.X+r.W-barX, word, st)
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
			c.Restyle(plot.Rect{X: r.X, Y: y, W: r.W, H: 1}, func(s plot.Style) plot.Style {
				if th.Selected.Attr&plot.Reverse != 0 {
					if focused {
						return s.With(plot.Reverse)
					}
					return s.With(plot.Underline)
				}
				s.BG = th.Selected.BG
				if focused {
					s.Attr |= plot.Bold
				}
				return s
			})
		}
	}
	if len(t.rows) == 0 && t.total > 0 {
		c.TextFit(r.X, r.Y+1, r.W, "no kernel matches "+t.filter, th.Faint)
	}
}
