package finding

import (
	"fmt"
	"slices"
	"strings"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace"
)

// apart reports whether a factor acts on columns other than those of what it is a factor of.
func (w *speller) apart(l, head *wordLeaf) bool {
	return !slices.ContainsFunc(l.Cols, func(c int) bool { return slices.Contains(head.Cols, c) })
}

// turnedAt is where a part along a column stands alone, as another part along it grows with another column and is turned
// over there; "" where there is none.
func (w *speller) turnedAt(column string) string {
	inputs := w.start.Inputs()
	for i := range w.parts {
		c := &w.parts[i]
		if c.Expr.IsChange() || slices.ContainsFunc(c.Program.Instrs, func(in kernelspace.Instr) bool { return in.Op == kernelspace.OpChange }) {
			continue
		}
		leaves := w.leaves(c)
		if len(leaves) != 2 || len(leaves[0].Cols) != 1 || inputs[leaves[0].Cols[0]].Name != column {
			continue
		}
		l := &leaves[1]
		if l.Op != kernelspace.OpLIN || len(l.Cols) != 1 || !w.apart(l, &leaves[0]) {
			continue
		}
		if place, within := w.turn(l); within {
			return " at " + words.PlainLine(inputs[l.Cols[0]].Name) + " " + place
		}
	}
	return ""
}

// zero is where a straight line along one column is 0.
func (w *speller) zero(l *wordLeaf) float64 {
	for _, f := range w.info.Fixed {
		if f.Name == l.name+".centre" && f.Column == w.start.Inputs()[l.Cols[0]].Name {
			return f.Value
		}
	}
	return 0
}

// turn writes where a straight line along one column is 0; within tells whether it is so among the rows.
func (w *speller) turn(l *wordLeaf) (place string, within bool) {
	c, at := &w.start.Inputs()[l.Cols[0]], w.zero(l)
	place = strings.TrimSpace(words.Significant(at, 3) + " " + c.Unit)
	if _, _, time := record.TimeScale(c); time {
		place = w.day(l.Cols[0], at)
	}
	return place, c.Min < at && at < c.Max
}

// growing says in brief along which columns a straight line has something grow, and beyond where it is the
// other way round.
func (w *speller) growing(l *wordLeaf) string {
	inputs := w.start.Inputs()
	if len(l.Cols) > mostNamed {
		return fmt.Sprintf(" changes with %d inputs", len(l.Cols))
	}
	if len(l.Cols) > 1 {
		return " changes with " + words.PlainLine(w.namesOf(l))
	}
	c, at := &inputs[l.Cols[0]], w.zero(l)
	name := words.PlainLine(c.Name)
	place, within := w.turn(l)
	switch {
	case at >= c.Max && c.Min < c.Max:
		return " shrinks with " + name
	case !within || w.detail == calm:
		return " grows with " + name
	}
	below := "below "
	if _, _, time := record.TimeScale(c); time {
		below = "before "
	}
	return " grows with " + name + " (turned over " + below + place + ")"
}

// together says in brief that a factor along other columns acts together with what it is a factor of.
func (w *speller) together(l *wordLeaf, modifier string) string {
	along, on := w.where(l), slices.Contains([]kernelspace.Op{kernelspace.OpSE, kernelspace.OpRQ, kernelspace.OpMatern12,
		kernelspace.OpMatern32, kernelspace.OpMatern52}, l.Op)
	names := strings.TrimPrefix(along, " in ")
	if how, ok := strings.CutPrefix(modifier, "changing"+along); ok && on {
		return "together with " + names + how
	}
	if modifier == "slowly changing"+along {
		return "slowly changing with " + names
	}
	return modifier
}

// modifier says what a leaf does to the leaf before it in a product.
func (w *speller) modifier(l *wordLeaf) string {
	in := w.where(l)
	if w.beyond(l, farBeyond) || w.once(l) {
		return "" // it hardly changes, or nobody has seen that it does so again
	}
	if w.beyond(l, 1) { // a length that nobody has seen says nothing
		return "slowly changing" + in
	}
	switch l.Op {
	case kernelspace.OpSE, kernelspace.OpMatern12, kernelspace.OpMatern32, kernelspace.OpMatern52:
		return "changing" + in + " over about " + w.lengths(l)
	case kernelspace.OpRQ:
		return "changing" + in + " on length scales about " + w.lengths(l)
	case kernelspace.OpPER:
		return "modulated by a pattern" + in + " that repeats every " + w.periods(l)
	case kernelspace.OpCos:
		return "modulated by a sine wave" + in + " with a period of " + w.periods(l)
	case kernelspace.OpRW:
		return "its size wandering" + in
	case kernelspace.OpIRW:
		return "its size growing and falling at a rate that wanders" + in
	case kernelspace.OpCat, kernelspace.OpLevels:
		return "another one for each value of " + w.namesOf(l) + someAlike(l)
	case kernelspace.OpPoly:
		return fmt.Sprintf("growing as a polynomial of degree %d%s", l.Degree, in)
	}
	return ""
}
