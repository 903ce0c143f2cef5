package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/words"
)

// tinyRun makes a small run of the quickstart in a directory.
func tinyRun(t *testing.T, dir string, set ...string) {
	t.Helper()
	args := []string{"run", "quickstart", "--headless", "--quiet", "--out", dir}
	for _, s := range append([]string{"data.outputs=40", "data.support=40", "data.test=10",
		"kernels.expressions=SE,LIN+RQ", "sparse.inducing=6", "schedule.evaluate_every=0.5", "schedule.steps=4", "optimise.starts=1",
		"schedule.refine=0", "optimise.evidence=mode", "posterior.errors=ignore"}, set...) {
		args = append(args, "--set", s)
	}
	if code, _, stderr := kestrel(t, args...); code != 0 {
		t.Fatal(code, stderr)
	}
}

func TestPredict(t *testing.T) {
	t.Chdir(t.TempDir())
	tinyRun(t, "run")
	write(t, "new.csv", "x,y\n0.5,1\n,2\n3,\n")
	code, stdout, stderr := kestrel(t, "predict", "run", "--data", "new.csv", "--quantiles", "0.1, 0.9", "--top", "1", "--weights", "bayes")
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if code != 0 || len(lines) != 3 || lines[0] != "row,x,y,mean,sd_f,sd_y,f_q0.1,f_q0.9,y_q0.1,y_q0.9" ||
		!strings.HasPrefix(lines[1], "1,0.5,1,") || !strings.HasPrefix(lines[2], "3,3,,") {
		t.Fatalf("code %d\n%s%s", code, stdout, stderr)
	}
	for _, part := range []string{"evaluation 2, with ", ": 2 rows\n", "note: 1 of 3 rows is left out for a missing input\n",
		"on 1 row with a target, the target of 1 other is missing: rmse ", "coverage of intervals: "} {
		if !strings.Contains(stderr, part) {
			t.Errorf("no %q in\n%s", part, stderr)
		}
	}
	write(t, "new.csv", "x;y\n0,5;1\n")
	said := "note: new.csv: the comma is the decimal sign: \"0,5\" is read as 0.5\n"
	if _, _, stderr := kestrel(t, "predict", "run", "--data", "new.csv"); !strings.Contains(stderr, said) {
		t.Error(stderr)
	}
	// To files, the second beside the first; nothing is said, and no other file is left.
	if code, stdout, stderr := kestrel(t, "predict", "run", "--data", "new.csv", "-o", "out.json",
		"--format", "json", "--components", "--quiet"); code != 0 || stdout+stderr != "" {
		t.Errorf("code %d %q %q", code, stdout, stderr)
	}
	var names []string
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "new.csv out.components.json out.json run" {
		t.Error(got)
	}
	if text, err := os.ReadFile("out.components.json"); err != nil || !strings.HasPrefix(string(text), "[\n{\"row\":1,\"kernel_id\":\"") {
		t.Errorf("%.80s %v", text, err)
	}
}

