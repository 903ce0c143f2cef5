package vbks

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks/params"
)

// The best trials of each member come first, as many as are asked for; those without a value are none, and a
// member's do not depend on how many others have.
func TestForemost(t *testing.T) {
	noRoom := func(x []float64) bool { return x[0] > 8 }
	o := &testObjective{functions: []testFunction{quadratic(3), quadratic(-1), walled(quadratic(0), noRoom)}}
	starts := [][]float64{{5, 1, 3, 9}, {0}, {9, 10}} // 3 is best of the first, of the last none has a value
	for _, c := range []struct {
		most int
		want [][]float64
	}{{1, [][]float64{{3}, {0}, nil}}, {3, [][]float64{{3, 5, 1}, {0}, nil}}, {9, [][]float64{{3, 5, 1, 9}, {0}, nil}}} {
		trials := make([][]*ascent, len(starts))
		for i, xs := range starts {
			for _, x := range xs {
				trials[i] = append(trials[i], &ascent{start: []float64{x}})
			}
		}
		best, err := foremost(trials, o.objective(), c.most, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		for i := range starts {
			var got []float64
			for j, a := range best[i] {
				got = append(got, a.x[0])
				if d := a.x[0] - []float64{3, -1, 0}[i]; math.Abs(a.value+d*d/2) > 1e-15 {
					t.Errorf("member %d, place %d: value %v at %v", i, j, a.value, a.x[0])
				}
			}
			if !slices.Equal(got, c.want[i]) {
				t.Errorf("the best %d of member %d are %v, want %v", c.most, i, got, c.want[i])
			}
		}
	}
	stop := errors.New("enough")
	if _, err := foremost([][]*ascent{{{start: []float64{1}}}}, o.objective(), 1, func() error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped: %v", err)
	}
}

// With 512 inducing inputs or more, or all rows, if these are more than the screen's, starts are tried on the evidence of the
// screen's own rows; with fewer, and where none are, on the run's bound.
func TestScreenBound(t *testing.T) {
	for _, c := range []struct {
		n, m int
		own  bool
	}{{560, 2 * ScreenRows, true}, {560, 2*ScreenRows - 1, false}, {300, 300, true}, {ScreenRows, ScreenRows, false}} {
		n, m, own := c.n, c.m, c.own
		data := trainingSeries(43, n)
		s := quickSettings("collapsed")
		s.Inducing = m
		tr := trainerOn(t, 1, nil, data, s, "SE+LIN")
		must.OK(t, tr.prepareSearch())
		k, screen := tr.kernels[0], tr.spreadRows(n, ScreenRows)
		free := make([]float64, len(k.program.Free)+1)
		free[len(free)-1] = -2
		search := func(resumed bool) *unit {
			return newUnit(t.Context(), tr.site(), &order{Phase: phaseSearch, Rows: n, Screen: screen, Resumed: resumed}, tr.workers[0],
				[]task{{Known: outcome{Factor: 1}}})
		}
		u := search(false)
		b, rows, err := u.screenBound()
		must.OK(t, err)
		if resumed, _, err := search(true).screenBound(); err != nil || resumed != u.worker.bound || (b != u.worker.bound) != own {
			t.Fatalf("%d inducing inputs of %d rows: of its own %v, %v", m, n, b != u.worker.bound, err)
		}
		if !own {
			continue
		}
		got, err := values(b.boundValue(rows, screen.YY, u.stop), u.all(), [][]float64{free})
		must.OK(t, err)
		var x, y []float64
		for _, i := range screen.Rows {
			x, y = append(x, data.X[i]), append(y, data.Y[i])
		}
		raw, noise := params.Raw(k.program, free, tr.floor)
		want := naiveEvidence(k.program, raw, noise, x, y, 1) + logThetaPrior(free, k.prior)
		if len(y) != ScreenRows || math.Abs(got[0]-want) > 1e-4 {
			t.Errorf("of %d rows %v, by dense algebra %v", len(y), got[0], want)
		}
	}
}

// A column that a kernel has become flat along comes back where the rows say that it is of use:
// no small step leads there, and no fresh start is made. Found on a part of the rows it is
// not more sure than what has been tuned on them: all of f hyperparameters gain f/2 (n/part − 1) nats.
func TestColumnsComeBack(t *testing.T) {
	const n, inducing = 1000, 40
	rng := rand.New(rand.NewPCG(6, 8))
	d := Training{Dim: 2, X: make([]float64, 2*n), Y: make([]float64, n)}
	for i := range n {
		x, w := 6*rng.Float64()-3, 6*rng.Float64()-3
		d.X[2*i], d.X[2*i+1] = x, w
		d.Y[i] = math.Sin(2*x) + 0.8*math.Cos(1.5*w) + 0.1*rng.NormFloat64()
	}
	for _, c := range []struct {
		optimizer string
		rounds    int     // of which the first is looked at: of natural the last goes on with all rows
		gain      float64 // at least
	}{{"collapsed", 1, 0}, {"natural", 2, 4. / 2 * (float64(n)/(rememberedRows*inducing) - 1)}} {
		s := quickSettings(c.optimizer)
		s.Inducing, s.EvaluateEvery, s.Steps, s.Starts = inducing, 1, 40, 6
		var ends [][]float64
		for _, workers := range []int{0, 2} {
			tr := trainerOn(t, 1, nil, d, s, "SE[;ard]")
			train(t, tr)
			k := tr.kernels[0]
			before := k.elbo
			raw, noise := params.Raw(k.program, k.state.Free, tr.floor)
			at := params.Leaves(k.program)[0].Off + 2
			if raw[at] > 3 {
				t.Fatalf("%s: the length along the second column is %g", c.optimizer, raw[at])
			}
			raw[at] = 1e5
			k.state.Free = params.Free(k.program, raw, noise+0.3, tr.floor)
			tr.settings.Starts = 0
			if workers > 0 {
				crewOf(t, tr, workers, 1, false)
			}
			must.OK(t, tr.Reoptimize(Change{Rounds: c.rounds}))
			e := next(t, tr)
			k = tr.kernels[0]
			raw, _ = params.Raw(k.program, k.state.Free, tr.floor)
			if e.Kernels[0].ELBO < before-20 || raw[at] > 3 || k.source != "returned" {
				t.Errorf("%s: local ELBO %.1f, %.1f before, with a length of %g from %q", c.optimizer, e.Kernels[0].ELBO, before, raw[at], k.source)
			}
			if k.gain < c.gain || math.IsNaN(k.gain) {
				t.Errorf("%s: all rows are to gain %g, want %g or more", c.optimizer, k.gain, c.gain)
			}
			ends = append(ends, k.state.Free)
		}
		if !slices.Equal(ends[0], ends[1]) {
			t.Errorf("%s: workers end at %v, one process at %v", c.optimizer, ends[1], ends[0])
		}
	}
}

// Details that repeat are found from a solution that has them as details of nothing in particular: no small
// step leads there, none of them stands out as a sinusoid, and no fresh start is made.
func TestDetailsRepeat(t *testing.T) {
	const n, span, cycles, noise = 240, 10.0, 3.137, 0.05
	found := 0
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 21))
		detail := make([]float64, 12)
		for i := range detail {
			detail[i] = rng.NormFloat64()
		}
		d := Training{Dim: 1, X: make([]float64, n), Y: make([]float64, n)}
		for i := range n {
			x := span * (rng.Float64() - 0.5)
			d.X[i] = x
			_, turn := math.Modf(cycles*x/span + cycles)
			for j, v := range detail { // bumps, a twelfth of a period apart
				away := math.Abs(turn - float64(j)/float64(len(detail)))
				away = min(away, 1-away)
				d.Y[i] += v * math.Exp(-0.5*math.Pow(away*float64(len(detail)), 2))
			}
			d.Y[i] += noise * rng.NormFloat64()
		}
		s := quickSettings("collapsed")
		s.Inducing, s.EvaluateEvery, s.Steps, s.Starts, s.AllRows = 60, 1, 40, 1, n
		tr := trainerOn(t, 1, nil, d, s, "PER+SE")
		train(t, tr)
		k := tr.kernels[0]
		raw := make([]float64, len(k.program.Params))
		for j, p := range k.program.Params {
			raw[j] = map[string]float64{"PER.variance": 1e-6, "PER.lengthscale": 1, "PER.period": 1, "SE.variance": 1,
				"SE.lengthscale": span / cycles / float64(len(detail))}[p.Base+"."+p.Name]
		}
		k.state.Free = params.Free(k.program, raw, 2*noise*noise, tr.floor)
		tr.settings.Starts = 0
		must.OK(t, tr.Reoptimize(Change{Rounds: 1}))
		next(t, tr)
		k = tr.kernels[0]
		raw, _ = params.Raw(k.program, k.state.Free, tr.floor)
		in := params.Leaves(k.program)[0]
		period := raw[in.Off+1+in.NumScale]
		if off := period * cycles / span; math.Abs(off-1) < 0.01 || math.Abs(off-2) < 0.01 {
			found++
		}
		t.Logf("a period of %.4g, from %q", period, k.source)
	}
	if found < 4 {
		t.Errorf("of 4 periods %d are found", found)
	}
}

