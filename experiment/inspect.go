package experiment

import (
	"context"
	"errors"

	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
)

// Inspect returns an inspector of the last evaluation. It waits neither for the
// evaluation under way nor for the end of a pause, and disturbs neither. Close
// must be called.
func (r *Run) Inspect(ctx context.Context) (*inspect.Inspector, error) {
	if r.subject == nil {
		return nil, errors.New("this run cannot be inspected")
	}
	r.mu.Lock()
	learned := r.learned
	r.mu.Unlock()
	if learned == nil {
		return nil, record.ErrNoResults
	}
	return inspect.NewInspector(ctx, r.subject, learned)
}

// Data returns the rows that the run is about against an input, at most so many, as
// inspect.Unseen does: there is something to see before the first evaluation.
func (r *Run) Data(column, most int) (*inspect.PointSet, error) {
	if r.subject == nil {
		return nil, errors.New("this run cannot be inspected")
	}
	return inspect.Unseen(r.subject, column, most)
}
