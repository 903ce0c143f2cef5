package datasets

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	d := loadText(t, "when,z,y\n2020-01-03,1,2\n2020-01-01,1,4\n2020-01-02,1,NA\n2020-01-02,1,9\n", Spec{})
	s, err := NewScaler(d, Spec{StandardiseX: "full", StandardiseY: "scale"})
	if err != nil {
		t.Fatal(err)
	}
	sum := Describe(d, s)
	if sum.RowsRead != 4 || sum.Rows != 3 || sum.Train != 3 || sum.DroppedTarget != 1 || len(sum.Columns) != 3 {
		t.Fatalf("%+v", sum)
	}
	when, z, y := sum.Columns[0], sum.Columns[1], sum.Columns[2]
	if when.Spacing != 86400 || !when.Regular || when.Span != "2 days" || when.First != "2020-01-01T00:00:00Z" ||
		when.Last != "2020-01-03T00:00:00Z" || when.Unit != "s" {
		t.Errorf("%+v", when)
	}
	if z.Spacing != 0 || z.Distinct != 1 || z.SD != 0 || z.Scale != 1 || len(sum.Notices) != 1 {
		t.Errorf("%+v %q", z, sum.Notices)
	}
	if y.Min != 2 || y.Max != 9 || y.Mean != 5 || math.Abs(y.SD-math.Sqrt(26./3)) > 1e-12 || y.Missing != 1 ||
		y.Count != 3 || y.Shift != 0 || y.Role != "target" {
		t.Errorf("%+v", y)
	}
	if got := strings.Join(sum.Preview[0], " "); got != "2020-01-03T00:00:00Z 1 2" {
		t.Errorf("preview %q", got)
	}
	if !equalFloats(d.Y, []float64{2, 4, 9}) {
		t.Error("Describe changes the data")
	}
	if _, err := json.Marshal(sum); err != nil {
		t.Error(err)
	}
	var b strings.Builder
	if err := sum.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3 train, 0 test", "1 for a missing target", "when spans 2 days", "note: the input \"z\" is constant"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

func TestSummaryEscapesForeignText(t *testing.T) {
	d := loadText(t, "x\x1b[2J,y\n1,2\n2,3\n", Spec{})
	var b strings.Builder
	if err := Describe(d, nil).WriteText(&b); err != nil || strings.Contains(b.String(), "\x1b") {
		t.Errorf("%v %q", err, b.String())
	}
}

func TestHumanDuration(t *testing.T) {
	for s, want := range map[float64]string{.5: "0.5 s", 90: "90 s", 900: "15 min", 36 * 3600: "36 h",
		2 * 86400: "2 days", 6 * 365.2425 * 86400: "6 years",
		1094 * 365.2425 * 86400: "1090 years", 2e7 * 365.2425 * 86400: "2e+07 years"} {
		if got := HumanDuration(s); got != want {
			t.Errorf("%v s: %q, want %q", s, got, want)
		}
	}
}
