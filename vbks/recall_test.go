package vbks

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"example.com/kestrel/internal/thorough"
)

// What has become of kernels that were left out is told by those that went on: of five at -100 to -140 the first is
// at -80 now, the second at -87, the third at -96; the fourth was left out on the second rung, when it had come
// from -130 to -126 and the first to -90, which has gained 10 since; the fifth is the one in question.
func TestMoved(t *testing.T) {
	s := quickSettings("natural")
	s.EvaluateEvery = 1
	tr := trainerOn(t, 1, nil, trainingSeries(5, 40), s, "SE", "PER", "RQ", "LIN", "MATERN12")
	next(t, tr)
	evaluate := func(elbos ...float64) {
		for i, v := range elbos {
			tr.kernels[i].elbo, tr.kernels[i].bounds, tr.kernels[i].volume, tr.kernels[i].rows = v, nil, 0, tr.rows
		}
		tr.leave()
		tr.evaluation++
	}
	out := func(i int) { tr.kernels[i].status, tr.kernels[i].left, tr.kernels[i].rows = Pruned, 128, 0 }
	check := func(what string, i int, from float64, by ...float64) {
		t.Helper()
		n := float64(len(by))
		mean := floats.Sum(by) / n
		sd := math.Max(1, stat.StdDev(by, nil)*math.Sqrt((1+1/n)*(n+1)/(n-1)))
		elbo, low, high, ok := tr.standing(tr.kernels[i])
		if got := tr.driftThen(tr.kernels[i]); !ok || math.Abs(elbo-from-mean) > 1e-12 || low != 0 || high != 0 || math.Abs(got-sd) > 1e-12 {
			t.Errorf("%s: %v ± %v (%v to %v), want %v ± %v", what, elbo, got, low, high, from+mean, sd)
		}
	}
	evaluate(-100, -110, -120, -130, -140)
	out(4)
	evaluate(-90, -98, -107, -126)
	out(3)
	for i, v := range []float64{-80, -87, -96} {
		tr.kernels[i].elbo = v
	}
	check("since the first evaluation", 4, -140, 20, 23, 24, 14)
	check("since the second", 3, -126, 10, 11, 11)
	// What came from a sample of the rows is in no movement, which the same rows have told; a checkpoint has it.
	moved := tr.driftThen(tr.kernels[3])
	tr.kernels[3].ends[1].sampled = 4
	if got := tr.driftThen(tr.kernels[3]); math.Abs(got-math.Hypot(moved, 4)) > 1e-12 {
		t.Errorf("with a sample's error of 4: %v, without %v", got, moved)
	}
	if got := tr.Checkpoint()["kernel/3/sampled"].Data; !slices.Equal(got, []float64{0, 4}) {
		t.Errorf("in the checkpoint: %v", got)
	}
	tr.kernels[3].ends[1].sampled = 0
	if got := tr.driftThen(tr.kernels[0]); got != 0 {
		t.Errorf("of a kernel that is compared: %v", got)
	}
	// One that has come back tells where it has come to itself.
	tr.kernels[3].status, tr.kernels[3].rows, tr.kernels[3].elbo = Live, tr.rows, -111
	check("with one that has come back", 4, -140, 20, 23, 24, 19)
	// Where only one has gone on the others stay as far behind it, and what seemed to move their gaps then is all that is known.
	for i := 1; i < 4; i++ {
		out(i)
		tr.kernels[i].ends = nil
	}
	tr.kernels[4].ends[0].drift = 2.5
	if elbo, _, _, ok := tr.standing(tr.kernels[4]); !ok || elbo != -120 || tr.driftThen(tr.kernels[4]) != 2.5 {
		t.Errorf("alone: %v ± %v", elbo, tr.driftThen(tr.kernels[4]))
	}
}

// Bounds of then, which are close for some kernels only, do not count in it. Those of now do: what was left out is where
// the middles of the others are.
func TestMovedWhateverBounds(t *testing.T) {
	s := quickSettings("natural")
	s.EvaluateEvery = 1
	tr := trainerOn(t, 1, nil, trainingSeries(5, 40), s, "SE", "PER", "RQ")
	next(t, tr)
	for i, b := range []*Evidence{{-100, -90, true}, nil, {-105, -103, true}} {
		tr.kernels[i].elbo, tr.kernels[i].bounds, tr.kernels[i].volume = []float64{-120, -110, -105}[i], b, 0
	}
	tr.leave()
	tr.evaluation++
	k := tr.kernels[2]
	k.status, k.left, k.rows = Pruned, 128, 0
	tr.kernels[0].elbo, tr.kernels[1].elbo = -92, -90
	tr.kernels[0].bounds = &Evidence{-92, -88, true} // moved by 28, its middle by 30
	if elbo, low, high, ok := tr.standing(k); !ok || elbo != -105+24 || low != 1 || high != 1 {
		t.Errorf("%v, %v to %v", elbo, elbo+low, elbo+high)
	}
}

