package compare

import (
	"context"
	"fmt"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/searches"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/distance"
	"example.com/kestrel/vbks/random"
	"example.com/kestrel/vbks/starts"
)

// boFirst is the number of kernels that are drawn at random before the surrogate
// says which to train: fewer values tell neither their level nor their spread.
const boFirst = 5

// boSearch is Bayesian optimisation over the kernels of a space (Malkomes, Schaff
// and Garnett 2016, "Bayesian optimization for automated model selection"): the
// log evidence of kernels is modelled by a Gaussian process whose covariance
// falls with their expected Hellinger distance, and the kernel with the greatest
// expected improvement is trained next. The evidence is the optimised local
// ELBO; that of a kernel which cannot be trained counts as the least of the
// others. Unlike the original, which lets its candidates grow from those tried
// and divides the improvement by the time that it is expected to take, here all
// kernels of the space are candidates from the start, at the same price.
type boSearch struct {
	ids       []string
	seed      uint64
	open      func(ctx context.Context) error                     // makes distances ready, unless that has been done
	distances func(ctx context.Context, i int) ([]float64, error) // squared, of all kernels from kernel i
	rows      map[int][]float64                                   // those known
}

// bo runs the method with a seed.
func (m *Comparing) bo(ctx context.Context, run int, seed uint64) error {
	var p priorDistances
	defer p.close()
	s := &boSearch{
		seed:      seed,
		open:      func(ctx context.Context) error { return p.open(ctx, m, seed) },
		distances: func(ctx context.Context, i int) ([]float64, error) { return p.From(ctx, i) },
	}
	for _, k := range m.space {
		s.ids = append(s.ids, k.Expr.ID())
	}
	return m.search(ctx, config.MethodBO, run, seed, s)
}

func (*boSearch) score(r *finishedRun) float64 { return r.ELBO }

func (s *boSearch) over(done []searchStep) bool { return len(done) == len(s.ids) }

func (s *boSearch) prepare(ctx context.Context, done []searchStep) error {
	if len(done) < boFirst {
		return nil
	}
	return s.open(ctx)
}

func (s *boSearch) next(ctx context.Context, done []searchStep) (string, error) {
	trained := make([]int, len(done))
	for i, d := range done {
		if trained[i] = slices.Index(s.ids, d.ID); trained[i] < 0 {
			return "", fmt.Errorf("kernel %s is not in the space", d.ID)
		}
	}
	if len(done) < boFirst {
		for _, k := range random.Stream(s.seed, "bo first kernels", 0).Perm(len(s.ids)) {
			if !slices.Contains(trained, k) {
				return s.ids[k], nil
			}
		}
	}
	model, err := s.surrogate(ctx, done, trained)
	if err != nil {
		return "", err
	}
	best, most, gain := -1, searches.Belief{}, 0.0
	incumbent := model.Most()
	for k := range s.ids {
		if slices.Contains(trained, k) {
			continue
		}
		from := make([]float64, len(trained))
		for i, t := range trained {
			from[i] = s.rows[t][k]
		}
		b := model.At(from)
		// Where no improvement is to be hoped for, the highest mean.
		if v := b.Improvement(incumbent); best < 0 || v > gain || v == gain && b.Mean > most.Mean {
			best, most, gain = k, b, v
		}
	}
	return s.ids[best], nil
}

// surrogate fits the model of the evidence to what has been trained.
func (s *boSearch) surrogate(ctx context.Context, done []searchStep, trained []int) (*searches.Surrogate, error) {
	if s.rows == nil {
		s.rows = map[int][]float64{}
	}
	for _, t := range trained {
		if s.rows[t] == nil {
			row, err := s.distances(ctx, t)
			if err != nil {
				return nil, err
			}
			s.rows[t] = row
		}
	}
	values := make([]float64, len(done))
	squared := make([][]float64, len(done))
	for i, d := range done {
		values[i] = d.Score
		for _, t := range trained {
			squared[i] = append(squared[i], s.rows[trained[i]][t])
		}
	}
	return searches.FitSurrogate(squared, searches.Failing(values))
}

// priorDistances are the distances between the kernels of a comparison, at some
// training rows of one seed.
type priorDistances struct {
	*distance.Prior
	dev device.Device
}

// open prepares the distances unless that has been done.
func (p *priorDistances) open(ctx context.Context, m *Comparing, seed uint64) error {
	if p.Prior != nil {
		return nil
	}
	c := m.seeded(seed)
	d, scaler, err := prepare.LoadData(ctx, &c)
	if err != nil {
		return err
	}
	data, err := prepare.NewSubject(&c, d, scaler, m.space)
	if err != nil {
		return err
	}
	var programs []*kernelspace.Program
	for _, k := range data.Space {
		program, err := k.Program(data.Options())
		if err != nil {
			return err
		}
		programs = append(programs, program)
	}
	n := data.Train.Rows()
	var x []float64
	for _, r := range random.Stream(seed, "bo rows", 0).Perm(n)[:min(n, c.Compare.Rows)] {
		x = append(x, data.Train.X[r*d.Dim:(r+1)*d.Dim]...)
	}
	if p.dev, err = prepare.OpenDevice(c.Device); err != nil {
		return err
	}
	scales := starts.Summarise(data.Train.X, data.Train.Y, d.Dim)
	p.Prior, err = distance.NewPrior(p.dev, x, scales, programs, c.Compare.Draws, seed)
	return err
}

func (p *priorDistances) close() {
	if p.dev != nil {
		p.dev.Close()
	}
}
