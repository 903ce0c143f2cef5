package rundir

import (
	"bytes"
	"os"
	"testing"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/must"
)

// FuzzTables: whatever stands in an event log, tables are made of it.
func FuzzTables(f *testing.F) {
	for _, log := range recordtest.StrangeLogs() {
		f.Add(log)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { null.Close() })
	f.Fuzz(func(t *testing.T, text []byte) {
		d := record.NewDecoder(bytes.NewReader(text))
		w := &tables{tableRows: newTableRows(), posterior: null, metrics: null, lazy: true}
		for e, err := d.Next(); err == nil; e, err = d.Next() {
			must.OK(t, w.Record(e))
		}
	})
}
