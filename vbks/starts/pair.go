package starts

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

const (
	// A leaf PER whose details are shorter may stand for a product of two.
	pairedLength = 0.25
	// Two whose lengths are between that and this repeat both.
	repairedLength = 3
	// The longer of two periods is such a part at least of one that both repeat within, the shorter as long at least as so many
	// of the rows that it is valued on.
	pairedTurns = 4
	pairedRows  = 2
	// Two are valued by evidence of so many rows, the best of these of more.
	pairedFirst, pairedRest = 256, 64
	pairedStream            = 0x70616972
)

// pairedShares are those that the longer of two periods has of what makes details short.
func pairedShares() []float64 { return []float64{0.02, 0.2, 0.6} }

// Pair makes starts from a solution in each of which a product of two leaves PER has what one leaf PER with short details
// explains: with p = ap₁ ≈ bp₂ for whole numbers a, b a product of two smooth cycles repeats after p, nearly at least,
//
//	k_PER(p₁, ℓ₁) k_PER(p₂, ℓ₂) ≈ c k_PER(p, ℓ),  ℓ ≪ ℓ₁, ℓ₂,
//
// so that a search finds p, whose harmonics are all there are, and no ascent leads from there to two periods. All coprime a ≤ 4 and
// b > a are valued by the evidence of some rows, with lengths of the same details, near which k_PER is that of a length ℓp/2π,
//
//	(2π/ℓp)² = (2π/ℓ₁p₁)² + (2π/ℓ₂p₂)²
//
// so many at most are made for each product.
// The leaf may have half of what both repeat within, so that they are tried within twice its period, too. Where what has the short
// details stands beside the product, as an equal summand may, the two change places. Where both repeat already, other periods are
// tried that repeat within the longer one or twice that: as one of a pair misses the data by a sideband no ascent leads to the next,
// either; those of Shift are made whatever details are like. There are none without such a leaf or product. An error is of the
// factorisation.
func (w *Drawer) Pair(ctx context.Context, p *kernelspace.Program, x []float64, most int, factor Factor) (out [][]float64, err error) {
	if len(w.y) > shapedRows {
		return nil, nil
	}
	s := w.sifting(p, x, factor)
	raw, t := s.all[:len(s.p.Params)], params.Tree(s.p)
	var free []int // leaves whose period is to be found
	for i, in := range s.leaves {
		if w.cycles(s.p, in) {
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
				for times := 1.0; times == 1 || times*raw[s.leaves[k].Off+2] <= w.scales.Span[s.leaves[k].Cols[0]]/2 && times <= 2; times++ {
					starts, err := s.pair(ctx, product, [2]int{i, j}, sharp, k, times, most, pairedShares())
					if err != nil {
						return nil, err
					}
					out = append(out, starts...)
				}
			}
			if length(sharp) < pairedLength || max(length(i), length(j)) > repairedLength {
				continue
			}
			longer := i // there are two, which need not be the right ones
			if raw[s.leaves[j].Off+2] > raw[s.leaves[i].Off+2] {
				longer = j
			}
			for times := 1.0; times <= 2; times++ {
				starts, err := s.pair(ctx, product, [2]int{longer, i + j - longer}, longer, longer, times, most/2, nil)
				if err != nil {
					return nil, err
				}
				out = append(out, starts...)
			}
		}
	}
	return append(out, w.Shift(p, x)...), nil
}

