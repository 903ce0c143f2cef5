package laplace

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const (
	// A leaf is released where a step of releasedSDs of one of its entries costs at most
	// releasedNats of likelihood, and another of its entries, of which the mode's width is below narrowSDs,
	// may then be anything for freeNats: all in standard deviations of the prior.
	releasedSDs  = 2.5
	releasedNats = 10
	freeNats     = 1.5
	narrowSDs    = 0.4
	mostReleased = 3
)

// release is where a step of an entry hides its leaf from the data.
type release struct {
	entry int
	leaf  []int // the other entries of the leaf
	at    []float64
	likes float64   // log likelihood there
	also  []float64 // with the other entries one sd from their prior's mean
}

// leaves are the entries of a free vector by leaf, without the noise.
func (g *integral) leaves() [][]int {
	p := g.Program.Own()
	var out [][]int
	last := -1
	for i, j := range p.Free {
		if leaf := p.Params[j].Leaf; leaf != last {
			out, last = append(out, nil), leaf
		}
		out[len(out)-1] = append(out[len(out)-1], i)
	}
	return out
}

func (p Prior) log(x []float64) float64 {
	sum := 0.0
	for i, prec := range p.Prec {
		d := x[i] - p.Mean[i]
		sum -= prec * d * d / 2
	}
	return sum
}

// width is the standard deviation of an entry.
func (p *proposal) width(entry int) float64 {
	f := len(p.mean)
	return floats.Norm(p.chol[entry*f:entry*f+entry+1], 2)
}

// narrow reports whether the mode is narrow in an entry.
func (g *integral) narrow(e int) bool {
	return g.Prior.Prec[e] > 0 && g.curved[0].width(e)*math.Sqrt(g.Prior.Prec[e]) < narrowSDs
}

// releases are the points where leaves with a narrow entry may be hidden. The narrow ones come
// first among the others of a leaf.
func (g *integral) releases() (out []release) {
	if g.Prior.Prec == nil || g.Prior.Mean == nil {
		return nil
	}
	for _, leaf := range g.leaves() {
		for _, e := range leaf {
			var others []int
			for _, first := range []bool{true, false} {
				for _, o := range leaf {
					if o != e && g.narrow(o) == first {
						others = append(others, o)
					}
				}
			}
			if g.Prior.Prec[e] <= 0 || len(others) == 0 || !g.narrow(others[0]) {
				continue
			}
			for _, step := range []float64{-releasedSDs, releasedSDs} {
				x := slices.Clone(g.curved[0].mean)
				x[e] += step / math.Sqrt(g.Prior.Prec[e])
				out = append(out, release{entry: e, leaf: others, at: x, also: make([]float64, 2*len(others))})
			}
		}
	}
	return out
}

// free reports whether an entry of the leaf may be anything.
func (r *release) free(place int) bool {
	return math.Abs(r.also[2*place]-r.likes) <= freeNats && math.Abs(r.also[2*place+1]-r.likes) <= freeNats
}

// elsewhere is a point of a release with an entry of the leaf one sd to a side of its prior's mean.
func (g *integral) elsewhere(r *release, place int) []float64 {
	e, side := r.leaf[place/2], float64(place%2*2-1)
	x := slices.Clone(r.at)
	if prec := g.Prior.Prec[e]; prec > 0 {
		x[e] = g.Prior.Mean[e] + side/math.Sqrt(prec)
	}
	return x
}

// free adds proposals in which a leaf is as good as not there, so that its other
// hyperparameters may be anything. A period found in noise is better by some nats within a thousandth
// of what the prior gives periods; what Bayes' rule weighs that against is the plain without
// it, which draws about the mode and along single entries do not reach.
func free(all []*integral, values Values) error {
	found := make([][]release, len(all))
	for i, g := range all {
		found[i] = g.releases()
	}
	err := valued(values, func(i, d int) []float64 {
		if d >= len(found[i]) {
			return nil
		}
		return found[i][d].at
	}, len(all), func(i, d int, v float64) { found[i][d].likes = v - all[i].Prior.log(found[i][d].at) })
	if err != nil {
		return err
	}
	for i, g := range all {
		mode := g.Modes[0].Value - g.Prior.log(g.Modes[0].X)
		found[i] = slices.DeleteFunc(found[i], func(r release) bool { return !(r.likes >= mode-releasedNats) })
	}
	// First what is narrow at the mode, then the rest of the leaf.
	most := 0
	for i := range found {
		for _, r := range found[i] {
			most = max(most, len(r.leaf))
		}
	}
	for place := range most {
		err := valued(values, func(i, d int) []float64 {
			if d/2 >= len(found[i]) {
				return nil
			}
			r := &found[i][d/2]
			return all[i].elsewhere(r, min(2*place+d%2, len(r.also)-1))
		}, len(all), func(i, d int, v float64) {
			r := &found[i][d/2]
			at := min(2*place+d%2, len(r.also)-1)
			r.also[at] = v - all[i].Prior.log(all[i].elsewhere(r, at))
		})
		if err != nil {
			return err
		}
		if place > 0 {
			continue
		}
		for i := range found {
			found[i] = slices.DeleteFunc(found[i], func(r release) bool { return !r.free(0) })
			slices.SortStableFunc(found[i], func(a, b release) int { return cmp.Compare(b.likes, a.likes) })
			found[i] = found[i][:min(mostReleased, len(found[i]))]
		}
	}
	for i, g := range all {
		added := false
		for r := range found[i] {
			if p, ok := g.released(&found[i][r]); ok {
				g.curved, added = append(g.curved, p), true
			}
		}
		if added {
			g.share()
		}
	}
	return nil
}

// valued evaluates a point for each density at a time, as long as any has one.
func valued(values Values, point func(i, d int) []float64, n int, then func(i, d int, v float64)) error {
	for d := 0; ; d++ {
		var sub []int
		var xs [][]float64
		for i := range n {
			if x := point(i, d); x != nil {
				sub, xs = append(sub, i), append(xs, x)
			}
		}
		if len(sub) == 0 {
			return nil
		}
		got, err := values(sub, xs)
		if err != nil {
			return err
		}
		for j, i := range sub {
			then(i, d, got[j])
		}
	}
}

// released is the proposal about where a leaf is hidden: what is free there has its prior.
func (g *integral) released(r *release) (proposal, bool) {
	top := &g.curved[0]
	f := len(top.mean)
	p := proposal{share: top.share / 2, mean: slices.Clone(r.at)}
	var free []int
	for place, e := range r.leaf {
		if g.Prior.Prec[e] > 0 && r.free(place) {
			free = append(free, e)
		}
	}
	cov := mat.NewSymDense(f, nil)
	for a := range f {
		for b := range a + 1 {
			cov.SetSym(a, b, floats.Dot(top.chol[a*f:a*f+b+1], top.chol[b*f:b*f+b+1]))
		}
	}
	alone := func(e int, mean, variance float64) {
		for o := range f {
			cov.SetSym(e, o, 0)
		}
		cov.SetSym(e, e, variance)
		p.mean[e] = mean
	}
	for _, e := range free {
		alone(e, g.Prior.Mean[e], 1/g.Prior.Prec[e])
	}
	alone(r.entry, r.at[r.entry], 1/g.Prior.Prec[r.entry])
	if p.chol = factor(cov); p.chol == nil {
		return p, false
	}
	p.settle()
	return p, true
}

// share makes the proposals' shares sum to 1.
func (g *integral) share() {
	total := 0.0
	for i := range g.curved {
		total += g.curved[i].share
	}
	for i := range g.curved {
		g.curved[i].share /= total
	}
}
