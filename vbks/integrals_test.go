package vbks

import (
	"math"
	"testing"

	"example.com/kestrel/internal/thorough"
)

// Integrals by draws from a bound of few inducing inputs are those of the density itself, and such
// bounds stand in where they are about the density, not for a rough function.
func TestStandIns(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	const n = 300
	s := laplaceSettings(n)
	s.Evidence, s.Bound, s.Starts, s.Transplants = "mode", tightBound, 1, false
	exprs := []string{"SE", "RQ+LIN"}
	tr := trainerOn(t, 1, nil, trainingSeries(17, n), s, exprs...)
	next(t, tr)
	u := func(kernel int, free func(x []float64)) (*unit, *collapsed) {
		st := *tr.kernels[kernel].state
		st.Free = append([]float64{}, st.Free...)
		free(st.Free)
		u := newUnit(t.Context(), tr.site(), &order{Phase: phaseIntegral, Number: 2, Rows: n}, tr.workers[0],
			[]task{{Kernel: kernel, Known: outcome{State: &st, Factor: 1, Best: solution{X: st.Free}}}})
		bound, err := u.worker.ownBound()
		if err != nil {
			t.Fatal(err)
		}
		if err := u.load(u.worker.group); err != nil {
			t.Fatal(err)
		}
		v, err := values(bound.boundValue(u.seen(), u.seenYY(), u.stop), u.all(), [][]float64{st.Free})
		if err != nil {
			t.Fatal(err)
		}
		u.outcomes[0].Best.Value = v[0]
		return u, bound
	}
	asItIs := func([]float64) {}
	for kernel, id := range exprs {
		var nats []float64
		for _, m := range []int{standIns[0], 0} {
			u, bound := u(kernel, asItIs)
			got, err := u.standInsOf()
			if err != nil || got[0] != standIns[0] {
				t.Errorf("%s: draws by %v inducing inputs, want %d; %v", id, got, standIns[0], err)
			}
			poor, err := u.integralsBy(t.Context(), bound, m)
			if err != nil || poor[0] {
				t.Fatalf("%s: %v, %v", id, poor, err)
			}
			nats = append(nats, u.outcomes[0].Best.Value+u.outcomes[0].Volume.Nats)
		}
		t.Logf("%s: %.3f by a stand-in, %.3f", id, nats[0], nats[1])
		if math.Abs(nats[0]-nats[1]) > .3 {
			t.Errorf("%s: %.3f by a stand-in, %.3f by the density", id, nats[0], nats[1])
		}
	}
	// A length of a row's distance.
	rough, _ := u(0, func(x []float64) { x[1] = math.Log(6.0 / n) })
	if got, err := rough.standInsOf(); err != nil || got[0] != 0 {
		t.Errorf("draws by %v inducing inputs for a rough function, %v", got, err)
	}
	// Rough integrals have none.
	rough.order.Dear = true
	if got, _ := rough.standInsOf(); got[0] != 0 {
		t.Errorf("draws by %v inducing inputs for a rough integral", got)
	}
}
