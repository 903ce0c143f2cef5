package laplace

import (
	"math"
	"testing"
)

// Whether an entry may be anything is looked at on either side of its prior's mean, one
// standard deviation away, the rest as it is.
func TestElsewhereIsOnEitherSide(t *testing.T) {
	g := &integral{Density: &Density{Prior: Prior{Mean: []float64{1, -2, 3}, Prec: []float64{4, .25, 1}}}}
	r := &release{entry: 1, leaf: []int{0, 2}, at: []float64{9, 8, 7}}
	for place, e := range r.leaf {
		low, high := g.elsewhere(r, 2*place), g.elsewhere(r, 2*place+1)
		for i := range r.at {
			sd := 1 / math.Sqrt(g.Prior.Prec[i])
			switch {
			case i != e && (low[i] != r.at[i] || high[i] != r.at[i]):
				t.Errorf("entry %d has moved from %v to %v and %v", i, r.at[i], low[i], high[i])
			case i == e && (math.Abs((low[i]+high[i])/2-g.Prior.Mean[i]) > 1e-12 || math.Abs(math.Abs(high[i]-low[i])-2*sd) > 1e-12):
				t.Errorf("entry %d is %v and %v, the prior is %v ± %v", i, low[i], high[i], g.Prior.Mean[i], sd)
			}
		}
	}
}
