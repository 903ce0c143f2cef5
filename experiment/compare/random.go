package compare

import (
	"context"
	"errors"
	"math"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/vbks/random"
)

// random scores kernels that are drawn from the space, all with the same
// probability, and trained alone. The runs of the method are spread evenly over
// the first seeds, by default those of all runs, which divide the data and start
// the training, as they do for the other methods; what is drawn is decided by the
// comparison's seed and the run's number. Those of one seed are made at a time.
func (m *Comparing) random(ctx context.Context, run int, seed uint64) error {
	v := &m.Config.Compare
	seeds := v.SeedsDrawn()
	if run > seeds {
		return nil
	}
	limit := math.Inf(1) // where there is no run of VBKS to be as quick as
	if v.Budget != (config.ComparisonBudget{}) || v.RunsVBKS() {
		var err error
		if limit, _, err = m.budget(seed); err != nil {
			return err
		}
	}
	missing := false
	drawn := func(draw int) string {
		k := random.Stream(m.Config.Settings.Seed, "random kernel", draw).IntN(len(m.space))
		return m.space[k].Expr.ID()
	}
	if m.maker.Crew != nil && !m.looking {
		var ids []string
		for draw := run; draw <= v.RandomRuns; draw += seeds {
			ids = append(ids, drawn(draw))
		}
		if err := m.trainAhead(ctx, ids, seed); err != nil {
			return err
		}
	}
	for draw := run; draw <= v.RandomRuns; draw += seeds {
		id := drawn(draw)
		r, err := m.single(ctx, id, seed)
		if errors.Is(err, errMissing) {
			missing = true
			continue
		}
		if err != nil {
			return err
		}
		metrics, _ := searchMetrics([]searchStep{{ID: id, Run: r}}, limit)
		m.take(config.MethodRandom, draw, seed, id, 1, metrics)
		if m.looking {
			continue
		}
		if err := m.save(); err != nil {
			return err
		}
	}
	if missing {
		return errMissing
	}
	return nil
}
