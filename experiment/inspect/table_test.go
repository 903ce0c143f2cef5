package inspect

import (
	"math"
	"testing"

	"example.com/kestrel/internal/must"
)

// Numbers that are not finite are null in the JSON of predictions as elsewhere.
func TestSheetOfNumbersThatAreNotFinite(t *testing.T) {
	s := &sheet{columns: []string{"a", "b", "c", "d"}, json: true}
	r := s.rows()
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 2.5} {
		r.number(v)
	}
	r.endRow()
	text, err := r.text()
	must.OK(t, err)
	if got := string(s.first(text)); got != "\n{\"a\":null,\"b\":null,\"c\":null,\"d\":2.5}" {
		t.Errorf("%q", got)
	}
}
