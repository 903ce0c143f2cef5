//go:build cuda

package bench

import (
	"math"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// launches are what operations on all of K144 take on a card of 132 multiprocessors, by the rules of
// docs/cuda-card.md, where matrices are of M x M.
type launches struct{ cholesky, both, generated, diagonals int }

func byRule(m, kernels int) launches {
	const panel, places = 64, 2 * 132
	panels := (m + panel - 1) / panel
	l := launches{cholesky: 2 * panels, generated: 4 * 12, diagonals: 4} // a panel and an update each, but for the last; the upper triangle
	for below := panels - 1; below > 0; below-- {
		if kernels*below > places { // the triangles of a panel take a launch of their own
			l.cholesky++
		}
	}
	l.both = 4 + 2*int(math.Ceil(math.Log2(float64(panels))))
	return l
}

// idle are cards like a H200 that carry nothing out, and the folder of their libraries.
func idle(t *testing.T) (o fake.Options, dir string) {
	t.Helper()
	return fake.Options{Idle: true, Processors: 132, Memory: 140 << 30}, fakes(t)
}

// Steps of K144 at b and c on cards that carry nothing out take the launches that they take at a, where
// each of these operations is one, with what the rules say of larger matrices in their place; as a graph three calls of
// the driver, and no more than a few numbers from the host. At a steps of all kernels are one launch.
func TestCardCounts(t *testing.T) {
	o, dir := idle(t)
	for _, name := range []string{"a", "b", "c"} {
		w, err := findBenchWork(name)
		must.OK(t, err)
		exprs, err := w.kernels("k144")
		must.OK(t, err)
		rule := byRule(w.m, len(exprs))
		for step, want := range map[string]struct{ others, choleskys, both, matrices int }{
			"adam": {37 - 1 - 1 - 6, 1, 1, 1}, "theta": {47 - 2 - 1 - 6, 2, 1, 1}, "frozen": {11 - 1, 0, 0, 0},
		} {
			fake.Use(t, dir, o)
			dev, err := cuda.Open(cuda.Options{})
			must.OK(t, err)
			setup, err := w.setup(stepKind(step), exprs)
			must.OK(t, err)
			b, err := vbks.NewStepBench(dev, setup)
			must.OK(t, err)
			must.OK(t, b.Steps(3)) // natural ones change their size meanwhile
			const steps = 10
			before := fake.Count(t, dir, 0)
			must.OK(t, b.Steps(steps))
			n := fake.Count(t, dir, 0)
			kernels, calls, in, out := n.Kernels-before.Kernels, n.Calls-before.Calls, n.In-before.In, n.Out-before.Out
			t.Logf("%s, %d steps of %s: %d kernels in %d calls of the driver, %d bytes in and %d out, %.2f GB held", name, steps, step,
				kernels, calls, in, out, float64(n.Used)/1e9)
			most, least := 3*steps, 3*steps
			launched := steps * (want.others + want.choleskys*rule.cholesky + want.both*rule.both)
			if want.matrices > 0 {
				launched += steps * (rule.generated + rule.diagonals)
			} else {
				launched += steps * 12 // k(Z,X)
			}
			if name == "a" {
				launched, most, least = 1, 4, 1
			}
			if kernels != launched {
				t.Errorf("%s, %d steps of %s: %d kernels, by the rules %d", name, steps, step, kernels, launched)
			}
			if waits := steps + 1; calls < least || calls > most+waits || in > 200*steps || out != 0 {
				t.Errorf("%s, %d steps of %s: %d calls, %d bytes in and %d out", name, steps, step, calls, in, out)
			}
			b.Close()
			must.OK(t, dev.Close())
		}
	}
}

// Operations on all of K144 take as many launches as the rules say that those of a step are counted by.
func TestCardCountsOfOperations(t *testing.T) {
	o, dir := idle(t)
	exprs, err := benchWorks()[0].kernels("k144")
	must.OK(t, err)
	all := make([]int, len(exprs))
	for k := range all {
		all[k] = k
	}
	for _, m := range []int{200, 800} {
		fake.Use(t, dir, o)
		dev, err := cuda.Open(cuda.Options{})
		must.OK(t, err)
		lane := dev.Lane(0)
		array := func(rows, cols int) device.Array {
			a, err := lane.NewArray(len(all), rows, cols)
			must.OK(t, err)
			return a
		}
		l, s, info := array(m, m), array(m, m), array(1, 1)
		rule := byRule(m, len(all))
		for _, op := range []struct {
			name string
			do   func()
			want int
		}{
			{"Cholesky", func() { lane.Cholesky(all, l, info) }, rule.cholesky},
			{"SolveBoth", func() { lane.SolveBoth(all, l, s) }, rule.both},
		} {
			op.do() // lists of members and scratch memory are there from now on
			must.OK(t, lane.Sync())
			before := fake.Count(t, dir, 0)
			op.do()
			must.OK(t, lane.Sync())
			if got := fake.Count(t, dir, 0).Kernels - before.Kernels; got != op.want {
				t.Errorf("%s of %d x %d: %d launches, by the rule %d", op.name, m, m, got, op.want)
			}
		}
		must.OK(t, dev.Close())
	}
}