// The second best solutions that are others, and not much worse, are gone on from like the best, which stay
// what they are unless that leads to better ones.
func TestSecondSolutions(t *testing.T) {
	const n = 60
	rng := rand.New(rand.NewPCG(2, 9))
	d := Training{Dim: 1, X: make([]float64, n), Y: make([]float64, n)}
	for i := range n {
		d.X[i], d.Y[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	s := quickSettings("collapsed")
	s.AllRows = n
	tr := trainerOn(t, 1, nil, d, s, "SE", "RQ", "SE+LIN")
	must.OK(t, tr.prepareSearch())
	tasks := make([]task, len(tr.kernels))
	at := func(kernel int, shift float64) []float64 {
		x := make([]float64, len(tr.kernels[kernel].program.Free)+1)
		x[0] = shift
		return x
	}
	for i := range tasks {
		best := solution{X: at(i, 0), Value: 10, Source: "fresh"}
		tasks[i] = task{Kernel: i, Known: outcome{Factor: 1, Best: best, Modes: []solution{
			{X: at(i, 1e-6), Value: 9.9}, {X: at(i, 7), Value: 9, Stale: true}, {X: at(i, -5), Value: 8 - runnerUpNats - float64(i%2)},
		}}}
	}
	for _, i := range []int{0, 1} {
		tasks[i].Known.Modes = append(tasks[i].Known.Modes, solution{X: at(i, 5), Value: 3}, solution{X: at(i, 6), Value: 4})
	}
	for _, c := range []struct{ thorough, cheap bool }{{false, true}, {true, false}, {true, true}} {
		u := newUnit(t.Context(), tr.site(), &order{Phase: phaseSearch, Rows: n, Thorough: c.thorough}, tr.workers[0], tasks)
		if u.drawer.Inducing = s.Inducing; !c.cheap {
			u.drawer.Inducing = 2000
		}
		if more := u.followed() > 1; more != (c.thorough && c.cheap) {
			t.Errorf("%+v: several variants are climbed: %v", c, more)
		}
		for i := range u.outcomes {
			u.outcomes[i] = tasks[i].Known
		}
		var had []solution
		must.OK(t, u.second(func() error {
			for i := range u.outcomes {
				had = append(had, u.outcomes[i].Best)
			}
			u.outcomes[0].offer(&ascent{x: at(0, 8), value: 11}, "varied")
			u.outcomes[1].offer(&ascent{x: at(1, 8), value: 9.5}, "varied")
			return nil
		}))
		if !c.thorough || !c.cheap {
			if had != nil {
				t.Errorf("%+v: second solutions are gone on from", c)
			}
			continue
		}
		if len(had) != 3 || had[0].Value != 4 || had[1].Value != 4 || had[2].X != nil {
			t.Fatalf("gone on from %+v", had)
		}
		for i, want := range []solution{{X: at(0, 8), Value: 11, Source: "varied"}, {X: at(1, 0), Value: 10, Source: "fresh"},
			{X: at(2, 0), Value: 10, Source: "fresh"}} {
			if got := u.outcomes[i].Best; got.Value != want.Value || got.Source != want.Source || !slices.Equal(got.X, want.X) {
				t.Errorf("kernel %d ends at %+v, want %+v", i, got, want)
			}
		}
	}
}
