package scoring

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// The definition, by quadrature on both sides of the target.
func TestCRPSIsTheIntegral(t *testing.T) {
	for _, c := range []struct{ y, mean, sd float64 }{{0, 0, 1}, {3, 1, 2}, {-7, 1, 2}, {100, 99, .3}, {5, 5, 40}} {
		n := distuv.Normal{Mu: c.mean, Sigma: c.sd}
		far := 12*c.sd + math.Abs(c.y-c.mean)
		below := quad.Fixed(func(t float64) float64 { return n.CDF(t) * n.CDF(t) }, c.mean-far, c.y, 400, quad.Legendre{}, 0)
		above := quad.Fixed(func(t float64) float64 { return n.Survival(t) * n.Survival(t) }, c.y, c.mean+far, 400, quad.Legendre{}, 0)
		if got := CRPS(c.y, c.mean, c.sd); math.Abs(got-below-above) > 1e-10*far {
			t.Errorf("CRPS of %+v is %v, by quadrature %v", c, got, below+above)
		}
		// Gneiting and Raftery's form.
		z := (c.y - c.mean) / c.sd
		want := c.sd * (z*(2*distuv.UnitNormal.CDF(z)-1) + 2*distuv.UnitNormal.Prob(z) - 1/math.Sqrt(math.Pi))
		if got := CRPS(c.y, c.mean, c.sd); math.Abs(got-want) > 1e-13*far {
			t.Errorf("CRPS of %+v is %v, want %v", c, got, want)
		}
	}
	if got := CRPS(3, 5, 0); got != 2 {
		t.Errorf("CRPS of a point is %v", got)
	}
	if got := CRPS(3, 5, 1e-9); math.Abs(got-2) > 1e-8 {
		t.Errorf("CRPS of nearly a point is %v", got)
	}
}

// The interval score is 2/α times the pinball losses of both ends, summed.
func TestIntervalIsPinball(t *testing.T) {
	pinball := func(y, q, p float64) float64 {
		if y < q {
			return (1 - p) * (q - y)
		}
		return p * (y - q)
	}
	for _, y := range []float64{-3, 1, 1.5, 2, 9} {
		want := 40 * (pinball(y, 1, .025) + pinball(y, 2, .975))
		if got := Interval(y, 1, 2); math.Abs(got-want) > 1e-12 {
			t.Errorf("score of %v is %v, want %v", y, got, want)
		}
	}
}

// Numbers that can be reckoned by hand.
func TestPoints(t *testing.T) {
	train := []float64{1, 2, 4, 3, 6, 5} // season 2: differences 3, 1, 2, 2
	if got, err := SeasonalScale(train, 2); err != nil || got != 2 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := SeasonalScale(train, 0); err != nil || got != 8./5 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := SMAPE([]float64{10, 0, -1}, []float64{30, 0, 1}); err != nil || got != (100+0+200)/3. {
		t.Errorf("%v, %v", got, err)
	}
	for name, err := range map[string]error{
		"short":    second(SeasonalScale([]float64{1, 2}, 2)),
		"constant": second(SeasonalScale([]float64{2, 2}, 1)),
		"lengths":  second(SMAPE([]float64{1, 2}, []float64{1})),
		"none":     second(SMAPE(nil, nil)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func second(_ float64, err error) error { return err }

// The series and the closed form are one function.
func TestAbsNormalBySeries(t *testing.T) {
	for z := -1.2; z < 1.2; z += 0.0371 {
		want := z*math.Erf(z/math.Sqrt2) + math.Sqrt(2/math.Pi)*math.Exp(-0.5*z*z)
		if got := AbsNormal(3*z, 3) / 3; math.Abs(got-want) > 1e-15 {
			t.Errorf("A(%v, 1) = %v, want %v", z, got, want)
		}
	}
}
