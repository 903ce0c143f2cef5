package record

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/internal/must"
)

func TestAveragingGain(t *testing.T) {
	for _, c := range []struct {
		average, single float64
		want            string
	}{
		{1, 1.25, "0.2500 nats likelier than"},
		{-1, -1.125, "0.1250 nats less likely than"},
		{1, 1.00004, "as likely as"},
		{math.NaN(), 1, ""},
		{math.Inf(1), 1, ""},
		{math.Inf(1), math.Inf(1), ""},
	} {
		ms := []Metric{{Method: config.MethodAverage, NLPD: files.Number(c.average), TestRows: 3},
			{Method: config.MethodSingle, NLPD: files.Number(c.single), TestRows: 3}}
		if got := AveragingGain(ms); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v, %v: %q", c.average, c.single, got)
		}
		if got := AveragingGain(ms[:1]); got != "" {
			t.Errorf("one method: %q", got)
		}
		ms[1].TestRows = 4
		if got := AveragingGain(ms); got != "" {
			t.Errorf("other rows: %q", got)
		}
	}
}

// A score that is infinite, as of a target that a transform does not take, is so
// again when it is read.
func TestInfiniteScoresStay(t *testing.T) {
	m := Metric{Method: "vbks", RMSE: 2, MAE: 1, NLPD: files.Number(math.Inf(1)), TestRows: 3}
	text, err := json.Marshal(m)
	must.OK(t, err)
	var again Metric
	must.OK(t, json.Unmarshal(text, &again))
	if again != m {
		t.Errorf("%+v comes back from %s as %+v", m, text, again)
	}
}
