package starts

import (
	"context"
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/periods"
)

const (
	// A leaf PER whose details are shorter may stand for a product of two.
	pairedLength = 0.25
	// Two whose lengths are between that and this repeat both.
	repairedLength = 3
)

// Pair makes starts from a solution in each of which a product of two leaves PER has what one leaf PER with short details
// explains: with p = ap₁ ≈ bp₂ for whole numbers a, b a product of two smooth cycles repeats after p, nearly at least,
//
//	k_PER(p₁, ℓ₁) k_PER(p₂, ℓ₂) ≈ c k_PER(p, ℓ),  ℓ ≪ ℓ₁, ℓ₂,
//
// so that a search finds p, whose harmonics are all there are, and no ascent leads from there to two periods. With what is
// explained taken for noise the covariance says which a and b it wants, see periods.Paired, so many at most for each product.
// Where what has the short details stands beside the product, as an equal summand may, the two change places.
// Where both repeat already, other periods are tried that repeat within the longer one or twice that: as one of a pair misses
// the data by a sideband no ascent leads to the next, either. There are none without such a leaf or product. An error is of the
// factorisation.
func (w *Drawer) Pair(ctx context.Context, p *kernelspace.Program, x []float64, most int, factor Factor) (out [][]float64, err error) {
	if len(w.y) > shapedRows {
		return nil, nil
	}
	s := w.sifting(p, x, factor)
	raw, t := s.all[:len(s.p.Params)], params.Tree(s.p)
	var free []int // leaves whose period is to be found
	for i, in := range s.leaves {
		if w.seeks(s.p, in) && in.NumScale == 1 && in.NumPeriod == 1 {
			free = append(free, i)
		}
	}
	length := func(i int) float64 { return raw[s.leaves[i].Off+1] }
	for a, i := range free {
		product, _ := enclosing(t, []int{i})
		if product == nil || product.In.Op != kernelspace.OpMul {
			continue
		}
		for _, j := range free[a+1:] {
			if other, _ := enclosing(t, []int{j}); other != product || !slices.Equal(s.leaves[i].Cols, s.leaves[j].Cols) {
				continue
			}
			sharp := i
			if length(j) < length(i) {
				sharp = j
			}
			for _, k := range free {
				if length(k) >= pairedLength || k != sharp && slices.Contains(product.Leaves, k) ||
					!slices.Equal(s.leaves[k].Cols, s.leaves[i].Cols) {
					continue
				}
				starts, err := s.pair(ctx, product, [2]int{i, j}, sharp, k, 1, most)
				if err != nil {
					return nil, err
				}
				out = append(out, starts...)
			}
			if length(sharp) < pairedLength || max(length(i), length(j)) > repairedLength {
				continue
			}
			longer := i // there are two, which need not be the right ones
			if raw[s.leaves[j].Off+2] > raw[s.leaves[i].Off+2] {
				longer = j
			}
			for times := 1.0; times <= 2; times++ {
				starts, err := s.pair(ctx, product, [2]int{i, j}, longer, longer, times, most/2)
				if err != nil {
					return nil, err
				}
				out = append(out, starts...)
			}
		}
	}
	return out, nil
}

// pair makes those of two leaves of a product, of which one is sharp, for what a leaf, this one or a summand, explains, within so
// many times its period.
func (s *sifting) pair(
	ctx context.Context, product *params.Term, two [2]int, sharp, of int, times float64, most int,
) (out [][]float64, err error) {
	raw := slices.Clone(s.all)
	own := raw[:len(s.p.Params)]
	period, share := times*own[s.leaves[of].Off+2], s.share(s.p, product, own)
	if of != sharp { // they change places
		t := params.Tree(s.p)
		parent, term := enclosing(t, []int{of})
		if parent == nil || parent.In.Op == kernelspace.OpMul {
			return nil, nil
		}
		were := share
		share = s.share(s.p, term, own)
		copy(own[s.leaves[of].Off+1:][:2], own[s.leaves[sharp].Off+1:][:2])
		s.shrink(s.p, term, own, were)
	}
	if !(share > 0) {
		return nil, nil
	}
	first, second := s.leaves[two[0]], s.leaves[two[1]]
	one := slices.Clone(own)
	one[first.Off+1], one[second.Off+1] = endless, endless
	reference := slices.Clone(raw)
	product.Amplify(reference, 0)
	none := slices.Clone(one)
	product.Amplify(none, 0)
	column, w, err := s.score(ctx, first.Cols[0], [][]float64{reference}, s.noise+share, one, none)
	if err != nil || w == nil {
		return nil, err
	}
	wants := periods.Paired(ctx, column, w, period)
	may := func(in *kernelspace.Instr, period float64) bool {
		known := &s.p.Params[in.Off+2].Known
		return known.How != kernelspace.Bounded || within(known, period)
	}
	for _, want := range wants[:min(most, len(wants))] {
		if !may(first, want.Beside.Period) || !may(second, want.Period) {
			continue
		}
		v := slices.Clone(own)
		v[first.Off+1], v[first.Off+2] = want.Beside.Length, want.Beside.Period
		v[second.Off+1], v[second.Off+2] = want.Length, want.Period
		s.shrink(s.p, product, v, share)
		params.Settle(s.p, v)
		out = append(out, params.Free(s.p, v, s.noise, s.floor))
	}
	return out, nil
}