func TestBadPredict(t *testing.T) {
	t.Chdir(t.TempDir())
	tinyRun(t, "run")
	write(t, "new.csv", "x\n1\n")
	write(t, "other.csv", "a,b\n1,2\n")
	for _, c := range []struct{ args, want string }{
		{"", "predict needs the directory of a run; for example kestrel predict runs/… --data new.csv"},
		{"run", "predict needs --data, a table with the run's input columns, or --horizon, how far beyond the end of a series; " +
			"for example --data new.csv, or --horizon 18"},
		{"run --data new.csv --horizon 3", "--data and --horizon are two ways to say where to predict; leave one out"},
		{"run --horizon 3m", `--horizon "3m" is neither a number of steps nor a length of time; for example 18, or 90d with one of the units `},
		{"run --horizon 3", "(PER+RQ)*LIN is not known to be a series in time, which could be continued; " +
			`run it with data.time = "yes" if it is one, or give a table of points to predict at`},
		{"run --data none.csv", `data file "none.csv" not found; looked for `},
		{"run --data other.csv", `other.csv: there is no column "x"; the columns are "a", "b"`},
		{"RUN --data new.csv", "RUN stands for the folder of a run, which that names when it begins and ends"},
		{"none --data new.csv", `"none" is not the directory of a run: it has no events.jsonl`},
		{"run --data new.csv --components", "--components writes a second table beside the first; name that with -o"},
		{"run --data new.csv -o new.csv", `-o "new.csv" is the table to predict at; choose another name`},
		{"run --data new.csv -o run/events.jsonl", `-o "run/events.jsonl" is a file that the run "run" keeps for itself; choose another name`},
		{"run --data new.csv --method best", "--method best: must be vbks, the average over kernels, or vbks-s, the best one; or, with " +
			"--horizon, one of naive, "},
		{"run --data new.csv --method theta", "--data is about kernels; --method theta has none and forecasts with --horizon"},
		{"run --horizon 3 --method theta --top 2", "--top is about kernels; --method theta has none and forecasts with --horizon"},
		{"run --data new.csv --method vbks-s --top 2", "--top is about the average; leave it out, or choose --method vbks"},
		{"run --data new.csv --weights even", "--weights even: must be one of posterior, bayes, tempered"},
		{"run --data new.csv --top -1", "--top -1: must be at least 1, or 0 for all"},
		{"run --data new.csv --format xml", "--format xml: must be csv or json"},
		{"run --data new.csv --quantiles 5", `--quantiles 5: "5" is no probability between 0 and 1; for example 0.05,0.5,0.95`},
		{"run --data new.csv --quantiles 0.5,0.5", "quantile 0.5 is asked for twice"},
		{"run --data new.csv -o none/out.csv", `-o "none/out.csv": there is no such folder; make it first`},
		{"run --data new.csv -o run", `-o "run" is a folder; name a file`},
	} {
		code, stdout, stderr := kestrel(t, append([]string{"predict"}, strings.Fields(c.args)...)...)
		if code != exitUsage || stdout != "" || !strings.HasPrefix(stderr, "kestrel: "+c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: code %d %q %q", c.args, code, stdout, stderr)
		}
	}
	if left, err := filepath.Glob(".*"); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// Beyond the end of a series the kernels learn from all rows first, which is said, at
// points of a table where that is asked for; and not where it is not wanted.
func TestPredictHorizon(t *testing.T) {
	t.Chdir(t.TempDir())
	var b strings.Builder
	b.WriteString("month,sold\n")
	for i := range 30 {
		fmt.Fprintf(&b, "%d-%02d,%d\n", 2020+i/12, 1+i%12, 10+i%12+i*i%3)
	}
	write(t, "sales.csv", b.String())
	write(t, "new.csv", "month\n2022-07\n")
	args := []string{"run", "sales.csv", "--headless", "--quiet", "--out", "run"}
	for _, s := range []string{
		"kernels.expressions=PER,LIN", "optimise.starts=1", "schedule.evaluate_every=1", "schedule.refine=0", "schedule.steps=8",
	} {
		args = append(args, "--set", s)
	}
	if code, _, stderr := kestrel(t, args...); code != 0 {
		t.Fatal(code, stderr)
	}
	const told = "note: fitted again on all 30 rows, the 3 held-out ones included"
	results := map[string]string{}
	for _, c := range []struct {
		args string
		rows int
		told bool
	}{
		{"--horizon 6mo", 6, true}, {"--horizon 6 --weights bayes --top 1", 6, true}, {"--horizon 6 --refit=false", 6, false},
		{"--horizon 1 --method vbks-s --format json", 1, true}, {"--data new.csv", 1, false}, {"--data new.csv --refit", 1, true},
	} {
		code, stdout, stderr := kestrel(t, append([]string{"predict", "run"}, strings.Fields(c.args)...)...)
		if code != 0 || strings.Contains(stderr, told) != c.told || strings.Contains(stderr, "fitted") != c.told ||
			strings.Contains(stderr, "chart beyond the end has not learned from") != (c.told && strings.HasPrefix(c.args, "--horizon")) ||
			!strings.Contains(stderr, ": "+words.Count(c.rows, "row")+"\n") || !strings.Contains(stdout, "2022-07") {
			t.Errorf("%s: code %d\n%s%s", c.args, code, stdout, stderr)
		}
		results[c.args] = stdout
	}
	if results["--data new.csv"] == results["--data new.csv --refit"] {
		t.Error("--refit changes nothing")
	}
	lines := strings.Split(results["--horizon 6mo"], "\n")
	if lines[0] != "row,month,mean,sd_f,sd_y,f_q0.05,f_q0.5,f_q0.95,y_q0.05,y_q0.5,y_q0.95" ||
		!strings.HasPrefix(lines[6], "6,2022-12,") {
		t.Error(results["--horizon 6mo"])
	}
	// What stands beside the kernels forecasts from all rows, too.
	code, stdout, stderr := kestrel(t, "predict", "run", "--horizon", "6mo", "--method", "snaive", "--quantiles", "0.5")
	lines = strings.Split(stdout, "\n")
	if code != 0 || len(lines) != 8 || lines[0] != "row,month,mean,sd_y,y_q0.5" || stderr != "seasonal naive, from all rows: 6 rows\n" {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
	for i := 1; i <= 6; i++ {
		at, row := 18+i-1, strings.Split(lines[i], ",")
		if got := fmt.Sprint(10 + at%12 + at*at%3); len(row) != 5 || row[2] != got || row[4] != got {
			t.Errorf("row %d: %s, a year ago it was %s", i, lines[i], got)
		}
	}
	if code, _, stderr := kestrel(t, "predict", "run/model.kestrel", "--horizon", "6mo", "--method", "theta"); code == 0 ||
		!strings.Contains(stderr, "a model file has no rows to forecast from by another method; name the run") {
		t.Errorf("code %d %s", code, stderr)
	}
	code, stdout, stderr = kestrel(t, "predict", "run", "--horizon", "2", "--components", "--quiet", "-o", "out.csv")
	if code != 0 || stdout+stderr != "" {
		t.Errorf("code %d %q %q", code, stdout, stderr)
	}
	text, err := os.ReadFile("out.components.csv")
	if err != nil || !strings.HasPrefix(string(text), "row,kernel_id,weight,part,component,mean,sd\n1,") {
		t.Errorf("%s %v", text, err)
	}
}

// What a run cannot do is said: weights that its optimiser does not have are refused where
// they are asked for and named where the run's config has them, and intervals stay as they
// are where the run has ended before they were to be calibrated.
func TestPredictSaysWhatItCannot(t *testing.T) {
	t.Chdir(t.TempDir())
	var b strings.Builder
	b.WriteString("month,sold\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d-%02d,%d\n", 2020+i/12, 1+i%12, 10+i%12+i*i%3)
	}
	write(t, "sales.csv", b.String())
	write(t, "new.csv", "month\n2023-07\n")
	args := []string{"run", "sales.csv", "--headless", "--quiet", "--out", "run"}
	for _, s := range []string{
		"kernels.expressions=PER,LIN", "optimise.optimizer=natural", "optimise.starts=1", "schedule.evaluate_every=0.5", "schedule.refine=1",
		"schedule.steps=4", "schedule.budget=1", "predict.calibrate=auto", "predict.weights=loo",
	} {
		args = append(args, "--set", s)
	}
	if code, _, stderr := kestrel(t, args...); code != 0 {
		t.Fatal(code, stderr)
	}
	const said = "intervals are not calibrated: they are at the last evaluation planned, and 1 of 3 have been made"
	if log, err := os.ReadFile(filepath.Join("run", "events.jsonl")); err != nil || strings.Count(string(log), said) != 1 {
		t.Errorf("%v: not said once in\n%s", err, log)
	}
	for _, at := range []string{"--data new.csv", "--data new.csv --refit", "--horizon 2"} {
		args := append([]string{"predict", "run"}, strings.Fields(at)...)
		if code, _, stderr := kestrel(t, args...); code != 0 ||
			!strings.Contains(stderr, "averaged over 2 kernels, weights for prediction by posterior (q*): ") ||
			!strings.Contains(stderr, "note: "+said+"\n") {
			t.Errorf("%s: code %d\n%s", at, code, stderr)
		}
		code, stdout, stderr := kestrel(t, append(args, "--weights", "loo")...)
		if code != exitUsage || stdout != "" || !strings.HasPrefix(stderr, `kestrel: weights "loo" leave rows out`) ||
			strings.Count(stderr, "\n") != 1 ||
			!strings.Contains(stderr, `this run has "natural"`) {
			t.Errorf("%s: code %d %q %q", at, code, stdout, stderr)
		}
	}
}
