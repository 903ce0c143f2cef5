package vbks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/kestrel/internal/thorough"
)

// Rungs rise to all rows where these are few, and end where work does; a number
// that is asked for is the only one.
func TestRungs(t *testing.T) {
	for _, c := range []struct {
		inducing, most, n int
		want              []int
	}{
		{0, 0, 30, []int{30}},
		{0, 0, 130, []int{64, 130}},
		{0, 0, 300, []int{64, 300}},
		{0, 0, 321, []int{64, 128, 321}},
		{0, 0, 1000, []int{64, 128, 256, 1000}},
		{0, 200, 1000, []int{64, 128, 200}},
		{0, 40, 1000, []int{40}},
		{0, 0, 200_000, []int{64, 128}},
		{0, 0, 2_000, []int{64, 128, 256, 512, 2000}},
		{0, 0, 1_000_000, []int{64}},
		{77, 50, 1000, []int{77}},
		{77, 0, 30, []int{30}},
	} {
		if got := (Settings{Inducing: c.inducing, MostInducing: c.most}).Rungs(c.n, fewKernels); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if got := (Settings{}).Rungs(200, fewKernels+1); !slices.Equal(got, []int{32, 64, 200}) {
		t.Errorf("many kernels: %v", got)
	}
	if got := (Settings{FirstInducing: 20}).Rungs(60, fewKernels+1); !slices.Equal(got, []int{20, 60}) {
		t.Errorf("from 20 on: %v", got)
	}
}

// Natural gradients climb as far as what they do there is affordable, by a count of
// its own: tuning on 20 rows for each inducing input, perhaps as long again, and a pass
// over all rows. Where that is much it is for two kernels. Fewer kernels climb further, more rows not; of ten kernels that are left
// of many none is left out where that is little beside the first rung.
func TestRungsOfManyRows(t *testing.T) {
	s := DefaultSettings()
	s.Optimizer = "natural"
	last := func(s Settings, n, kernels int) int {
		rungs := s.Rungs(n, kernels)
		return rungs[len(rungs)-1]
	}
	for _, c := range []struct {
		n, kernels int
		want       []int
	}{
		{1_000_000, 1, []int{64, 128, 256, 512}},
		{5_000_000, 1, []int{64, 128, 256, 512}},
		{190_336, 144, []int{32, 64, 128, 256, 512}},
		{15_000, 12, []int{64, 128, 256, 512}},
	} {
		if got := s.Rungs(c.n, c.kernels); !slices.Equal(got, c.want) {
			t.Errorf("%d kernels, %d rows: %v", c.kernels, c.n, got)
		}
	}
	work := func(n, kernels, m int) (least, most float64) {
		tuned := 4.5 * 40 * float64(min(n, 20*m)*kernels) // L-BFGS: 1.5 gradients of three passes an iteration
		row := float64(m * (m + 200))
		least = (tuned + math.Min(float64(n*kernels), 2e7)) * row
		return least, least + math.Max(tuned*row, 4.5*10*tunedWork*3) + 2e7*row // with further stages
	}
	for _, kernels := range []int{1, 3, 12, 144} {
		before := math.MaxInt
		for _, n := range []int{20_000, 200_000, 1_000_000, 5_000_000, 20_000_000} {
			m, left := last(s, n, kernels), kernels
			if m > before || m > last(s, n, 1) {
				t.Errorf("%d kernels, %d rows: %d inducing inputs, with fewer rows %d, for one kernel %d", kernels, n, m, before, last(s, n, 1))
			}
			before = m
			for _, m := range s.Rungs(n, kernels)[1:] {
				stay := s.RungKernels(n, kernels, left, m)
				least, _ := work(n, stay, m)
				if _, more := work(n, stay+1, m); stay < min(left, 3) && more < paidRungWork {
					t.Errorf("%d rows, M = %d: %d kernels of %d, where one more takes %.2g", n, m, stay, left, more)
				}
				if least > mostRungWork || stay > left || stay < min(left, 2) {
					t.Errorf("%d rows, M = %d: %d kernels of %d, work %.2g", n, m, stay, left, least)
				}
				left = stay
			}
			if _, next := work(n, s.RungKernels(n, kernels, left, 2*m), 2*m); 2*m < n && next < mostRungWork {
				t.Errorf("%d kernels, %d rows: %d inducing inputs would take %.2g only", kernels, n, 2*m, next)
			}
		}
	}
	for m, want := range map[int][2]int{64: {10, 10}, 128: {10, 10}, 256: {3, 8}, 512: {2, 3}} {
		if got := s.RungKernels(190_336, 144, 10, m); got < want[0] || got > want[1] {
			t.Errorf("M = %d: %d of 10 kernels", m, got)
		}
	}
	// Room or MostInducing just below a rung do not take it away where it is out of reach.
	for _, most := range []int{512, 600, 700, 1000} {
		s.MostInducing = most
		if got := last(s, 5_000_000, 1); got < 512 || got > most {
			t.Errorf("at most %d: %d", most, got)
		}
	}
}

// roughSeries is a random walk, which few inducing inputs do not follow.
func roughSeries(seed uint64, n int) Training {
	rng := rand.New(rand.NewPCG(seed, 3))
	d := Training{Dim: 1}
	level := 0.0
	for i := range n {
		level += rng.NormFloat64()
		d.X, d.Y = append(d.X, 4*float64(i)/float64(n)-2), append(d.Y, level)
	}
	return d
}

// The kernels of later rungs are fewer, their bounds closer, and the run ends when
// more inducing inputs could change nothing.
func TestClimbing(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	data := roughSeries(51, 150)
	s := quickSettings("collapsed")
	s.Inducing, s.EvaluateEvery, s.Refine = 0, 0.5, 0
	tr := trainerOn(t, 2, nil, data, s, "SE", "LIN", "PER", "PER+SE", "LIN+SE", "MATERN12", "RQ", "LIN+PER")
	if got := tr.Planned(); got != 3 {
		t.Fatalf("%d evaluations planned", got)
	}
	var all []Evaluation
	for !tr.Done() {
		all = append(all, *next(t, tr))
	}
	last := all[len(all)-1]
	if len(all) != tr.Planned() || last.Inducing != 150 || all[1].Inducing != 64 {
		t.Fatalf("%d of %d evaluations, with %d and %d inducing inputs", len(all), tr.Planned(), all[1].Inducing, last.Inducing)
	}
	live := 0
	for i, k := range last.Kernels {
		if k.Status != Live {
			continue
		}
		live++
		if k.Evidence == nil || k.Evidence.Slack() > all[1].Kernels[i].Evidence.Slack()+0.1 || k.Evidence.Slack() > settledNats {
			t.Errorf("%s: slack %+v, before %+v", k.ID, k.Evidence, all[1].Kernels[i].Evidence)
		}
	}
	if live < 2 || live > 6 {
		t.Errorf("%d finalists", live)
	}
}

// cutOff stops a trainer in its next evaluation, after so many of its steps.
func cutOff(t *testing.T, tr *Trainer, after int32) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var steps atomic.Int32
	tr.SetGate(func(context.Context) error {
		if steps.Add(1) == after {
			cancel()
		}
		return nil
	})
	if _, err := tr.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	tr.SetGate(nil)
}

