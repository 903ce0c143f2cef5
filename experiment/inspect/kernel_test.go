package inspect_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files"
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

// The covariance is the kernel's formula with the hyperparameters that the
// events have, in data units.
func TestCovarianceInDataUnits(t *testing.T) {
	j, r, _ := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t),
		"kernels.expressions=SE[hour],LIN[height],SE[hour]*LIN[height]"))
	i := runtest.Inspect(t, r)
	params := map[string][]files.Number{}
	for _, k := range r.Snapshot().Evaluation.Kernels {
		params[k.ID] = k.Fit.Params
	}
	se := params["SE[hour]"]
	c, err := i.Covariance("SE[hour]", 0, 40, false)
	must.OK(t, err)
	if !c.Stationary || c.Lag[0] != 0 || len(c.Lag) != 40 {
		t.Fatalf("%+v", c)
	}
	if math.Abs(c.Value[0]-float64(se[0])) > 1e-9*c.Value[0] {
		t.Errorf("at lag 0 %v, the variance is %v", c.Value[0], se[0])
	}
	for k, lag := range c.Lag {
		want := float64(se[0]) * math.Exp(-lag*lag/(2*float64(se[1]*se[1])))
		if math.Abs(c.Value[k]-want) > 1e-9*float64(se[0]) {
			t.Errorf("at lag %v %v, want %v", lag, c.Value[k], want)
		}
	}
	// LIN = σ² (x−centre)(x′−centre)/ℓ², ℓ = 1, about the middle.
	lin := params["LIN[height]"]
	if c, err = i.Covariance("LIN[height]", 1, 40, false); err != nil || c.Stationary {
		t.Fatalf("%+v %v", c, err)
	}
	in := i.Inputs()[1]
	if middle := (in.Low + in.High) / 2; math.Abs(c.About-middle) > 1e-9*middle || !slices.Contains(c.Lag, 0) ||
		math.Abs(c.About+c.Lag[0]-in.Low) > 1e-9*middle || math.Abs(c.About+c.Lag[len(c.Lag)-1]-in.High) > 1e-9*middle {
		t.Errorf("about %v from %v to %v", c.About, c.Lag[0], c.Lag[len(c.Lag)-1])
	}
	centre := j.Scaler.XShift[1]
	for k, lag := range c.Lag {
		want := float64(lin[0]/(lin[1]*lin[1])) * (c.About - centre) * (c.About + lag - centre)
		if math.Abs(c.Value[k]-want) > 1e-9*math.Abs(float64(lin[0]))*1e6 {
			t.Errorf("LIN at lag %v: %v, want %v", lag, c.Value[k], want)
		}
	}
	if c, err = i.Covariance("LIN[height]*SE[hour]", 0, 5, false); err != nil || !c.Stationary {
		t.Errorf("a kernel that is linear in another column: %+v %v", c, err)
	}
	for _, ask := range []func() error{
		func() error { _, err := i.Covariance("nosuch", 0, 5, false); return err },
		func() error { _, err := i.Covariance("SE[hour]", 2, 5, false); return err },
		func() error { _, err := i.Covariance("SE[hour]", 0, 1, false); return err },
		func() error { _, err := i.PriorDraws("SE[hour]", 0, 5, 0, false); return err },
		func() error { _, err := i.PriorDraws("SE[hour]", 0, 5000, 1, false); return err },
	} {
		if err := ask(); err == nil {
			t.Error("no error")
		}
	}
}

// Prior draws have the kernel's covariance, within five standard errors of its
// estimate, and mean 0.
func TestPriorDrawsHaveTheCovariance(t *testing.T) {
	_, r, _ := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t), "kernels.expressions=SE[hour],RQ"))
	i := runtest.Inspect(t, r)
	const n, draws = 9, 4000
	p, err := i.PriorDraws("SE[hour]", 0, n, draws, false)
	must.OK(t, err)
	c, err := i.Covariance("SE[hour]", 0, n, false)
	must.OK(t, err)
	if p.X[0] != i.Inputs()[0].Low || p.X[n-1] != i.Inputs()[0].High || p.Mean != i.OfScaler().YShift || len(p.Draws) != draws {
		t.Errorf("%d draws from %v to %v about %v", len(p.Draws), p.X[0], p.X[n-1], p.Mean)
	}
	for a := range n {
		var mean float64
		for _, f := range p.Draws {
			mean += f[a] / draws
		}
		if math.Abs(mean) > 5*math.Sqrt(c.Value[0]/draws) {
			t.Errorf("mean %v at point %d", mean, a)
		}
		for b := range a + 1 {
			var cov float64
			for _, f := range p.Draws {
				cov += f[a] * f[b] / draws
			}
			k, v := c.Value[a-b], c.Value[0]
			if math.Abs(cov-k) > 5*math.Sqrt((v*v+k*k)/draws) {
				t.Errorf("covariance of points %d and %d: %v, want %v", a, b, cov, k)
			}
		}
	}
	again, err := i.PriorDraws("SE[hour]", 0, n, 2, false)
	must.OK(t, err)
	if !reflect.DeepEqual(again.Draws, p.Draws[:2]) {
		t.Error("drawn again, other draws")
	}
}
