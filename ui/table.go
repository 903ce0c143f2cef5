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
