package study

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"example.com/kestrel/experiment/searches"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/distance"
	"example.com/kestrel/vbks/random"
	"example.com/kestrel/vbks/starts"
)

// rival is another way to search a space of kernels.
type rival interface {
	name() string
	// next is what to train next, none where there is nothing more; scores are of what has been
	// trained, by id, NaN where that failed.
	next(ctx context.Context, scores map[string]float64) ([]kernelspace.Expr, error)
}

const (
	rivalBatch = 8 // kernels that are drawn, or chosen by one model, at a time
	// Bayesian optimisation looks at so many neighbours of the best kernels and so many others,
	// and tells them apart at some of the rows by so many draws of hyperparameters.
	boBest, boNeighbours, boOthers = 3, 60, 20
	boRows, boDraws                = 24, 8
)

func (t *planting) rivals() []rival {
	return []rival{
		&randomRival{t, random.Stream(t.seed, "planted: random", 0)},
		&greedyRival{searches.Greedy{Bases: t.Bases, Leaves: t.grammar.Leaves()}},
		&boRival{planting: t, rng: random.Stream(t.seed, "planted: bo", 0), squared: map[string]map[string]float64{}},
	}
}

// randomRival draws kernels.
type randomRival struct {
	*planting
	rng *rand.Rand
}

func (*randomRival) name() string { return "random" }

func (r *randomRival) next(_ context.Context, scores map[string]float64) ([]kernelspace.Expr, error) {
	return r.others(r.rng, rivalBatch, func(id string) bool {
		_, known := scores[id]
		return known
	}), nil
}

// others draws up to n kernels that are not known, each number of leaves as often.
func (t *planting) others(rng *rand.Rand, n int, known func(id string) bool) (out []kernelspace.Expr) {
	for tries := 0; len(out) < n && tries < 100*n; tries++ {
		leaves := 1 + rng.IntN(t.grammar.Leaves())
		if !t.grammar.Has(leaves) {
			continue
		}
		if e := t.grammar.Draw(rng, leaves); !known(e.ID()) && !slices.ContainsFunc(out, e.Equal) {
			out = append(out, e)
		}
	}
	return out
}

// greedyRival is compositional search.
type greedyRival struct{ searches.Greedy }

func (*greedyRival) name() string { return "cks" }

func (r *greedyRival) next(_ context.Context, scores map[string]float64) ([]kernelspace.Expr, error) {
	return r.Greedy.Next(scores), nil
}

// boRival is Bayesian optimisation, whose candidates grow from the best that were trained
// (Malkomes, Schaff and Garnett 2016).
type boRival struct {
	*planting
	rng     *rand.Rand
	order   []kernelspace.Expr            // what has been chosen
	squared map[string]map[string]float64 // distances
}

func (*boRival) name() string { return "bo" }

func (r *boRival) next(ctx context.Context, scores map[string]float64) ([]kernelspace.Expr, error) {
	candidates := r.candidates(scores)
	if len(candidates) == 0 {
		return nil, nil
	}
	if err := r.measure(ctx, candidates); err != nil {
		return nil, err
	}
	chosen := candidates
	if len(r.order) > 0 {
		values := make([]float64, len(r.order))
		squared := make([][]float64, len(r.order))
		for i, e := range r.order {
			values[i], squared[i] = scores[e.ID()], r.from(e)
		}
		model, err := searches.FitSurrogate(squared, searches.Failing(values))
		if err != nil {
			return nil, err
		}
		best := model.Most()
		type promise struct {
			expr       kernelspace.Expr
			gain, mean float64
		}
		promises := make([]promise, len(candidates))
		for i, e := range candidates {
			b := model.At(r.from(e))
			promises[i] = promise{e, b.Improvement(best), b.Mean}
		}
		slices.SortStableFunc(promises, func(a, b promise) int {
			return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(b.mean, a.mean))
		})
		chosen = nil
		for _, p := range promises[:min(rivalBatch, len(promises))] {
			chosen = append(chosen, p.expr)
		}
	}
	r.order = append(r.order, chosen...)
	return chosen, nil
}

// candidates are the bases at first, then some neighbours of the best kernels and some others.
func (r *boRival) candidates(scores map[string]float64) []kernelspace.Expr {
	if len(r.order) == 0 {
		return r.Bases
	}
	known := func(id string) bool {
		_, ok := scores[id]
		return ok
	}
	ranked := slices.DeleteFunc(slices.Clone(r.order), func(e kernelspace.Expr) bool { return math.IsNaN(scores[e.ID()]) })
	slices.SortStableFunc(ranked, func(a, b kernelspace.Expr) int { return cmp.Compare(scores[b.ID()], scores[a.ID()]) })
	var near []kernelspace.Expr
	for _, e := range ranked[:min(boBest, len(ranked))] {
		for _, n := range r.grammar.Neighbours(e) {
			if !known(n.Expr.ID()) && !slices.ContainsFunc(near, n.Expr.Equal) {
				near = append(near, n.Expr)
			}
		}
	}
	r.rng.Shuffle(len(near), func(i, j int) { near[i], near[j] = near[j], near[i] })
	near = near[:min(boNeighbours, len(near))]
	return append(near, r.others(r.rng, boOthers, func(id string) bool {
		return known(id) || slices.ContainsFunc(near, func(e kernelspace.Expr) bool { return e.ID() == id })
	})...)
}

// measure finds how far candidates are from each other and from what has been chosen.
func (r *boRival) measure(ctx context.Context, candidates []kernelspace.Expr) error {
	all := slices.Concat(candidates, r.order)
	programs := make([]*kernelspace.Program, len(all))
	for i, e := range all {
		var err error
		if programs[i], err = (vbks.Candidate{Expr: e}).Program(r.subject.Options()); err != nil {
			return err
		}
	}
	train := r.subject.Train
	var x []float64
	for _, row := range random.Stream(r.seed, "planted: bo rows", 0).Perm(train.Rows())[:min(boRows, train.Rows())] {
		x = append(x, train.X[row*train.Dim:(row+1)*train.Dim]...)
	}
	d, err := distance.NewPrior(r.host(), x, starts.Summarise(train.X, train.Y, train.Dim), programs, boDraws, r.seed)
	if err != nil {
		return err
	}
	for i, e := range candidates {
		row, err := d.From(ctx, i)
		if err != nil {
			return err
		}
		of := map[string]float64{}
		for j, f := range all {
			of[f.ID()] = row[j]
		}
		r.squared[e.ID()] = of
	}
	return nil
}

// from lists the distances of a kernel from what has been chosen.
func (r *boRival) from(e kernelspace.Expr) []float64 {
	out := make([]float64, len(r.order))
	for i, f := range r.order {
		d, ok := r.squared[e.ID()][f.ID()]
		if !ok {
			d = r.squared[f.ID()][e.ID()]
		}
		out[i] = d
	}
	return out
}
