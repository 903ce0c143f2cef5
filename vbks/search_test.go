package vbks

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// The best trials of each member come first, as many as are asked for; those without a value are none, and a
// member's do not depend on how many others have.
func TestForemost(t *testing.T) {
	noRoom := func(x []float64) bool { return x[0] > 8 }
	o := &testObjective{functions: []testFunction{quadratic(3), quadratic(-1), walled(quadratic(0), noRoom)}}
	starts := [][]float64{{5, 1, 3, 9}, {0}, {9, 10}} // 3 is best of the first, of the last none has a value
	for _, c := range []struct {
		most int
		want [][]float64
	}{{1, [][]float64{{3}, {0}, nil}}, {3, [][]float64{{3, 5, 1}, {0}, nil}}, {9, [][]float64{{3, 5, 1, 9}, {0}, nil}}} {
		trials := make([][]*ascent, len(starts))
		for i, xs := range starts {
			for _, x := range xs {
				trials[i] = append(trials[i], &ascent{start: []float64{x}})
			}
		}
		best, err := foremost(trials, o.objective(), c.most, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		for i := range starts {
			var got []float64
			for j, a := range best[i] {
				got = append(got, a.x[0])
				if d := a.x[0] - []float64{3, -1, 0}[i]; math.Abs(a.value+d*d/2) > 1e-15 {
					t.Errorf("member %d, place %d: value %v at %v", i, j, a.value, a.x[0])
				}
			}
			if !slices.Equal(got, c.want[i]) {
				t.Errorf("the best %d of member %d are %v, want %v", c.most, i, got, c.want[i])
			}
		}
	}
	stop := errors.New("enough")
	if _, err := foremost([][]*ascent{{{start: []float64{1}}}}, o.objective(), 1, func() error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped: %v", err)
	}
}
