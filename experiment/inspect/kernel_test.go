package inspect_test

import (
	"math"
	"testing"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
)

// Of a pattern of which the data have many periods a few are shown, about the middle,
// unless all is asked for; of others all.
func TestFewPeriodsAreShown(t *testing.T) {
	_, r, _ := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t),
		"kernels.expressions=PER[hour]+LIN[height],PER[hour]*LIN[hour],SE[hour]",
		`optimise.fix.PER.period[hour]="0.5"`))
	i := runtest.Inspect(t, r)
	in := i.Inputs()[0] // a day in hours
	for _, c := range []struct {
		id     string
		column int
		whole  bool
		period float64
	}{{"PER[hour]+LIN[height]", 0, false, 0.5}, {"PER[hour]+LIN[height]", 0, true, 0}, {"PER[hour]+LIN[height]", 1, false, 0},
		{"PER[hour]*LIN[hour]", 0, false, 0.5}, {"SE[hour]", 0, false, 0}} {
		p, err := i.PriorDraws(c.id, c.column, 20, 1, c.whole)
		must.OK(t, err)
		cov, err := i.Covariance(c.id, c.column, 21, c.whole)
		must.OK(t, err)
		if math.Abs(p.Period-c.period) > 1e-9 || p.Period != cov.Period {
			t.Errorf("%s along %d: periods of %v and %v, want %v", c.id, c.column, p.Period, cov.Period, c.period)
		}
		if c.column == 1 {
			continue
		}
		span, middle := in.High-in.Low, (in.High+in.Low)/2
		if c.period > 0 {
			span = 4 * c.period
		}
		if got := p.X[19] - p.X[0]; math.Abs(got-span) > 1e-9 || math.Abs(p.X[0]+got/2-middle) > 1e-9 {
			t.Errorf("%s: draws from %v to %v, want %v about %v", c.id, p.X[0], p.X[19], span, middle)
		}
		from := 0.0
		if !cov.Stationary {
			from = -span / 2
		}
		if cov.Lag[0] != from && math.Abs(cov.Lag[0]-from) > 1e-9 || math.Abs(cov.Lag[20]-cov.Lag[0]-span) > 1e-9 {
			t.Errorf("%s: lags from %v to %v, want %v", c.id, cov.Lag[0], cov.Lag[20], span)
		}
	}
}
