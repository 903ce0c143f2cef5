package experiment

import (
	"context"

	"kestrel/vbks"
)

// Drive is what becomes of a run that nobody gives orders: it is started and,
// when it has finished, pruned and refined. The zero Drive only starts it.
type Drive struct {
	PruneTop   int `json:"prune_top,omitempty"`   // keep so many kernels, those ranked first; 0: all
	ThenRefine int `json:"then_refine,omitempty"` // then go on with them for so many evaluations
	Inducing   int `json:"inducing,omitempty"`    // with so many inducing inputs; 0: as many as before
}

// Drive starts a run, lets it take its course and waits until it is at rest and
// all is done, or ctx ends. A run that others stop is not pruned any more.
func (r *Run) Drive(ctx context.Context, d Drive) (Snapshot, error) {
	if err := r.note(d); err != nil {
		return r.Snapshot(), err
	}
	if err := r.Start(); err != nil {
		return r.Snapshot(), err
	}
	end, err := r.Wait(ctx)
	if err != nil || end.State != Finished || d.PruneTop <= 0 {
		return end, err
	}
	if ids := end.Evaluation.Below(d.PruneTop); len(ids) > 0 {
		if err := r.prune(ids, true); err != nil {
			return r.Snapshot(), err
		}
	}
	if d.ThenRefine > 0 {
		if err := r.reoptimize(vbks.Change{Rounds: d.ThenRefine, Inducing: d.Inducing}, true); err != nil {
			return r.Snapshot(), err
		}
	}
	return r.Wait(ctx)
}
