package history_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// A summary tells of every number of inducing inputs that a run has had.
func TestSummaryTellsInducingInputs(t *testing.T) {
	events := []record.Event{
		{Type: record.EventStarted, Start: &record.Start{Name: "a", Inducing: 200, Data: &datasets.Summary{}}},
		{Type: record.EventReoptimised, Change: &vbks.Change{Rounds: 2}},
		{Type: record.EventReoptimised, Change: &vbks.Change{Inducing: 800}}, // as older logs have it
		{Type: record.EventReoptimised, Change: &vbks.Change{Inducing: 800, Rounds: 1}, Inducing: 800},
		{Type: record.EventReoptimised, Change: &vbks.Change{Inducing: 5000}, Inducing: 900},
	}
	for n, want := range map[int]string{1: "inputs 200;", 2: "inputs 200;", 4: "inputs 200, then 800;", 5: "inputs 200, then 800, then 900;"} {
		var out strings.Builder
		must.OK(t, historytest.Summarise(events[:n]).WriteText(&out, time.Time{}))
		if !strings.Contains(out.String(), want) {
			t.Errorf("after %d events no %q in\n%s", n, want, out.String())
		}
	}
}

// A summary says how M was raised, which kernels were left out, and what was told
// with the last evaluation.
func TestSummaryTellsWhatWasLeftOut(t *testing.T) {
	out := func(id, reason string) record.Kernel {
		return record.Kernel{ID: id, Status: vbks.Pruned, Reason: reason}
	}
	events := []record.Event{
		{Type: record.EventStarted, Start: &record.Start{Name: "a", Inducing: 64, Data: &datasets.Summary{}}},
		{Type: record.EventEvaluation, Evaluation: &record.Evaluation{Index: 1, Inducing: 64}},
		{Type: record.EventNotice, Notice: "of the first"},
		{Type: record.EventEvaluation, Evaluation: &record.Evaluation{Index: 2, Inducing: 128, Kernels: []record.Kernel{
			out("A", "not among the 3"), out("B", vbks.ByRequest), out("C", "not among the 3")}}},
		{Type: record.EventNotice, Notice: "one\nof two lines"},
	}
	var text strings.Builder
	must.OK(t, historytest.Summarise(events).WriteText(&text, time.Time{}))
	for _, want := range []string{"inputs 64, then 128;", "\n3 pruned, 0 failed\n  2 not among the 3\n", "\n\nnote: one\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "of the first") || strings.Contains(text.String(), "1 pruned by request") {
		t.Errorf("too much is told:\n%s", text.String())
	}
	for range 7 {
		events = append(events, record.Event{Type: record.EventNotice, Notice: "more"})
	}
	text.Reset()
	must.OK(t, historytest.Summarise(events).WriteText(&text, time.Time{}))
	if !strings.HasSuffix(text.String(), "note: more\nand 3 more in log.txt\n") {
		t.Errorf("not cut:\n%s", text.String())
	}
}

// A summary says that slack says nothing of many rows.
func TestSummaryTellsWhatIsNotBounded(t *testing.T) {
	for rows, want := range map[int]bool{20_000: false, 30_000: true} {
		k := record.Kernel{ID: "A", Status: vbks.Live, Fit: &record.Fit{Rank: 1, Evidence: &record.Evidence{Lower: 1, Upper: 5000}}}
		events := []record.Event{
			{Type: record.EventStarted, Start: &record.Start{Name: "a", Inducing: 64, Data: &datasets.Summary{}}},
			{Type: record.EventEvaluation, Evaluation: &record.Evaluation{Index: 1, RowsSeen: rows, Kernels: []record.Kernel{k}}},
		}
		var text strings.Builder
		must.OK(t, historytest.Summarise(events).WriteText(&text, time.Time{}))
		if got := strings.Contains(text.String(), "\nslack: the log evidence of so many rows is not usefully bounded from above\n"); got != want {
			t.Errorf("%d rows: %v in\n%s", rows, got, text.String())
		}
	}
}