// A climb that is interrupted leaves the trainer as it was, and a trainer that is
// resumed between rungs goes on alike.
func TestClimbingIsUndone(t *testing.T) {
	thorough.AnyInstructions(t)
	data := roughSeries(51, 150)
	s := quickSettings("collapsed")
	s.Inducing, s.EvaluateEvery, s.Refine = 0, 1, 0
	exprs := []string{"SE", "LIN", "PER", "PER+SE", "MATERN12", "RQ"}
	tr := trainerOn(t, 2, nil, data, s, exprs...)
	next(t, tr)
	if tr.told {
		t.Fatal("settled on the first rung")
	}
	arrays := tr.Checkpoint()
	cutOff(t, tr, 20)
	if tr.m != 64 || tr.rung != 0 || tr.evaluation != 1 {
		t.Fatalf("M = %d on rung %d after %d evaluations", tr.m, tr.rung, tr.evaluation)
	}
	want := next(t, tr)
	dev := onCPU(2)
	defer dev.Close()
	again, err := Resume(t.Context(), dev, data, candidates(t, exprs...), []string{"x"}, s, arrays)
	if err != nil {
		t.Fatal(err)
	}
	got := next(t, again)
	for i := range want.Kernels {
		a, b := want.Kernels[i], got.Kernels[i]
		if a.Status != b.Status || a.ELBO != b.ELBO || a.Posterior != b.Posterior {
			t.Errorf("%s: %+v, resumed %+v", a.ID, a, b)
		}
	}
	if got.Inducing != 150 || got.Index != 2 {
		t.Errorf("evaluation %d with %d inducing inputs", got.Index, got.Inducing)
	}
}

