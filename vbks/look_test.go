package vbks

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/exact"
	"example.com/kestrel/vbks/params"
)

// wandering is n noisy values, in random order, of a level that wanders back to its mean.
func wandering(n int) Training {
	rng := rand.New(rand.NewPCG(11, 4))
	level, d := 0.0, Training{Dim: 1, X: make([]float64, n), Y: make([]float64, n)}
	for i := range n {
		level = 0.8*level + 0.6*rng.NormFloat64()
		d.X[i], d.Y[i] = 4*(2*float64(i)/float64(n)-1), level+0.2*rng.NormFloat64()
	}
	rng.Shuffle(n, func(i, j int) { d.X[i], d.X[j], d.Y[i], d.Y[j] = d.X[j], d.X[i], d.Y[j], d.Y[i] })
	return d
}

// lookingSettings are those of a run that has log evidence by windows: there may be fewer inducing inputs than rows.
func lookingSettings(optimizer string) Settings {
	s := quickSettings(optimizer)
	s.Inducing, s.FirstInducing, s.MostInducing, s.Errors, s.EvaluateEvery = 0, 8, 16, "integrate", 0.5
	return s
}

var roughAndSmooth = []string{"SE", "MATERN12", "PER+SE", "LIN+MATERN12"}

// Eight inducing inputs take what wanders for noise, so that kernels which have a part for it are far too low. Windows
// tell: they are within two nats, or what they say themselves, of the log evidence, of the best one at an optimum of it, and the
// belief is by them.
func TestWindowsTellRoughFunctions(t *testing.T) {
	t.Parallel()
	const n = 300
	d := wandering(n)
	for _, optimizer := range []string{"collapsed", "natural"} {
		tr := trainerOn(t, 1, nil, d, lookingSettings(optimizer), roughAndSmooth...)
		es := train(t, tr)
		e := es[len(es)-1]
		if id := e.Kernels[e.Leader()].ID; id != "MATERN12" {
			t.Errorf("%s: the leader is %s", optimizer, id)
		}
		rows, err := exact.New(onCPU(1), d.X, d.Y, 1, exact.Options{ThetaPrior: true, NoiseFloor: tr.settings.NoiseFloor})
		if err != nil {
			t.Fatal(err)
		}
		far, bayes := 0.0, 0.0
		for i, k := range tr.kernels {
			w := e.Kernels[i].Windows
			if w == nil {
				t.Fatalf("%s: nothing is known of %s", optimizer, k.id)
			}
			of, err := rows.Kernel(k.program)
			if err != nil {
				t.Fatal(err)
			}
			nats, ok, err := of.At(k.nearby.x)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			_, best, err := of.Climb(t.Context(), k.nearby.x)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(w.Nats-nats) > 2+w.Low+w.High || e.Kernels[i].Rank == 1 && best > nats+1 || w.Rows != n {
				t.Errorf("%s, %s: %.2f by windows of %d rows, the log evidence is %.2f there and %.2f at most",
					optimizer, k.id, w.Nats, w.Rows, nats, best)
			}
			far = math.Max(far, w.Nats-k.elbo)
			bayes += e.Kernels[i].Bayes
		}
		if far < 20 || math.Abs(bayes-1) > 1e-9 {
			t.Errorf("%s: local ELBOs are at most %.1f nats below; Bayes' rule sums to %v", optimizer, far, bayes)
		}
		// Predictions among the rows, which are not by windows, are weighed by local ELBOs.
		top, want, best := math.Inf(-1), map[string]float64{}, ""
		for i, k := range tr.kernels {
			if e.Kernels[i].Status == Live && k.elbo+k.volume > top {
				top, best = k.elbo+k.volume, k.id
			}
		}
		for i, k := range tr.kernels {
			if e.Kernels[i].Status == Live {
				want[k.id] = math.Exp(k.elbo + k.volume - top)
			}
		}
		p, err := tr.Predict(t.Context(), []float64{0}, PredictOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for j, id := range p.IDs {
			if got := p.Weights[j] / p.Weights[slices.Index(p.IDs, best)]; math.Abs(got-want[id]) > 1e-9 {
				t.Errorf("%s: %s weighs %v times as much as %s, want %v", optimizer, id, got, best, want[id])
			}
		}
		// The belief is that of these numbers.
		a, b := &e.Kernels[1], &e.Kernels[3]
		gap := a.Windows.Nats - b.Windows.Nats
		if got := math.Log(a.Bayes / b.Bayes); math.Abs(got-gap) > 1 {
			t.Errorf("%s: %s is ahead of %s by %.2f nats, by the belief %.2f", optimizer, a.ID, b.ID, gap, got)
		}
	}
}

// There is none where it is not asked for, errors are ignored, rows have no order, or all can be inducing inputs.
func TestWindowsWhere(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*Settings, *Training){
		"off":             func(s *Settings, _ *Training) { s.Windows = false },
		"errors ignored":  func(s *Settings, _ *Training) { s.Errors = "ignore" },
		"a number":        func(s *Settings, _ *Training) { s.Inducing = 8 },
		"adam":            func(s *Settings, _ *Training) { s.Optimizer = "adam" },
		"Z = X":           func(s *Settings, _ *Training) { s.MostInducing = 0 },
		"a belief over θ": func(s *Settings, _ *Training) { s.Hyperparameters = "diagonal" },
		"two inputs": func(_ *Settings, d *Training) {
			x := make([]float64, 0, 2*len(d.X))
			for i, v := range d.X {
				x = append(x, v, float64(i%7))
			}
			d.X, d.Dim = x, 2
		},
	} {
		s, d := lookingSettings("collapsed"), wandering(40)
		change(&s, &d)
		for _, e := range train(t, trainerOn(t, 1, nil, d, s, "SE", "MATERN12")) {
			for i := range e.Kernels {
				if e.Kernels[i].Windows != nil {
					t.Errorf("%s: %+v", what, e.Kernels[i].Windows)
				}
			}
		}
		if got := s.WindowRows(40, 2); got != 0 && what != "two inputs" {
			t.Errorf("%s: %v rows are foreseen", what, got)
		}
	}
	s := lookingSettings("collapsed")
	if s.WindowRows(300, 4) == 0 || s.WindowRows(100_000, 4) < 6*s.WindowRows(10_000, 4)/2 {
		t.Errorf("%v and %v rows are foreseen of 300 and 100,000", s.WindowRows(300, 4), s.WindowRows(100_000, 4))
	}
}

