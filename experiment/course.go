package experiment

import (
	"context"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// Drive starts a run, lets it take its course and waits until it is at rest and
// all is done, or ctx ends. A run that others stop is not pruned any more.
func (r *Run) Drive(ctx context.Context, d record.Course) (Snapshot, error) {
	if err := r.note(d); err != nil {
		return r.Snapshot(), err
	}
	if err := r.Start(); err != nil {
		return r.Snapshot(), err
	}
	end, err := r.Wait(ctx)
	if err != nil || end.State != record.Finished || d.PruneTop <= 0 {
		return end, err
	}
	if ids := end.Evaluation.Below(d.PruneTop); len(ids) > 0 {
		if err := r.prune(ids, true); err != nil {
			return r.Snapshot(), err
		}
		// What is left is scored before more is asked of it, however busy the machine is.
		if end, err = r.Wait(ctx); err != nil || end.State != record.Finished {
			return end, err
		}
	}
	if d.ThenRefine > 0 {
		if err := r.reoptimize(vbks.Change{Rounds: d.ThenRefine, Inducing: d.Inducing}, true); err != nil {
			return r.Snapshot(), err
		}
	}
	return r.Wait(ctx)
}
