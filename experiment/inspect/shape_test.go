package inspect

import (
	"math"
	"testing"

	"example.com/kestrel/experiment/record"
)

// A curve along a column rises, falls or turns once at a place, or none of these is said.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		what  string
		curve func(x float64) float64
		name  string
		at    string
	}{
		{"a rise", func(x float64) float64 { return math.Sqrt(x - 759) }, record.ShapeRises, ""},
		{"a fall", func(x float64) float64 { return -x }, record.ShapeFalls, ""},
		{"a rise that is nearly flat at its end", func(x float64) float64 { return math.Min(x, 850) - 0.02*x }, record.ShapeRises, ""},
		{"a hill", func(x float64) float64 { return -(x - 819) * (x - 819) }, record.ShapeTop, "819"},
		{"a valley", func(x float64) float64 { return (x - 803) * (x - 803) }, record.ShapeBottom, "803"},
		{"a rise with a hump", func(x float64) float64 { return x + 25*math.Sin(x/8) }, "", ""},
		{"waves", func(x float64) float64 { return math.Sin(x / 6) }, "", ""},
		{"a flat line", func(float64) float64 { return 3 }, "", ""},
	} {
		var q question
		for i := range swingPhases {
			q.along, q.swings = append(q.along, 760+float64(i)*120/(swingPhases-1)), append(q.swings, []int{i})
		}
		e, ok := q.shape(func(points []int) float64 { return c.curve(q.along[points[0]]) })
		if ok != (c.name != "") || ok && (e.Name != c.name || e.Against != c.at || e.Kind != record.EffectShape) {
			t.Errorf("%s: %+v, %v, want %s at %s", c.what, e, ok, c.name, c.at)
		}
	}
}
