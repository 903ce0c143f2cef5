package compare

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
)

func TestOldComparisonKnowsOneCoverage(t *testing.T) {
	dir := t.TempDir()
	c := configtest.Small(t, "compare.methods=vbks,random")
	must.OK(t, os.WriteFile(filepath.Join(dir, record.ConfigFile), []byte(c.TOML()), 0o644))
	must.OK(t, os.WriteFile(filepath.Join(dir, record.MetricsFile),
		[]byte("run,evaluation,proportion,seconds,method,kernels,rmse,mae,nlpd,coverage95,test_rows\n"+
			"1,1,0.5,2,vbks,3,9,8,7,0.75,20\n1,2,1,3,vbks,3,6,5,4,0.9,20\n"), 0o644))
	must.OK(t, os.WriteFile(filepath.Join(dir, record.FinalsFile),
		[]byte("method,run,seed,kernel_id,trained,seconds,rmse,mae,nlpd,coverage95,test_rows\n"+
			"vbks,1,1,SE,3,3,6,5,4,0.9,20\nrandom,1,1,RQ,1,,,,,,\n"), 0o644))
	check := func() *Comparison {
		t.Helper()
		r, err := Read(dir)
		must.OK(t, err)
		if len(r.Runs) != 2 || len(r.Runs[0].Metrics) != 2 || r.Runs[1].Final() != nil {
			t.Fatalf("%+v", r.Runs)
		}
		f := r.Runs[0].Final()
		if c := f.Coverage(); !math.IsNaN(float64(c[0])) || !math.IsNaN(float64(c[1])) || c[2] != .9 || f.TestRows != 20 ||
			!math.IsNaN(float64(f.CRPS)) || !math.IsNaN(float64(f.Interval)) {
			t.Errorf("%+v", f)
		}
		if s := r.Summary()[0].Coverage; !math.IsNaN(float64(s[0])) || s[2] != .9 {
			t.Errorf("%v", s)
		}
		return r
	}
	r := check()
	d, err := inside.Open(dir)
	must.OK(t, err)
	defer d.Close()
	must.OK(t, r.write(d))
	check()
	text, err := os.ReadFile(filepath.Join(dir, record.FinalsFile))
	must.OK(t, err)
	if want := "method,run,seed,kernel_id,trained,seconds,rmse,mae,nlpd,coverage95,test_rows,coverage50,coverage80,crps,interval_score\n" +
		"vbks,1,1,SE,3,3,6,5,4,0.9,20,,,,\nrandom,1,1,RQ,1,,,,,,,,,,\n"; string(text) != want {
		t.Errorf("%s", text)
	}
	var out bytes.Buffer
	must.OK(t, r.WriteText(&out))
	if !regexp.MustCompile(`vbks\s+1\s+6\s+-\s+4\.0000\s+-\s+-\s+-\s+-\s+0\.900\s+3\s+3\n`).MatchString(out.String()) {
		t.Errorf("%s", &out)
	}
}

func TestComparisonMeansOfCoverage(t *testing.T) {
	c := &Comparison{Config: configtest.Small(t, "compare.methods=vbks")}
	for run, share := range []files.Number{.5, .25, .75} {
		c.Runs = append(c.Runs, MethodRun{Method: config.MethodAverage, Run: run + 1, Metrics: []record.Metric{
			{Coverage50: 1, Coverage80: 1, Coverage95: 1}, {Coverage50: share, Coverage80: share + .125, Coverage95: share + .25},
		}})
	}
	if got := c.Summary()[0].Coverage; got != [...]files.Number{.5, .625, .75} {
		t.Errorf("%v", got)
	}
}
