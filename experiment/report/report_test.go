package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// reportNow is after every event of a test.
func reportNow() time.Time { return time.Now().Add(time.Minute) }

// document is a report as a parser sees it: the texts by element, the elements
// and their attributes.
type document struct {
	source   string
	text     string // of the body, elements divided by |
	elements map[string]int
	style    string
}

// reportOn makes the report on a run and checks what holds for all reports.
func reportOn(t *testing.T, dir string) *document {
	t.Helper()
	var b bytes.Buffer
	_, err := Write(t.Context(), dir, "", reportNow(), &b)
	must.OK(t, err)
	return parseReport(t, b.String())
}

// parseReport reads a page as XML, which finds whatever breaks out of its place,
// and refuses scripts and everything that is loaded from somewhere.
func parseReport(t *testing.T, source string) *document {
	t.Helper()
	d := &document{source: source, elements: map[string]int{}}
	var stack []string
	in := xml.NewDecoder(strings.NewReader(source))
	ids := map[string]bool{}
	var links []string
	for {
		token, err := in.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			name := e.Name.Local
			d.elements[name]++
			stack = append(stack, name)
			if !slices.Contains(strings.Fields("html head meta title style body header nav section h1 h2 h3 p strong a dl dt dd div span table "+
				"thead tbody tr th td "+
				"figure figcaption pre svg g path text"), name) {
				t.Errorf("element %s", name)
			}
			for _, a := range e.Attr {
				switch at := a.Name.Local; {
				case at == "id":
					if ids[a.Value] {
						t.Errorf("id %s twice", a.Value)
					}
					ids[a.Value] = true
				case at == "href":
					links = append(links, a.Value)
				case strings.HasPrefix(at, "on"), at == "src", at == "srcset", at == "data", at == "action":
					t.Errorf("attribute %s=%q of %s", at, a.Value, name)
				case at == "style":
					if strings.Contains(a.Value, "url") || strings.Contains(a.Value, "expression") {
						t.Errorf("style %q", a.Value)
					}
				}
			}
		case xml.EndElement:
			stack = stack[:len(stack)-1]
			d.text += "|"
		case xml.CharData:
			if n := len(stack); n > 0 && stack[n-1] == "style" {
				d.style += string(e)
			} else if text := string(e); strings.TrimSpace(text) != "" {
				d.text += text
			}
		}
	}
	for _, l := range links {
		if !strings.HasPrefix(l, "#") || !ids[l[1:]] {
			t.Errorf("link to %q", l)
		}
	}
	if strings.Contains(d.style, "url(") || strings.Contains(d.style, "@import") ||
		!strings.Contains(d.style, "prefers-color-scheme: dark") || !strings.Contains(d.style, "@media print") {
		t.Error("style sheet")
	}
	if !strings.Contains(source, `content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Error("no policy against what may be loaded")
	}
	return d
}

// has fails the test for each text that is not in the report.
func (d *document) has(t *testing.T, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if !strings.Contains(d.text, s) {
			t.Errorf("no %q in the report", s)
		}
	}
}

// The numbers of a report are those of the run's files.
func TestReportOnFinishedRun(t *testing.T) {
	j, r, dir := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t), "optimise.evidence=draws"))
	must.OK(t, r.Prune(r.Snapshot().Evaluation.Below(2)))
	runtest.Await(t, r)
	d := reportOn(t, dir)
	summary, err := history.ReadSummary(dir)
	must.OK(t, err)
	d.has(t, summary.Finding) // the same words as everywhere, before all else
	if at := strings.Index(d.source, `<p class="found">`); summary.Finding == "" || at < 0 || at > strings.Index(d.source, "<dl>") {
		t.Errorf("what was found, %q, does not come first", summary.Finding)
	}
	events, err := recordtest.Read(dir)
	must.OK(t, err)
	s := historytest.Summarise(events)
	d.has(t, "|finished|: all planned evaluations are done", "plane", "80: 60 for training, 20 held out", "Inducing inputs M|10|",
		"Observed against predicted, 20 of 20 rows held out", "Pruned and failed", "pruned|1|", "|hour|input|", "|level|target|",
		"expressions = [", "Data sha256|"+j.Data.SHA256, "kestrel run ", "kernels were pruned", "|pruned 1 kernel;")
	if strings.Contains(d.text, "missing here") {
		t.Error("the fit is missing")
	}
	for _, m := range s.Metrics {
		d.has(t, fmt.Sprintf("|%s|%s|", words.Significant(float64(m.RMSE), 5),
			words.Significant(float64(m.MAE), 5)), percent(float64(m.Coverage95)))
	}
	drawn := false
	for _, k := range s.Evaluation.Kernels {
		if k.Fit == nil {
			continue
		}
		d.has(t, fmt.Sprintf("|%.4f|%.4f|%.2f|", float64(k.Fit.Posterior), float64(k.Fit.Bayes),
			k.Fit.Behind(s.Evaluation.Leader().Fit)))
		last := len(k.Fit.Params) - 1
		noise := "|noise_variance||" + words.Significant(float64(k.Fit.Params[last]), 5) + "|"
		if low, high, ok := k.Fit.Between(last); ok {
			low, high = words.Ends(low, high)
			noise += words.Significant(low, 5) + " to " + words.Significant(high, 5) + "|"
			drawn = true
		}
		d.has(t, noise)
	}
	if !drawn {
		t.Error("no hyperparameter has an interval")
	}
	d.has(t, "|with 95 %|")
	if n := d.elements["svg"]; n < 4 || strings.Count(d.source, `role="img"`) != n {
		t.Errorf("%d figures", n)
	}
}

// The interval coverage in the page is that of the test rows, counted here from
// the predictions of another function.
func TestReportCalibration(t *testing.T) {
	j, r, dir := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t), "data.test=30"))
	i := runtest.Inspect(t, r)
	inside := [len(record.CoverageLevels)]int{}
	for _, row := range j.Data.Test {
		x := j.Data.Row(int(row))
		for l, level := range record.CoverageLevels {
			c, err := i.Curve(t.Context(), inspect.FitQuery{Column: 0, Low: x[0], High: x[0] + 1, Points: 2, Held: []float64{0, x[1]}, Level: level})
			must.OK(t, err)
			if y := j.Data.Y[row]; y >= c.Lower[0] && y <= c.Upper[0] {
				inside[l]++
			}
		}
	}
	want := "|averaged|"
	for l, level := range record.CoverageLevels {
		chance := map[float64]string{0.5: "9.1 %", 0.8: "7.3 %", 0.95: "4.0 %"}[level] // √(p(1−p)/30)
		want += fmt.Sprintf("%.1f %% ± %s|", 100*float64(inside[l])/30, chance)
	}
	reportOn(t, dir).has(t, want, "On 30 of the 30 rows held out")
}

// Texts of the data cannot break out of their place, whatever they are.
func TestReportEscapes(t *testing.T) {
	hostile := []string{`<script>alert("h")</script>`, `</td></svg><img src=x onerror=alert(1)>`,
		`"' style=x onload=y {{.Name}} ]]> -->` + "`${1}"}
	var b strings.Builder
	for i, h := range hostile {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + strings.ReplaceAll(h, `"`, `""`) + `"`)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		x, w := rng.Float64(), rng.Float64()
		fmt.Fprintf(&b, "\n%g,%g,%g", x, w, x+w*w)
	}
	path := filepath.Join(t.TempDir(), "data <b>.csv")
	must.OK(t, os.WriteFile(path, []byte(b.String()+"\n"), 0o644))
	_, _, dir := runtest.Finished(t, configtest.Plane(t, path, "kernels.expressions=SE,LIN+RQ", "data.test=10", "kernels.ard=true"))
	d := reportOn(t, dir)
	for _, h := range hostile {
		d.has(t, "|"+h+"|")
	}
	if d.elements["script"]+d.elements["img"] > 0 {
		t.Error("it broke out")
	}
	// One input: the names stand in the figures, too.
	_, _, dir = runtest.Finished(t, configtest.Plane(t, path, "kernels.expressions=SE", "data.test=0", `data.inputs=["1"]`, "data.target=2"))
	d = reportOn(t, dir)
	d.has(t, hostile[0], hostile[1], "No rows are held out", "is the only kernel left")
}

// A report says how a run stands: before its first evaluation, paused by its
// process, cut off, stopped.
func TestReportStates(t *testing.T) {
	j, err := prepare.Prepare(t.Context(), configtest.Plane(t, configtest.PlaneFile(t), "schedule.refine=100000"))
	must.OK(t, err)
	dir := filepath.Join(t.TempDir(), "run")
	files, err := rundir.Create(inside.Disk{}, dir)
	must.OK(t, err)
	r := experiment.NewRun(j, rundir.NewSaver(files, 0))
	t.Cleanup(func() { r.Close(); files.Close(); j.Close() })
	if _, err := Write(t.Context(), dir, "", reportNow(), io.Discard); err == nil || !strings.Contains(err.Error(), "no events yet") {
		t.Error(err)
	}
	must.OK(t, r.Start())
	for r.Snapshot().Evaluation == nil {
		time.Sleep(time.Millisecond)
	}
	must.OK(t, r.Pause())
	reportOn(t, dir).has(t, "|paused|: still going on when this page was made", "|paused: paused by the user|", "Evaluation|",
		"Observed against predicted")

	// The files of a run whose process is gone, the last line torn.
	gone := filepath.Join(t.TempDir(), "gone")
	must.OK(t, os.CopyFS(gone, os.DirFS(dir)))
	log, err := os.ReadFile(filepath.Join(gone, record.EventsFile))
	must.OK(t, err)
	torn := bytes.LastIndex(log, []byte(`"type":"state"`))
	must.OK(t, os.WriteFile(filepath.Join(gone, record.EventsFile), log[:torn], 0o644))
	if _, known := rundir.OwnerOf(gone); known {
		reportOn(t, gone).has(t, "|crashed|: it was running when its process ended without a word", "Evaluation|", "Observed against predicted")
	}
	must.OK(t, os.RemoveAll(filepath.Join(gone, record.StateDir)))
	d := reportOn(t, gone)
	d.has(t, "it is going on or was cut off", "missing here: run", "there is no evaluation yet")
	if d.elements["svg"] == 0 {
		t.Error("no traces")
	}

	must.OK(t, r.Stop("enough of it"))
	reportOn(t, dir).has(t, "|stopped|: enough of it")

	d = reportOn(t, made(t))
	d.has(t, "There is no evaluation yet", "They were not written down", "|made|")
	if d.elements["svg"] != 0 {
		t.Error("figures of nothing")
	}
	_, err = Write(t.Context(), t.TempDir(), "", reportNow(), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "has no events.jsonl") {
		t.Error(err)
	}
}

// Without its data a report has what the files of the run say.
func TestReportWithoutData(t *testing.T) {
	path := configtest.PlaneFile(t)
	_, _, dir := runtest.Finished(t, configtest.Plane(t, path))
	must.OK(t, os.Remove(path))
	d := reportOn(t, dir)
	d.has(t, "The fit, residuals and calibration, which take the model and the data, are missing here: data of run", "not found",
		"Error on the rows held out", "Traces")
}

// made writes an event log of a run with an evaluation, if there are kernels.
func made(t *testing.T, kernels ...record.Kernel) string {
	t.Helper()
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, record.EventsFile))
	must.OK(t, err)
	defer log.Close()
	start := &record.Start{Name: "made", Data: &datasets.Summary{Columns: []datasets.ColumnSummary{{Name: "x", Role: "input"},
		{Name: "y", Role: "target"}}}}
	for _, k := range kernels {
		start.Kernels = append(start.Kernels, record.KernelInfo{ID: k.ID, Name: k.ID})
	}
	e := record.NewLog(log)
	must.OK(t, e.Append(&record.Event{V: record.Version, Type: record.EventStarted, Time: time.Unix(0, 0), Start: start}))
	if len(kernels) == 0 {
		return dir
	}
	must.OK(t, e.Append(&record.Event{V: record.Version, Type: record.EventEvaluation, Time: time.Unix(9, 0),
		Evaluation: &record.Evaluation{Index: 1, Planned: 4, Proportion: .25, Kernels: kernels}}))
	return dir
}

func TestReportOnTiesAndFailures(t *testing.T) {
	fit := func(rank int, posterior, bayes, elbo, se float64, tied bool) *record.Fit {
		return &record.Fit{Rank: rank, Posterior: files.Number(posterior), Bayes: files.Number(bayes), ELBO: files.Number(elbo),
			SE: files.Number(se), Tied: tied}
	}
	apart := fit(3, .1, .1, -110, 0, false)
	apart.Evidence, apart.Apart = &record.Evidence{Lower: -101, Upper: -88.5}, true
	d := reportOn(t, made(t,
		record.Kernel{ID: "SE", Status: vbks.Live, Fit: fit(2, .3, .4, -12, 1.5, true)},
		record.Kernel{ID: "RQ", Status: vbks.Live, Fit: fit(1, .6, .5, -10, 0, true)},
		record.Kernel{ID: "PER", Status: vbks.Live, Fit: apart},
		record.Kernel{ID: "LIN", Status: vbks.Failed, Reason: "k(Z,Z) is not positive definite <at 3>"},
		record.Kernel{ID: "LIN*LIN", Status: vbks.Failed, Reason: "k(Z,Z) is not positive definite <at 3>"},
		record.Kernel{ID: "CONST", Status: vbks.Pruned, Reason: "posterior below the limit"}))
	d.has(t, "2 kernels are equal within their errors: RQ; SE.", "Together they hold q* = 0.900 of the belief (0.900 by Bayes’ rule)",
		"|2|SE||||0.3000|0.4000|2.00|1.50||equal|", "|3|PER||||0.1000|0.1000|100.00||12.5|told apart|",
		"RQ leads since 25 % of the data; no other has led.", "So far 25 % of the training rows have been seen",
		"|failed|2|k(Z,Z) is not positive definite <at 3>|LIN, LIN*LIN|", "|pruned|1|posterior below the limit|CONST|")
	d = reportOn(t, made(t, record.Kernel{ID: "SE", Status: vbks.Live, Fit: fit(2, .1, 0, -20, 2.5, false)},
		record.Kernel{ID: "RQ", Status: vbks.Live, Fit: fit(1, .9, 1, -10, 0, true)}))
	d.has(t, "RQ leads with q* = 0.900 of the belief (1.000 by Bayes’ rule), 10.0 nats ± 2.5 ahead of SE.")
	small, large := fit(2, .1, 0, -20, 2.5, false), fit(1, .9, 1, -10, 0, true)
	small.Prior, large.Prior = -3, -5.5
	d = reportOn(t, made(t, record.Kernel{ID: "SE", Status: vbks.Live, Fit: small}, record.Kernel{ID: "RQ", Status: vbks.Live, Fit: large}))
	d.has(t, "|2|SE||||0.1000|0.0000|10.00|+2.50|2.50|||", "prior is by how many nats")
	reportOn(t, made(t, record.Kernel{ID: "SE", Status: vbks.Failed, Reason: "no"})).has(t, "No kernel is left.", "|failed|1|no|SE|")
}

// A run that was told to grow by order is made again with --grow, and one that was told to grow no more by the order.
func TestReportOnOrderedGrowth(t *testing.T) {
	dir := made(t, record.Kernel{ID: "SE", Status: vbks.Live, Fit: &record.Fit{Rank: 1, Posterior: 1, Bayes: 1}})
	log, err := os.OpenFile(filepath.Join(dir, record.EventsFile), os.O_APPEND|os.O_WRONLY, 0)
	must.OK(t, err)
	defer log.Close()
	all := record.NewLog(log)
	tell := func(e record.Event) {
		t.Helper()
		e.V, e.Time = record.Version, time.Unix(10, 0)
		must.OK(t, all.Append(&e))
	}
	tell(record.Event{Type: record.EventReoptimised, Change: &vbks.Change{Grow: vbks.GrowOn}})
	d := reportOn(t, dir)
	d.has(t, " --grow --headless --out again", "The space was told to grow after evaluation 1; --grow has it grow from the beginning")
	if strings.Contains(d.text, "kernels were re-optimised") || strings.Contains(d.text, "--grow off") {
		t.Errorf("more is said to be ordered than was: %s", d.text)
	}
	tell(record.Event{Type: record.EventEvaluation, Evaluation: &record.Evaluation{Index: 2, Planned: 4, Proportion: .5,
		Front:   &vbks.Front{Waiting: 119},
		Kernels: []record.Kernel{{ID: "SE", Status: vbks.Live, Fit: &record.Fit{Rank: 1, Posterior: 1, Bayes: 1}}}}})
	tell(record.Event{Type: record.EventReoptimised, Change: &vbks.Change{Grow: vbks.GrowOff, Rounds: 2}})
	d = reportOn(t, dir)
	d.has(t, " --grow --headless", "Growth was ended by order after evaluation 2: kestrel order again reoptimise --grow off.",
		"|Growth|ended by order; 119 neighbours wait|", "kernels were re-optimised")
}

// Levels are higher, lower, or neither.
func TestEffectsInWords(t *testing.T) {
	e := &inspect.LevelEffects{Against: "weekday", Levels: []inspect.LevelEffect{
		{Level: "weekend", Mean: -59, SD: 1}, {Level: "holiday", Mean: 20, SD: 5}, {Level: "bridge", Mean: -1, SD: 2},
	}}
	want := "In day, all else equal and against weekday: weekend is 59 MWh lower (57 to 61); holiday is 20 MWh higher (10.2 to 29.8); " +
		"bridge is not told from it (-4.92 MWh to 2.92 MWh)."
	if got := effectsText("day", e, "MWh", ""); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Nothing in a report steers a terminal or reorders text, whatever a column is
// called.
func TestReportShowsControlCharacters(t *testing.T) {
	var b strings.Builder
	b.WriteString("x\x1b[31m\u202e,y\x1b]0;t\x07")
	for i := range 40 {
		fmt.Fprintf(&b, "\n%d,%d", i, i%7)
	}
	path := filepath.Join(t.TempDir(), "data.csv")
	must.OK(t, os.WriteFile(path, []byte(b.String()+"\n"), 0o644))
	_, _, dir := runtest.Finished(t, configtest.Plane(t, path, "kernels.expressions=SE", "data.test=10", `data.inputs=["1"]`, "data.target=2"))
	d := reportOn(t, dir)
	if at := strings.IndexAny(d.source, "\x1b\x07\u202e"); at >= 0 {
		t.Errorf("… %q …", d.source[max(0, at-40):at+20])
	}
	d.has(t, datasets.PlainLine("x\x1b[31m\u202e"))
}