// A wave beside a level that wanders more is worth little in a window, and hidden in the rows. Windows have its harmonics
// beside them, and find it in what the level leaves: within a nat or two of the log evidence, far ahead of the level
// alone.
func TestWindowsFindAWave(t *testing.T) {
	thorough.Unraced(t)
	t.Parallel()
	const n, period = 2000, 190.0
	rng := rand.New(rand.NewPCG(11, 5))
	level, d := 0.0, Training{Dim: 1, X: make([]float64, n), Y: make([]float64, n)}
	for i := range n {
		level = 0.97*level + 0.25*rng.NormFloat64()
		d.X[i], d.Y[i] = 4*(2*float64(i)/n-1), level+2*math.Sin(2*math.Pi*float64(i)/period)+0.2*rng.NormFloat64()
	}
	rng.Shuffle(n, func(i, j int) { d.X[i], d.X[j], d.Y[i], d.Y[j] = d.X[j], d.X[i], d.Y[j], d.Y[i] })
	s := lookingSettings("collapsed")
	s.EvaluateEvery = 1
	tr := trainerOn(t, 1, nil, d, s, "MATERN12", "MATERN12+PER")
	e := next(t, tr)
	rows, err := exact.New(onCPU(1), d.X, d.Y, 1, exact.Options{ThetaPrior: true, NoiseFloor: tr.settings.NoiseFloor})
	if err != nil {
		t.Fatal(err)
	}
	var nats []float64
	for i, k := range tr.kernels {
		w := e.Kernels[i].Windows
		if w == nil || w.Rows != n {
			t.Fatalf("%s: %+v", k.id, w)
		}
		of, err := rows.Kernel(k.program)
		if err != nil {
			t.Fatal(err)
		}
		best, ok, err := of.At(k.nearby.x)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		t.Logf("%s: %.2f, the log evidence is %.2f; %v", k.id, w.Nats, best, k.nearby.x)
		if math.Abs(w.Nats-best) > 2 {
			t.Errorf("%s: %.2f by windows, the log evidence is %.2f", k.id, w.Nats, best)
		}
		nats = append(nats, w.Nats)
		if raw, _ := params.Raw(k.program, k.nearby.x, tr.settings.NoiseFloor); k.id != "MATERN12" {
			at := slices.IndexFunc(k.program.Params, func(p kernelspace.Param) bool { return p.Name == "period" })
			if want := 8 * period / n; math.Abs(raw[at]/want-1) > 0.02 {
				t.Errorf("%s: period %.3f, want %.3f", k.id, raw[at], want)
			}
		}
	}
	if nats[1] < nats[0]+10 {
		t.Errorf("%.2f with the wave, %.2f without", nats[1], nats[0])
	}
}

