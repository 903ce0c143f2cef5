package study

import (
	"context"
	"math"
	"slices"

	"example.com/kestrel/experiment/files"
)

// mostExactRows is how many rows an exact evidence is climbed with.
const mostExactRows = 2000

// explain finds out, where the true kernel is neither first nor equal within a nat,
// how far the data themselves prefer the leader: by exact evidence, climbed from
// the leader's hyperparameters and, for the true kernel, from its own and from those
// that the data were drawn with.
func (s *Case) explain(ctx context.Context, m *made, r *Row) error {
	if r.Failure != "" || r.Leader == "" || r.first(tieNats) || m.job.Subject.Train.Rows() > mostExactRows {
		return nil
	}
	j, err := newJudge(m)
	if err != nil {
		return err
	}
	leader, err := j.climbed(ctx, r.Leader, false)
	if err != nil {
		return err
	}
	truth, err := j.climbed(ctx, s.Truth, true)
	if err != nil {
		return err
	}
	if gap := leader - truth; !math.IsNaN(gap) {
		r.ExactGap = files.Number(gap)
	}
	return nil
}

// climbed is the best exact evidence of a kernel from its last fit and, if asked,
// from what the data were drawn with; NaN if it has none.
func (j *judge) climbed(ctx context.Context, id string, drawn bool) (float64, error) {
	i := j.place(id)
	k, p, err := j.kernel(i)
	if err != nil {
		return 0, err
	}
	var from [][]float64
	if f := j.lastFit(i); f != nil {
		from = append(from, j.fitted(k, i, f))
	}
	if start := j.generating(k, p); drawn && start != nil {
		from = append(from, start)
	}
	best := math.NaN()
	for _, start := range slices.DeleteFunc(from, hasNaN) {
		_, nats, err := k.Climb(ctx, start)
		if err != nil {
			return 0, err
		}
		if !(best >= nats) {
			best = nats
		}
	}
	return best, nil
}

func hasNaN(x []float64) bool { return slices.ContainsFunc(x, math.IsNaN) }
