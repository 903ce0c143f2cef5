package promise

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/vbks/params"
)

// noises are how many times the noise there may be without a leaf or with another in its place, ascending.
func noises() []float64 { return []float64{1, 2, 4, 10, 30} }

// amplitudes are those of a leaf in the place of another that are tried beside its own, in its own.
func amplitudes() []float64 { return []float64{0.3, 3} }

// place is where a leaf stands.
type place struct {
	around square  // what it is multiplied by
	rest   square  // what there is beside its term
	trace  float64 // of that
	factor bool    // of a product
}

// place is that of a leaf of the solution; false at a change.
func (l *looked) place(leaf int) (p place, ok bool) {
	p.around = slices.Repeat(square{1}, len(l.k))
	if l.leaves[leaf] == nil || !multiplied(p.around, l.tree, leaf, l.leaves) {
		return p, false
	}
	term := slices.Clone(p.around)
	times(term, l.leaves[leaf])
	p.trace, p.rest, p.factor = l.trace(term), slices.Clone(l.k), isFactor(l.tree, leaf)
	floats.Sub(p.rest, term)
	return p, p.trace > 0
}

// isFactor reports whether a leaf is one of a product.
func isFactor(t *params.Term, leaf int) bool {
	for _, a := range t.Args {
		switch {
		case a.Leaf == leaf:
			return t.In.Op == kernelspace.OpMul
		case slices.Contains(a.Leaves, leaf):
			return isFactor(a, leaf)
		}
	}
	return false
}

// put is the covariance with a matrix at a place that explains so many times as much as what was there; nil is nothing, or a constant
// in the place of a factor.
func (l *looked) put(p *place, d square, amplitude float64) square {
	k := slices.Clone(p.rest)
	if d == nil && !p.factor {
		return k
	}
	term := slices.Clone(p.around)
	if d != nil {
		times(term, d)
	}
	if t := l.trace(term); t > 0 {
		floats.AddScaled(k, amplitude*p.trace/t, term)
	}
	return k
}

// change is what a neighbour gains in which a leaf of the solution is gone, or another stands in its place, mostly less than 0.
func (l *looked) change(ctx context.Context, w *desk, n *grow.Neighbour, leaf kernelspace.Expr, compile compiler) float64 {
	most := math.Inf(-1)
	for _, i := range l.changed(n, leaf) {
		at, ok := l.place(i)
		if !ok {
			continue
		}
		if n.Kind == grow.Remove {
			nats, _ := l.noisy(w, l.put(&at, nil, 1))
			most = math.Max(most, nats)
		} else {
			most = math.Max(most, l.instead(ctx, w, &at, i, leaf, compile))
		}
	}
	if math.IsInf(most, -1) {
		return 0
	}
	return most - l.best
}

// changed are the leaves of the solution that may be those which a neighbour has not: several where leaves are alike.
func (l *looked) changed(n *grow.Neighbour, leaf kernelspace.Expr) (out []int) {
	id := n.Expr.ID()
	if n.Kind != grow.Remove {
		for _, r := range l.expr.Replacements([]kernelspace.Expr{leaf}) {
			if r.Expr.ID() == id {
				out = append(out, r.Leaf)
			}
		}
		return out
	}
	for _, s := range l.expr.Simplifications() {
		if (s.Kind == kernelspace.DropSum || s.Kind == kernelspace.DropFactor) && len(s.Dropped) == 1 && s.Expr.ID() == id {
			out = append(out, s.Dropped[0])
		}
	}
	return out
}

// instead is the log evidence with a leaf in the place of one of the solution, less the logarithm of how many choices there are; −∞
// where there is none.
func (l *looked) instead(ctx context.Context, w *desk, at *place, was int, leaf kernelspace.Expr, compile compiler) float64 {
	p, err := compile(leaf)
	if err != nil {
		return math.Inf(-1)
	}
	p = p.Own()
	in := params.Leaves(p)[0]
	if in.Op != kernelspace.OpPER || len(in.Cols) != 1 {
		choices := slices.Clone(l.leaf(leaf.ID(), p, in))
		if d := l.alike(p, in, was); d != nil {
			choices = append(choices, d)
		}
		return l.stead(w, at, choices) - math.Log(float64(len(choices)))
	}
	k := l.put(at, nil, 1)
	_, noise := l.noisy(w, k)
	if _, ok := l.under(w, k, noise); !ok {
		return math.Inf(-1)
	}
	return l.stead(w, at, l.repeating(ctx, p, in, w.wanted(), at.around)) - math.Log(float64(len(l.y)))
}

// stead is the log evidence with the best of some matrices at a place; −∞ where there is none.
func (l *looked) stead(w *desk, at *place, choices []square) float64 {
	best, top, noise := -1, math.Inf(-1), 0.0
	for i, d := range choices {
		if v, of := l.noisy(w, l.put(at, d, 1)); v > top {
			best, top, noise = i, v, of
		}
	}
	if best < 0 {
		return top
	}
	for _, a := range amplitudes() {
		if v, ok := l.under(w, l.put(at, choices[best], a), noise); ok {
			top = math.Max(top, v)
		}
	}
	return top
}

// alike is a radial leaf as long as a leaf of the solution, or as its cycles are smooth; nil where there is none.
func (l *looked) alike(p *kernelspace.Program, in *kernelspace.Instr, was int) square {
	before := l.ins[was]
	if !in.Op.Radial() || in.NumScale != before.NumScale || !slices.Equal(in.Cols, before.Cols) {
		return nil
	}
	raw := l.middle(p, in)
	for d := range in.NumScale {
		length := l.raw[before.Off+1+d]
		switch {
		case before.Op == kernelspace.OpPER && before.NumPeriod == before.NumScale:
			length *= l.raw[before.Off+1+before.NumScale+d] / (2 * math.Pi)
		case !before.Op.Radial():
			return nil
		}
		raw[in.Off+1+d] = length
	}
	return l.matrix(p, raw)
}

// noisy is the log evidence of a covariance with the best of some noises, and that; −∞ where there is none.
func (l *looked) noisy(w *desk, k square) (nats, noise float64) {
	nats = math.Inf(-1)
	for _, times := range noises() {
		v, ok := l.under(w, k, times*l.noise)
		if ok && v <= nats {
			break
		}
		if ok {
			nats, noise = v, times*l.noise
		}
	}
	return nats, noise
}

// under is the log evidence of a covariance under a noise, but for a constant, see evidence.
func (l *looked) under(w *desk, k square, noise float64) (nats float64, ok bool) {
	n := len(l.y)
	copy(w.a, k)
	for i := range n {
		w.a[i*n+i] += noise
	}
	return l.evidence(w)
}
