package inspect_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// A curve of a series with even steps is at them, before its rows and beyond them, too. Where there are too many or too few steps in
// the range, or rows lie off them, it is as ever.
func TestCurvesKeepToTheSteps(t *testing.T) {
	thorough.Unraced(t)
	table := func(off float64) string {
		var b strings.Builder
		b.WriteString("day,sold\n")
		for i := range 84 {
			day := float64(i)
			if i == 40 {
				day += off
			}
			fmt.Fprintf(&b, "%v,%.3f\n", day, 20+9*math.Sin(float64(i*i%7))+0.2*math.Cos(float64(i*i)))
		}
		return tableFile(t, b.String())
	}
	set := []string{"kernels.expressions=PER", "data.time=yes", "data.split_by=x", "data.test=14", "data.season=7"}
	_, r, _ := runtest.Finished(t, configtest.Plane(t, table(0), set...))
	i := runtest.Inspect(t, r)
	curve := func(q inspect.FitQuery) *inspect.Curve {
		c, err := i.Curve(t.Context(), q)
		must.OK(t, err)
		return c
	}
	for _, c := range []struct {
		q    inspect.FitQuery
		on   bool
		n    int
		from float64
	}{
		{inspect.FitQuery{Points: 300, Low: -4.2, High: 90.5, Steps: true}, true, 95, -4},
		{inspect.FitQuery{Points: 300, Low: 10, High: 40, Steps: true}, true, 31, 10},
		{inspect.FitQuery{Points: 300, Low: -4.2, High: 90.5}, false, 300, -4.2},
		{inspect.FitQuery{Points: 60, Low: -4.2, High: 90.5, Steps: true}, false, 60, -4.2},
		{inspect.FitQuery{Points: 300, Low: 10.5, High: 20, Steps: true}, false, 300, 10.5},
	} {
		got := curve(c.q)
		if got.Steps != c.on || len(got.X) != c.n || got.X[0] != c.from {
			t.Errorf("%+v: steps %v, %d points from %v", c.q, got.Steps, len(got.X), got.X[0])
		}
		for _, x := range got.X {
			if c.on && x != math.Round(x) {
				t.Fatalf("%v is no day", x)
			}
		}
	}
	_, r, _ = runtest.Finished(t, configtest.Plane(t, table(0.4), set...))
	i = runtest.Inspect(t, r)
	if c := curve(inspect.FitQuery{Points: 300, Low: 0, High: 70, Steps: true}); c.Steps || len(c.X) != 300 {
		t.Errorf("a row lies off the days: %d points", len(c.X))
	}
}
