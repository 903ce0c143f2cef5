package rundir

import (
	"testing"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/files/filestest"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
)

// The tables that people open have no cell that starts a formula, and numbers
// as they were.
func TestTablesStartNoFormula(t *testing.T) {
	start := &record.Start{Kernels: []record.KernelInfo{{
		ID: "SE", Name: "@SE", Params: []record.ParamInfo{{Name: "SE.lengthscale", Column: "=HYPERLINK(1)", Unit: "+m"},
			{Name: "noise_variance"}},
		Fixed: []record.Fixed{{Name: "LIN.centre", Column: "-c", Value: -2.5}},
	}}}
	dir := t.TempDir()
	d, err := inside.Open(dir)
	must.OK(t, err)
	defer d.Close()
	w, err := newTables(d)
	must.OK(t, err)
	must.OK(t, w.Record(&record.Event{Type: record.EventStarted, Start: start}))
	must.OK(t, w.Record(&record.Event{Type: record.EventEvaluation, Evaluation: &record.Evaluation{Index: 1, Kernels: []record.Kernel{
		{ID: "SE", Status: "live", Fit: &record.Fit{ELBO: -12.5, Posterior: 1, Rank: 1, Params: []files.Number{-3, 0.25}}},
	}}}))
	must.OK(t, w.Record(&record.Event{Type: record.EventMetrics, Metrics: []record.Metric{{Method: "=vbks", NLPD: -1.5}}}))
	must.OK(t, w.Close())
	kernels := filestest.ReadCSV(t, dir+"/"+record.KernelsFile)
	if r := kernels[1]; r[1] != "'@SE" || r[3] != "'=HYPERLINK(1)" || r[4] != "-3" || r[5] != "'+m" {
		t.Errorf("%q", r)
	}
	if r := kernels[3]; r[3] != "'-c" || r[4] != "-2.5" {
		t.Errorf("%q", r)
	}
	if r := filestest.ReadCSV(t, dir+"/"+record.PosteriorFile)[1]; r[7] != "-12.5" {
		t.Errorf("%q", r)
	}
	if r := filestest.ReadCSV(t, dir+"/"+record.MetricsFile)[1]; r[3] != "'=vbks" || r[7] != "-1.5" {
		t.Errorf("%q", r)
	}
}