// pair makes those of two leaves of a product, of which the first will have the longer period and one is sharp, for what a leaf, this
// one or a summand, explains, within so many times its period. Without shares the lengths of the two say which the longer period has.
func (s *sifting) pair(
	ctx context.Context, product *params.Term, two [2]int, sharp, of int, times float64, most int, shares []float64,
) (out [][]float64, err error) {
	raw := slices.Clone(s.all)
	own := raw[:len(s.p.Params)]
	first, second, span := s.leaves[two[0]], s.leaves[two[1]], s.scales.Span[s.leaves[of].Cols[0]]
	precision := func(in *kernelspace.Instr) float64 { return math.Pow(2*math.Pi/(own[in.Off+1]*own[in.Off+2]), 2) }
	period, share := times*own[s.leaves[of].Off+2], s.share(s.p, product, own)
	both := precision(first) + precision(second)
	if shares == nil {
		shares = []float64{precision(first) / both}
	}
	if of != sharp { // they change places
		t := params.Tree(s.p)
		parent, term := enclosing(t, []int{of})
		if parent == nil || parent.In.Op == kernelspace.OpMul {
			return nil, nil
		}
		were := share
		share, both = s.share(s.p, term, own), precision(s.leaves[of])
		copy(own[s.leaves[of].Off+1:][:2], own[s.leaves[sharp].Off+1:][:2])
		s.shrink(s.p, term, own, were)
	}
	if !(share > 0) || period > span {
		return nil, nil
	}
	may := func(in *kernelspace.Instr, period float64) bool {
		known := &s.p.Params[in.Off+2].Known
		return known.How != kernelspace.Bounded || within(known, period)
	}
	var all []valued
	turns := int(period / (pairedRows * span / float64(min(len(s.y), leftRows))))
	for a := 1; a <= min(pairedTurns, turns); a++ {
		for b := a + 1; b <= turns; b++ {
			longer, shorter := period/float64(a), period/float64(b)
			if !coprime(a, b) || !may(first, longer) || !may(second, shorter) {
				continue
			}
			for _, part := range shares {
				v := slices.Clone(raw)
				v[first.Off+1], v[first.Off+2] = 2*math.Pi/(longer*math.Sqrt(part*both)), longer
				v[second.Off+1], v[second.Off+2] = 2*math.Pi/(shorter*math.Sqrt((1-part)*both)), shorter
				s.shrink(s.p, product, v[:len(own)], share)
				all = append(all, valued{raw: v})
			}
		}
	}
	for _, round := range []struct{ rows, best int }{{pairedFirst, pairedRest}, {leftRows, most}} {
		if err := s.value(ctx, all, s.some(round.rows, pairedStream)); err != nil || ctx.Err() != nil {
			return nil, err
		}
		slices.SortStableFunc(all, func(a, b valued) int { return cmp.Compare(b.nats, a.nats) })
		all = all[:min(round.best, len(all))]
	}
	for _, a := range all {
		if v := a.raw[:len(own)]; !math.IsInf(a.nats, -1) {
			params.Settle(s.p, v)
			out = append(out, params.Free(s.p, v, s.noise, s.floor))
		}
	}
	return out, nil
}

// cycles reports whether a leaf PER has one length and one period, which is to be found.
func (w *Drawer) cycles(p *kernelspace.Program, in *kernelspace.Instr) bool {
	return w.seeks(p, in) && in.NumScale == 1 && in.NumPeriod == 1
}

// valued are raw parameters with the evidence of some rows, −∞ where there is none.
type valued struct {
	raw  []float64
	nats float64
}

// value finds it, but for a constant.
func (s *sifting) value(ctx context.Context, all []valued, rows []int) error {
	x, y := s.gather(rows), mat.NewVecDense(len(rows), nil)
	for j, r := range rows {
		y.SetVec(j, s.y[r])
	}
	z := mat.NewVecDense(len(rows), nil)
	for i := range all {
		a := &all[i]
		a.nats = math.Inf(-1)
		u, err := s.factor(x, s.whole, a.raw, s.noise)
		if err != nil || ctx.Err() != nil {
			return err
		}
		if u == nil {
			continue
		}
		z.CopyVec(y)
		blas64.Trsv(blas.Trans, u.RawTriangular(), z.RawVector())
		a.nats = -mat.Dot(z, z) / 2
		for j := range rows {
			a.nats -= math.Log(u.At(j, j))
		}
	}
	return nil
}

func coprime(a, b int) bool {
	for b > 0 {
		a, b = b, a%b
	}
	return a == 1
}
