package recordtest

import (
	"context"

	"example.com/kestrel/experiment/record"
)

// Read returns all events of the log of a run directory.
func Read(dir string) ([]record.Event, error) {
	var events []record.Event
	err := record.Each(context.Background(), dir, func(e *record.Event) { events = append(events, *e) })
	return events, err
}
