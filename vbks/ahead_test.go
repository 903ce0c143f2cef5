package vbks

import (
	"math"
	"math/rand/v2"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/must"
)

// With the curvature of half of the rows Newton's steps come to where L-BFGS comes with all of them, with fewer gradients; what they
// say is still to be gained is no more than a climb finds.
func TestAheadOfClimbs(t *testing.T) {
	t.Parallel()
	const n = 90
	rng := rand.New(rand.NewPCG(5, 1))
	d := Training{Dim: 1}
	for range n {
		x := 6 * rng.Float64()
		d.X, d.Y = append(d.X, x), append(d.Y, math.Sin(17*x)*math.Sin(22*x)+.5*x+.1*rng.NormFloat64())
	}
	s := quickSettings("collapsed")
	s.Inducing, s.Steps, s.Starts = n, 60, 6
	tr := trainerOn(t, 1, nil, d, s, "PER*PER+LIN")
	must.OK(t, tr.prepareSearch())
	o := order{Phase: phaseSearch, Number: 1, Rows: n, Screen: tr.spreadRows(n, 30), Compared: tr.spreadRows(n, n)}
	u := newUnit(t.Context(), tr.site(), &o, tr.workers[0], []task{{Kernel: 0, Known: outcome{Factor: 1}}})
	must.OK(t, u.search(t.Context()))
	top := u.outcomes[0].Best
	part := tr.spreadRows(n, 45)
	curved, _, err := u.onPart(part)
	must.OK(t, err)
	must.OK(t, u.load(tr.workers[0].bound.group))
	gradients := 0
	obj := tr.workers[0].bound.boundObjective(device.Points{Data: u.train, To: n}, sumSquares(tr.weighing.y), u.stop)
	eval := obj.eval
	obj.eval = func(sub []int, xs [][]float64) error {
		gradients++
		return eval(sub, xs)
	}
	strides := u.strides(u.model(0).program, top.X)
	arrived, by, most := 0, 0, 0
	for range 8 {
		from := make([]float64, len(top.X))
		for i, v := range top.X {
			from[i] = v + strides[i]*(rng.Float64()-.5)
		}
		a, b := &ascent{start: from}, &ascent{start: from}
		gradients = 0
		left, rest, err := u.ahead([]int{0}, []*ascent{a}, curved, part.N, obj)
		must.OK(t, err)
		if len(left) > 0 { // it goes on from where that has come to
			if rest[0] != a || a.arrived {
				t.Errorf("%+v is left", a)
			}
			continue
		}
		mine := gradients
		gradients = 0
		must.OK(t, u.climb(t.Context(), []int{0}, []*ascent{b}, 60, obj))
		arrived, by, most = arrived+1, by+mine, most+gradients
		if !(a.value > b.value-.1) || !a.arrived || a.further() > arrivedNats {
			t.Errorf("%g with %g to come, a climb has %g", a.value, a.further(), b.value)
		}
		again := &ascent{start: a.x}
		must.OK(t, u.climb(t.Context(), []int{0}, []*ascent{again}, 60, obj))
		if again.value > a.value+.2 {
			t.Errorf("a climb leads from %g, where %g is to come, to %g", a.value, a.further(), again.value)
		}
	}
	if arrived < 4 || 2*by > most {
		t.Errorf("%d of 8 arrive, after %d gradients; climbs take %d", arrived, by, most)
	}
}
