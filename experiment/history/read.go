package history

import (
	"context"

	"example.com/kestrel/experiment/record"
)

// Read reads the event log of a run directory into a History with at most
// so many points of each series, event by event. Errors are those of record.Each.
func Read(ctx context.Context, dir string, capacity int) (*History, error) {
	h := &History{Capacity: capacity}
	if err := record.Each(ctx, dir, h.Apply); err != nil {
		return nil, err
	}
	return h, nil
}
