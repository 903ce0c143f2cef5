package baseline

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func series(t *testing.T, x, y []float64) *Series {
	t.Helper()
	s, err := NewSeries(x, y)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The calendar's steps are counted as people count them, whatever the unit, from
// whatever month, with steps missing and far ahead.
func TestCalendarGrids(t *testing.T) {
	for name, c := range map[string]struct {
		next func(t time.Time, k int) time.Time
		step float64 // days, about
	}{
		"months":   {func(t time.Time, k int) time.Time { return t.AddDate(0, k, 0) }, 30.44},
		"ends":     {func(t time.Time, k int) time.Time { return t.AddDate(0, k, -1) }, 30.44},
		"quarters": {func(t time.Time, k int) time.Time { return t.AddDate(0, 3*k, 0) }, 91.3},
		"years":    {func(t time.Time, k int) time.Time { return t.AddDate(k, 0, 0) }, 365.25},
		"weeks":    {func(t time.Time, k int) time.Time { return t.AddDate(0, 0, 7*k) }, 7},
		"hours":    {func(t time.Time, k int) time.Time { return t.Add(time.Duration(k) * time.Hour) }, 1. / 24},
	} {
		for month := range time.Month(12) {
			for _, n := range []int{14, 60} {
				first := time.Date(1999, month+1, 1, 0, 0, 0, 0, time.UTC)
				x := make([]float64, n)
				for k := range x {
					x[k] = c.next(first, k).Sub(first).Hours() / 24
				}
				at := make([]float64, 24)
				for k := range at {
					at[k] = c.next(first, n+k).Sub(first).Hours() / 24
				}
				s := series(t, x, make([]float64, n))
				step, missing, err := s.Grid()
				if err != nil || missing != 0 || math.Abs(step/c.step-1) > 0.02 {
					t.Fatalf("%s from month %d: step %v, %d missing, %v", name, month, step, missing, err)
				}
				h, err := s.ahead(at)
				far, errFar := s.ahead(at[17:18])
				if err != nil || errFar != nil || far[0] != 18 {
					t.Fatalf("%s from month %d: %v, %v (%v, %v)", name, month, h, far, err, errFar)
				}
				for k := range h {
					if h[k] != float64(k+1) {
						t.Fatalf("%s from month %d: %v", name, month, h)
					}
				}
				// Two rows fewer are two steps missing.
				s = series(t, append(append([]float64{}, x[:5]...), x[7:]...), make([]float64, n-2))
				if _, missing, err := s.Grid(); err != nil || missing != 2 {
					t.Fatalf("%s from month %d: %d missing, %v", name, month, missing, err)
				}
			}
		}
	}
}

func TestGridsThatAreNone(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random, shaken := make([]float64, 50), make([]float64, 50)
	for i := range random {
		random[i] = 50 * rng.Float64()
		shaken[i] = float64(i) + 0.2*rng.Float64()
	}
	for name, x := range map[string][]float64{
		"random": random, "shaken": shaken, "powers": {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048},
	} {
		s := series(t, x, make([]float64, len(x)))
		if step, _, err := s.Grid(); err == nil {
			t.Errorf("%s: step %v", name, step)
		}
		at := []float64{5000}
		for _, m := range []Method{Forecasts()[0], Forecasts()[2], Fillings()[0]} {
			if _, err := m.Predict(s, 4, at); err != nil {
				t.Errorf("%s: %s: %v", name, m.Name, err)
			}
		}
		for _, m := range []Method{Forecasts()[1], Forecasts()[3], Forecasts()[4], Fillings()[1]} {
			if _, err := m.Predict(s, 4, at); err == nil || !strings.Contains(err.Error(), "grid") {
				t.Errorf("%s: %s: %v", name, m.Name, err)
			}
		}
	}
}

func TestSeasons(t *testing.T) {
	for _, c := range []struct {
		days float64
		want []int
	}{{30.44, []int{12}}, {29.5, []int{12}}, {91.3, []int{4}}, {365.25, nil}, {7, []int{52}}, {1, []int{7}}, {Days("h"), []int{24, 168}},
		{30 * Days("min"), []int{48, 336}}, {900 * Days("s"), []int{96, 672}}, {Days("years") / 12, []int{12}}, {3, nil}, {0.7, nil}, {0, nil}} {
		got := Seasons(c.days)
		if len(got) != len(c.want) || len(got) > 0 && (got[0] != c.want[0] || got[len(got)-1] != c.want[len(got)-1]) {
			t.Errorf("step of %v days: %v, want %v", c.days, got, c.want)
		}
	}
	if Days("kW") != 0 {
		t.Error("kW is no time")
	}
}

func TestSeriesRefuses(t *testing.T) {
	for name, c := range map[string]struct{ x, y []float64 }{
		"lengths": {[]float64{1, 2}, []float64{1}}, "one": {[]float64{1, 1}, []float64{1, 3}},
		"NaN": {[]float64{1, 2}, []float64{1, math.NaN()}}, "infinite": {[]float64{1, math.Inf(1)}, []float64{1, 2}},
	} {
		if _, err := NewSeries(c.x, c.y); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// Targets of equal inputs are averaged.
	s := series(t, []float64{2, 1, 2, 2, 3, 4, 5}, []float64{1, 7, 2, 6, 1, 1, 1})
	if len(s.x) != 5 || s.y[0] != 7 || s.y[1] != 3 {
		t.Errorf("%v %v", s.x, s.y)
	}
	if scale, err := s.Scale(1); err != nil || scale != (4+2)/4. {
		t.Errorf("%v, %v", scale, err)
	}
	gap := series(t, []float64{1, 2, 3, 5, 6, 7, 8}, []float64{1, 2, 3, 4, 5, 6, 7})
	for name, got := range map[string]error{
		"season, steps missing":   second(gap.Scale(2)),
		"a third is missing":      second(SeasonalNaive(series(t, []float64{1, 2, 5, 6, 7, 8}, []float64{1, 2, 4, 5, 6, 7}), 2, []float64{9})),
		"Theta, too":              second(Theta(gap, 1, []float64{9})),
		"no season":               second(SeasonalNaive(s, 1, []float64{6})),
		"long season":             second(SeasonalNaive(s, 5, []float64{6})),
		"not beyond":              second(Naive(s, 0, []float64{6, 5})),
		"between the steps":       second(SeasonalNaive(s, 2, []float64{6.5})),
		"a phase between them":    second(PhaseMean(s, 2, []float64{2.5})),
		"no number":               second(Naive(s, 0, []float64{math.NaN()})),
		"no number to fill":       second(Interpolate(s, 0, []float64{math.NaN()})),
		"two rows":                second(Drift(series(t, []float64{1, 2}, []float64{1, 2}), 0, []float64{3})),
		"two rows to fill":        second(Interpolate(series(t, []float64{1, 2}, []float64{1, 2}), 0, []float64{1.5})),
		"four rows":               second(ETS(series(t, []float64{1, 2, 3, 4}, []float64{1, 2, 4, 3}), 0, []float64{5})),
		"no phase twice":          second(PhaseMean(s, 6, []float64{3})),
		"no season to fill":       second(PhaseMean(s, 0, []float64{3})),
		"a phase without a row":   second(PhaseMean(series(t, []float64{0, 1, 4, 5, 8}, []float64{1, 2, 3, 4, 5}), 4, []float64{2})),
		"no predictions at all":   second(Scored(nil, nil)),
		"a prediction of no size": second(Scored([]Normal{{0, math.NaN()}}, []float64{1})),
	} {
		if got == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A step without a row keeps nobody from saying that Mondays are like Mondays: the one a
// season before stands in, and what is not known of the differences is left out.
func TestSeasonalNaiveWithGaps(t *testing.T) {
	x := []float64{0, 1, 2, 3, 4, 5, 6, 7, 9, 10} // 8 is missing, of the last season of three
	y := []float64{10, 20, 30, 11, 22, 30, 13, 22, 34, 13}
	p, err := SeasonalNaive(series(t, x, y), 3, []float64{11, 12, 13, 14})
	if err != nil {
		t.Fatal(err)
	}
	// Differences over a season: 3−0 1, 4−1 2, 5−2 0, 6−3 2, 7−4 0, 9−6 21, 10−7 −9.
	sd := math.Sqrt((1 + 4 + 0 + 4 + 0 + 21*21 + 9*9) / 7.)
	for i, want := range []Normal{{30, sd * math.Sqrt2}, {34, sd}, {13, sd}, {30, sd * math.Sqrt(3)}} {
		if math.Abs(p[i].Mean-want.Mean) > 1e-12 || math.Abs(p[i].SD-want.SD) > 1e-12 {
			t.Errorf("%d ahead: %v, want %v", i+1, p[i], want)
		}
	}
}

func second[T any](_ T, err error) error { return err }
