package inspect

import (
	"errors"
	"fmt"
	"math"

	"kestrel/experiment/config"
	"kestrel/experiment/record"
	"kestrel/vbks/belief"
)

// Forecast returns what the kernel posterior q* would be if of an evaluation only
// the kernels of these ids stayed, in their order: q(g) is found anew from their
// local ELBOs, as Run.Prune does, but without the last q(g) to start from. Every id
// must be of a live kernel.
func Forecast(s *record.Start, e *record.Evaluation, ids []string) ([]float64, error) {
	c, err := config.Default().Read([]byte(s.Config), record.ConfigFile, nil)
	if err != nil {
		return nil, fmt.Errorf("the run's config: %w", err)
	}
	if e == nil {
		return nil, record.ErrNoResults
	}
	var total float64
	weights := map[string]float64{}
	for i := range s.Kernels {
		weights[s.Kernels[i].ID] = s.Kernels[i].Weight
		total += s.Kernels[i].Weight
	}
	fits := map[string]*record.Fit{}
	for i := range e.Kernels {
		fits[e.Kernels[i].ID] = e.Kernels[i].Fit
	}
	elbo, logPrior := make([]float64, len(ids)), make([]float64, len(ids))
	for i, id := range ids {
		if fits[id] == nil {
			return nil, fmt.Errorf("kernel %s is not live", id)
		}
		elbo[i], logPrior[i] = float64(fits[id].ELBO), math.Log(weights[id]/total)
	}
	leader := e.Leader()
	if leader == nil {
		return nil, errors.New("no kernel is left")
	}
	q, err := belief.Fit(elbo, logPrior, belief.Options{
		PriorVariance: c.Settings.PriorVariance, EvidenceScale: c.Settings.EvidenceScale, Seed: c.Settings.Seed,
	}, nil, leader.ID, ids)
	if err != nil {
		return nil, err
	}
	return q.Posterior(c.Settings.Samples, c.Settings.Seed), nil
}
