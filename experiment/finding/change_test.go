package finding

import (
	"math"
	"testing"

	"example.com/kestrel/datasets"
)

// The interval of a place ends at rows: the nearest ones that have all of it between them, where rows are even.
func TestPlacesEndAtRows(t *testing.T) {
	even := datasets.ColumnSummary{Min: 10, Max: 20, Spacing: 0.5, Regular: true}
	uneven := even
	uneven.Regular = false
	for _, c := range []struct {
		in        *datasets.ColumnSummary
		low, high float64
		from, to  float64
	}{
		{&even, 12.1, 12.4, 12, 12.5},
		{&even, 12.4, 14.6, 12, 15},
		{&even, 12.5, 14.5, 12.5, 14.5},
		{&even, 8.3, 20.2, 8.3, 20.2}, // there are no rows
		{&uneven, 12.1, 12.4, 12.1, 12.4},
		{&datasets.ColumnSummary{Regular: true}, 12.1, 12.4, 12.1, 12.4},
	} {
		if from, to := toRows(c.in, c.low, c.high); math.Abs(from-c.from) > 1e-12 || math.Abs(to-c.to) > 1e-12 {
			t.Errorf("%v to %v is between %v and %v, want %v and %v", c.low, c.high, from, to, c.from, c.to)
		}
	}
}
