package compare

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
)

// Baselines are the means over the seeds of what the runs of VBKS have in their tables;
// those that could not be had of a run do not count for it.
func TestBaselinesOfAComparison(t *testing.T) {
	c := &Comparison{Config: configtest.Small(t, "compare.methods=vbks"), Path: t.TempDir()}
	head := "method,label,rmse,mae,nlpd,coverage95,test_rows,coverage50,coverage80,crps,interval_score,mase,smape,msis,remark\n"
	for seed, text := range []string{
		"vbks,VBKS,1,1,1,1,9,1,1,1,1,,,,\nmean,mean,4,3,2,0.9,9,0.5,0.7,2,8,,,,\nphase,phase,,,,,,,,,,,,,no season is known\n",
		"vbks,VBKS,1,1,1,1,9,1,1,1,1,,,,\nmean,mean,6,3,3,0.8,9,0.3,0.9,4,8,,,,\nphase,phase,7,5,3,1,9,1,1,5,9,,,,\n",
	} {
		dir := filepath.Join(c.Path, config.MethodAverage, strconv.Itoa(seed+1))
		must.OK(t, os.MkdirAll(dir, 0o755))
		must.OK(t, os.WriteFile(filepath.Join(dir, record.BaselinesFile), []byte(head+text), 0o644))
		c.Runs = append(c.Runs, MethodRun{Method: config.MethodAverage, Run: seed + 1, Seed: uint64(seed + 1)})
	}
	got := c.Baselines()
	if len(got) != 2 || got[0].Method != "mean" || got[0].Runs != 2 || got[0].RMSE != 5 || got[0].CRPS != 3 || got[0].NLPD != 2.5 ||
		got[0].Coverage[0] != 0.4 || got[1].Method != "phase" || got[1].Runs != 1 || got[1].RMSE != 7 {
		t.Errorf("%+v", got)
	}
	var out bytes.Buffer
	must.OK(t, c.WriteText(&out))
	if !regexp.MustCompile(`mean\s+2\s+5\s+1\.41\s+2\.5000\s+0\.707\s+3\s+0\.400\s+0\.800\s+0\.850\s+-\s+-\n`).MatchString(out.String()) {
		t.Errorf("%s", &out)
	}
}
