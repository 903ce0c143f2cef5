package history_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"
	"unicode"

	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/words/wordstest"
	"example.com/kestrel/internal/must"
)

// FuzzEvents: whatever stands in an event log, those who read it go on or end
// with an error, and nothing of it steers a terminal.
func FuzzEvents(f *testing.F) {
	for _, log := range recordtest.StrangeLogs() {
		f.Add(log)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d := record.NewDecoder(bytes.NewReader(text))
		var events []record.Event
		h := &history.History{Capacity: 4}
		var out bytes.Buffer
		p := &record.Progress{Out: &out}
		for {
			e, err := d.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				wordstest.CheckMessage(t, err, len(text))
				break
			}
			events = append(events, *e)
			h.Apply(e)
			must.OK(t, p.Record(e))
			fmt.Fprintln(&out, record.Describe(e))
		}
		must.OK(t, historytest.Summarise(events).WriteText(&out, time.Unix(0, 0)))
		for k, id := range h.IDs() {
			if h.Index(id) != k {
				t.Fatalf("kernel %q is at %d and %d", id, k, h.Index(id))
			}
			s := h.Series(k, history.QuantityPosterior)
			for i := range s.Len() {
				s.At(i)
			}
		}
		h.Left(0, 0)
		for _, r := range out.String() {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("%q", out.String())
			}
		}
	})
}