// A kernel that is alone climbs while its evidence is open by more than a nat, and
// no further.
func TestClimbingAlone(t *testing.T) {
	thorough.Unraced(t)
	s := quickSettings("collapsed")
	s.Inducing, s.EvaluateEvery, s.Refine = 0, 1, 0
	for _, c := range []struct {
		what   string
		data   Training
		kernel string
		want   int
	}{{"rough", roughSeries(51, 150), "MATERN12", 2}, {"smooth", trainingSeries(5, 150), "SE", 1}} {
		tr := trainerOn(t, 1, nil, c.data, s, c.kernel)
		if got := train(t, tr); len(got) != c.want || tr.Planned() != c.want {
			t.Errorf("%s: %d evaluations, %d planned, want %d; evidence %+v", c.what, len(got), tr.Planned(), c.want,
				got[len(got)-1].Kernels[0].Evidence)
		}
	}
}

// Of few rows all kernels are compared with the second number of inducing inputs, too,
// even where bounds at what the first one has found say no more; of more rows a part.
func TestSecondRungOfFewRows(t *testing.T) {
	thorough.AnyInstructions(t)
	data := roughSeries(51, 150)
	for _, c := range []struct{ most, live int }{{150, 6}, {149, 3}} {
		s := quickSettings("collapsed")
		s.Inducing, s.FirstInducing, s.MostInducing, s.EvaluateEvery, s.Refine, s.AllRows = 0, 16, 64, 1, 0, c.most
		tr := trainerOn(t, 2, nil, data, s, "SE", "LIN", "PER", "LIN+SE", "MATERN12", "RQ")
		next(t, tr)
		e := next(t, tr)
		live := 0
		for _, k := range e.Kernels {
			if k.Status == Live {
				live++
			}
		}
		if live < c.live || c.most < 150 && live == 6 || e.Inducing != 32 {
			t.Errorf("of up to %d rows: %d kernels with %d inducing inputs", c.most, live, e.Inducing)
		}
	}
	smooth := quickSettings("collapsed")
	smooth.Inducing, smooth.EvaluateEvery, smooth.Refine = 0, 1, 0
	for most, want := range map[int]int{0: 1, 150: 2} {
		smooth.AllRows = most
		if got := train(t, trainerOn(t, 2, nil, trainingSeries(5, 150), smooth, "SE", "LIN+SE")); len(got) != want {
			t.Errorf("smooth, of up to %d rows: %d evaluations, want %d", most, len(got), want)
		}
	}
}

// Adam, whose evaluations end without bounds and where its steps do, does not climb.
func TestAdamDoesNotClimb(t *testing.T) {
	for optimizer, want := range map[string]int{"collapsed": 2, "natural": 3, "adam": 1} {
		s := quickSettings(optimizer)
		s.Inducing = 0
		if got := s.Rungs(300, 3); len(got) != want {
			t.Errorf("%s: %v", optimizer, got)
		}
	}
}

// Repeated inputs are few: where Z has them all no more are asked for.
func TestClimbingEndsAtDistinctInputs(t *testing.T) {
	data := roughSeries(51, 300)
	for i := range data.X {
		data.X[i] = data.X[i/10*10]
	}
	s := quickSettings("natural")
	s.Inducing, s.EvaluateEvery, s.Refine, s.Hyperparameters = 0, 1, 0, "diagonal"
	tr := trainerOn(t, 1, nil, data, s, "SE", "LIN")
	if got := train(t, tr); len(got) != 1 || got[0].Inducing != 30 {
		t.Errorf("%d evaluations, the last with %d inducing inputs", len(got), got[len(got)-1].Inducing)
	}
}

