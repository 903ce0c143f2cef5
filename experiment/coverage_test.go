package experiment

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
)

// The shares that a run writes down for its best kernel are those of test rows
// within so many standard deviations of the mean.
func TestCoverageOfRun(t *testing.T) {
	_, r, dir := finished(t, plane(t, planeFile(t), "data.test=40"))
	events, err := ReadEvents(dir)
	must(t, err)
	s := Summarise(events)
	res, err := inspect(t, r).Residuals(t.Context(), s.Evaluation.Leader().ID, 0)
	must(t, err)
	var want [3]float64
	for _, z := range res.Standardised {
		for l, end := range [...]float64{0.6744897501960817, 1.2815515655446004, 1.959963984540054} {
			if math.Abs(z) <= end {
				want[l] += 1 / 40.
			}
		}
	}
	m := s.Metrics[1]
	for l, got := range [...]Number{m.Coverage50, m.Coverage80, m.Coverage95} {
		if m.Method != MethodSingle || m.TestRows != 40 || math.Abs(float64(got)-want[l]) > 1e-9 {
			t.Errorf("share within the interval of %v is %v, want %v: %+v", CoverageLevels[l], got, want[l], m)
		}
	}
	// The table, the summary, the log and the page say the same.
	rows, err := readTable(filepath.Join(dir, metricsFile))
	must(t, err)
	for l, column := range []string{"coverage50", "coverage80", "coverage95"} {
		if got := rows.number(len(rows.rows)-1, column); math.Abs(got-want[l]) > 1e-9 {
			t.Errorf("%s is %v, want %v", column, got, want[l])
		}
	}
	must(t, rows.err)
	var text bytes.Buffer
	must(t, s.WriteText(&text, time.Now()))
	cells := fmt.Sprintf(`in 50 %%\s+in 80 %%\s+in 95 %%(?s:.*)vbks-s.*\s%.3f\s+%.3f\s+%.3f\s+40\s`, want[0], want[1], want[2])
	if !regexp.MustCompile(cells).MatchString(text.String()) {
		t.Errorf("not %s:\n%s", cells, &text)
	}
	log, err := os.ReadFile(filepath.Join(dir, logFile))
	must(t, err)
	if want := fmt.Sprintf("in 50 %% %.3f, in 80 %% %.3f, in 95 %% %.3f", want[0], want[1], want[2]); !strings.Contains(string(log), want) {
		t.Errorf("no %q in the log:\n%s", want, log)
	}
	reportOn(t, dir).has(t, "|within 50 %|within 80 %|within 95 %|Rows|", fmt.Sprintf("|%.1f %%|%.1f %%|%.1f %%|40|", 100*want[0], 100*want[1], 100*want[2]))
}

// Logs and tables of older versions have coverage95 alone: what they do not have is
// not known, which is not 0.
func TestOldLogsKnowOneCoverage(t *testing.T) {
	_, _, dir := finished(t, plane(t, planeFile(t)))
	path := filepath.Join(dir, eventsFile)
	text, err := os.ReadFile(path)
	must(t, err)
	old := regexp.MustCompile(`,"coverage(50|80)":[0-9.e-]+`).ReplaceAll(text, nil)
	if len(old) == len(text) || bytes.Contains(old, []byte("coverage50")) {
		t.Fatal("the log cannot be made an old one")
	}
	must(t, os.WriteFile(path, old, 0o644))
	events, err := ReadEvents(dir)
	must(t, err)
	s := Summarise(events)
	for _, m := range s.Metrics {
		if c := m.Coverage(); !math.IsNaN(float64(c[0])) || !math.IsNaN(float64(c[1])) || !(c[2] >= 0) {
			t.Errorf("%+v", m)
		}
	}
	if j, err := json.Marshal(s.Metrics); err != nil || !strings.Contains(string(j), `"coverage50":null,"coverage80":null`) {
		t.Errorf("%s (%v)", j, err)
	}
	out := filepath.Join(t.TempDir(), "export")
	must(t, ExportRun(dir, out))
	rows, err := readTable(filepath.Join(out, metricsFile))
	must(t, err)
	for i := range rows.rows {
		if rows.text(i, "coverage50") != "" || rows.text(i, "coverage80") != "" || !(rows.number(i, "coverage95") >= 0) {
			t.Errorf("%q", rows.rows[i])
		}
	}
	must(t, rows.err)
	var summary bytes.Buffer
	must(t, s.WriteText(&summary, time.Now()))
	if !regexp.MustCompile(`vbks\s.*\s-\s+-\s+[01]\.\d{3}\s+20\s`).MatchString(summary.String()) {
		t.Errorf("%s", &summary)
	}
	reportOn(t, dir).has(t, fmt.Sprintf("|||%.1f %%|20|", 100*float64(s.Metrics[0].Coverage95)))
}

