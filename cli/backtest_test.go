package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/internal/thorough"
)

// A backtest of two series from the command line, its tables, and going on with it.
func TestBacktest(t *testing.T) {
	thorough.Unraced(t)
	t.Chdir(t.TempDir())
	text := "id,year,sales\n"
	for i := range 14 {
		text += fmt.Sprintf("north,%d,%d\nsouth,%d,%d\n", 1990+i, 10+i+i*i%5, 1990+i, 30-i+i*i%7)
	}
	text += "east,1990,1\n"
	if err := os.WriteFile("long.csv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"backtest", "long.csv", "--group", "id", "--horizon", "2", "--origins", "2", "--set", "kernels.expressions=RW,LIN+RW",
		"--set", "schedule.evaluate_every=1", "--set", "schedule.refine=0", "-o", "b"}
	code, stdout, stderr := kestrel(t, args...)
	if code != 0 {
		t.Fatal(code, stderr)
	}
	for _, part := range []string{"left out: east: it is too short: training takes 8 rows, the horizon 2\n", ": 4 of 4 runs\n"} {
		if !strings.Contains(stderr, part) {
			t.Errorf("progress lacks %q:\n%s", part, stderr)
		}
	}
	for _, part := range []string{"2 series, 2 steps ahead", "\n| snaive | 0 | n/a |", "\nCRPS / scale of MASE by step\n",
		"\nkestrel: CRPS ", "\ntables in b\n"} {
		if !strings.Contains(stdout, part) {
			t.Errorf("the table lacks %q:\n%s", part, stdout)
		}
	}
	before, err := os.ReadFile(filepath.Join("b", "backtest.csv"))
	if err != nil || strings.Count(string(before), "\n") != 1+2*2*2*6 {
		t.Fatalf("%v: %s", err, before)
	}
	code, stdout, stderr = kestrel(t, append(args, "--json", "--quiet")...)
	var r struct {
		Series  int
		LeftOut []struct{ Series, Why string } `json:"left_out"`
		Methods []struct{ Method string }
		Steps   [][]struct{ Method string } `json:"by_horizon"`
		Verdict string
	}
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || stderr != "" || err != nil || r.Series != 2 || len(r.LeftOut) != 1 ||
		len(r.Methods) != 6 || len(r.Steps) != 2 || !strings.HasPrefix(r.Verdict, "kestrel: CRPS ") {
		t.Errorf("%d %q %v %s", code, stderr, err, stdout)
	}
	if after, err := os.ReadFile(filepath.Join("b", "backtest.csv")); err != nil || string(after) != string(before) {
		t.Errorf("other forecasts: %v", err)
	}
	testAhead(t, args, string(before))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"backtest", "long.csv", "--group", "id", "--horizon", "2", "--origins", "0"}, "--origins 0: must be at least 1"},
		{append(args, "--ahead=false"), "was begun with --ahead = yes, now it is nothing"},
		{[]string{"backtest", "long.csv"}, "backtest needs --horizon"},
		{[]string{"backtest", "long.csv", "--horizon", "2", "--step", "0"}, "--step 0: must be at least 1"},
		{[]string{"backtest", "long.csv", "--horizon", "2", "--set", "data.inputs=year"}, "name the column that tells them apart with --group"},
		{[]string{"run", "long.csv", "--set", "data.group=id"},
			`the column "id" names 3 series; kestrel backtest forecasts each of them, or choose one`},
		{[]string{"report", "b", "-o", filepath.Join("b", "summary.csv")}, "b"},
	} {
		if code, _, stderr := kestrel(t, c.args...); code != exitUsage || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: %d %s", c.args, code, stderr)
		}
	}
}

// testAhead goes on with a backtest, now beyond the ends of the series, too.
func testAhead(t *testing.T, args []string, before string) {
	t.Helper()
	code, stdout, stderr := kestrel(t, append(args, "--ahead")...)
	name := filepath.Join("b", "ahead.csv")
	for _, part := range []string{"goes on where it was cut: 4 of 6 runs finished\n", ", beyond the end: 6 of 6 runs\n"} {
		if code != 0 || !strings.Contains(stderr, part) {
			t.Errorf("%d, progress lacks %q:\n%s", code, part, stderr)
		}
	}
	if part := "\n2 series forecast 2 steps beyond the end: " + name + "\n"; !strings.Contains(stdout, part) {
		t.Errorf("the summary lacks %q:\n%s", part, stdout)
	}
	if after, err := os.ReadFile(filepath.Join("b", "backtest.csv")); err != nil || string(after) != before {
		t.Errorf("other forecasts: %v", err)
	}
	all, err := os.ReadFile(name)
	lines := strings.Split(string(all), "\n")
	if err != nil || len(lines) != 6 || !strings.HasPrefix(lines[0], "series,step,year,leader,mean,q0.025,") ||
		!strings.HasPrefix(lines[1], "north,1,2004,") || !strings.HasPrefix(lines[4], "south,2,2005,") {
		t.Errorf("%v: %s", err, all)
	}
	alone := append([]string(nil), args[:len(args)-1]...)
	code, stdout, stderr = kestrel(t, append(alone, "alone", "--ahead", "--origins", "0", "--json", "--quiet")...)
	var r struct {
		Series int
		Ahead  struct {
			Series int
			File   string
		}
	}
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || stderr != "" || err != nil || r.Series != 0 || r.Ahead.Series != 2 ||
		r.Ahead.File != filepath.Join("alone", "ahead.csv") {
		t.Errorf("%d %q %v %s", code, stderr, err, stdout)
	}
	if again, err := os.ReadFile(r.Ahead.File); err != nil || string(again) != string(all) {
		t.Errorf("%v: without origins other forecasts:\n%s\nwith them\n%s", err, again, all)
	}
}