// climber is a trainer on its first of rungs first, 2 first and 165 or, since natural gradients take less to be
// content, 245.
func climber(t *testing.T, optimizer string) (tr *Trainer, s Settings, first int) {
	t.Helper()
	first, rows := 32, 165
	if optimizer == "natural" {
		first, rows = 48, 245
	}
	s = quickSettings(optimizer)
	s.Inducing, s.FirstInducing, s.EvaluateEvery, s.Refine, s.Starts, s.Steps, s.Transplants = 0, first, 1, 0, 1, 10, false
	s.PredictTheta = modeTheta // draws take longer than all the rest, and are those of any run
	tr = trainerOn(t, 2, nil, roughSeries(51, rows), s, "SE", "LIN", "PER", "LIN+SE", "MATERN12", "RQ")
	next(t, tr)
	return tr, s, first
}

// What the user does between rungs: prune, restore, ask for more or for another
// number of inducing inputs. Resumed at any moment a trainer goes on alike.
func TestOrdersBetweenRungs(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	t.Parallel()
	for _, optimizer := range []string{"collapsed", "natural"} {
		tr, s, first := climber(t, optimizer)
		if tr.told || tr.Planned() != 3 {
			t.Fatalf("%s: told %v, %d planned", optimizer, tr.told, tr.Planned())
		}
		other := resumed(t, tr, s)
		both := func(what string, f func(x *Trainer)) {
			t.Helper()
			f(tr)
			f(other)
			same(t, optimizer+" "+what, other, tr)
			other = resumed(t, tr, s)
			same(t, optimizer+" resumed "+what, other, tr)
		}
		both("pruned", func(x *Trainer) {
			if _, err := x.Prune([]string{"LIN"}); err != nil {
				t.Fatal(err)
			}
			if x.Last().Inducing != first {
				t.Errorf("an evaluation with %d inducing inputs has %d after pruning", first, x.Last().Inducing)
			}
		})
		both("on the second rung", func(x *Trainer) { next(t, x) })
		if tr.m != 2*first || tr.Last().Inducing != 2*first {
			t.Fatalf("%s: %d inducing inputs", optimizer, tr.m)
		}
		var out, gone []string
		for _, k := range tr.Last().Kernels {
			if k.Status == Pruned && k.Reason != ByRequest {
				out = append(out, k.ID)
			} else if k.Status == Pruned {
				gone = append(gone, k.ID)
			}
		}
		if len(out) == 0 || !slices.Equal(gone, []string{"LIN"}) {
			t.Fatalf("%s: left out %q, pruned %q", optimizer, out, gone)
		}
		// Those that were left out are not compared by what fewer inducing inputs say,
		// and take part in the next evaluation whoever is the best.
		both("restored", func(x *Trainer) {
			e, err := x.Restore(out[:1])
			if err != nil {
				t.Fatal(err)
			}
			if i := slices.IndexFunc(e.Kernels, func(k KernelResult) bool { return k.ID == out[0] }); e.Kernels[i].Status != Pruned {
				t.Errorf("%s: %+v is compared", optimizer, e.Kernels[i])
			}
		})
		both("on the last rung", func(x *Trainer) { next(t, x) })
		last := tr.Last()
		if i := slices.IndexFunc(last.Kernels, func(k KernelResult) bool { return k.ID == out[0] }); last.Kernels[i].Status != Live ||
			last.Inducing != len(tr.data.Y) || !tr.Done() {
			t.Errorf("%s: %+v with %d inducing inputs, done %v", optimizer, last.Kernels[i], last.Inducing, tr.Done())
		}
		for _, c := range []struct {
			change Change
			want   int
		}{{Change{Inducing: 50, Rounds: 2}, 50}, {Change{Rounds: 1}, 50}, {Change{}, 50}} {
			both("re-optimised", func(x *Trainer) {
				if err := x.Reoptimize(c.change); err != nil {
					t.Fatal(err)
				}
			})
			if want := max(1, c.change.Rounds); tr.Planned()-tr.evaluation != want {
				t.Errorf("%s, %+v: %d further evaluations, want %d", optimizer, c.change, tr.Planned()-tr.evaluation, want)
			}
			for !tr.Done() {
				both("after re-optimising", func(x *Trainer) { next(t, x) })
			}
			if got := tr.Last().Inducing; got != c.want {
				t.Errorf("%s, %+v: %d inducing inputs", optimizer, c.change, got)
			}
		}
	}
}

