package vbks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/stacking"
)

// white is a level and noise whose sd a row's place decides, in a shuffled stream.
func white(n int, sd func(at float64) float64) Training {
	rng := rand.New(rand.NewPCG(8, uint64(n)))
	d := Training{Dim: 1, X: make([]float64, n), Y: make([]float64, n)}
	for i, r := range rng.Perm(n) {
		at := float64(r) / float64(n)
		d.X[i], d.Y[i] = 4*at-2, sd(at)*rng.NormFloat64()
	}
	return d
}

func calibratedSettings() Settings {
	s := quickSettings("collapsed")
	s.EvaluateEvery, s.PredictTheta, s.Calibrate, s.NoiseFloor, s.Inducing = 1, "mode", "auto", 1e-4, 1
	return s
}

// The factor is that of exact Gaussian processes on the rows before each origin, at the
// hyperparameters that they are refitted to: here a constant and noise, whose forecast
// is known by hand. It is near 1 where the noise stays, above where it grows, and below
// where it fades.
func TestCalibrationIsThatOfTheOrigins(t *testing.T) {
	for _, c := range []struct {
		sd        func(float64) float64
		low, high float64
	}{
		{func(float64) float64 { return 1 }, 0.85, 1.15},
		{func(at float64) float64 { return math.Exp(4 * at) }, 1.4, 3},
		{func(at float64) float64 { return math.Exp(-4 * at) }, 0.5, 0.75},
	} {
		const n = 200
		d := white(n, c.sd)
		tr := trainerOn(t, 1, nil, d, calibratedSettings(), "CONST")
		e := next(t, tr)
		got := e.Calibration
		if got == nil || got.Origins != 5 || got.Rows != n/2 || !(got.Factor > c.low && got.Factor < c.high) {
			t.Fatalf("%+v, want a factor from %v to %v", got, c.low, c.high)
		}
		if last := e.Notices[len(e.Notices)-1].Text; last != got.String() || !strings.Contains(last, "5 rolling origins") {
			t.Errorf("told %q", last)
		}
		inOrder := make([]float64, n)
		for i, x := range d.X {
			inOrder[int(math.Round((x+2)/4*n))] = d.Y[i]
		}
		sum := 3.0
		for tenth := 5; tenth < 10; tenth++ {
			cut, end := n*tenth/10, n*(tenth+1)/10
			past := Training{Dim: 1, X: make([]float64, cut), Y: inOrder[:cut]}
			for i := range past.X {
				past.X[i] = 4*float64(i)/n - 2
			}
			fit := refitted(t, tr, 1, past)
			raw, noise := params.Raw(fit.kernels[0].program, fit.kernels[0].state.Free, fit.floor)
			// Of y = a + e, a ~ N(0, v): the mean of a is v Σy/(v n + s), its variance v s/(v n + s).
			v, total := raw[0], 0.0
			for _, y := range past.Y {
				total += y
			}
			mean, variance := v*total/(v*float64(cut)+noise), v*noise/(v*float64(cut)+noise)+noise
			squares := 0.0
			for _, y := range inOrder[cut:end] {
				squares += (y - mean) * (y - mean) / variance / float64(end-cut)
			}
			sum += min(squares, 9)
		}
		if want := math.Sqrt(sum / 8); math.Abs(got.Factor-want) > 1e-4*want {
			t.Errorf("factor %v, by hand %v", got.Factor, want)
		}
	}
}

