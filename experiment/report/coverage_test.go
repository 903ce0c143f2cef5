package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/files/filestest"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
)

// The shares that a run writes down for its best kernel are those of test rows
// within so many standard deviations of the mean.
func TestCoverageOfRun(t *testing.T) {
	_, r, dir := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t), "data.test=40"))
	events, err := recordtest.Read(dir)
	must.OK(t, err)
	s := historytest.Summarise(events)
	res, err := runtest.Inspect(t, r).Residuals(t.Context(), s.Evaluation.Leader().ID, 0)
	must.OK(t, err)
	var want [3]float64
	for _, z := range res.Standardised {
		for l, end := range [...]float64{0.6744897501960817, 1.2815515655446004, 1.959963984540054} {
			if math.Abs(z) <= end {
				want[l] += 1 / 40.
			}
		}
	}
	m := s.Metrics[1]
	for l, got := range [...]files.Number{m.Coverage50, m.Coverage80, m.Coverage95} {
		if m.Method != config.MethodSingle || m.TestRows != 40 || math.Abs(float64(got)-want[l]) > 1e-9 {
			t.Errorf("share within the interval of %v is %v, want %v: %+v", record.CoverageLevels[l], got, want[l], m)
		}
	}
	// The table, the summary, the log and the page say the same.
	rows, err := filestest.ReadTable(filepath.Join(dir, record.MetricsFile))
	must.OK(t, err)
	for l, column := range []string{"coverage50", "coverage80", "coverage95"} {
		if got := rows.Number(len(rows.Rows)-1, column); math.Abs(got-want[l]) > 1e-9 {
			t.Errorf("%s is %v, want %v", column, got, want[l])
		}
	}
	must.OK(t, rows.Err)
	var text bytes.Buffer
	must.OK(t, s.WriteText(&text, time.Now()))
	cells := fmt.Sprintf(`in 50 %%\s+in 80 %%\s+in 95 %%(?s:.*)vbks-s.*\s%.3f\s+%.3f\s+%.3f\s+40\s`, want[0], want[1], want[2])
	if !regexp.MustCompile(cells).MatchString(text.String()) {
		t.Errorf("not %s:\n%s", cells, &text)
	}
	log, err := os.ReadFile(filepath.Join(dir, record.LogFile))
	must.OK(t, err)
	if want := fmt.Sprintf("in 50 %% %.3f, in 80 %% %.3f, in 95 %% %.3f", want[0], want[1], want[2]); !strings.Contains(string(log), want) {
		t.Errorf("no %q in the log:\n%s", want, log)
	}
	reportOn(t, dir).has(t, "|within 50 %|within 80 %|within 95 %|Rows|",
		fmt.Sprintf("|%.1f %%|%.1f %%|%.1f %%|40|", 100*want[0], 100*want[1], 100*want[2]),
		"mean of the training rows|", "linear least squares|", s.Verdict()[0])
}

// Logs and tables of older versions have coverage95 alone: what they do not have is
// not known, which is not 0.
func TestOldLogsKnowOneCoverage(t *testing.T) {
	_, _, dir := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t)))
	path := filepath.Join(dir, record.EventsFile)
	text, err := os.ReadFile(path)
	must.OK(t, err)
	old := regexp.MustCompile(`,"(coverage(50|80)|crps|interval_score)":[0-9.e-]+`).ReplaceAll(text, nil)
	if len(old) == len(text) || bytes.Contains(old, []byte("coverage50")) || bytes.Contains(old, []byte("crps")) {
		t.Fatal("the log cannot be made an old one")
	}
	must.OK(t, os.WriteFile(path, old, 0o644))
	events, err := recordtest.Read(dir)
	must.OK(t, err)
	s := historytest.Summarise(events)
	for _, m := range s.Metrics {
		if c := m.Coverage(); !math.IsNaN(float64(c[0])) || !math.IsNaN(float64(c[1])) || !(c[2] >= 0) {
			t.Errorf("%+v", m)
		}
	}
	unknown := `"coverage50":null,"coverage80":null,"crps":null,"interval_score":null`
	if j, err := json.Marshal(s.Metrics); err != nil || !strings.Contains(string(j), unknown) {
		t.Errorf("%s (%v)", j, err)
	}
	out := filepath.Join(t.TempDir(), "export")
	must.OK(t, rundir.Export(dir, out))
	rows, err := filestest.ReadTable(filepath.Join(out, record.MetricsFile))
	must.OK(t, err)
	for i := range rows.Rows {
		if rows.Text(i, "coverage50") != "" || rows.Text(i, "coverage80") != "" || rows.Text(i, "crps") != "" ||
			rows.Text(i, "interval_score") != "" || !(rows.Number(i, "coverage95") >= 0) {
			t.Errorf("%q", rows.Rows[i])
		}
	}
	must.OK(t, rows.Err)
	var summary bytes.Buffer
	must.OK(t, s.WriteText(&summary, time.Now()))
	if !regexp.MustCompile(`vbks\s.*\s-\s+-\s+[01]\.\d{3}\s+20\s`).MatchString(summary.String()) {
		t.Errorf("%s", &summary)
	}
	reportOn(t, dir).has(t, fmt.Sprintf("|||%.1f %%|20|", 100*float64(s.Metrics[0].Coverage95)))
}
