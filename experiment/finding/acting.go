package finding

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace"
)

const (
	// faint is how far a function goes along a column's range, of what it does along the column where it goes
	// farthest, below which nobody would say that it acts on it.
	faint = 0.05

	mostNamed  = 3 // columns of a leaf that are named in brief
	mostLacked = 3 // columns that it does not act on and that are named in brief
)

// shortness is the range of a column over a leaf's length there; NaN where that is not known.
func (w *speller) shortness(l *wordLeaf, place int) float64 {
	c := &w.start.Inputs()[l.Cols[place]]
	if !(c.Max > c.Min) {
		return math.NaN()
	}
	return (c.Max - c.Min) / float64(w.values[l.params[1+place]])
}

// ownLengths reports whether a leaf has a length for each of several columns.
func (l *wordLeaf) ownLengths() bool {
	return len(l.Cols) > 1 && l.NumScale == len(l.Cols) && l.NumPeriod == 0
}

// acting are the places of a leaf's columns along which what it says changes: with a length for each some are so
// long that they say nothing. Along a range that is longer than the length it goes as far as it ever does.
func (w *speller) acting(l *wordLeaf) (places []int) {
	for i := range l.Cols {
		places = append(places, i)
	}
	if !l.ownLengths() {
		return places
	}
	going, most := make([]float64, len(l.Cols)), 0.0
	for i := range going {
		if going[i] = min(1, w.shortness(l, i)); going[i] > most {
			most = going[i]
		}
	}
	return slices.DeleteFunc(places, func(i int) bool { return going[i] < faint*most })
}

// columnsOf are the columns that a component acts on.
func (w *speller) columnsOf(c *kernelspace.Component) (out []int) {
	if c.Expr.IsChange() {
		return componentColumns(c)
	}
	leaves := w.leaves(c)
	for i := range leaves {
		for _, place := range w.acting(&leaves[i]) {
			out = append(out, leaves[i].Cols[place])
		}
	}
	return out
}

// varying says in brief along which columns a leaf with a length for each varies, and where most.
func (w *speller) varying(l *wordLeaf) string {
	inputs, places := w.start.Inputs(), w.acting(l)
	name := func(place int) string { return words.PlainLine(inputs[l.Cols[place]].Name) }
	if len(places) <= mostNamed {
		var names []string
		lengths := make([]int, 0, len(places))
		for _, i := range places {
			names, lengths = append(names, name(i)), append(lengths, l.params[1+i])
		}
		return " in " + words.Join(names) + " over about " + w.quantities(lengths)
	}
	text := fmt.Sprintf(" in %d inputs", len(places))
	if lacks := len(inputs) - len(places); len(l.Cols) == len(inputs) && lacks <= mostLacked {
		text = " in all inputs"
		var names []string
		for i := range l.Cols {
			if !slices.Contains(places, i) {
				names = append(names, name(i))
			}
		}
		if lacks > 0 {
			text += " but " + words.Join(names)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(w.shortness(l, b), w.shortness(l, a)) })
	return text + ", most along " + name(places[0]) + " and " + name(places[1])
}
