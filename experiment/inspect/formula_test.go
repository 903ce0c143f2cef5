package inspect

import (
	"strings"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/internal/must"
)

// Nor have the tables of predictions.
func TestPredictionsStartNoFormula(t *testing.T) {
	d := &datasets.Dataset{Inputs: []datasets.Column{{Name: "=x"}, {Name: "-1"}}, Target: datasets.Column{Name: "@y"}}
	s := predictionSheet(d, true, false, &PredictQuery{})
	head, err := s.head()
	must.OK(t, err)
	row := s.rows()
	row.word("+k")
	row.number(-0.5)
	row.endRow()
	text, err := row.text()
	must.OK(t, err)
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
