package record

import (
	"math"
	"strings"
	"testing"

	"kestrel/experiment/config"
	"kestrel/experiment/files"
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
