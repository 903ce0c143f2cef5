package historytest

import (
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
)

// Summarise returns the summary of events.
func Summarise(events []record.Event) *history.Summary {
	s := &history.Summary{}
	for i := range events {
		_ = s.Record(&events[i]) // it does not fail
	}
	return s
}
