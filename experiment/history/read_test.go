package history

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
)

func TestReadHistoryIsTheHistoryOfTheEvents(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, record.EventsFile))
	if err != nil {
		t.Fatal(err)
	}
	log := record.NewLog(f)
	want := &History{Capacity: 4}
	for i := range 11 {
		e := &record.Event{V: record.Version, Type: record.EventEvaluation, Time: time.Unix(int64(i), 0).UTC(), Seconds: files.Number(i),
			Evaluation: &record.Evaluation{
				Index: i + 1, Planned: 11, Proportion: float64(i+1) / 11,
				Kernels: []record.Kernel{{ID: "SE", Status: "live", Fit: &record.Fit{Posterior: 1, ELBO: files.Number(i * i), Rank: 1}}},
			}}
		if err := log.Append(e); err != nil {
			t.Fatal(err)
		}
		want.Apply(e)
	}
	if _, err := f.WriteString(`{"v":1,"type":"eval`); err != nil { // torn
		t.Fatal(err)
	}
	f.Close()
	got, err := Read(t.Context(), dir, 4)
	if err != nil {
		t.Fatal(err)
	}
	a, b := got.Series(0, QuantityELBO), want.Series(0, QuantityELBO)
	if got.Made != 11 || a.Len() != b.Len() || a.Len() > 4 || a.Last(a.Len()-1) != 100 {
		t.Errorf("%d evaluations in %d points, the last %v; want 11 in %d, 100", got.Made, a.Len(), a.Last(a.Len()-1), b.Len())
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, dir, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := os.WriteFile(f.Name(), []byte("{\n{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), dir, 4); err == nil || !strings.Contains(err.Error(), "line 1 is damaged") {
		t.Errorf("damaged: %v", err)
	}
	if err := os.WriteFile(f.Name(), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), dir, 4); err == nil || !strings.Contains(err.Error(), "no events") {
		t.Errorf("empty: %v", err)
	}
	if _, err := Read(t.Context(), filepath.Join(dir, "none"), 4); err == nil {
		t.Error("no run, no error")
	}
}
