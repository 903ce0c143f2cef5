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

// Leaves of one kind change places, with all but their variances, where these are not of one sum or product; a line has none to change.
func TestVarySwapsLeaves(t *testing.T) {
	g := startstest.NewGraft(t, 1, 1)
	programs, _ := compiled(t, "PER*LIN+PER+LIN", "PER+PER", "(SE+LIN)*SE", "SE*MATERN32+PER")
	for i, c := range []struct {
		raw, swapped []float64 // nil: nothing to swap
	}{
		{[]float64{0.3, 0.7, 0.02, 1, 1, 0.4, 0.5, 0.033, 2, 1}, []float64{0.3, 0.5, 0.033, 1, 1, 0.4, 0.7, 0.02, 2, 1}},
		{[]float64{0.3, 0.7, 0.02, 0.4, 0.5, 0.033}, nil},
		{[]float64{0.3, 0.7, 2, 1, 1, 0.02}, []float64{0.3, 0.02, 2, 1, 1, 0.7}},
		{[]float64{0.3, 0.7, 1, 0.02, 1, 0.5, 0.033}, nil},
	} {
		p := programs[i]
		if own := p.Own(); len(own.Params) != len(c.raw) {
			t.Fatalf("%s has %d parameters", p.ID, len(own.Params))
		}
		swapped := 0
		for _, x := range g.Vary(p, params.Free(p, c.raw, 0.4, g.Floor)) {
			v, _ := params.Raw(p, x, g.Floor)
			others, same := 0, true
			for j := range c.raw {
				if math.Abs(v[j]/c.raw[j]-1) > 1e-9 {
					others++
				}
				same = same && c.swapped != nil && math.Abs(v[j]/c.swapped[j]-1) < 1e-9
			}
			switch name := p.ID; {
			case same:
				swapped++
			case others > 2: // a period with its length is another
				t.Errorf("%s: %v of %v", name, v, c.raw)
			}
		}
		if want := len(c.swapped); (swapped != 1) != (want == 0) || swapped > 1 {
			t.Errorf("%s: %d starts have the leaves swapped", p.ID, swapped)
		}
	}
}

// Of two cycles that are multiplied a search may have found one and the line of both: the longer one, too, moves to a line of the shorter.
func TestVaryMovesTheLongerByALine(t *testing.T) {
	g := startstest.NewGraft(t, 1, 1)
	programs, _ := compiled(t, "PER*PER")
	const longer, shorter = 0.05, 0.013
	found := false
	raw := []float64{1, 0.8, shorter, 1, 0.9, 1 / (1/shorter - 1/longer)}
	for _, x := range g.Vary(programs[0], params.Free(programs[0], raw, 0.4, g.Floor)) {
		v, _ := params.Raw(programs[0], x, g.Floor)
		found = found || math.Abs(v[2]/shorter-1) < 1e-9 && math.Abs(v[5]/longer-1) < 1e-9
	}
	if !found {
		t.Errorf("no start has both periods")
	}
}
