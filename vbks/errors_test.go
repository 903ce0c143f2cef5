package vbks

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/vbks/belief"
)

// kernelWith has these local ELBOs, newest first, of evaluations that have seen
// these rows.
func kernelWith(numbers, rows []int, elbos ...float64) *kernel {
	k := &kernel{model: &model{}}
	for i, v := range slices.Backward(elbos) {
		k.elbo, k.rows = v, rows[i]
		k.remember(numbers[i], 1)
	}
	return k
}

// A gap that grows with the rows moves nothing; what it does otherwise is the
// error, the larger of the last two times.
func TestDrift(t *testing.T) {
	numbers, rows := []int{4, 3, 2, 1}, []int{400, 300, 200, 100}
	leader := kernelWith(numbers, rows, -40, -30, -20, -10)
	for _, c := range []struct {
		name          string
		k             *kernel
		coming, whole float64 // while data arrive, and when all are in use
	}{
		{"in proportion", kernelWith(numbers, rows, -80, -60, -40, -20), 0, 0},
		{"last", kernelWith(numbers, rows, -73, -60, -40, -20), 7, 7},
		{"before", kernelWith(numbers, rows, -68, -51, -40, -20), 9, 9},                           // gaps 28, 21, 20
		{"long ago", kernelWith(numbers, rows, -80, -60, -40, -500), 0, 0},                        // gap 490 of 100 rows
		{"no history", kernelWith(numbers[:1], rows[:1], -95), 55, 0},                             //
		{"just restored", kernelWith([]int{4, 2, 1}, []int{400, 200, 100}, -95, -40, -20), 55, 0}, //
		{"one", kernelWith(numbers[:2], rows[:2], -75, -60), 5, 5},
	} {
		if got := c.k.drift(leader, false); math.Abs(got-c.coming) > 1e-9 {
			t.Errorf("%s: %v while data arrive, want %v", c.name, got, c.coming)
		}
		if got := c.k.drift(leader, true); math.Abs(got-c.whole) > 1e-9 {
			t.Errorf("%s: %v with all data, want %v", c.name, got, c.whole)
		}
		if len(c.k.past) > rememberedELBOs {
			t.Errorf("%s: %d remembered", c.name, len(c.k.past))
		}
	}
}

