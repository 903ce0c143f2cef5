package files

import (
	"encoding/json"
	"math"
	"testing"

	"example.com/kestrel/internal/must"
)

// What is not finite is null in JSON, which is read as NaN; older logs have texts.
func TestNumberInJSON(t *testing.T) {
	type held struct {
		One  Number
		Many []Number
	}
	nan, inf := math.NaN(), math.Inf(1)
	text, err := json.Marshal(held{Number(nan), []Number{1.5, Number(inf), Number(-inf), Number(nan)}})
	must.OK(t, err)
	if want := `{"One":null,"Many":[1.5,null,null,null]}`; string(text) != want {
		t.Errorf("%s, want %s", text, want)
	}
	for text, want := range map[string]float64{"null": nan, `"NaN"`: nan, `"+Inf"`: inf, `"-Inf"`: -inf, "-0.25": -0.25} {
		got := held{One: 7}
		must.OK(t, json.Unmarshal([]byte(`{"One":`+text+`,"Many":[`+text+`]}`), &got))
		for _, n := range append(got.Many, got.One) {
			if v := float64(n); v != want && !(math.IsNaN(v) && math.IsNaN(want)) {
				t.Errorf("%s is read as %v", text, v)
			}
		}
	}
	var n Number
	if err := json.Unmarshal([]byte(`"many"`), &n); err == nil {
		t.Error("a text that is no number was taken")
	}
}

// A finite number comes back with all its digits and its sign.
func TestNumbersSurviveJSON(t *testing.T) {
	for _, text := range []string{"0.1", "1e-320", "-0", "0.30000000000000004", "1.7976931348623157e+308"} {
		var n, m Number
		must.OK(t, n.UnmarshalJSON([]byte(text)))
		b, err := n.MarshalJSON()
		must.OK(t, err)
		must.OK(t, m.UnmarshalJSON(b))
		if n.String() != text || m.String() != text {
			t.Errorf("%s: %s, %s", text, n, m)
		}
	}
}