// More evaluations asked for in the midst are made on the rung that the run is on,
// and the further rungs follow; a number ends them.
func TestReoptimisingBetweenRungs(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	t.Parallel()
	for _, c := range []struct {
		change Change
		want   []int
	}{
		{Change{}, []int{64, 165}}, // one is to come in any case
		{Change{Rounds: 1}, []int{32, 64, 165}},
		{Change{Rounds: 2, Inducing: 45}, []int{45, 45}},
		{Change{Inducing: 32}, []int{32}},
	} {
		tr, _, _ := climber(t, "collapsed")
		if err := tr.Reoptimize(c.change); err != nil {
			t.Fatal(err)
		}
		var got []int
		for !tr.Done() {
			got = append(got, next(t, tr).Inducing)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.change, got, c.want)
		}
	}
}

// Where there is memory for so many inducing inputs there are no rungs above.
func TestRungsEndWithMemory(t *testing.T) {
	all := []int{64, 128, 256, 1000}
	for room, want := range map[int][]int{0: all, 300: {64, 128, 300}, 5000: all, 64: {64}, 9: {9}} {
		if got := (Settings{Room: room}).Rungs(1000, 3); !slices.Equal(got, want) {
			t.Errorf("room for %d: %v, want %v", room, got, want)
		}
	}
	if got := (Settings{Room: 300, MostInducing: 100}).Rungs(1000, 3); !slices.Equal(got, []int{64, 100}) {
		t.Errorf("%v", got)
	}
	if got := (Settings{Room: 10, Inducing: 77}).Rungs(1000, 3); !slices.Equal(got, []int{77}) {
		t.Errorf("a number that is stated: %v", got)
	}
}

// Where there is room for few inducing inputs, which show little of a rough function, or no time for more, the run
// ends with the names of the kernels that these do not tell apart: those whose bounds reach the leader's, itself among them.
func TestWhatIsNotToldApartIsSaid(t *testing.T) {
	for name, limit := range map[string]func(s *Settings){
		"room": func(s *Settings) { s.Room = 12 },
		"time": func(s *Settings) { s.FirstInducing, s.MostSeconds = 12, 1e-6 },
	} {
		s := quickSettings("collapsed")
		s.Inducing, s.EvaluateEvery, s.Refine, s.Starts, s.Steps, s.Transplants = 0, 1, 0, 1, 3, false
		limit(&s)
		tr := trainerOn(t, 2, nil, roughSeries(51, 330), s, "SE", "LIN", "PER", "LIN+SE", "MATERN12", "RQ", "LIN+MATERN12")
		for !tr.Done() {
			next(t, tr)
		}
		e := tr.Last()
		best := e.Kernels[e.Leader()].Evidence.Lower
		var open []string
		for i := range e.Kernels {
			if k := &e.Kernels[i]; k.Status == Live && k.Evidence.Upper > best {
				open = append(open, k.ID)
			}
		}
		if len(open) < 2 || len(open) > fewNames {
			t.Fatalf("%s: %q are open", name, open)
		}
		want := fmt.Sprintf("12 inducing inputs do not tell these %d kernels apart: %s", len(open), strings.Join(open, ", "))
		if !slices.ContainsFunc(e.Notices, func(n Notice) bool { return n.Text == want }) {
			t.Errorf("%s: %+v, want %q", name, e.Notices, want)
		}
		// Nor is it kept to itself that its leader's period is longer than what was seen of it.
		leader := &e.Kernels[e.Leader()]
		if !slices.Contains(leader.Flags, PeriodOnce) {
			t.Fatalf("%s: the period of %s has been seen twice: %+v", name, leader.ID, leader.Params)
		}
		said := Notice{Text: leader.ID + " has a period seen less than twice", Kernel: leader.ID}
		if !slices.Contains(e.Notices, said) {
			t.Errorf("%s: %+v, want %+v", name, e.Notices, said)
		}
	}
}