// Where every step is of all rows a kernel that was left out is off by what seemed to move its gap then, but by no more than
// middles of what bounds allow have moved since, of those that went on, from one another.
func TestMovedNoFurther(t *testing.T) {
	s := quickSettings("collapsed")
	s.EvaluateEvery = 1
	tr := trainerOn(t, 1, nil, trainingSeries(5, 40), s, "SE", "PER", "RQ", "LIN")
	next(t, tr)
	for i, k := range tr.kernels {
		k.elbo, k.bounds, k.volume = -100, &Evidence{-100, []float64{-90, -96, -98, -94}[i], true}, 0 // middles -95, -98, -99, -97
	}
	tr.leave()
	tr.evaluation++
	out := tr.kernels[3]
	out.status, out.left, out.rows = Pruned, 128, 0
	for i, v := range []float64{-80, -87, -86} { // by 15, 11 and 13
		tr.kernels[i].elbo, tr.kernels[i].bounds = v, nil
	}
	for then, want := range map[float64]float64{40: 2 * math.Sqrt(4/3.*4/2), 1.5: 1.5} {
		if out.ends[0].drift = then; math.Abs(tr.driftThen(out)-want) > 1e-12 {
			t.Errorf("%v then: %v, want %v", then, tr.driftThen(out), want)
		}
	}
}

// ladder is a trainer of many rows, as its settings have it, before the last rung.
func ladder(t *testing.T) (tr *Trainer, s Settings, exprs []string, data Training) {
	t.Helper()
	data = roughSeries(51, 150)
	s = quickSettings("natural")
	s.Inducing, s.FirstInducing, s.MostInducing, s.EvaluateEvery, s.Refine, s.AllRows = 0, 8, 32, 1, 0, 10
	s.Errors, s.Windows = "integrate", false // which tell more than a place on a rung
	exprs = []string{"SE", "LIN", "PER", "PER+SE", "LIN+SE", "MATERN12", "RQ", "LIN+PER", "LIN*SE", "LIN+RQ", "PER*SE", "MATERN32"}
	tr = trainerOn(t, 2, nil, data, s, exprs...)
	for tr.evaluation < tr.Planned()-1 {
		next(t, tr)
	}
	return tr, s, exprs, data
}

// Where kernels that were left out have most of the belief in the end they are compared with as many inducing
// inputs as the others, which are not evaluated again. A run that is resumed before does the same, one that is
// stopped in it is where it was.
func TestLeftOutKernelsComeBack(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	tr, s, exprs, data := ladder(t)
	var favoured []string
	for _, k := range tr.kernels {
		if k.left > 0 && len(favoured) < 2 { // as far ahead as nothing may be
			end := &k.ends[len(k.ends)-1]
			end.elbo, end.middle = end.elbo+500, end.middle+500
			favoured = append(favoured, k.id)
		}
	}
	if len(favoured) < 2 {
		t.Fatalf("%d kernels were left out", len(favoured))
	}
	planned := tr.Planned()
	before := next(t, tr)
	if tr.Planned() != planned+1 || tr.Done() {
		t.Fatalf("%d evaluations planned, %d before", tr.Planned(), planned)
	}
	arrays := tr.Checkpoint()

	cutOff(t, tr, 3)
	if tr.kernels[slices.IndexFunc(tr.kernels, func(k *kernel) bool { return k.id == favoured[0] })].status != Pruned || tr.Done() {
		t.Error("what was cut off has left something")
	}

	after := next(t, tr)
	if !tr.Done() || after.Inducing != before.Inducing || after.Index != before.Index+1 {
		t.Errorf("evaluation %d of %d, M = %d, before %d", after.Index, tr.Planned(), after.Inducing, before.Inducing)
	}
	back := 0
	for i, k := range after.Kernels {
		was := before.Kernels[i]
		switch {
		case was.Status == Live && (k.Status != Live || k.ELBO != was.ELBO || !slices.Equal(k.Params, was.Params)):
			t.Errorf("%s has changed: %+v, before %+v", k.ID, k, was)
		case was.Status == Pruned && k.Status == Live:
			back++
			if !was.LeftOut || k.LeftOut || k.Rank == 0 || k.Evidence == nil {
				t.Errorf("%s has come back: %+v, before %+v", k.ID, k, was)
			}
		}
	}
	told := slices.ContainsFunc(after.Notices, func(n Notice) bool {
		return strings.Contains(n.Text, "brings back") && strings.Contains(n.Text, favoured[0]) && strings.Contains(n.Text, favoured[1])
	})
	if back < 2 || !told {
		t.Errorf("%d kernels have come back, told %v: %+v", back, told, after.Notices)
	}

	dev := onCPU(1)
	defer dev.Close()
	again, err := Resume(t.Context(), dev, data, candidates(t, exprs...), []string{"x"}, s, arrays)
	if err != nil {
		t.Fatal(err)
	}
	got := next(t, again)
	if again.Planned() != tr.Planned() || !again.Done() {
		t.Errorf("resumed: %d evaluations planned, %d before", again.Planned(), tr.Planned())
	}
	for i := range after.Kernels {
		a, b := after.Kernels[i], got.Kernels[i]
		if a.Status != b.Status || a.ELBO != b.ELBO || a.Posterior != b.Posterior {
			t.Errorf("%s: %+v, resumed %+v", a.ID, a, b)
		}
	}
	for i, k := range tr.kernels { // those that were not evaluated again have a history without a gap
		if k.status == Live && k.past[0].evaluation != tr.evaluation {
			t.Errorf("kernel %d was last heard of in evaluation %d", i, k.past[0].evaluation)
		}
	}
	// Further evaluations are of all that are compared.
	if err := tr.Reoptimize(Change{Rounds: 1}); err != nil {
		t.Fatal(err)
	}
	if e := next(t, tr); e.Inducing != after.Inducing || !tr.Done() {
		t.Errorf("evaluation %d with %d inducing inputs", e.Index, e.Inducing)
	}
	for i, k := range tr.kernels {
		if k.status == Live && !k.current(tr.rows) || k.status == Live && len(k.past) > 1 && k.past[0].evaluation != tr.evaluation {
			t.Errorf("kernel %d was not evaluated", i)
		}
	}
}

