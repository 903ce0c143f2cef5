package laplace

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const (
	// From the first lookedModes modes, those with at least lookedShare of the mass, the
	// density is looked at along each entry that has a prior, so many sds of that away.
	lookedModes = 3
	lookedShare = 0.03
	// What falls by less than plateauNats there, and by plateauExcess less than the curvature
	// says, is proposed, too: at most so many.
	plateauNats   = 4
	plateauExcess = 2
	mostPlateaus  = 8
)

func lookedSteps(dear bool) []float64 {
	if dear {
		return []float64{-1.5, 1.5}
	}
	return []float64{-2, -1, -0.4, 0.4, 1, 2}
}

// plateau is a direction from a mode in which the density falls slowly.
type plateau struct {
	mode, entry int
	step        float64
	fall        float64 // from the mode to there, in nats
}

// looks are the points that are looked at.
func (g *integral) looks() (points [][]float64, of []plateau) {
	if g.Prior.Prec == nil {
		return nil, nil
	}
	most := lookedModes
	if g.Dear {
		most = 1
	}
	for m := range g.curved[:min(most, len(g.curved))] {
		if g.curved[m].share < lookedShare {
			continue
		}
		for i, prec := range g.Prior.Prec {
			if prec <= 0 {
				continue
			}
			for _, times := range lookedSteps(g.Dear) {
				x := slices.Clone(g.curved[m].mean)
				step := times / math.Sqrt(prec)
				x[i] += step
				points, of = append(points, x), append(of, plateau{mode: m, entry: i, step: step})
			}
		}
	}
	return points, of
}

// widen adds proposals where a density falls more slowly to one side of a mode than its
// curvature there says: an amplitude that is as good as nothing, or a length beyond the
// range, may become anything that its prior allows. A normal density about the mode has hardly any draws
// there.
func widen(all []*integral, values Values) error {
	points, of := make([][][]float64, len(all)), make([][]plateau, len(all))
	for i, g := range all {
		points[i], of[i] = g.looks()
	}
	if err := valued(values, func(i, d int) []float64 {
		if d >= len(points[i]) {
			return nil
		}
		return points[i][d]
	}, len(all), func(i, d int, v float64) {
		p := &of[i][d]
		p.fall = all[i].Modes[p.mode].Value - v
	}); err != nil {
		return err
	}
	for i, g := range all {
		g.add(of[i])
	}
	return nil
}

// add makes proposals of the plateaus: on each side of an entry the furthest.
func (g *integral) add(found []plateau) {
	type side struct {
		mode, entry int
		up          bool
	}
	furthest := map[side]plateau{}
	var order []side
	for _, p := range found {
		if math.IsNaN(p.fall) || p.fall > plateauNats || p.fall > g.curved[p.mode].fall(p.entry, p.step)-plateauExcess {
			continue
		}
		s := side{p.mode, p.entry, p.step > 0}
		was, some := furthest[s]
		if !some {
			order = append(order, s)
		}
		if !some || math.Abs(p.step) > math.Abs(was.step) {
			furthest[s] = p
		}
	}
	slices.SortStableFunc(order, func(a, b side) int { return cmp.Compare(furthest[a].fall, furthest[b].fall) })
	for _, s := range order[:min(mostPlateaus, len(order))] {
		g.curved = append(g.curved, g.curved[s.mode].stretched(s.entry, furthest[s].step))
	}
	g.share()
}

// fall is by how many nats the normal density with the proposal's curvature is lower a step of an
// entry from its mean.
func (p *proposal) fall(entry int, step float64) float64 {
	f := len(p.mean)
	square := 0.0
	z := make([]float64, f)
	for i := entry; i < f; i++ {
		v := 0.0
		if i == entry {
			v = step
		}
		for j := entry; j < i; j++ {
			v -= p.chol[i*f+j] * z[j]
		}
		z[i] = v / p.chol[i*f+i]
		square += z[i] * z[i]
	}
	return square / 2
}

// stretched is a proposal about the middle of a plateau that reaches from the mode to
// a step of an entry, or further.
func (p *proposal) stretched(entry int, step float64) proposal {
	f := len(p.mean)
	q := proposal{share: p.share, mean: slices.Clone(p.mean), chol: p.chol}
	q.mean[entry] += step / 2
	cov := mat.NewSymDense(f, nil)
	for a := range f {
		for b := range a + 1 {
			cov.SetSym(a, b, floats.Dot(p.chol[a*f:a*f+b+1], p.chol[b*f:b*f+b+1]))
		}
	}
	cov.SetSym(entry, entry, cov.At(entry, entry)+step*step/4)
	if lower := factor(cov); lower != nil {
		q.chol = lower
	}
	q.settle()
	return q
}
