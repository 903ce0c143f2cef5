package plot

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// label is a text at a place along an axis, in cells.
type label struct {
	Tick
	cell int // of the tick
	x    int // of the text's first column
}

// endLabel is the label of a line's end.
type endLabel struct {
	line, priority int
	want, row      int
	text           string
}

// ticks appends the ticks of an axis with their labels, at most n of them
// where they are not given.
func (a *Axis) ticks(to []label, lo, hi float64, n int) []label {
	if a.Labels != nil {
		for _, t := range a.Labels {
			if t.At >= lo && t.At <= hi {
				to = append(to, label{Tick: t})
			}
		}
		slices.SortStableFunc(to, func(p, q label) int { return cmp.Compare(p.At, q.At) })
		return to
	}
	var places []float64
	var step float64
	if a.Log {
		places, step = logTicks(lo, hi, n)
	} else {
		places, step = linearTicks(lo, hi, n)
	}
	most := 0.0
	for _, v := range places {
		most = max(most, math.Abs(v))
	}
	before := ""
	for _, v := range places {
		var text string
		switch {
		case a.Format != nil:
			text = a.Format(v, step)
		case a.Log && step == 0:
			text = logNumber(v)
		case most == 0: // alone it needs no decimals
			text = "0"
		default:
			text = number10(v, step, most)
		}
		if text == before { // the caller's format has too few digits
			text = ""
		} else {
			before = text
		}
		to = append(to, label{Tick: Tick{v, text}})
	}
	return to
}

// caption is what an axis is called.
func (a *Axis) caption() string {
	switch {
	case a.Unit == "":
		return a.Title
	case a.Title == "":
		return a.Unit
	case strings.HasSuffix(a.Title, "("+a.Unit+")"), strings.HasSuffix(a.Title, "["+a.Unit+"]"): // the name says it
		return a.Title
	}
	return a.Title + " (" + a.Unit + ")"
}

// place finds ticks of a horizontal axis whose labels fit between the columns
// left and right, apart from each other and from [avoid, avoidEnd).
func (a *Axis) place(to []label, l *Layout, left, right, avoid, avoidEnd int) []label {
	most := min(10, l.Plot.W/3)
	if w := TextWidth(a.caption()); w > 0 { // which stands between two of them
		most = max(min(most, 2), min(most, l.Plot.W/(w+5)))
	}
	for n := most; n >= 1; n-- {
		to = a.ticks(to[:0], l.XMin, l.XMax, n)
		end, fits := left-1, true // the first label may begin at left
		kept := to[:0]
		for _, t := range to {
			t.cell, _ = l.cellX(t.At)
			w := TextWidth(t.Text)
			t.x = max(min(t.cell-(w-1)/2, right-w), left)
			switch {
			case w == 0:
			case w > right-left, avoidEnd > avoid && t.x < avoidEnd+1 && t.x+w > avoid-1:
				t.Text = ""
			case t.x <= end:
				fits = false
				t.Text = ""
			default:
				end = t.x + w + 1
			}
			kept = append(kept, t)
		}
		to = kept
		if fits || a.Labels != nil || n == 1 {
			break
		}
	}
	return to
}

// spread moves labels, which are sorted by the rows they want, apart from each
// other and into rows 0 to h-1, as little as can be. There are at most h.
func spread(labels []endLabel, h int) {
	// Labels that touch form a block; the block stands where the sum of
	// distances is small: at the mean of what its labels want.
	type block struct{ first, n, sum int }
	var blocks []block
	row := func(b block) int {
		// Label i of the block wants its row less i.
		return min(max(int(math.Floor(float64(b.sum)/float64(b.n)+0.5)), 0), h-b.n)
	}
	for i := range labels {
		b := block{i, 1, labels[i].want}
		for len(blocks) > 0 {
			p := blocks[len(blocks)-1]
			if row(p)+p.n <= row(b) {
				break
			}
			b = block{p.first, p.n + b.n, p.sum + b.sum - b.n*p.n}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	for _, b := range blocks {
		for i := range b.n {
			labels[b.first+i].row = row(b) + i
		}
	}
}
