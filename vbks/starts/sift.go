package starts

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/periods"
)

const (
	// A factor turns into what repeats, and does not quite yet: with so many times the noise that is not refuted.
	siftedNoise = 10
	// Or, all of it, for a time that is so much shorter than the part that was wanted.
	siftedShorter = 4
	// So many of what is wanted may repeat later.
	siftedRepeated = 3
	// What has details so short was noise, all but so much of it.
	noiseLength = 0.1
	siftedLeft  = 0.2
	// The length of a leaf PER that repeats nothing: its function is noise.
	nothingRepeats = 1e-4
	// The length of a leaf PER that is as good as constant.
	endless = 90
)

// Sift makes starts from a solution in each of which a leaf PER has a period that the covariance without it wants at its
// place, see periods.Wanted: so many at most of each leaf. It comes beside what there is without its term, or, in a product that explains
// something, in the place of a constant, too. A periodogram of what a solution leaves shows nothing of a period with short details
// that grows, or whose cycles are alike for a short time only; for how long says a factor beside the leaf, radial or another
// PER, which is as long as that then. There are none for kernels without PER. An error is of the factorisation.
func (w *Drawer) Sift(
	ctx context.Context, p *kernelspace.Program, x []float64, most int, factor Factor, values Values,
) (out [][]float64, err error) {
	if len(w.y) > shapedRows {
		return nil, nil
	}
	s := w.sifting(p, x, factor)
	s.values = values
	raw, t := s.all[:len(s.p.Params)], params.Tree(s.p)
	for i, in := range s.leaves {
		if !w.seeks(s.p, in) {
			continue
		}
		at := sought{leaf: i, term: t, carrier: -1, beside: true}
		if parent, self := enclosing(t, []int{i}); parent != nil {
			if at.term = self; parent.In.Op == kernelspace.OpMul {
				at.term, at.carrier, at.beside = parent, w.carrier(parent, s.leaves, i), w.idle(s.p, parent, raw, s.noise)
			}
		}
		sides := []bool{at.beside}
		if !at.beside { // what it explains may be worth little
			sides = append(sides, true)
		}
		for _, at.beside = range sides {
			wants, level, err := s.wants(ctx, at)
			if err != nil || wants == nil && ctx.Err() != nil {
				return nil, err
			}
			for _, want := range w.repeated(wants[:min(most, len(wants))], in.Cols[0]) {
				out = append(out, s.having(at, want, level)...)
			}
		}
	}
	return out, nil
}

// sought is a leaf whose period is looked for.
type sought struct {
	leaf    int
	term    *params.Term // what it is all of, or a factor of
	carrier int          // the leaf that says for how long its cycles are alike, −1: none
	beside  bool         // the term comes beside what there is without it, else repeats in the place of a constant
}

// having are starts with what a leaf is wanted to be, where its term has so much of the variance.
func (s *sifting) having(at sought, want periods.Want, level float64) (out [][]float64) {
	in, raw := s.leaves[at.leaf], s.all[:len(s.p.Params)]
	period := in.Off + 1 + in.NumScale
	if known := &s.p.Params[period].Known; known.How == kernelspace.Bounded && !within(known, want.Period) {
		return nil
	}
	emit := func(memory, square, times float64) {
		v := slices.Clone(raw)
		for d := range in.NumScale {
			v[in.Off+1+d] = want.Length
		}
		for d := range in.NumPeriod {
			v[period+d] = want.Period
		}
		if at.beside {
			at.term.Amplify(v, square)
		}
		if at.carrier >= 0 {
			s.carry(s.leaves[at.carrier], v, memory)
		}
		params.Settle(s.p, v)
		out = append(out, params.Free(s.p, v, times*s.noise, s.floor))
	}
	emit(want.Memory, want.Square, 1)
	switch {
	case !at.beside: // all of the function is to repeat, and for a shorter time than what was wanted
		emit(want.Memory, want.Square, siftedNoise)
		if at.carrier >= 0 {
			emit(math.Min(want.Memory, s.scales.Span[in.Cols[0]])/siftedShorter, want.Square, 1)
		}
	case want.Length < noiseLength && level > 0: // it was noise, most of it
		emit(want.Memory, math.Min(want.Square, (1-siftedLeft)*s.noise/level), siftedLeft)
	}
	return out
}

// repeated adds, of the first of what is wanted, what repeats after some of its periods only, with details as short: of a long
// period with short details harmonics are wanted before it is.
func (w *Drawer) repeated(wants []periods.Want, column int) (out []periods.Want) {
	for i, want := range wants {
		out = append(out, want)
		for _, k := range []float64{2, 3, 4, 6} {
			if i < siftedRepeated && k*want.Period <= w.scales.Span[column]/2 {
				longer := want
				longer.Period, longer.Length = k*want.Period, want.Length/k
				out = append(out, longer)
			}
		}
	}
	return out
}

// sifting is a solution that is sifted.
type sifting struct {
	*Drawer
	whole, p *kernelspace.Program
	leaves   []*kernelspace.Instr
	all      []float64 // raw parameters of whole
	noise    float64
	factor   Factor
	values   Values
}