// What has been planned for kernels that were left out is not made where they have gone meanwhile, by order or because
// a further evaluation has moved the belief; where they have not it comes after that.
func TestLeftOutKernelsThatAreGone(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	for _, c := range []struct {
		what  string
		order func(tr *Trainer, out []string) error
		more  int // evaluations
	}{
		{"pruned", func(tr *Trainer, out []string) error {
			if _, err := tr.Restore(out); err != nil {
				return err
			}
			_, err := tr.Prune(out)
			return err
		}, 0},
		{"far behind after a further evaluation", func(tr *Trainer, _ []string) error {
			for _, k := range tr.kernels {
				for i := range k.ends {
					if k.left > 0 {
						k.ends[i].elbo -= 1e6
					}
				}
			}
			return tr.Reoptimize(Change{Rounds: 1})
		}, 1},
		{"still ahead after one", func(tr *Trainer, _ []string) error { return tr.Reoptimize(Change{Rounds: 1}) }, 2},
		{"ladder ended by order", func(tr *Trainer, _ []string) error { return tr.Reoptimize(Change{Inducing: 32, Rounds: 1}) }, 1},
	} {
		tr, _, _, _ := ladder(t)
		var out []string
		for _, k := range tr.kernels {
			if k.left > 0 {
				end := &k.ends[len(k.ends)-1]
				end.elbo += 500
				out = append(out, k.id)
			}
		}
		planned := tr.Planned()
		if next(t, tr); tr.Planned() != planned+1 {
			t.Fatalf("%s: nothing is planned", c.what)
		}
		for _, k := range tr.kernels {
			if k.left > 0 && !slices.Contains(out, k.id) { // with the last climb
				out = append(out, k.id)
			}
		}
		if err := c.order(tr, out); err != nil {
			t.Fatal(err)
		}
		made := 0
		for ; !tr.Done() && made < 5; made++ {
			next(t, tr)
		}
		if made != c.more || !tr.Done() {
			t.Errorf("%s: %d evaluations more, want %d", c.what, made, c.more)
		}
	}
}

// Where those that are compared have most of the belief none comes back.
func TestLeftOutKernelsStayOut(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	tr, _, _, _ := ladder(t)
	for _, k := range tr.kernels {
		if k.left > 0 {
			end := &k.ends[len(k.ends)-1]
			end.elbo, end.middle = end.elbo-1e6, end.middle-1e6
		}
	}
	planned := tr.Planned()
	if next(t, tr); tr.Planned() != planned || !tr.Done() {
		t.Errorf("%d evaluations planned, %d before", tr.Planned(), planned)
	}
}
