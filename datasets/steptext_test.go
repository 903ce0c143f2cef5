package datasets

import "testing"

// The step of a series of time stamps is told as a length of time, that of numbers as it is.
func TestStepText(t *testing.T) {
	for _, c := range []struct {
		first, unit string
		step        float64
		want        string
	}{
		{"2012-01-01T00:00:00Z", "s", 2629746, "30.4 days"}, {"2012-01-01T00:00:00Z", "s", 900, "15 min"},
		{"2012-01-01T00:00:00Z", "d", 7, "7 days"}, {"", "", 0.25, "0.25"}, {"", "d", 2, "2"},
	} {
		s := Summary{Series: &Series{Step: c.step}, Columns: []ColumnSummary{{Name: "when", First: c.first, Unit: c.unit}}}
		if got := s.stepText(); got != c.want {
			t.Errorf("%v %q: %q, want %q", c.step, c.unit, got, c.want)
		}
	}
}
