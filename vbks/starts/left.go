package starts

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/periods"
	"example.com/kestrel/vbks/random"
)

const (
	// What a solution leaves is looked at on so many rows, of up to shapedRows; on roughRows where a
	// function of it is shorter than so many spacings of all rows: fewer of them would show it as noise.
	leftRows     = 512
	roughRows    = 1024
	fineSpacings = 8
	leftStream   = 0x726f7773
	// A leaf PER of length ℓ has harmonics of variance exp(−1/ℓ²) I_h(1/ℓ²), about exp(−h²ℓ²/2), so
	// that those up to this over ℓ hold 87 of 100 parts.
	harmonicLength = 1.5
)

// Factor returns U of k(X,X) + σ_n²I = UᵀU for rows x at raw parameters, nil where there is none.
type Factor func(x []float64, p *kernelspace.Program, raw []float64, noise float64) (*mat.TriDense, error)

// Values returns k(X,X) for rows x at raw parameters, row by row.
type Values func(x []float64, p *kernelspace.Program, raw []float64) ([]float64, error)

// Left makes starts from a solution in each of which a leaf PER has a period that the
// solution leaves in the data: beside a rough function, or a large one, a period
// stands out of nothing else, for each of so many at most. There are none for kernels without PER,
// and none of use where the context has ended. An error is of the factorisation.
func (w *Drawer) Left(
	ctx context.Context, p *kernelspace.Program, x []float64, most int, faint bool, factor Factor,
) (out [][]float64, err error) {
	if len(w.y) > shapedRows {
		return nil, nil
	}
	whole := p
	all, noise := params.Raw(whole, x, w.floor)
	p = p.Own()
	raw, t := all[:len(p.Params)], params.Tree(p)
	found := map[columnLeft][]periods.Sinusoid{}
	var rows []int
	var u *mat.TriDense
	for i, in := range params.Leaves(p) {
		if !w.seeks(p, in) {
			continue
		}
		c, known := in.Cols[0], &p.Params[in.Off+1+in.NumScale].Known
		if rows == nil {
			rows = w.leftRows(p, raw)
			if u, err = factor(w.gather(rows), whole, all, noise); err != nil {
				return nil, err
			}
		}
		if u == nil || ctx.Err() != nil {
			return nil, nil
		}
		part := summand(t, i)
		idle := faint && w.idle(p, part, raw, noise)
		key := columnLeft{c, idle}
		if _, done := found[key]; !done {
			column, y := make([]float64, len(rows)), make([]float64, len(rows))
			for j, r := range rows {
				column[j], y[j] = w.x[r*w.dim+c], w.y[r]
			}
			found[key] = periods.Left(ctx, column, y, u, most, idle, w.seed)
		}
		for _, s := range found[key] {
			if known.How == kernelspace.Bounded && !within(known, s.Period) {
				continue
			}
			emit := func(scale float64, edit func(raw []float64)) {
				v := slices.Clone(raw)
				for d := range in.NumScale {
					v[in.Off+1+d] = scale
				}
				for d := range in.NumPeriod {
					v[in.Off+1+in.NumScale+d] = s.Period
				}
				edit(v)
				params.Settle(p, v)
				out = append(out, params.Free(p, v, noise, w.floor))
			}
			if idle { // the others would have its amplitude
				emit(1.5, func(v []float64) { w.shrink(p, part, v, 3*s.Square) })
				emit(6, func(v []float64) { w.shrink(p, part, v, 36*s.Square) })
				continue
			}
			// In the place of what PER was; as small as it was found; and beside what PER
			// was, if that was flat. Of many harmonics each as long as to make so many.
			if s.Harmonics > 1 {
				sharp := harmonicLength / float64(s.Harmonics)
				emit(sharp, func([]float64) {})
				emit(sharp, func(v []float64) { w.shrink(p, part, v, s.Square) })
				emit(2*sharp, func([]float64) {})
				continue
			}
			emit(1, func([]float64) {})
			emit(1.5, func(v []float64) { w.shrink(p, part, v, 3*s.Square) })
			emit(6, func([]float64) {})
			for _, period := range w.sidebands(p, raw, part, i, s.Period) {
				if s.Period = period; known.How != kernelspace.Bounded || within(known, period) {
					emit(6, func([]float64) {})
				}
			}
		}
	}
	return out, nil
}

// seeks reports whether a leaf is PER along one column with a period that neither the calendar nor the user knows.
func (w *Drawer) seeks(p *kernelspace.Program, in *kernelspace.Instr) bool {
	return in.Op == kernelspace.OpPER && len(in.Cols) == 1 && !(w.calendrical && in.Seasonal()) &&
		p.Params[in.Off+1+in.NumScale].Known.How != kernelspace.Fixed
}

// Repeated is a summand of a solution that is a leaf PER.
type Repeated struct {
	Without []float64 // the solution with nothing of it to speak of
	leaf    int
}

