package experiment_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
)

// seriesConfig forecasts a made series of months.
func seriesConfig(t *testing.T) config.Config {
	t.Helper()
	text := "month,y\n"
	for i := range 60 {
		text += fmt.Sprintf("%d,%v\n", i, 100+float64(i)+10*math.Sin(math.Pi*float64(i)/6)+3*math.Cos(float64(i*i)))
	}
	path := filepath.Join(t.TempDir(), "months.csv")
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	var set []config.Override
	for _, s := range []string{"data.time=yes", "data.season=12", "data.test=12", "data.split_by=x", "kernels.expressions=SE,LIN",
		"sparse.inducing=4", "schedule.evaluate_every=1", "schedule.refine=0", "schedule.steps=20", "device.lanes=1",
		"predict.weights=posterior"} {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		set = append(set, o)
	}
	c, err := config.ForTable(path, "", set)
	must.OK(t, err)
	return c
}

// verdicts are the notices on scores, with the place of the first in the log.
func verdicts(events []record.Event) (lines []string, at int) {
	for i, e := range events {
		if e.Cause == record.CauseVerdict {
			if lines = append(lines, e.Notice); len(lines) == 1 {
				at = i
			}
		}
	}
	return lines, at
}

// A run says at its end what its forecast is worth: in the log, behind the final scores,
// once even where it was cut off right behind, in the table, which an export has again,
// and in the summary.
func TestRunIsComparedWithBaselines(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	runtest.In(t, seriesConfig(t), dir)
	events, err := recordtest.Read(dir)
	must.OK(t, err)
	lines, at := verdicts(events)
	last := events[len(events)-1-len(lines)]
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "forecast (12 rows): CRPS ") || at != len(events)-2-len(lines) ||
		events[at-2].Type != record.EventMetrics || events[at-1].Type != record.EventEffects {
		t.Fatalf("%q at %d of %d, before %s", lines, at, len(events), last.Type)
	}
	s, err := history.ReadSummary(dir)
	must.OK(t, err)
	var text bytes.Buffer
	must.OK(t, s.WriteText(&text, time.Now()))
	table, err := os.ReadFile(filepath.Join(dir, record.BaselinesFile))
	must.OK(t, err)
	for _, method := range []string{"vbks", "vbks-s", "naive", "snaive", "drift", "theta", "ets"} {
		if !strings.Contains(string(table), "\n"+method+",") || !regexp.MustCompile(`(?m)^ *`+method+" ").MatchString(text.String()) {
			t.Errorf("no %s:\n%s\n%s", method, table, &text)
		}
	}
	if !slices.Equal(s.Worth, lines) || strings.Count(text.String(), lines[0]) != 1 || !strings.Contains(text.String(), "smape") {
		t.Errorf("%q\n%s", s.Worth, &text)
	}
	out := filepath.Join(t.TempDir(), "tables")
	must.OK(t, rundir.Export(dir, out))
	if again, err := os.ReadFile(filepath.Join(out, record.BaselinesFile)); err != nil || !bytes.Equal(again, table) {
		t.Errorf("exported, %v:\n%s\nnot\n%s", err, again, table)
	}

	// Killed between the verdict and the end.
	log := filepath.Join(dir, record.EventsFile)
	all, err := os.ReadFile(log)
	must.OK(t, err)
	kept := bytes.Join(bytes.SplitAfter(all, []byte("\n"))[:at+len(lines)], nil)
	must.OK(t, os.WriteFile(log, kept, 0o600))
	_, err = runtest.TakeUp(t, dir, experiment.ResumeOptions{})
	must.OK(t, err)
	events, err = recordtest.Read(dir)
	must.OK(t, err)
	if again, _ := verdicts(events); !slices.Equal(again, lines) || events[len(events)-1].State.To != record.Finished {
		t.Errorf("resumed: %q, were %q", again, lines)
	}
	if again, err := os.ReadFile(filepath.Join(dir, record.BaselinesFile)); err != nil || !bytes.Equal(again, table) {
		t.Errorf("resumed, %v:\n%s\nnot\n%s", err, again, table)
	}
}