// Where a period stands in what the best kernel leaves of all rows, the foremost that have a summand more which repeats are asked
// about all rows, too, unless few have told them off; where none stands nobody is.
func TestWindowsAskWhoRepeats(t *testing.T) {
	t.Parallel()
	tr := trainerOn(t, 1, nil, wandering(60), lookingSettings("collapsed"),
		"MATERN12", "PER+SE", "MATERN12+PER", "PER*SE+SE", "PER+PER", "PER+LIN")
	place := map[string]int{}
	r := &round{Trainer: tr, n: 1000, outcomes: make([]outcome, len(tr.kernels)), nearby: map[int]*nearby{}}
	for i, k := range tr.kernels {
		place[k.id] = i
		r.live = append(r.live, i)
		r.nearby[i] = &nearby{Windows: Windows{Rows: 300}, x: []float64{float64(i)}, behind: 5}
	}
	r.nearby[place["MATERN12"]] = &nearby{Windows: Windows{Rows: 1000}}
	r.nearby[place["PER+SE"]].behind = windowNats + 1
	r.nearby[place["PER+PER"]].behind = 4
	if more := r.repeatMore(place["MATERN12"]); more != nil {
		t.Errorf("%v where nothing stands out", more)
	}
	for best, want := range map[string][]string{"MATERN12": {"PER+PER", "PER+MATERN12"}, "PER+LIN": {"PER+PER"}} {
		r.outcomes[place[best]].Windowed.Left = 17
		var got []string
		for _, k := range r.repeatMore(place[best]) {
			if got = append(got, tr.kernels[k].id); !slices.Equal(r.outcomes[k].Windowed.At.X, r.nearby[k].x) {
				t.Errorf("%s begins at %v", tr.kernels[k].id, r.outcomes[k].Windowed.At.X)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("beside %s %q, want %q", best, got, want)
		}
	}
}

// Runs with windows are the same bit for bit whatever the lanes and batches, and when they are taken up from a
// checkpoint after any evaluation.
func TestWindowsAreReproducible(t *testing.T) {
	thorough.Unraced(t)
	thorough.AnyInstructions(t)
	t.Parallel()
	d := wandering(150)
	for _, optimizer := range []string{"collapsed", "natural", "natural, ahead"} {
		name, _, ahead := strings.Cut(optimizer, ", ")
		s := lookingSettings(name)
		if ahead {
			s.Weights = OriginsWeights
		}
		cut := trainerOn(t, 1, nil, d, s, roughAndSmooth...)
		var want []Evaluation
		for !cut.Done() {
			want = append(want, *next(t, cut))
			dev := onCPU(1)
			defer dev.Close()
			again, err := Resume(t.Context(), dev, d, candidates(t, roughAndSmooth...), []string{"x"}, s, copied(t, cut.Checkpoint()))
			if err != nil {
				t.Fatal(err)
			}
			if a, b := bare(again.Last()), bare(cut.Last()); !reflect.DeepEqual(a, b) {
				t.Fatalf("%s: evaluation %d read back differs%s", optimizer, len(want), firstDifference([]Evaluation{a}, []Evaluation{b}))
			}
			if ahead && cut.Done() { // predictions, too
				x := []float64{-1, 3.9, 5}
				a, err := cut.Predict(t.Context(), x, PredictOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if b, err := again.Predict(t.Context(), x, PredictOptions{}); err != nil || !reflect.DeepEqual(a, b) {
					t.Errorf("%s: other predictions: %v, %v, %v", optimizer, err, a, b)
				}
				if !slices.ContainsFunc(again.kernels, func(k *kernel) bool { return k.ahead != nil }) {
					t.Errorf("%s: all predict as before", optimizer)
				}
			}
			cut = again
		}
		for _, other := range []struct {
			what  string
			lanes int
			wrap  func(device.Device) device.Device
		}{
			{"never cut", 1, nil},
			{"two lanes", 2, nil},
			{"batches of 3 on two lanes", 2, func(d device.Device) device.Device { return regrouped{d, 3} }},
		} {
			if got := train(t, trainerOn(t, other.lanes, other.wrap, d, s, roughAndSmooth...)); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: other evaluations%s", optimizer, other.what, firstDifference(got, want))
			}
		}
	}
}

// Of many rows all kernels are climbed on few of them, and those that are far behind there on no more.
func TestWindowsOnFewRowsFirst(t *testing.T) {
	thorough.Unraced(t)
	t.Parallel()
	for rows, want := range map[int]int{0: 2_000, 2_000: 8_000, 8_000: 32_000, 32_000: 70_000} {
		if got := nextLevel(rows, 70_000); got != want {
			t.Errorf("after %d of 70,000 rows %d", rows, got)
		}
	}
	if got := nextLevel(0, 3_999); got != 3_999 {
		t.Errorf("of 3,999 rows %d first", got)
	}
	s := lookingSettings("natural")
	s.EvaluateEvery, s.MostInducing, s.Starts = 1, 8, 1
	tr := trainerOn(t, 2, nil, wandering(4_000), s, "LIN", "SE", "MATERN12", "PER", "MATERN12+LIN", "LIN+PER")
	e := next(t, tr)
	few, all := 0, 0
	for i := range e.Kernels {
		k := &e.Kernels[i]
		switch {
		case k.Windows == nil:
			t.Errorf("nothing is known of %s", k.ID)
		case k.Windows.Rows == 4_000:
			all++
		case k.Windows.Rows == 2_000 && tr.kernels[i].nearby.behind > windowNats:
			few++
		default:
			t.Errorf("%s: %+v, %.1f behind", k.ID, k.Windows, tr.kernels[i].nearby.behind)
		}
	}
	if id := e.Kernels[e.Leader()].ID; id != "MATERN12" || few+all != 6 || all < 3 || few < 1 {
		t.Errorf("%s leads; %d kernels on all rows, %d on few", id, all, few)
	}
}

// A series whose level wanders is forecast from windows: the kernel that it was drawn from predicts, beyond its end, what the
// log evidence of all rows would have it predict, where inducing inputs alone take the wandering for noise. So does a refit to
// other rows, and what a kernel says of its hyperparameters is what it predicts with.
func TestWindowsForecast(t *testing.T) {
	t.Parallel()
	d := wandering(300)
	s := lookingSettings("natural")
	s.Weights = OriginsWeights
	tr := trainerOn(t, 1, nil, d, s, "MATERN12", "SE")
	es := train(t, tr)
	of := PredictOptions{IDs: []string{"MATERN12"}}
	fewer := d
	fewer.X, fewer.Y = d.X[:280], d.Y[:280]
	dev := onCPU(1)
	defer dev.Close()
	again, err := tr.Refit(t.Context(), dev, fewer, of)
	if err != nil {
		t.Fatal(err)
	}
	for what, tr := range map[string]*Trainer{"all rows": tr, "refit": again} {
		k := tr.kernels[0]
		if k.ahead == nil {
			t.Fatalf("%s: it predicts as before", what)
		}
		raw, noise := params.Raw(k.program, k.nearby.x, tr.floor)
		if got := es[len(es)-1].Kernels[0]; got.Noise != noise || got.Params[1].Value != raw[1] {
			t.Errorf("%s: it says %v and %v of its noise and length, predicts with %v and %v", what, got.Noise, got.Params[1].Value, noise, raw[1])
		}
		n := tr.data.Rows()
		c, at := mat.NewSymDense(n, nil), []float64{4.01, 4.05, 4.3}
		value := func(a, b float64) float64 { return k.program.Eval(raw, []float64{a}, []float64{b}, false) }
		for i := range n {
			for j := i; j < n; j++ {
				c.SetSym(i, j, value(tr.data.X[i], tr.data.X[j]))
			}
			c.SetSym(i, i, c.At(i, i)+noise)
		}
		var chol mat.Cholesky
		if !chol.Factorize(c) {
			t.Fatal("not positive definite")
		}
		var solved mat.VecDense
		if err := chol.SolveVecTo(&solved, mat.NewVecDense(n, tr.data.Y)); err != nil {
			t.Fatal(err)
		}
		p, err := tr.Predict(t.Context(), at, of)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range at {
			beside := mat.NewVecDense(n, nil)
			for j := range n {
				beside.SetVec(j, value(x, tr.data.X[j]))
			}
			var with mat.VecDense
			if err := chol.SolveVecTo(&with, beside); err != nil {
				t.Fatal(err)
			}
			mean, variance := mat.Dot(beside, &solved), value(x, x)-mat.Dot(beside, &with)
			if math.Abs(p.Mean[0][i]-mean) > .15*math.Sqrt(variance) || math.Abs(p.Var[0][i]/variance-1) > .1 {
				t.Errorf("%s, at %v: %.4f ± %.4f, of all rows %.4f ± %.4f", what, x, p.Mean[0][i], math.Sqrt(p.Var[0][i]), mean, math.Sqrt(variance))
			}
		}
	}
	// A model of it predicts the same, and its components add up to that.
	f, err := tr.Freeze(t.Context(), FreezeOptions{MostFactors: MostFactors})
	if err != nil {
		t.Fatal(err)
	}
	at := []float64{-3, 3.99, 4.2}
	want, err := tr.Predict(t.Context(), at, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := thawed(t, f).Predict(t.Context(), at, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := tr.Components(t.Context(), want.IDs[0], at)
	if err != nil {
		t.Fatal(err)
	}
	for i := range at {
		for k := range want.IDs {
			if math.Abs(got.Mean[k][i]-want.Mean[k][i]) > 1e-6 || math.Abs(got.Var[k][i]-want.Var[k][i]) > 1e-6 {
				t.Errorf("%s at %v: %v ± %v by its model, %v ± %v by the run",
					want.IDs[k], at[i], got.Mean[k][i], got.Var[k][i], want.Mean[k][i], want.Var[k][i])
			}
		}
		sum := 0.0
		for _, c := range parts {
			sum += c.Mean[i]
		}
		if math.Abs(sum-want.Mean[0][i]) > 1e-6 {
			t.Errorf("the components of %s add up to %v at %v, it predicts %v", want.IDs[0], sum, at[i], want.Mean[0][i])
		}
	}
	s.Weights = "posterior"
	for _, k := range func() []*kernel { tr := trainerOn(t, 1, nil, d, s, "MATERN12", "SE"); train(t, tr); return tr.kernels }() {
		if k.ahead != nil {
			t.Errorf("%s predicts rows that lie among others so, too", k.id)
		}
	}
}

// A gap by windows is no change of one by local ELBOs; from one evaluation to the next both count. Kernels left out stay as
// far behind the best as windows have told, wherever its inducing inputs are.
func TestWindowsInTheBelief(t *testing.T) {
	s := lookingSettings("collapsed")
	tr := trainerOn(t, 1, nil, wandering(60), s, "SE", "MATERN12", "LIN")
	next(t, tr)
	at := func(number int, elbo float64, windows bool) pastELBO {
		return pastELBO{number, 60, elbo, 8, nil, windows}
	}
	leader := &kernel{past: []pastELBO{at(3, 100, true), at(2, -5000, false)}, elbo: -5000}
	other := &kernel{past: []pastELBO{at(3, 90, true), at(2, -3000, false)}, elbo: -3000}
	if got := other.drift(leader, true); got != 0 {
		t.Errorf("windows have moved a gap of local ELBOs by %v", got)
	}
	leader.past = append([]pastELBO{at(4, 100, true)}, leader.past...)
	other.past = append([]pastELBO{at(4, 93, true)}, other.past...)
	if got := other.drift(leader, true); got != 3 {
		t.Errorf("a gap of 10 nats, then of 7, has moved by %v", got)
	}
	for i, nats := range []float64{500, 490, 470} {
		k := tr.kernels[i]
		k.rows, k.volume, k.nearby = tr.rows, 0, &nearby{Windows{nats, .5, 2, tr.rows}, k.state.Free, 500 - nats, tr.rows, 8}
	}
	tr.kernels[2].status, tr.kernels[2].left, tr.kernels[2].rows = Pruned, 8, 0
	tr.kernels[0].nearby.Nats = 503 // by what it has gained since
	for i, want := range [][3]float64{{503, -.5, 2}, {490, -.5, 2}, {473, -.5, 2}} {
		if elbo, low, high, ok := tr.standing(tr.kernels[i]); !ok || [3]float64{elbo, low, high} != want {
			t.Errorf("%s stands at %v, %v to %v, want %v", tr.kernels[i].id, elbo, low, high, want)
		}
	}
	if tr.widens("SE") {
		t.Error("more inducing inputs are to move what does not depend on them")
	}
	tr.kernels[0].nearby.seen--
	if _, low, high, _ := tr.standing(tr.kernels[0]); low == -.5 && high == 2 {
		t.Error("what windows said of other rows still counts")
	}
}

// jumping is a table of n rows that repeats with a jump.
func jumping(n int, height, noise float64) Training {
	rng := rand.New(rand.NewPCG(5, 5))
	d := Training{Dim: 1, X: make([]float64, n), Y: make([]float64, n)}
	for i, at := range rng.Perm(n) {
		d.X[i] = 8*float64(at)/float64(n) - 4
		d.Y[i] = height*(math.Mod(float64(at), 230)/230-.5) + noise*rng.NormFloat64()
	}
	d.Seasons = []float64{8 * 230. / float64(n)}
	return d
}

// What repeats with a jump, if perhaps not for ever, is not in windows that are shorter than its period: with few inducing
// inputs beside them their evidence is below what a bound with more says, and it is computed with more then. It is never
// below a bound.
func TestWindowsAreNotBelowABound(t *testing.T) {
	t.Parallel()
	d := jumping(900, .4, .1)
	s := lookingSettings("natural")
	s.MostInducing, s.EvaluateEvery = 128, 1
	tr := trainerOn(t, 2, nil, d, s, "PER*SE", "PER*SE+SE", "LIN")
	again := false
	es := train(t, tr)
	first, last := es[0].Kernels[0].Windows, es[len(es)-1].Kernels[0].Windows
	if first == nil || last == nil || last.Nats < first.Nats+5 || first.High < 1 {
		t.Fatalf("%+v of PER*SE first, %+v in the end: it does not say how little it knows", first, last)
	}
	for _, e := range es {
		for i := range e.Kernels {
			if k := &e.Kernels[i]; k.Status == Live && k.Windows != nil && k.Windows.Nats < k.ELBO {
				t.Errorf("evaluation %d, %s: %.1f by windows, the local ELBO is %.1f", e.Index, k.ID, k.Windows.Nats, k.ELBO)
			}
		}
		for _, k := range tr.kernels {
			again = again || k.nearby != nil && k.nearby.m > windowInducing
		}
	}
	if !again {
		t.Error("no bound lies above windows with the first inducing inputs")
	}
}

// Where wider windows change log evidence by some nats that is said; where they change it by more than belief can bear windows
// are set aside: kernels have local ELBOs alone from then on, and a run that is taken up does not ask them either.
func TestWindowsAreSetAside(t *testing.T) {
	t.Parallel()
	d := jumping(900, 3, .02)
	s := lookingSettings("natural")
	s.MostInducing, s.EvaluateEvery = 128, 1
	kernels := []string{"PER*SE", "PER*SE+SE", "LIN"}
	tr := trainerOn(t, 2, nil, d, s, kernels...)
	said := func(e *Evaluation, what string) bool {
		return slices.ContainsFunc(e.Notices, func(n Notice) bool {
			return strings.HasPrefix(n.Text, "windows of 128 neighbours") && strings.HasSuffix(n.Text, what)
		})
	}
	if e := next(t, tr); !said(e, "gaps below that tell nothing") {
		t.Errorf("nothing is said of windows that are too narrow: %v", e.Notices)
	}
	for !said(tr.Last(), "local ELBOs decide instead") {
		if tr.Done() {
			t.Fatal("windows are not set aside")
		}
		next(t, tr)
	}
	again, err := Resume(t.Context(), onCPU(1), d, candidates(t, kernels...), []string{"x"}, s, copied(t, tr.Checkpoint()))
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []*Trainer{tr, again} {
		for _, e := range append(train(t, of), *of.Last()) {
			for i := range e.Kernels {
				if e.Kernels[i].Windows != nil {
					t.Errorf("evaluation %d: %+v of %s", e.Index, e.Kernels[i].Windows, e.Kernels[i].ID)
				}
			}
		}
		if !of.narrow {
			t.Error("windows would be asked again")
		}
	}
	if a, b := bare(tr.Last()), bare(again.Last()); !reflect.DeepEqual(a, b) {
		t.Errorf("taken up it ends otherwise%s", firstDifference([]Evaluation{a}, []Evaluation{b}))
	}
}
