package inspect_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
)

// Where standard deviations of the noise are known of points, the variance of y beyond that
// of f is as their squares, by the run and by its model file; where they are not, it is as
// usual, that of the geometric mean of the training rows', which the answer says of how many.
func TestNoiseOfPointsIsKnown(t *testing.T) {
	text := "x,sd,y\n"
	for i := range 60 {
		sd := []float64{0.5, 2}[i%2]
		text += fmt.Sprintf("%g,%g,%g\n", 0.2*float64(i), sd, 3*math.Sin(0.2*float64(i))+0.3*sd*math.Cos(float64(i*i)))
	}
	_, _, dir := runtest.Finished(t, tableConfig(t, tableFile(t, text), "kernels.expressions=SE", "data.noise_column=sd", "data.test=10",
		"sparse.inducing=10", "optimise.starts=1", "schedule.steps=6", "schedule.evaluate_every=1", "schedule.refine=0", "data.transform=none"))
	model, err := inspect.OpenModel(filepath.Join(dir, record.ModelFile))
	must.OK(t, err)
	t.Cleanup(func() { model.Close() })
	for what, p := range map[string]*inspect.Predictor{"the run": predictor(t, dir), "its model": model} {
		unit, usual := math.NaN(), math.NaN() // variances of the noise of a row of standard deviation 1, and where it is not known
		for _, c := range []struct {
			points, said string
			want         func() []float64
		}{
			{"x,sd\n3.3,0.5\n4,1\n5,3\n", "", func() []float64 { return []float64{unit / 4, unit, unit * 9} }},
			{"x\n3.3\n4\n5\n", "the noise of all rows is", func() []float64 { return []float64{usual, usual, usual} }},
			{"sd,x\n0.5,3.3\n,4\n3,5\n", "the noise of 1 row is", func() []float64 { return []float64{unit / 4, usual, unit * 9} }},
		} {
			table, _, done := predicted(t, p, tableFile(t, c.points), p.DefaultQuery())
			f, y := columnOf(t, table, "sd_f"), columnOf(t, table, "sd_y")
			noise := func(i int) float64 { return y[i]*y[i] - f[i]*f[i] }
			switch {
			case math.IsNaN(unit):
				unit = noise(1)
			case math.IsNaN(usual):
				usual = noise(1)
			}
			for i, want := range c.want() {
				if !(want > 0) || math.Abs(noise(i)-want) > 1e-9*want {
					t.Errorf("%s, %q: noise of row %d: %v, want %v", what, c.points, i+1, noise(i), want)
				}
			}
			if !strings.HasPrefix(done.Noise, c.said) || (c.said == "") != (done.Noise == "") {
				t.Errorf("%s, %q: %q", what, c.points, done.Noise)
			}
		}
		if usual <= unit/4 || usual >= unit*4 { // standard deviations are .5 and 2
			t.Errorf("%s: usual is a variance of %v, %v at 1", what, usual, unit)
		}
	}
}