func TestOldComparisonKnowsOneCoverage(t *testing.T) {
	dir := t.TempDir()
	c := small(t, "compare.methods=vbks,random")
	must(t, os.WriteFile(filepath.Join(dir, configFile), []byte(c.TOML()), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, metricsFile), []byte("run,evaluation,proportion,seconds,method,kernels,rmse,mae,nlpd,coverage95,test_rows\n"+
		"1,1,0.5,2,vbks,3,9,8,7,0.75,20\n1,2,1,3,vbks,3,6,5,4,0.9,20\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, finalsFile), []byte("method,run,seed,kernel_id,trained,seconds,rmse,mae,nlpd,coverage95,test_rows\n"+
		"vbks,1,1,SE,3,3,6,5,4,0.9,20\nrandom,1,1,RQ,1,,,,,,\n"), 0o644))
	check := func() *Comparison {
		t.Helper()
		r, err := ReadComparison(dir)
		must(t, err)
		if len(r.Runs) != 2 || len(r.Runs[0].Metrics) != 2 || r.Runs[1].Final() != nil {
			t.Fatalf("%+v", r.Runs)
		}
		f := r.Runs[0].Final()
		if c := f.Coverage(); !math.IsNaN(float64(c[0])) || !math.IsNaN(float64(c[1])) || c[2] != .9 || f.TestRows != 20 {
			t.Errorf("%+v", f)
		}
		if s := r.Summary()[0].Coverage; !math.IsNaN(float64(s[0])) || s[2] != .9 {
			t.Errorf("%v", s)
		}
		return r
	}
	r := check()
	must(t, r.write())
	check()
	text, err := os.ReadFile(filepath.Join(dir, finalsFile))
	must(t, err)
	if want := "method,run,seed,kernel_id,trained,seconds,rmse,mae,nlpd,coverage95,test_rows,coverage50,coverage80\n" +
		"vbks,1,1,SE,3,3,6,5,4,0.9,20,,\nrandom,1,1,RQ,1,,,,,,,,\n"; string(text) != want {
		t.Errorf("%s", text)
	}
	var out bytes.Buffer
	must(t, r.WriteText(&out))
	if !regexp.MustCompile(`vbks\s+1\s+6\s+-\s+4\.0000\s+-\s+-\s+-\s+0\.900\s+3\s+3\n`).MatchString(out.String()) {
		t.Errorf("%s", &out)
	}
}

func TestComparisonMeansOfCoverage(t *testing.T) {
	c := &Comparison{Config: small(t, "compare.methods=vbks")}
	for run, share := range []Number{.5, .25, .75} {
		c.Runs = append(c.Runs, MethodRun{Method: MethodAverage, Run: run + 1, Metrics: []Metric{
			{Coverage50: 1, Coverage80: 1, Coverage95: 1}, {Coverage50: share, Coverage80: share + .125, Coverage95: share + .25},
		}})
	}
	if got := c.Summary()[0].Coverage; got != [...]Number{.5, .625, .75} {
		t.Errorf("%v", got)
	}
}

func TestAveragingGain(t *testing.T) {
	for _, c := range []struct {
		average, single float64
		want            string
	}{
		{1, 1.25, "0.2500 nats likelier than"},
		{-1, -1.125, "0.1250 nats less likely than"},
		{1, 1.00004, "as likely as"},
		{math.NaN(), 1, ""},
		{math.Inf(1), 1, ""},
		{math.Inf(1), math.Inf(1), ""},
	} {
		ms := []Metric{{Method: MethodAverage, NLPD: Number(c.average), TestRows: 3}, {Method: MethodSingle, NLPD: Number(c.single), TestRows: 3}}
		if got := averagingGain(ms); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v, %v: %q", c.average, c.single, got)
		}
		if got := averagingGain(ms[:1]); got != "" {
			t.Errorf("one method: %q", got)
		}
		ms[1].TestRows = 4
		if got := averagingGain(ms); got != "" {
			t.Errorf("other rows: %q", got)
		}
	}
}
