package experiment

import (
	"math"
	"strings"
	"testing"

	"kestrel/datasets"
)

// savedCell returns the text of which safeCell made a cell, as its comment says.
func savedCell(cell string) string {
	if strings.HasPrefix(cell, "'") && startsFormula(cell) {
		return cell[1:]
	}
	return cell
}

func TestSafeCell(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"time":                     "time",
		"=1+1":                     "'=1+1",
		"=cmd|' /C calc'!A0":       "'=cmd|' /C calc'!A0",
		"@SUM(A1)":                 "'@SUM(A1)",
		"+a":                       "'+a",
		"-a":                       "'-a",
		"-1+1":                     "'-1+1",
		"\t=1":                     "'\t=1",
		"\r=1":                     "'\r=1",
		"\n=1":                     "'\n=1",
		"＝1":                       "'＝1",
		"'=1":                      "''=1",
		"'quoted'":                 "'quoted'",
		"-1.5e-300":                "-1.5e-300",
		"-Inf":                     "-Inf",
		"+Inf":                     "+Inf",
		"(PER+RQ)*LIN[\"=x\"]":     "(PER+RQ)*LIN[\"=x\"]",
		"a=b":                      "a=b",
		"'":                        "'",
		formatFloat(-math.Pi):      formatFloat(-math.Pi),
		formatFloat(math.Inf(-1)):  "-Inf",
		"2020-01-01T00:00:00Z":     "2020-01-01T00:00:00Z",
		"-2020-01-01T00:00:00.00Z": "'-2020-01-01T00:00:00.00Z",
	} {
		got := safeCell(text)
		if got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if savedCell(got) != text {
			t.Errorf("%q comes back as %q", text, savedCell(got))
		}
	}
}

// FuzzSafeCell: no text starts a formula, and every text comes back.
func FuzzSafeCell(f *testing.F) {
	for _, s := range []string{"=1", "'=1", "'", "-1", "''-x", "\t"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cell := safeCell(text)
		if savedCell(cell) != text {
			t.Fatalf("%q becomes %q becomes %q", text, cell, savedCell(cell))
		}
		if cell != "" && strings.Contains("=+-@\t\r", cell[:1]) {
			var n Number
			if err := n.UnmarshalJSON([]byte(`"` + cell + `"`)); err != nil {
				t.Fatalf("%q starts a formula", cell)
			}
		}
	})
}

// The tables that people open have no cell that starts a formula, and numbers
// as they were.
func TestTablesStartNoFormula(t *testing.T) {
	start := &Start{Kernels: []KernelInfo{{
		ID: "SE", Name: "@SE", Params: []ParamInfo{{Name: "SE.lengthscale", Column: "=HYPERLINK(1)", Unit: "+m"}, {Name: "noise_variance"}},
		Fixed: []Fixed{{Name: "LIN.centre", Column: "-c", Value: -2.5}},
	}}}
	dir := t.TempDir()
	w, err := newTables(dir)
	must(t, err)
	must(t, w.Record(&Event{Type: EventStarted, Start: start}))
	must(t, w.Record(&Event{Type: EventEvaluation, Evaluation: &Evaluation{Index: 1, Kernels: []Kernel{
		{ID: "SE", Status: "live", Fit: &Fit{ELBO: -12.5, Posterior: 1, Rank: 1, Params: []Number{-3, 0.25}}},
	}}}))
	must(t, w.Record(&Event{Type: EventMetrics, Metrics: []Metric{{Method: "=vbks", NLPD: -1.5}}}))
	must(t, w.close())
	kernels := readCSV(t, dir+"/"+kernelsFile)
	if r := kernels[1]; r[1] != "'@SE" || r[3] != "'=HYPERLINK(1)" || r[4] != "-3" || r[5] != "'+m" {
		t.Errorf("%q", r)
	}
	if r := kernels[3]; r[3] != "'-c" || r[4] != "-2.5" {
		t.Errorf("%q", r)
	}
	if r := readCSV(t, dir+"/"+posteriorFile)[1]; r[7] != "-12.5" {
		t.Errorf("%q", r)
	}
	if r := readCSV(t, dir+"/"+metricsFile)[1]; r[3] != "'=vbks" || r[7] != "-1.5" {
		t.Errorf("%q", r)
	}
}

// Nor have the tables of predictions.
func TestPredictionsStartNoFormula(t *testing.T) {
	d := &datasets.Dataset{Inputs: []datasets.Column{{Name: "=x"}, {Name: "-1"}}, Target: datasets.Column{Name: "@y"}}
	s := predictionSheet(d, true, &PredictQuery{})
	head, err := s.head()
	must(t, err)
	row := s.rows()
	row.word("+k")
	row.number(-0.5)
	row.endRow()
	text, err := row.text()
	must(t, err)
	if got, want := string(head)+string(text), "row,'=x,-1,'@y,mean,sd_f,sd_y\n'+k,-0.5\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// JSON is no spreadsheet.
	s.json = true
	row = s.rows()
	row.word("+k")
	row.endRow()
	if text, _ := row.text(); !strings.Contains(string(text), `"+k"`) {
		t.Errorf("%q", text)
	}
}