// Predictions have the factor, those of a checkpoint, of a twin and after a refit too;
// none is there before the last planned evaluation, with few rows, or unasked.
func TestPredictionsAreCalibrated(t *testing.T) {
	d, x := white(120, func(at float64) float64 { return math.Exp(3 * at) }), []float64{-1, 3}
	s := calibratedSettings()
	tr := trainerOn(t, 1, nil, d, s, "CONST", "SE")
	c := next(t, tr).Calibration
	plain, err := tr.predict(t.Context(), x, PredictOptions{})
	must.OK(t, err)
	got, err := tr.Predict(t.Context(), x, PredictOptions{})
	must.OK(t, err)
	_, before := plain.Moments(1, true)
	if _, after := got.Moments(1, true); math.Abs(after-c.Factor*c.Factor*before) > 1e-12*after || c.Factor < 1.1 {
		t.Errorf("variance %v becomes %v with %+v", before, after, c)
	}
	loaded, err := Resume(t.Context(), onCPU(1), d, candidates(t, "CONST", "SE"), []string{"x"}, s, tr.Checkpoint())
	must.OK(t, err)
	twin, err := tr.Twin(onCPU(1))
	must.OK(t, err)
	again := refitted(t, tr, 1, d)
	for name, other := range map[string]*Trainer{"a checkpoint": loaded, "a twin": twin, "a refit": again} {
		found, err := other.Calibrate(t.Context())
		must.OK(t, err)
		if !reflect.DeepEqual(found, c) {
			t.Errorf("%s has %+v, want %+v", name, found, c)
		}
		p, err := other.Predict(t.Context(), x, PredictOptions{})
		must.OK(t, err)
		if name != "a refit" && !reflect.DeepEqual(p, got) {
			t.Errorf("%s predicts otherwise", name)
		}
	}
	// Found with the first prediction where it was cut off, and not found anew.
	cut := trainerOn(t, 1, nil, d, s, "CONST", "SE")
	next(t, cut)
	cut.calibrated, cut.calibration = 0, nil
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := cut.Calibrate(ctx); !errors.Is(err, context.Canceled) || cut.calibration != nil {
		t.Error(err)
	}
	p, err := cut.Predict(t.Context(), x, PredictOptions{})
	must.OK(t, err)
	if !reflect.DeepEqual(p, got) {
		t.Error("found later it is another one")
	}
	must.OK(t, tr.Reoptimize(Change{Rounds: 1}))
	if c, err := tr.Calibrate(t.Context()); c != nil || err != nil {
		t.Errorf("%v, %v where more evaluations follow", c, err)
	}
	s.Calibrate = "none"
	if e := next(t, trainerOn(t, 1, nil, d, s, "CONST")); e.Calibration != nil {
		t.Error("unasked")
	}
	s.Calibrate = "auto"
	e := next(t, trainerOn(t, 1, nil, white(20, func(float64) float64 { return 1 }), s, "CONST"))
	if n := len(e.Notices); e.Calibration != nil || n == 0 || !strings.Contains(e.Notices[n-1].Text, "20 rows are too few") {
		t.Errorf("%+v", e)
	}
}

// An origin counts as one, and three say that intervals are right.
func TestFactorIsShrunk(t *testing.T) {
	for _, c := range []struct {
		squares []float64
		want    float64
	}{
		{nil, 1}, {[]float64{1, 1}, 1}, {[]float64{9}, math.Sqrt(3)}, {[]float64{1e9}, math.Sqrt(3)}, {[]float64{0, 0, 0}, math.Sqrt(0.5)},
	} {
		if got := factorOf(c.squares); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%v: %v, want %v", c.squares, got, c.want)
		}
	}
}

// lateContext ends once a trainer has trained for so many evaluations: while it finds out what to believe, or,
// where it may have done that, while it calibrates.
type lateContext struct {
	context.Context
	of       *Trainer
	at       int
	believes bool
}

func (c *lateContext) Err() error {
	if c.of.evaluation >= c.at && (!c.believes || c.of.last != nil && c.of.last.Index >= c.at) {
		return context.Canceled
	}
	return nil
}