func (w *Drawer) sifting(p *kernelspace.Program, x []float64, factor Factor) sifting {
	s := sifting{Drawer: w, whole: p, p: p.Own(), factor: factor}
	s.all, s.noise = params.Raw(p, x, w.floor)
	s.leaves = params.Leaves(s.p)
	return s
}

// wants is what a leaf is wanted to be, beside what there is without its term or in the place of a constant; its carrier has any length.
// Its term has so much of the variance in the mean.
func (s *sifting) wants(ctx context.Context, at sought) (wants []periods.Want, level float64, err error) {
	in, carrier := s.leaves[at.leaf], at.carrier
	reference := slices.Clone(s.all)
	for d := range in.NumScale {
		reference[in.Off+1+d] = endless
	}
	one := slices.Clone(reference[:len(s.p.Params)])
	if carrier >= 0 {
		s.carry(s.leaves[carrier], one, math.Inf(1))
	}
	none := slices.Clone(one)
	at.term.Amplify(none, 0)
	if at.beside {
		at.term.Amplify(reference, 0)
	}
	references := [][]float64{reference}
	if !at.beside { // without repeating the function is as rough as its cycles, or noise
		rough := slices.Clone(reference)
		if carrier >= 0 {
			s.carry(s.leaves[carrier], rough, s.all[in.Off+1]*s.all[in.Off+1+in.NumScale]/(2*math.Pi))
		} else {
			for d := range in.NumScale {
				rough[in.Off+1+d] = nothingRepeats
			}
		}
		references = append(references, rough)
	}
	column, w, level, err := s.score(ctx, in.Cols[0], references, one, none)
	if err != nil || w == nil {
		return nil, 0, err
	}
	return periods.Wanted(ctx, column, w, carrier >= 0, true), level, nil
}

// score is what pairs of rows want of a term, (ααᵀ − K̂⁻¹)∘B, where B is what one solution has beyond another, at the best of
// some references, with their values of a column and the mean of the diagonal of B; nil where there is none.
func (s *sifting) score(
	ctx context.Context, c int, references [][]float64, one, none []float64,
) (column []float64, w *mat.SymDense, level float64, err error) {
	rows := s.leftRows(s.p, references[len(references)-1])
	x, y := s.gather(rows), mat.NewVecDense(len(rows), nil)
	column = make([]float64, len(rows))
	for j, r := range rows {
		y.SetVec(j, s.y[r])
		column[j] = s.x[r*s.dim+c]
	}
	var chol *mat.Cholesky
	alpha, top := new(mat.VecDense), math.Inf(-1)
	for _, raw := range references {
		u, err := s.factor(x, s.whole, raw, s.noise)
		if err != nil || ctx.Err() != nil {
			return nil, nil, 0, err
		}
		if u == nil {
			continue
		}
		c, a := new(mat.Cholesky), new(mat.VecDense)
		c.SetFromU(u)
		if err := c.SolveVecTo(a, y); err != nil { // K̂ is near singular
			continue
		}
		if nats := -(mat.Dot(y, a) + c.LogDet()) / 2; nats > top {
			chol, alpha, top = c, a, nats
		}
	}
	w = new(mat.SymDense)
	if chol == nil || chol.InverseTo(w) != nil {
		return nil, nil, 0, nil
	}
	with, err := s.values(x, s.p, one)
	if err != nil {
		return nil, nil, 0, err
	}
	without, err := s.values(x, s.p, none)
	if err != nil {
		return nil, nil, 0, err
	}
	n := len(rows)
	for a := range n {
		level += (with[a*n+a] - without[a*n+a]) / float64(n)
		for b := range a {
			w.SetSym(a, b, (alpha.AtVec(a)*alpha.AtVec(b)-w.At(a, b))*(with[a*n+b]-without[a*n+b]))
		}
	}
	return column, w, level, nil
}

// carrier is a factor beside a leaf that can say for how long its cycles are alike, a radial one before another PER; −1 where
// there is none.
func (w *Drawer) carrier(product *params.Term, leaves []*kernelspace.Instr, leaf int) int {
	other := -1
	for _, a := range product.Args {
		if a.Leaf < 0 || a.Leaf == leaf {
			continue
		}
		switch in := leaves[a.Leaf]; {
		case len(in.Cols) != 1 || in.Cols[0] != leaves[leaf].Cols[0] || in.NumScale != 1:
		case in.Op.Radial():
			return a.Leaf
		case in.Op == kernelspace.OpPER && other < 0:
			other = a.Leaf
		}
	}
	return other
}

// carry makes a carrier as long as a memory.
func (w *Drawer) carry(in *kernelspace.Instr, raw []float64, memory float64) {
	span := w.scales.Span[in.Cols[0]]
	switch {
	case in.Op != kernelspace.OpPER:
		raw[in.Off+1] = math.Min(memory, awaySpans*span)
	case math.IsInf(memory, 1):
		raw[in.Off+1] = endless
	default: // one turn that is as long as the data, see Wrap
		raw[in.Off+1], raw[in.Off+2] = 2*math.Pi*memory/span, span
	}
}
