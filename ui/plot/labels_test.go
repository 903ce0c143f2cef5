package plot

import "testing"

// A unit that the name of a column has in it is written once.
func TestCaptionSaysTheUnitOnce(t *testing.T) {
	for want, a := range map[string]Axis{
		"load (kW)": {Title: "load (kW)", Unit: "kW"}, "load [kW]": {Title: "load [kW]", Unit: "kW"}, "load (MW)": {Title: "load", Unit: "MW"},
		"kW": {Unit: "kW"}, "load": {Title: "load"},
	} {
		if got := a.caption(); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}
