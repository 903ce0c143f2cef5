package compare

import (
	"context"
	"math"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/searches"
	"example.com/kestrel/kernelspace"
)

// cksSearch is greedy compositional search by BIC. The base kernels are the leaves of
// the space; with up to Depth of them, kernels outside of the space may be tried where
// that is a list and not all up to some depth.
type cksSearch struct{ searches.Greedy }

// cks runs the method with a seed.
func (m *Comparing) cks(ctx context.Context, run int, seed uint64) error {
	space := make([]kernelspace.Expr, len(m.space))
	for i, k := range m.space {
		space[i] = k.Expr
	}
	s := &cksSearch{searches.Greedy{Bases: searches.Bases(space), Leaves: m.Config.Compare.Depth}}
	return m.search(ctx, config.MethodCKS, run, seed, s)
}

// score is −BIC/2 with the optimised local ELBO 𝓛 in the place of the maximal
// log likelihood, for p free hyperparameters (the noise included) and n rows:
//
//	BIC = −2𝓛 + p log n
func (*cksSearch) score(r *finishedRun) float64 {
	return r.ELBO - float64(r.Params)*math.Log(float64(r.Rows))/2
}

func (s *cksSearch) over(done []searchStep) bool { return s.following(done) == "" }

func (*cksSearch) prepare(context.Context, []searchStep) error { return nil }

func (s *cksSearch) next(_ context.Context, done []searchStep) (string, error) {
	return s.following(done), nil
}

// following is the kernel to train next, "" where all around the best are known.
func (s *cksSearch) following(done []searchStep) string {
	scores := map[string]float64{}
	for _, d := range done {
		scores[d.ID] = d.Score
	}
	next := s.Next(scores)
	if len(next) == 0 {
		return ""
	}
	return next[0].ID()
}