// More inducing inputs move local ELBOs by hundreds of nats. Where bounds were close
// on both sides only what they had not allowed is an error, in proportion to what they
// leave open now.
func TestDriftWithMoreInducing(t *testing.T) {
	make := func(past ...pastELBO) *kernel { return &kernel{past: past, elbo: past[0].elbo} }
	at := func(number, m int, elbo, lower, upper float64) pastELBO {
		return pastELBO{number, 100, elbo, m, &Evidence{lower, upper, true}, false}
	}
	loose := func(p pastELBO) pastELBO { p.bounds.Tight = false; return p }
	leader := make(at(3, 128, 0, 0, 1), at(2, 64, -200, -100, 50))
	for _, c := range []struct {
		name string
		k    *kernel
		want float64
	}{
		{"the gap, of 20 to 22 nats, was 250 behind to 50 ahead", make(at(3, 128, -21, -21, -20), at(2, 64, -400, -200, -50)), 0},
		{"it was ahead by 10 nats at least, is behind by 20", make(at(3, 128, -21, -21, -20), at(2, 64, -100, 60, 70)), 30 * 2. / 160},
		{"it was behind by 30 nats at least", make(at(3, 128, -21, -21, -20), at(2, 64, -400, -200, -130)), 8 * 2. / 220},
		{"told apart by wide bounds", make(loose(at(3, 128, -60, -60, -20)), loose(at(2, 64, -400, -200, 900))), 0},
		{"wide bounds", make(loose(at(3, 128, -21, -21, 30)), loose(at(2, 64, -400, -200, -50))), 179},
		{"with as many", make(at(3, 128, -21, -21, -20), at(2, 128, -400, -200, -50)), 179},
	} {
		if got := c.k.drift(leader, true); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// What changes while bounds are close comes from the search, and counts whole.
func TestDriftOfCloseBounds(t *testing.T) {
	at := func(number, m int, lower float64) pastELBO {
		return pastELBO{number, 100, lower, m, &Evidence{lower, lower + 0.3, true}, false}
	}
	leader := &kernel{past: []pastELBO{at(3, 128, 0), at(2, 64, 0)}}
	other := &kernel{past: []pastELBO{at(3, 128, -2), at(2, 64, -9)}}
	// The gap is −2.3 to −1.7 and was at most −8.7.
	if got := other.drift(leader, true); math.Abs(got-(8.7-2.3)) > 1e-9 {
		t.Errorf("drift %v, want 6.4", got)
	}
}

// What an evaluation at loose bounds has changed is an error no larger than those of now
// allow once they are closer, however large it was, and whole where nothing has become closer.
func TestDriftFadesAsBoundsClose(t *testing.T) {
	at := func(number, m int, lower, slack float64) pastELBO {
		return pastELBO{number, 100, lower, m, &Evidence{lower, lower + slack, true}, false}
	}
	leader := &kernel{past: []pastELBO{at(3, 400, 0, 0), at(2, 128, -70, 20), at(1, 64, -100, 20)}}
	// Ahead by 30 to 70 nats, then behind by 80 to 120, at last by 60 with nothing left open.
	other := &kernel{past: []pastELBO{at(3, 400, -60, 0), at(2, 128, -170, 20), at(1, 64, -50, 20)}}
	if got, want := other.drift(leader, true), (80.+30.)*1/40; math.Abs(got-want) > 1e-9 {
		t.Errorf("drift %v, want %v", got, want)
	}
	// The same while the last evaluation has as many inducing inputs as the one before.
	leader.past[0], other.past[0] = at(3, 128, -70, 20), at(3, 128, -170, 20)
	if got := other.drift(leader, true); math.Abs(got-(80+30)) > 1e-9 {
		t.Errorf("without closer bounds: drift %v, want 110", got)
	}
}

func TestSlack(t *testing.T) {
	k := &kernel{elbo: -10}
	for _, c := range []struct {
		bounds    *Evidence
		low, high float64
	}{{nil, 0, 0}, {&Evidence{Lower: -9, Upper: 500}, 0, 2}, {&Evidence{Lower: -7, Upper: -6.5, Tight: true}, 3, 3.5}} {
		k.bounds = c.bounds
		if low, high := k.slack(); low != c.low || high != c.high {
			t.Errorf("%+v: %v to %v, want %v to %v", c.bounds, low, high, c.low, c.high)
		}
	}
}

// Where errors are ignored the belief is that of the local ELBOs, and where they
// are integrated over that one is kept beside it. Both go through a checkpoint.
func TestErrorsSetting(t *testing.T) {
	data := trainingSeries(21, 60)
	s := quickSettings("collapsed")
	s.EvaluateEvery = 0.25
	differ := false
	s.Errors = "integrate"
	tr := trainerOn(t, 1, nil, data, s, "SE", "PER", "LIN", "PER+LIN")
	s.Errors = "ignore"
	plain := trainerOn(t, 1, nil, data, s, "SE", "PER", "LIN", "PER+LIN")
	for range 3 {
		e, p := next(t, tr), next(t, plain)
		for i := range e.Kernels {
			a, b := &e.Kernels[i], &p.Kernels[i]
			if b.Posterior != b.PointPosterior || b.Bayes != b.PointBayes || a.PointBayes != b.Bayes || a.ELBO != b.ELBO {
				t.Errorf("%s: q* %v and %v, Bayes' rule %v, %v and %v", a.ID, b.Posterior, b.PointPosterior, b.Bayes, b.PointBayes, a.PointBayes)
			}
			differ = differ || a.Posterior != a.PointPosterior
		}
	}
	if !differ {
		t.Error("no error has mattered")
	}
	s.Errors = "integrate"
	other := resumed(t, tr, s)
	same(t, "resumed", other, tr)
	next(t, other)
	next(t, tr)
	same(t, "resumed, and one further", other, tr)
	for name := range plain.Checkpoint() {
		if strings.HasSuffix(name, "/point") {
			t.Errorf("array %s where errors are ignored", name)
		}
	}
	// An older checkpoint has no history.
	arrays := copied(t, tr.Checkpoint())
	for name := range arrays {
		if strings.HasSuffix(name, "/past") || strings.HasSuffix(name, "/point") || strings.HasSuffix(name, "/tight") {
			delete(arrays, name)
		}
	}
	dev := onCPU(1)
	t.Cleanup(func() { dev.Close() })
	old, err := Resume(t.Context(), dev, data, candidates(t, "SE", "PER", "LIN", "PER+LIN"), []string{"x"}, s, arrays)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range old.Last().Kernels {
		if k.PointPosterior != k.Posterior {
			t.Errorf("%s: %v and %v", k.ID, k.PointPosterior, k.Posterior)
		}
	}
	if old.kernels[0].past != nil {
		t.Error("a history from nowhere")
	}
	arrays["kernel/0/past"] = Tensor{Shape: []int{8}, Data: []float64{1, 2, 3, 4, 1, 2, 3, 4}}
	if _, err := Resume(t.Context(), dev, data, candidates(t, "SE", "PER", "LIN", "PER+LIN"), []string{"x"}, s, arrays); err == nil ||
		!strings.Contains(err.Error(), "array kernel/0/past ends within an evaluation") {
		t.Errorf("a damaged history: %v", err)
	}
}

// Anchored on a kernel that is known exactly, estimates are right on average over
// subsamples of the rows, and their errors are as large as is said.
func TestAnchor(t *testing.T) {
	const n, rows, draws = 900, 90, 3000
	x, y, z := testData(35, n, 8, 1)
	b := newBench(t, x, y, z, 1, testSettings("natural", "point", 32), "SE+LIN", "SE", "PER")
	sub := []int{0, 1, 2}
	if err := b.exact(sub, b.rows(), sumSquares(y), nil); err != nil {
		t.Fatal(err)
	}
	all, err := b.estimate(sub, b.rows(), n, nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 5))
	var mean, square, said, plain [3]float64
	for range draws {
		at := rng.Perm(n)[:rows]
		estimated, outcomes := make([]outcome, 3), make([]outcome, 3)
		for k, e := range all {
			terms, sum := make([]float64, rows), 0.0
			for i, r := range at {
				terms[i] = e.Rows[r]
				sum += terms[i]
			}
			estimated[k] = outcome{ELBO: n*sum/rows - e.KL + e.LogPrior, Terms: terms}
			outcomes[k] = estimated[k]
			plain[k] += (estimated[k].ELBO - e.ELBO) * (estimated[k].ELBO - e.ELBO) / draws
		}
		outcomes[0] = outcome{ELBO: b.members[0].settled.elbo}
		anchor(outcomes, estimated, []int{1, 2}, 0)
		for k := range outcomes {
			off := outcomes[k].ELBO - all[k].ELBO
			se := belief.PairedSE(outcomes[k].Terms, outcomes[0].Terms, n)
			mean[k], square[k], said[k] = mean[k]+off/draws, square[k]+off*off/draws, said[k]+se*se/draws
		}
		// The gap of two estimates has their paired error, whatever they are anchored on.
		a, b := belief.PairedSE(outcomes[1].Terms, outcomes[2].Terms, n), belief.PairedSE(estimated[1].Terms, estimated[2].Terms, n)
		if math.Abs(a-b) > 1e-9*b {
			t.Fatalf("a gap has an error of %g, before %g", a, b)
		}
	}
	if math.Abs(mean[0]) > 1e-6 || said[0] != 0 {
		t.Errorf("the exact kernel is off by %g ± %g", mean[0], said[0])
	}
	for k := 1; k < 3; k++ {
		sd := math.Sqrt(square[k])
		if math.Abs(mean[k]) > 4*sd/math.Sqrt(draws) {
			t.Errorf("kernel %d is off by %g on average, an estimate by %g", k, mean[k], sd)
		}
		if ratio := math.Sqrt(said[k]) / sd; math.Abs(ratio-1) > 0.06 {
			t.Errorf("kernel %d: errors of %g where %g is said", k, sd, math.Sqrt(said[k]))
		}
	}
	if !(square[1] < plain[1]) {
		t.Errorf("errors of %g, without an anchor %g", math.Sqrt(square[1]), math.Sqrt(plain[1]))
	}
}

// A leader is sure of its place once one more evaluation of all data has left it
// there; before, the longer it has led the surer.
func TestOverturned(t *testing.T) {
	for _, c := range []struct {
		evaluation, rows, since int
		leader                  string
		want                    float64
	}{
		{1, 10, 0, "", 1. / 3},
		{5, 50, 5, "A", 1. / 3}, // asked again in the evaluation that made it the leader
		{5, 50, 4, "A", 1. / 4},
		{5, 50, 1, "A", 1. / 7},
		{5, 50, 1, "B", 1. / 3}, // another one leads now
		{10, 100, 9, "A", 0},
		{10, 100, 9, "B", 1. / 3},
		{1, 100, 0, "", 0}, // all data at once: nothing to go by
	} {
		tr := &Trainer{data: Training{Y: make([]float64, 100)}, evaluation: c.evaluation, rows: c.rows, led: c.leader, since: c.since}
		if got := tr.overturned("A"); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// While more inducing inputs are to come, whose bounds do not say where local ELBOs
// will go, a leader is not sure of its place.
func TestOverturnedByMoreInducingInputs(t *testing.T) {
	tight, open := &Evidence{Lower: -10, Upper: -9.5}, &Evidence{Lower: -10, Upper: 90}
	for _, c := range []struct {
		what     string
		inducing int
		bounds   *Evidence
		rung     int
		told     bool
		since    int
		want     float64
	}{
		{"open", 0, open, 0, false, 9, 1. / 3},
		{"open for long", 0, open, 0, false, 1, 1. / 3}, // all of it with as many
		{"not known", 0, nil, 0, false, 9, 1. / 3},
		{"a climb withstood", 0, open, 1, false, 1, 1. / 4},
		{"two climbs withstood", 0, open, 2, false, 1, 1. / 5},
		{"a leader since the last climb", 0, open, 2, false, 10, 1. / 3},
		{"a leader since the climb before", 0, open, 2, false, 9, 1. / 4},
		{"tight", 0, tight, 0, false, 9, 0},
		{"the last rung", 0, open, 3, false, 9, 0},
		{"no more are needed", 0, open, 0, true, 9, 0},
		{"a number is asked for", 32, open, 0, false, 9, 0},
	} {
		tr := &Trainer{data: Training{Y: make([]float64, 100)}, evaluation: 10, rows: 100, led: "A", since: c.since,
			settings: Settings{Inducing: c.inducing}, rungs: []int{32, 64, 80, 90}, rung: c.rung, told: c.told,
			kernels: []*kernel{{model: &model{id: "A"}, bounds: c.bounds}}}
		if got := tr.overturned("A"); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}
