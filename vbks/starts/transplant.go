package starts

import (
	"math"
	"math/rand/v2"
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// drawnParts is how many fresh draws of the part that a giver lacks are tried.
const drawnParts = 4

// Transplant makes starts for the taker from the giver's solution. own is the
// taker's present solution (nil for none), from which leaves that the giver
// lacks are filled; they are drawn afresh, too.
func (w *Drawer) Transplant(r Relation, giver, taker *kernelspace.Program, x, own []float64, rng *rand.Rand) [][]float64 {
	giver, taker = giver.Own(), taker.Own()
	from, noise := params.Raw(giver, x, w.floor)
	fromLeaves, toLeaves := params.Leaves(giver), params.Leaves(taker)
	if len(r.Shared) > 0 {
		passOn(giver, from, fromLeaves, r.Shared[0], r.Shared[1])
	}
	raw := make([]float64, len(taker.Params))
	if own != nil {
		raw, _ = params.Raw(taker, own, w.floor)
	} else {
		used := w.taken(taker)
		for _, in := range toLeaves {
			w.fresh(taker, in, raw, rng, 0, used)
			w.heed(taker, in, raw, rng, 0)
		}
	}
	var added []int // leaves that the giver lacks
	changed := false
	widened := -1 // an RQ that was SE
	loaded := -1  // levels with lengths that had none
	for i, in := range toLeaves {
		j := r.Pairs[i]
		if j < 0 {
			added = append(added, i)
			changed = changed || in.Op == kernelspace.OpStep
			continue
		}
		src := fromLeaves[j]
		if !(src.Op == in.Op || src.Op.Radial() && in.Op.Radial()) {
			w.likened(src, in, from, raw)
			if src.Op == kernelspace.OpCat && in.Op == kernelspace.OpLevels {
				loaded = i
			}
			continue // where they have nothing in common the taker's own values stay
		}
		copyLeaf(giver, taker, src, in, from, raw)
		if in.Op == kernelspace.OpRQ && src.Op != kernelspace.OpRQ {
			widened = i
		}
	}
	t := params.Tree(taker)
	var out [][]float64
	emit := func(edit func(raw []float64)) {
		c := slices.Clone(raw)
		if edit != nil {
			edit(c)
		}
		params.Settle(taker, c)
		out = append(out, params.Free(taker, c, noise, w.floor))
	}
	redraw := func(c []float64, number int) {
		used := w.taken(taker)
		for _, i := range added {
			in := toLeaves[i]
			w.fresh(taker, in, c, rng, number, used)
			w.heed(taker, in, c, rng, number)
		}
	}
	switch {
	case widened >= 0:
		// SE is RQ with a large shape; smaller ones give the shape a gradient.
		in := toLeaves[widened]
		alpha := in.Off + 1 + in.NumScale
		emit(func(c []float64) { c[alpha] = 1000 })
		emit(func(c []float64) { c[alpha] = 10 })
		emit(func(c []float64) { c[alpha] = 1 })
	case loaded >= 0:
		// Without lengths is the limit of short ones; longer ones have levels in common.
		in := toLeaves[loaded]
		for _, length := range []float64{0.4, 1} {
			emit(func(c []float64) {
				for i := range in.NumScale {
					c[in.Off+1+i] = length
				}
			})
		}
		if own != nil {
			emit(nil)
		}
	case (r.Kind == Lift || r.Kind == Cousin) && len(added) > 0:
		parent, part := enclosing(t, added)
		if parent == nil && changed { // a change point about the giver, or at a place of it
			for number := range drawnParts {
				emit(func(c []float64) { redraw(c, number) })
			}
			if own != nil {
				emit(nil)
			}
		}
		if parent == nil {
			return out
		}
		if parent.In.Op == kernelspace.OpAdd {
			// A summand far below the noise changes nothing; one near it shows by the
			// bound whether it is wanted; and the taker's own may be right at once.
			quiet := noise * min(0.01, 1/float64(w.rows))
			emit(func(c []float64) { w.shrink(taker, part, c, quiet) })
			for number := range drawnParts {
				emit(func(c []float64) {
					redraw(c, number)
					w.shrink(taker, part, c, 0.3*noise)
				})
			}
			if own != nil {
				emit(nil)
			}
		} else {
			if flat(part) {
				// The flatter the smaller the noise is beside the function.
				times := math.Sqrt(float64(w.rows) * w.square / noise)
				emit(func(c []float64) { w.flatten(part, c, max(50, times)) })
			}
			for number := range drawnParts {
				emit(func(c []float64) {
					redraw(c, number)
					if flat(part) {
						w.flatten(part, c, 3)
					}
				})
			}
			if own != nil {
				emit(nil)
			}
		}
	case r.Kind == Replacement && changed: // a change point along another input
		for number := range drawnParts {
			emit(func(c []float64) { redraw(c, number) })
		}
		if own != nil {
			emit(nil)
		}
	default:
		emit(nil)
	}
	return out
}

// passOn gives the variance of a leaf that is gone, as far as it is not that of the one which stands for it, to another factor of its
// product.
func passOn(p *kernelspace.Program, raw []float64, leaves []*kernelspace.Instr, gone, kept int) {
	product, _ := enclosing(params.Tree(p), []int{gone})
	if product == nil {
		return
	}
	for _, a := range product.Args {
		if a.Leaf != gone {
			a.Amplify(raw, raw[leaves[gone].Off]/raw[leaves[kept].Off])
			return
		}
	}
}

// copyLeaf copies the parameters that two leaves have in common, in order; those of columns, where the giver has the same
// ones and others, by the column.
func copyLeaf(giver, taker *kernelspace.Program, src, dst *kernelspace.Instr, from, to []float64) {
	next := map[string]int{} // of the giver's leaf, by name
	for d := dst.Off; d < dst.Off+dst.NumParams(); d++ {
		of := &taker.Params[d]
		if src.NumParams() > dst.NumParams() && of.Column >= 0 {
			if s := giverOf(giver, src, of); s >= 0 {
				to[d] = from[s]
				continue
			}
		}
		for s := src.Off + next[of.Name]; s < src.Off+src.NumParams(); s++ {
			next[of.Name]++
			if giver.Params[s].Name == of.Name {
				// Lengths of levels are of one column's.
				if of.Level == 0 || giver.Params[s].Column == of.Column {
					to[d] = from[s]
				}
				break
			}
		}
	}
}

// giverOf is which parameter of a giver's leaf is of the same name and column, −1 where none is, or several are.
func giverOf(giver *kernelspace.Program, src *kernelspace.Instr, of *kernelspace.Param) (at int) {
	at = -1
	for s := src.Off; s < src.Off+src.NumParams(); s++ {
		if p := &giver.Params[s]; p.Name == of.Name && p.Column == of.Column {
			if at >= 0 {
				return -1
			}
			at = s
		}
	}
	return at
}

// enclosing finds the sum or product in t of which the given leaves are one
// whole argument.
func enclosing(t *params.Term, part []int) (parent, arg *params.Term) {
	for _, a := range t.Args {
		if slices.Equal(a.Leaves, part) {
			return t, a
		}
		if p, q := enclosing(a, part); p != nil {
			return p, q
		}
	}
	return nil, nil
}

// shrink scales the contribution of one summand to the given mean of k(x,x).
func (w *Drawer) shrink(p *kernelspace.Program, part *params.Term, raw []float64, target float64) {
	if share := w.share(p, part, raw); share > 0 {
		part.Amplify(raw, target/share)
	}
}

// share is how much of the variance a term has.
func (w *Drawer) share(p *kernelspace.Program, part *params.Term, raw []float64) float64 {
	without := slices.Clone(raw)
	part.Amplify(without, 0)
	return w.meanDiag(p, raw) - w.meanDiag(p, without)
}

// idleTimes is what idle says: ½(r − log(1+r)) is .8 nats.
const idleTimes = 3

// idle reports whether a term explains nothing: what varies of its function is at most idleTimes the variance with
// which all rows together know one number, so that it is worth a nat or less.
func (w *Drawer) idle(p *kernelspace.Program, part *params.Term, raw []float64, noise float64) bool {
	without := slices.Clone(raw)
	part.Amplify(without, 0)
	varies := 0.0
	for i, a := range w.sample {
		varies += p.Eval(raw, a, a, true) - p.Eval(without, a, a, true)
		for j, b := range w.sample {
			varies -= (p.Eval(raw, a, b, i == j) - p.Eval(without, a, b, i == j)) / float64(len(w.sample))
		}
	}
	return varies/float64(len(w.sample))*float64(len(w.y)) < idleTimes*noise
}

// flat reports whether a term can be made nearly constant.
func flat(t *params.Term) bool {
	if t.Leaf >= 0 {
		switch t.In.Op {
		case kernelspace.OpLIN,
			kernelspace.OpPoly,
			kernelspace.OpWhite,
			kernelspace.OpCat,
			kernelspace.OpCos,
			kernelspace.OpRW,
			kernelspace.OpIRW,
			kernelspace.OpStep:
			return false
		}
		return true
	}
	for _, a := range t.Args {
		if !flat(a) {
			return false
		}
	}
	return true
}

// flatten makes a term nearly constant: length scales of so many times the
// span, a mean of about 1.
func (w *Drawer) flatten(t *params.Term, raw []float64, times float64) {
	if t.Leaf < 0 {
		for _, a := range t.Args {
			w.flatten(a, raw, times)
		}
		if t.In.Op == kernelspace.OpAdd {
			t.Amplify(raw, 1/float64(len(t.Args)))
		}
		return
	}
	in := t.In
	raw[in.Off] = 1
	for i := range in.NumScale {
		l := min(times, endless)
		if in.Op != kernelspace.OpPER && in.Op != kernelspace.OpLevels {
			l = min(times, 900) * w.scales.Span[in.Cols[min(i, len(in.Cols)-1)]]
		}
		raw[in.Off+1+i] = l
	}
}
