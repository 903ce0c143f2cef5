package starts_test

import (
	"math"
	"testing"

	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts/startstest"
)

// Near a point a varied period changes nothing; a flat factor becomes one that is not, an
// RQ has another shape; and everything else stays.
func TestVary(t *testing.T) {
	g := startstest.NewGraft(t, 1, 1)
	programs, _ := compiled(t, "PER", "SE", "PER*SE+LIN", "LIN*MATERN32", "RQ+RQ")
	for i, want := range []struct{ periods, lengths, shapes int }{{5, 0, 0}, {0, 2, 0}, {5, 2, 0}, {0, 2, 0}, {0, 4, 6}} {
		p := programs[i]
		raw := make([]float64, len(p.Params))
		for j, q := range p.Params {
			switch raw[j] = 0.7; q.Name {
			case "period":
				raw[j] = 0.01
			case "lengthscale":
				if raw[j] = 500; q.Base == "PER" {
					raw[j] = 0.9
				}
			}
		}
		params.Settle(p, raw)
		const noise = 0.4
		periods, lengths, shapes := 0, 0, 0
		for _, x := range g.Vary(p, params.Free(p, raw, noise, g.Floor)) {
			v, left := params.Raw(p, x, g.Floor)
			if math.Abs(left-noise) > 1e-9 {
				t.Errorf("%s: noise %g", p.ID, left)
			}
			changed := map[string]float64{}
			for j, q := range p.Params {
				if math.Abs(v[j]/raw[j]-1) > 1e-9 {
					changed[q.Name] = v[j]
				}
			}
			switch {
			case changed["period"] > 0:
				periods++
				for _, h := range []float64{1e-5, 3e-5} {
					was := p.Eval(raw, []float64{0.3}, []float64{0.3 + h}, false)
					is := p.Eval(v, []float64{0.3}, []float64{0.3 + h}, false)
					if math.Abs(is/was-1) > 1e-6 {
						t.Errorf("%s: covariance at %g is %g, was %g", p.ID, h, is, was)
					}
				}
			case len(changed) == 1 && changed["lengthscale"] > 0 && changed["lengthscale"] < 500:
				lengths++
			case len(changed) == 1 && changed["alpha"] > 0:
				shapes++
			default:
				t.Errorf("%s: changed are %v", p.ID, changed)
			}
		}
		if periods != want.periods || lengths != want.lengths || shapes != want.shapes {
			t.Errorf("%s: %d periods, %d lengths and %d shapes, want %+v", p.ID, periods, lengths, shapes, want)
		}
	}
}