// A rung that would take longer than there is time is not begun, and what it would
// have taken is told; a resumed trainer knows that, and what was spent.
func TestClimbingEndsInTime(t *testing.T) {
	thorough.AnyInstructions(t)
	s := quickSettings("collapsed")
	s.Inducing, s.EvaluateEvery, s.Refine, s.Starts, s.Steps, s.Transplants = 0, 1, 0, 1, 3, false
	exprs := []string{"SE", "LIN", "PER", "LIN+SE", "MATERN12", "RQ"}
	trainer := func(most float64) *Trainer {
		s.MostSeconds = most
		tr := trainerOn(t, 2, nil, roughSeries(51, 330), s, exprs...)
		next(t, tr)
		return tr
	}
	tr := trainer(1e-6)
	texts := tr.Last().Notices
	if !tr.Done() || len(texts) == 0 || !strings.Contains(texts[len(texts)-1].Text, " s more, sparse.most_seconds = 1e-06 leaves 0") {
		t.Errorf("done %v: %+v", tr.Done(), texts)
	}
	same(t, "ended", resumed(t, tr, s), tr)

	tr = trainer(60)
	if tr.Done() || tr.told {
		t.Fatal("a minute is too little")
	}
	if other := resumed(t, tr, s); math.Abs((other.spent-tr.spent).Seconds()) > 1e-6 || other.Planned() != 3 {
		t.Errorf("%v spent, resumed %v; %d planned", tr.spent, other.spent, other.Planned())
	}
	stay := len(tr.finalists())
	e := *tr.Last()
	e.Notices, tr.spent = nil, 48*time.Second
	tr.limit(&e, time.Duration(6*float64(12*time.Second)/4/float64(stay)))
	if tr.told || e.Notices != nil {
		t.Errorf("12 s are left, 12 s needed: %+v", e.Notices)
	}
	tr.limit(&e, time.Duration(6*float64(40*time.Second)/4/float64(stay)))
	want := fmt.Sprintf("128 inducing inputs for %d kernels would take about 40 s more, sparse.most_seconds = 60 leaves 12", stay)
	if !tr.told || len(e.Notices) != 1 || e.Notices[0].Text != want {
		t.Errorf("%+v, want %q", e.Notices, want)
	}
}

// A run that has climbed further than this machine has memory for goes on where it
// is, and ends there.
func TestClimbedBeyondMemory(t *testing.T) {
	thorough.AnyInstructions(t)
	tr, s, _ := climber(t, "collapsed")
	next(t, tr)
	s.Room = 50
	other := resumed(t, tr, s)
	if other.m != 64 || !other.Done() || other.Planned() != 2 {
		t.Errorf("%d inducing inputs, done %v, %d planned", other.m, other.Done(), other.Planned())
	}
}

// A function that no few inducing inputs resolve looks like noise to all of them, and tight
// bounds at such a solution say nothing about it. Neighbouring rows tell: all of them come
// next, and the kernel with a part for it is found; not where the noise is noise.
func TestNoiseThatIsAFunction(t *testing.T) {
	const n, length = 160, 0.05
	smooth, both := smoothAndRough(t, n, length)
	s := quickSettings("collapsed")
	s.Inducing, s.FirstInducing, s.MostInducing, s.Refine, s.AllRows, s.Steps, s.Starts = 0, 8, 1000, 0, 1000, 30, 6
	space := []string{"SE", "SE+SE"}
	for _, c := range []struct {
		name  string
		d     Training
		early bool
	}{{"rough", both, true}, {"noise", smooth, false}} {
		tr := trainerOn(t, 1, nil, c.d, s, space...)
		for !tr.Done() {
			var again *Trainer
			if c.early && tr.evaluation > 0 {
				again = resumed(t, tr, s)
			}
			next(t, tr)
			if again != nil && tr.rough > 0 {
				next(t, again)
				if !reflect.DeepEqual(again.Checkpoint(), tr.Checkpoint()) {
					t.Errorf("%s: resumed before evaluation %d, it goes another way", c.name, tr.evaluation)
				}
			}
		}
		if early := tr.rough > 0; early != c.early {
			t.Errorf("%s: all rows came early: %v; rungs %v, ended with %d", c.name, early, tr.rungs, tr.m)
		}
		if !c.early {
			continue
		}
		if tr.m != n || slices.Contains(tr.rungs, 64) {
			t.Errorf("%s: ended with M = %d, rungs %v", c.name, tr.m, tr.rungs)
		}
		two := &tr.last.Kernels[1]
		shortest := math.Inf(1)
		for _, p := range two.Params {
			if p.Name == "lengthscale" {
				shortest = math.Min(shortest, p.Value)
			}
		}
		if shortest < length/2 || shortest > 2*length || two.Noise > 0.05 {
			t.Errorf("%s: shortest length %.3g, noise %.3g, of %g and 0.0025", c.name, shortest, two.Noise, length)
		}
	}
}