// Where the belief is by windows of neighbours their numbers stand in the table, and gaps are theirs.
func TestSummaryTellsWindows(t *testing.T) {
	fit := func(rank int, elbo, nats files.Number) *record.Fit {
		return &record.Fit{Rank: rank, ELBO: elbo, Evidence: &record.Evidence{Lower: elbo, Upper: 9e5},
			Windows: &record.Windows{Nats: nats, Low: .1, High: .2, Rows: 30_000}}
	}
	events := []record.Event{
		{Type: record.EventStarted, Start: &record.Start{Name: "a", Inducing: 64, Data: &datasets.Summary{}}},
		{Type: record.EventEvaluation, Evaluation: &record.Evaluation{Index: 1, RowsSeen: 30_000, Kernels: []record.Kernel{
			{ID: "A", Status: vbks.Live, Fit: fit(1, -900, 5000.5)}, {ID: "B", Status: vbks.Live, Fit: fit(2, -300, 4989)},
		}}},
	}
	var text strings.Builder
	must.OK(t, historytest.Summarise(events).WriteText(&text, time.Time{}))
	for _, want := range []string{"evidence", " 5000.50 ", " 4989.00 ", " 11.50 ", "windows of neighbouring rows"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	for _, not := range []string{"local ELBO", "usefully"} {
		if strings.Contains(text.String(), not) {
			t.Errorf("%q in\n%s", not, text.String())
		}
	}
}

// A summary of a run whose space has grown counts the kernels that are live, and says what cut growth short.
func TestSummaryOfGrowth(t *testing.T) {
	start := &record.Start{Name: "a", Inducing: 9, Grows: true, Data: &datasets.Summary{Train: 1}}
	for _, id := range []string{"k0", "k1", "k2", "k3"} {
		start.Kernels = append(start.Kernels, record.KernelInfo{ID: id})
	}
	e := recordtest.Evaluation(1, 2, 1, []float64{.75, .25, math.NaN()})
	e.Kernels[0].Fit.Prior, e.Kernels[1].Fit.Prior = -3, -5.5
	e.RowsSeen, e.Front = 1, &vbks.Front{Waiting: 119}
	events := []record.Event{
		{Type: record.EventStarted, Start: start},
		{Type: record.EventEvaluation, Evaluation: e},
		{Type: record.EventReoptimised, Change: &vbks.Change{Grow: vbks.GrowOff}},
	}
	s := historytest.Summarise(events)
	var text strings.Builder
	must.OK(t, s.WriteText(&text, time.Time{}))
	for _, want := range []string{"kernels   2 of 4 tried;", "\n1 pruned, 0 failed\n", "of the data seen (1 row)\n",
		"\ngrowth    ended by order; 119 neighbours wait\n", "  behind  prior\n", "  +0.00\n", "  -2.50\n",
		"nats above the leader's"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	written, err := json.Marshal(s)
	must.OK(t, err)
	if want := `"growth":{"ended_by":"order","waiting":119}`; !strings.Contains(string(written), want) {
		t.Errorf("no %s in %s", want, written)
	}
	text.Reset()
	must.OK(t, historytest.Summarise(events[:2]).WriteText(&text, time.Time{}))
	if strings.Contains(text.String(), "growth ") {
		t.Errorf("growth that goes on:\n%s", text.String())
	}
}

// Programs read a summary's JSON; its keys and their order stay.
func TestSummaryKeys(t *testing.T) {
	s := historytest.Summarise(recordtest.Eventful())
	text, err := json.Marshal(s)
	must.OK(t, err)
	d := json.NewDecoder(bytes.NewReader(text))
	_, err = d.Token()
	must.OK(t, err)
	var keys []string
	for d.More() {
		key, err := d.Token()
		must.OK(t, err)
		keys = append(keys, key.(string))
		var value json.RawMessage
		must.OK(t, d.Decode(&value))
	}
	want := "name fate state reason started last seconds start inducing evaluations evaluation lead metrics notices finding"
	if got := strings.Join(keys, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// On a terminal of 80 columns tables and what stands below them are not broken by its edge: less is told of
// each kernel and method. Elsewhere all of it is.
func TestSummaryFitsATerminal(t *testing.T) {
	long := "LIN[age_years]+SE[area_m2]+SE[distance_to_the_station]+CAT[district]+CAT[rooms]"
	crps := func(v float64) *record.BaselineScore {
		return &record.BaselineScore{CRPS: files.Number(v), RMSE: files.Number(2 * v), Interval: 1234.5}
	}
	events := []record.Event{
		{Type: record.EventStarted, Start: &record.Start{Name: "a", Inducing: 64, Data: &datasets.Summary{Train: 90, Test: 10},
			Kernels: []record.KernelInfo{{ID: long}}, Baselines: &record.Baselines{Task: record.TaskForecast, Rows: 10, Methods: []record.Baseline{
				{Method: "snaive", Label: "seasonal naive", Score: crps(3)}, {Method: "ets", Label: "exponential smoothing", Score: crps(2)}}}}},
		{Type: record.EventEvaluation, Evaluation: &record.Evaluation{Index: 1, Proportion: 1, RowsSeen: 90, Kernels: []record.Kernel{
			{ID: long, Status: vbks.Live, Fit: &record.Fit{Rank: 1, Posterior: 1, ELBO: -12345.5, Evidence: &record.Evidence{}}}}}},
		{Type: record.EventMetrics, Metrics: []record.Metric{{Method: config.MethodAverage, TestRows: 10, Kernels: 1, CRPS: 2.5, RMSE: 5,
			MAE: 4, NLPD: 3, Coverage50: .5, Coverage80: .8, Coverage95: .9, Interval: 1234.5}}},
		{Type: record.EventNotice, Notice: strings.Repeat("a long notice ", 10)},
	}
	s := historytest.Summarise(events)
	var all, narrow strings.Builder
	must.OK(t, s.WriteText(&all, time.Time{}))
	s.Wide = 80
	must.OK(t, s.WriteText(&narrow, time.Time{}))
	for _, want := range []string{long, "local ELBO", "interval score", "nlpd"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %q in\n%s", want, all.String())
		}
	}
	_, tables, _ := strings.Cut(narrow.String(), "\nrank ")
	for line := range strings.Lines(tables) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"behind", "CAT[rooms]", "crps", "in 95 %", "CRPS 17 % better than seasonal naive"} {
		if !strings.Contains(tables, want) {
			t.Errorf("no %q in\n%s", want, tables)
		}
	}
}