// An evaluation whose belief or calibration is cut off has not been made: whoever makes it again,
// here or from the checkpoint, has what one that was not stopped has, on a rung of its own
// too.
func TestCalibrationCutOff(t *testing.T) {
	thorough.AnyInstructions(t)
	d := roughSeries(51, 90)
	for _, c := range []struct {
		inducing int
		believes bool
	}{{12, true}, {0, true}, {12, false}} {
		inducing := c.inducing
		s := calibratedSettings()
		s.NoiseFloor, s.EvaluateEvery, s.Inducing = 1e-2, 0.5, inducing
		if inducing == 0 {
			s.FirstInducing, s.MostInducing = 6, 12
		}
		exprs := []string{"SE", "LIN+SE", "PER"}
		whole := trainerOn(t, 1, nil, d, s, exprs...)
		want := train(t, whole)
		last := want[len(want)-1]
		if last.Calibration == nil || inducing == 0 && last.Inducing == want[0].Inducing {
			t.Fatalf("%d evaluations, %+v", len(want), last)
		}
		cut := trainerOn(t, 1, nil, d, s, exprs...)
		for range want[1:] {
			next(t, cut)
		}
		before := snapshotOf(cut)
		if _, err := cut.Next(&lateContext{t.Context(), cut, len(want), c.believes}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(snapshotOf(cut), before) || cut.Done() {
			t.Errorf("%d inducing inputs: what was cut off has changed the trainer", inducing)
		}
		resumed, err := Resume(t.Context(), onCPU(1), d, candidates(t, exprs...), []string{"x"}, s, cut.Checkpoint())
		must.OK(t, err)
		for name, again := range map[string]*Trainer{"the same": cut, "a resumed": resumed} {
			if e := next(t, again); !reflect.DeepEqual(*e, last) {
				t.Errorf("%d inducing inputs: %s trainer makes\n%+v, want\n%+v", inducing, name, e, last)
			}
			if !reflect.DeepEqual(again.Checkpoint(), whole.Checkpoint()) {
				t.Errorf("%d inducing inputs: %s trainer has another checkpoint", inducing, name)
			}
		}
	}
}

// fullDevice has room for no further rows with targets once it is full.
type fullDevice struct {
	device.Device
	full bool
}

func (d *fullDevice) NewData(x, y []float64, dim int) (device.Data, error) {
	if d.full && y != nil {
		return nil, fmt.Errorf("the card is full: %w", device.ErrOutOfMemory)
	}
	return d.Device.NewData(x, y, dim)
}

// Memory does not decide a factor; and why there is none is told, in a run that ends
// before its last evaluation too.
func TestWhyNothingIsCalibrated(t *testing.T) {
	d := white(60, func(float64) float64 { return 1 })
	s := calibratedSettings()
	s.EvaluateEvery = 0.5
	full := &fullDevice{}
	wrap := func(dev device.Device) device.Device { full.Device = dev; return full }
	tr := trainerOn(t, 1, wrap, d, s, "CONST", "SE")
	next(t, tr)
	if got := tr.Uncalibrated(); !strings.HasSuffix(got, "at the last evaluation planned, and 1 of 2 have been made") {
		t.Error(got)
	}
	full.full = true
	before := snapshotOf(tr)
	if _, err := tr.Next(t.Context()); !errors.Is(err, device.ErrOutOfMemory) || !strings.Contains(err.Error(), "predict.calibrate") {
		t.Error(err)
	}
	if !reflect.DeepEqual(snapshotOf(tr), before) {
		t.Error("without memory the trainer is another one")
	}
	full.full = false
	if e := next(t, tr); e.Calibration == nil || tr.Uncalibrated() != "" {
		t.Errorf("%+v, %q", e, tr.Uncalibrated())
	}
	tr.calibrated, tr.calibration = 0, nil
	for _, k := range tr.kernels {
		k.state.Free[0] = math.NaN()
	}
	must.OK(t, tr.calibrateNext(t.Context()))
	told := tr.last.Notices[len(tr.last.Notices)-1].Text
	if tr.last.Calibration != nil || !strings.Contains(told, "none of the rolling origins") {
		t.Errorf("%+v told %q", tr.last.Calibration, told)
	}
	twin, err := tr.Twin(onCPU(1))
	must.OK(t, err)
	if twin.Uncalibrated() != told {
		t.Errorf("a twin says %q, not %q", twin.Uncalibrated(), told)
	}
}

// Weights of "origins" stack the log densities of what comes behind each origin by exact Gaussian processes of the
// rows before it; a kernel that goes on as the rows do gets the weight where the evidence, of rows that lie among
// each other, cannot tell. Before the last evaluation, and where nothing can be forecast, they are tempered ones.
func TestWeightsByRollingOrigins(t *testing.T) {
	const n = 90
	rng := rand.New(rand.NewPCG(4, 9))
	d := Training{Dim: 1, X: make([]float64, n), Y: make([]float64, n)}
	for i, r := range rng.Perm(n) {
		d.X[i], d.Y[i] = 4*float64(r)/n-2, math.Sin(9*4*float64(r)/n)+0.3*rng.NormFloat64()
	}
	s := quickSettings("natural")
	s.EvaluateEvery, s.Inducing, s.Batch, s.Weights, s.NoiseFloor = 1, n, n, "origins", 1e-3
	s.Jitter = device.Jitter{Relative: 1e-9}
	tr := trainerOn(t, 1, nil, d, s, "PER", "SE", "RQ+LIN")
	e := next(t, tr)
	order := make([]int, n) // by x
	for i, x := range d.X {
		order[int(math.Round((x+2)/4*n))] = i
	}
	logp := make([][]float64, len(tr.kernels))
	for tenth := 5; tenth < 10; tenth++ {
		var x, y []float64
		for _, i := range order[:n*tenth/10] {
			x, y = append(x, d.X[i]), append(y, d.Y[i])
		}
		for j, k := range tr.kernels {
			raw, noise := params.Raw(k.program, k.state.Free, tr.floor)
			for _, i := range order[n*tenth/10 : n*(tenth+1)/10] {
				mean, variance := densePrediction(k.program, raw, noise, x, y, d.X[i:i+1])
				v := variance[0] + noise
				logp[j] = append(logp[j], -(math.Log(2*math.Pi*v)+(d.Y[i]-mean[0])*(d.Y[i]-mean[0])/v)/2)
			}
		}
	}
	want := stacking.Weights(logp)
	p, err := tr.Predict(t.Context(), []float64{3}, PredictOptions{Weights: "origins"})
	must.OK(t, err)
	for j, k := range tr.kernels {
		got := 0.0
		if at := slices.Index(p.IDs, k.id); at >= 0 {
			got = p.Weights[at]
		}
		if math.Abs(got-want[j]) > 1e-3 {
			t.Errorf("%s has %v, by dense matrices %v", k.id, got, want[j])
		}
	}
	if p.IDs[0] != "PER" || p.Weights[0] < 0.9 {
		t.Errorf("%v of %v: a wave goes on", p.Weights, p.IDs)
	}
	if !slices.ContainsFunc(e.Notices, func(n Notice) bool {
		return strings.Contains(n.Text, "from 5 rolling origins within the training rows: PER 0.9") || strings.Contains(n.Text, "rows: PER 1.00")
	}) {
		t.Errorf("told %+v", e.Notices)
	}

	again, err := refitted(t, tr, 1, d).Predict(t.Context(), []float64{3}, PredictOptions{Weights: "origins"})
	must.OK(t, err)
	if !slices.Equal(again.Weights, p.Weights) {
		t.Errorf("a refit has %v, not %v", again.Weights, p.Weights)
	}
	s.EvaluateEvery = 0.5
	early := trainerOn(t, 1, nil, d, s, "PER", "SE", "RQ+LIN")
	next(t, early)
	same := func(what string, tr *Trainer) {
		t.Helper()
		got, err := tr.Predict(t.Context(), []float64{3}, PredictOptions{Weights: "origins"})
		must.OK(t, err)
		tempered, err := tr.Predict(t.Context(), []float64{3}, PredictOptions{Weights: "tempered"})
		must.OK(t, err)
		if !slices.Equal(got.Weights, tempered.Weights) || !slices.Equal(got.IDs, tempered.IDs) {
			t.Errorf("%s: %v of %v, tempered %v of %v", what, got.Weights, got.IDs, tempered.Weights, tempered.IDs)
		}
	}
	same("more is planned", early)
	few := Training{Dim: 1, X: d.X[:20], Y: d.Y[:20]}
	s.EvaluateEvery, s.Inducing, s.Batch = 1, 10, 20
	short := trainerOn(t, 1, nil, few, s, "PER", "SE", "RQ+LIN")
	next(t, short)
	same("few rows", short)
}

// Where forecasts are to be weighed kernels that forecast best go on to more inducing inputs, be their evidence what it may.
func TestThoseThatForecastGoOn(t *testing.T) {
	const n = 400
	rng := rand.New(rand.NewPCG(4, 11))
	d := Training{Dim: 1, X: make([]float64, n), Y: make([]float64, n)}
	level := make([]float64, n)
	for r := 1; r < n; r++ { // a wave about a level that swings
		level[r] = math.Sin(25*float64(r)/n) + 2*math.Sin(300*float64(r)/n)
	}
	for i, r := range rng.Perm(n) {
		d.X[i], d.Y[i] = 4*float64(r)/n-2, level[r]+0.2*rng.NormFloat64()
	}
	kept := func(weights string) (all map[int]bool, tr *Trainer) {
		s := quickSettings("natural")
		s.EvaluateEvery, s.Refine, s.Batch, s.Weights = 1, 0, 50, weights
		s.Inducing, s.FirstInducing = 0, 8
		tr = trainerOn(t, 1, nil, d, s, "SE", "RQ", "MATERN12", "MATERN32", "LIN", "CONST", "SE+LIN", "RQ*LIN", "LIN*SE", "MATERN12+LIN")
		next(t, tr)
		if !tr.climbs() {
			t.Fatalf("rungs %v", tr.rungs)
		}
		all, err := tr.farSighted(t.Context(), tr.finalists())
		must.OK(t, err)
		return all, tr
	}
	plain, tr := kept("tempered")
	if got := tr.finalists(); !maps.Equal(plain, got) {
		t.Errorf("tempered weights have %v go on, not %v", plain, got)
	}
	far, tr := kept("origins")
	live, logp, origins, err := tr.foresights(t.Context())
	must.OK(t, err)
	if origins != 5 || len(far) != len(tr.finalists()) {
		t.Fatalf("%d origins; %v go on", origins, far)
	}
	sum := func(p []float64) (s float64) {
		for _, v := range p {
			s += v
		}
		return s
	}
	// All are live, so that logp is in the order of the kernels.
	slices.SortFunc(live, func(a, b int) int { return cmp.Compare(sum(logp[b]), sum(logp[a])) })
	for _, i := range live[:(len(far)+1)/2] {
		if !far[i] {
			t.Errorf("%s forecasts best and is left out: %v", tr.kernels[i].id, far)
		}
	}
}

// Where no origin can be forecast from it is said what stands for the weights, once there is more than one kernel.
func TestNoOriginsAreToldOf(t *testing.T) {
	for _, c := range []struct {
		rows    int
		kernels []string
		told    bool
	}{{fewestCalibrated - 1, []string{"SE", "PER"}, true}, {fewestCalibrated - 1, []string{"SE"}, false}, {60, []string{"SE", "PER"}, false}} {
		s := quickSettings("collapsed")
		s.EvaluateEvery, s.Weights = 1, "origins"
		e := next(t, trainerOn(t, 1, nil, trainingSeries(12, c.rows), s, c.kernels...))
		told := slices.ContainsFunc(e.Notices, func(n Notice) bool { return strings.Contains(n.Text, "as with \"tempered\"") })
		if told != c.told {
			t.Errorf("%d rows, %v: %v", c.rows, c.kernels, e.Notices)
		}
	}
}

// A model of a run that has no weights of origins, since it was stopped or one kernel is left, predicts as that run does.
func TestModelsWithoutOrigins(t *testing.T) {
	d := trainingSeries(12, 60)
	for name, c := range map[string]struct {
		every   float64
		kernels []string
	}{"stopped": {0.5, []string{"SE", "PER", "RQ+LIN"}}, "one kernel": {1, []string{"SE"}}} {
		s := quickSettings("natural")
		s.EvaluateEvery, s.Weights = c.every, "origins"
		tr := trainerOn(t, 1, nil, d, s, c.kernels...)
		next(t, tr)
		f, err := tr.Freeze(t.Context(), FreezeOptions{MostFactors: MostFactors})
		must.OK(t, err)
		ids, weights, err := f.choose(PredictOptions{Weights: "origins"})
		must.OK(t, err)
		p, err := tr.Predict(t.Context(), []float64{0.5}, PredictOptions{Weights: "origins"})
		must.OK(t, err)
		if !slices.Equal(weights, p.Weights) || f.Kernels[ids[0]].Program.ID != p.IDs[0] {
			t.Errorf("%s: the model weighs by %v, the run by %v", name, weights, p.Weights)
		}
	}
}
