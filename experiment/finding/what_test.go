package finding

import (
	"testing"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
)

// Where nobody has named the target the sentence does.
func TestTargetThatWasChosenIsNamed(t *testing.T) {
	for target, want := range map[string]string{"": "energy: a straight line (LIN).", "energy": "A straight line (LIN)."} {
		c := scene{days, "LIN", []files.Number{1, 1, 1}, 100, 60, nil, func(s *record.Standing, _ *record.Fit) {
			s.Start.Data.Source, s.Start.Config = "csv", "[data]\ntarget = \""+target+"\"\n"
		}}
		if got := Of(c.standing(t), "runs/a").What; got != want {
			t.Errorf("%q: %q, want %q", target, got, want)
		}
	}
}
