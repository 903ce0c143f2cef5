//go:build cuda

package cuda

import (
	"math"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
)

// repeating is a step that is like others, see device.Repeater: the launches of one are gathered, and
// those that were made before with the same arguments are a graph. So that arguments are the same, the
// numbers of a minibatch's rows are copied to one place, and Adam's corrections are read from memory.
type repeating struct {
	on     bool
	rows   device.Points // the minibatch
	at     driver.Ptr    // where its rows' numbers are; 0 where it is no list
	memory scratch
}

// Repeats has the launches gathered until end is called.
func (l *lane) Repeats(x device.Points) (end func()) {
	l.flush()
	if l.err != nil || !l.card.Records() {
		return func() {}
	}
	r := &l.step
	r.at = 0
	if list, ok := x.Index.(*index); ok {
		want(list.lane == l && x.From >= 0 && x.From <= x.To && x.To <= list.n)
		if r.at = l.grow(&r.memory, 4*x.Len()); r.at == 0 {
			return func() {}
		}
		l.card.CopyDevice(r.at, list.ptr.Add(4*x.From), 4*x.Len())
	}
	r.on, r.rows = true, x
	l.card.Gather()
	return func() {
		l.flush()
		r.on, r.rows = false, device.Points{}
		l.card.Carry()
	}
}

// place is where the numbers of rows p of a list are, and the first of them: in a step that repeats
// those of its minibatch have a place of their own.
func (l *lane) place(p device.Points, list *index) (at driver.Ptr, from int) {
	r := &l.step
	if r.on && r.at != 0 && p.Index == r.rows.Index && p.From >= r.rows.From && p.To <= r.rows.To {
		return r.at, p.From - r.rows.From
	}
	return list.ptr, p.From
}

// corrections are Adam's 1 − β^t at step t, and in a step that repeats where they are read, in place of
// these numbers.
func (l *lane) corrections(t int) (c1, c2 float64, at driver.Ptr) {
	c1, c2 = 1-math.Pow(0.9, float64(t)), 1-math.Pow(0.999, float64(t))
	if at = l.card.Vary(c1, c2); at != 0 {
		return 0, 0, at
	}
	return c1, c2, 0
}