const without = 1e-9 // of the noise

// Repeating are the summands of a kernel that are leaves PER beside others, but for those that know their period.
func Repeating(p *kernelspace.Program, scales kernelspace.Scales, calendar bool) (leaves []int) {
	p = p.Own()
	all, _ := params.Repeating(p)
	for _, i := range all {
		in := params.Leaves(p)[i]
		known := calendar && in.Seasonal() && p.Seasons(scales) != nil || p.Params[in.Off+2].Known.How == kernelspace.Fixed
		if !known && len(params.Leaves(p)) > 1 {
			leaves = append(leaves, i)
		}
	}
	return leaves
}

// Repeats are these of a solution.
func (w *Drawer) Repeats(p *kernelspace.Program, x []float64) (out []Repeated) {
	leaves := Repeating(p, w.scales, w.calendrical)
	p = p.Own()
	raw, noise := params.Raw(p, x, w.floor)
	t := params.Tree(p)
	for _, i := range leaves {
		v := slices.Clone(raw)
		w.shrink(p, summand(t, i), v, without*noise)
		params.Settle(p, v)
		out = append(out, Repeated{params.Free(p, v, noise, w.floor), i})
	}
	return out
}

// Repeat makes starts from a solution in which a summand has one of the periods that were found without it, with the
// amplitude that they have.
func (w *Drawer) Repeat(p *kernelspace.Program, x []float64, r Repeated, found []periods.Sinusoid) (out [][]float64) {
	p = p.Own()
	raw, noise := params.Raw(p, x, w.floor)
	in, part := params.Leaves(p)[r.leaf], summand(params.Tree(p), r.leaf)
	for _, s := range found {
		if known := &p.Params[in.Off+2].Known; known.How == kernelspace.Bounded && !within(known, s.Period) {
			continue
		}
		// Of a leaf of length ℓ the first harmonic has about 1/ℓ² of the variance, if ℓ is long.
		shapes := [][2]float64{{1.5, 3}, {6, 36}}
		if s.Harmonics > 1 {
			sharp := harmonicLength / float64(s.Harmonics)
			shapes = [][2]float64{{sharp, 1}, {2 * sharp, 2}}
		}
		for _, shape := range shapes {
			v := slices.Clone(raw)
			v[in.Off+1], v[in.Off+2] = shape[0], s.Period
			w.shrink(p, part, v, shape[1]*s.Square)
			params.Settle(p, v)
			out = append(out, params.Free(p, v, noise, w.floor))
		}
	}
	return out
}

// sidebands are the periods with which leaf i, as a factor of what a term has of other leaves PER, makes
// their first harmonics repeat at a period:
//
//	1/period = |1/pᵢ ± h/pⱼ|,  h = 1, 2
func (w *Drawer) sidebands(p *kernelspace.Program, raw []float64, part *params.Term, i int, period float64) (out []float64) {
	leaves := params.Leaves(p)
	for _, j := range part.Leaves {
		in := leaves[j]
		if j == i || in.Op != kernelspace.OpPER || !slices.Equal(in.Cols, leaves[i].Cols) {
			continue
		}
		for _, h := range []float64{1, -1, 2, -2} {
			if other := 1 / math.Abs(1/period-h/raw[in.Off+1+in.NumScale]); other <= w.scales.Span[in.Cols[0]] {
				out = append(out, other)
			}
		}
	}
	return out
}

// columnLeft is what the periods that are left belong to: those of a summand that explains nothing may be faint.
type columnLeft struct {
	column int
	faint  bool
}

// summand is the largest term below all sums that a leaf is in.
func summand(t *params.Term, leaf int) *params.Term {
	at := t
	for at.In != nil && at.Leaf < 0 && at.In.Op == kernelspace.OpAdd {
		next := slices.IndexFunc(at.Args, func(a *params.Term) bool { return slices.Contains(a.Leaves, leaf) })
		if next < 0 {
			break
		}
		at = at.Args[next]
	}
	return at
}

// leftRows draws the rows that a solution is looked at on.
func (w *Drawer) leftRows(p *kernelspace.Program, raw []float64) []int {
	most := leftRows
	for _, in := range params.Leaves(p) {
		if in.Op.Radial() && len(in.Cols) == 1 && raw[in.Off+1] < fineSpacings*w.scales.Spacing[in.Cols[0]] {
			most = roughRows
		}
	}
	return w.some(most, leftStream)
}

// some draws so many rows, all where there are no more.
func (w *Drawer) some(most int, stream uint64) []int {
	return random.Sample(rand.New(rand.NewPCG(w.seed, stream)), len(w.y), most)
}

// gather copies the inputs of some rows.
func (w *Drawer) gather(rows []int) []float64 {
	out := make([]float64, 0, len(rows)*w.dim)
	for _, r := range rows {
		out = append(out, w.x[r*w.dim:(r+1)*w.dim]...)
	}
	return out
}
