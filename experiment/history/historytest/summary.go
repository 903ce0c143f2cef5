package historytest

import (
	"kestrel/experiment/history"
	"kestrel/experiment/record"
)

// Summarise returns the summary of events.
func Summarise(events []record.Event) *history.Summary {
	s := &history.Summary{}
	for i := range events {
		_ = s.Record(&events[i]) // it does not fail
	}
	return s
}
