package library

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
)

// What kestrel has written is not offered as data; what is the user's is.
func TestOwnOutputsAreNoData(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"mine.csv":                  "t,y\n1,2\n",
		"row.csv":                   "row,mean\n1,2\n",
		"short.csv":                 "",
		"predictions.csv":           "row,t,y,mean,sd_f,sd_y,y_q0.025\n1,2,3,4,5,6,7\n",
		"components.csv":            "row,kernel_id,weight,part,component,mean,sd\n",
		"export/posterior.csv":      "evaluation,proportion,rows_seen,kernel_id,kernel\n",
		"export/metrics.csv":        "evaluation,proportion,seconds,method,kernels\n",
		"export/baselines.csv":      "method,label,rmse,mae\n",
		"export/kernels.csv":        "kernel_id,kernel,parameter,column,value,unit\n",
		"figures/fig1a.csv":         "x,y\n1,2\n",
		"figures/fig1a.svg":         "<svg/>",
		"series/state/owner.json":   "{}",
		"series/study-summary.csv":  "a,b\n1,2\n",
		"series/below/deep.csv":     "a,b\n1,2\n",
		"folder/state/mine too.csv": "a,b\n1,2\n",
	} {
		path := filepath.Join(dir, name)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.OK(t, os.WriteFile(path, []byte(text), 0o644))
	}
	var got []string
	for _, path := range FindData(dir, 0) {
		got = append(got, strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(dir)+"/"))
	}
	slices.Sort(got)
	if want := []string{"folder/state/mine too.csv", "mine.csv", "row.csv", "short.csv"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A run whose log cannot be read is listed like any other, with why.
func TestRunsThatCannotBeRead(t *testing.T) {
	root := t.TempDir()
	for name, log := range map[string]string{"new": "", "torn": `{"v":1,"seq":0,"ti`, "other": "t,y\n1,2\n"} {
		path := filepath.Join(root, name, record.EventsFile)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.OK(t, os.WriteFile(path, []byte(log), 0o644))
	}
	runs, err := RecentRuns(root, 0)
	must.OK(t, err)
	for _, r := range runs {
		if r.Err == "" || (r.Err == "no event yet") == (r.Name == "other") {
			t.Errorf("%s: %q", r.Name, r.Err)
		}
	}
	if len(runs) != 3 {
		t.Errorf("%d runs are listed, not 3", len(runs))
	}
}
