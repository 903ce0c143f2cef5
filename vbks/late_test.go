package vbks

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
)

// What is said of the kernels that there are says nothing of those that would come: a space that has such does not grow
// by order either, and is as it was.
func TestGrowthByOrderRefused(t *testing.T) {
	t.Parallel()
	s := growingSettings("collapsed")
	s.Growth.On, s.Starts = false, 1
	for want, say := range map[string]func(*Candidate){
		"weights": func(c *Candidate) { c.Weight = 2 },
		"stated":  func(c *Candidate) { c.Known = make([]kernelspace.Known, 3) },
	} {
		space := candidates(t, "SE", "LIN")
		say(&space[0])
		dev := onCPU(1)
		defer dev.Close()
		tr, err := New(t.Context(), dev, trainingSeries(1, 30), space, []string{"x"}, s)
		if err != nil {
			t.Fatal(err)
		}
		next(t, tr)
		if err := tr.Reoptimize(Change{Grow: GrowOn, Steps: 77, Inducing: 5}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		if tr.settings.Steps == 77 || tr.m == 5 {
			t.Errorf("%s: half of what was refused is done", want)
		}
		for _, e := range train(t, tr) {
			if e.Front != nil || len(e.Entered) > 0 {
				t.Errorf("%s: evaluation %d of a space that grows", want, e.Index)
			}
		}
	}
}

// An order to grow of which another part does not fit changes nothing.
func TestGrowthByOrderUndone(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	s := growingSettings("collapsed")
	s.Growth.On, s.Starts, s.Evidence, s.Priors = false, 1, autoEvidence, seriesPriors
	data := trainingSeries(4, 60)
	tr, plain := trainerOn(t, 1, narrow(10*chunkRows), data, s, growingFrom...), trainerOn(t, 1, nil, data, s, growingFrom...)
	next(t, tr)
	next(t, plain)
	if err := tr.Reoptimize(Change{Grow: GrowOn, Steps: 77, Inducing: 24}); !errors.Is(err, device.ErrOutOfMemory) {
		t.Fatalf("error %v", err)
	}
	if got, want := tr.settings, plain.settings; !reflect.DeepEqual(got, want) {
		t.Errorf("settings are %+v, were %+v", got, want)
	}
	for i, k := range tr.kernels {
		if k.logPrior != plain.kernels[i].logPrior {
			t.Errorf("%s has another prior", k.id)
		}
	}
	for !plain.Done() {
		if got, want := next(t, tr), next(t, plain); !reflect.DeepEqual(got, want) {
			t.Fatalf("evaluation %d is another one after the refusal", want.Index)
		}
	}
}

// Evidence of series is a density at the mode, and integrated from the order to grow on, as it is where the space grows
// from the beginning, also where the run is taken up again.
func TestGrowthByOrderIntegrates(t *testing.T) {
	t.Parallel()
	s := growingSettings("collapsed")
	s.Growth.On, s.Growth.Leaves, s.Starts, s.Evidence, s.Priors = false, 2, 1, autoEvidence, seriesPriors
	tr := trainerOn(t, 1, nil, trainingSeries(1, 60), s, growingFrom...)
	volumes := func() (some bool) {
		for _, k := range tr.kernels {
			some = some || k.volume != 0
		}
		return some
	}
	train(t, tr)
	if tr.settings.Evidence != modeEvidence || volumes() {
		t.Fatalf("evidence is %q, volumes %v", tr.settings.Evidence, volumes())
	}
	if err := tr.Reoptimize(Change{Grow: GrowOn}); err != nil {
		t.Fatal(err)
	}
	tr = resumedGrowing(t, tr, s)
	next(t, tr)
	for _, k := range tr.kernels { // of series, and of what is integrated
		if len(k.past) > 1 {
			t.Errorf("%s: evidence before the order, %v, and after it is compared", k.id, k.past)
		}
	}
	train(t, tr)
	if tr.settings.Evidence != drawsEvidence || !volumes() {
		t.Errorf("evidence is %q, volumes %v of a space that grows", tr.settings.Evidence, volumes())
	}
	tr = resumedGrowing(t, tr, s)
	if tr.settings.Evidence != drawsEvidence || !volumes() {
		t.Errorf("evidence is %q, volumes %v of a run that is taken up again", tr.settings.Evidence, volumes())
	}
}

// Who is pruned for too little belief leaves a growing space, and memory with it.
func TestPrunedLeaveGrowth(t *testing.T) {
	t.Parallel()
	s := growingSettings("collapsed")
	s.Starts, s.Growth.Leaves, s.EvaluateEvery = 1, 2, .25
	s.AutoPruneMass, s.AutoPruneWait, s.AutoPruneKeep = .2, 1, 1
	tr := trainerOn(t, 1, nil, trainingSeries(1, 60), s, growingFrom...)
	pruned, gone := map[string]bool{}, 0
	for _, e := range train(t, tr) {
		for _, id := range e.Left {
			if pruned[id] {
				gone++
			}
		}
		for i := range e.Kernels {
			if k := &e.Kernels[i]; k.Status == Pruned && k.Reason == byBelief {
				pruned[k.ID] = true
			}
		}
		if len(e.Kernels) > s.Growth.Live {
			t.Errorf("evaluation %d has %d kernels of at most %d", e.Index, len(e.Kernels), s.Growth.Live)
		}
	}
	if len(pruned) == 0 || gone == 0 {
		t.Errorf("%d were pruned, %d of them have left", len(pruned), gone)
	}
}

// Of all rows kernels that come late are searched for as closely as others are in the end; before, and where there are
// many rows and few inducing inputs, they are not.
func TestLateKernelsAreSearchedClosely(t *testing.T) {
	t.Parallel()
	for _, few := range []bool{true, false} {
		s := growingSettings("collapsed")
		s.Starts, s.Growth.Leaves = 1, 3
		if few {
			s.AllRows = 60
		}
		tr := trainerOn(t, 1, nil, trainingSeries(1, 60), s, growingFrom...)
		closely := 0
		tr.crew = crewFunc(func(ctx context.Context, p *Phase) error {
			if o := p.order; o.Phase == phaseSearch && !o.Resumed && tr.growing() && len(p.tasks) > 0 {
				late := !slices.ContainsFunc(p.tasks, func(k task) bool { return k.Last != nil })
				if all := few && o.Rows == 60 && late; all && o.Thorough != o.Late || o.Late && !all || o.Part != nil {
					t.Errorf("few %v, evaluation %d: late %v, thorough %v", few, o.Number, o.Late, o.Thorough)
				}
				if o.Late {
					closely++
				}
				for _, task := range p.tasks {
					if o.Late && task.Known.Best.X == nil {
						t.Errorf("%s is searched for closely from nowhere", tr.kernels[task.Kernel].id)
					}
				}
			}
			return lanes{}.Each(ctx, p)
		})
		train(t, tr)
		if few != (closely > 1) {
			t.Errorf("few %v: searched for closely %d times", few, closely)
		}
	}
}

// A space grows over the columns of a table, a leaf moving from one to another and a constant being one on all of them, and by
// change points, until no neighbour is left; taken up again half-way it goes the same way.
func TestSpaceGrowsOfEveryKind(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	table := Training{Dim: 2}
	rng := rand.New(rand.NewPCG(7, 3))
	for range 60 {
		x, w := 2*rng.Float64()-1, 2*rng.Float64()-1
		table.X, table.Y = append(table.X, x, w), append(table.Y, math.Sin(3*w)+.1*rng.NormFloat64())
	}
	step := trainingSeries(1, 60)
	for i, x := range step.X {
		if step.Y[i] = .1 * rng.NormFloat64(); x > 1 {
			step.Y[i] += 4 + x
		}
	}
	for _, c := range []struct {
		what   string
		data   Training
		change bool
		leaves int
		from   []string
		step   string // that some kernel comes by
		leads  string // is a part of the leader
	}{
		{"columns", table, false, 3, []string{"SE", "LIN", "CONST"}, "LIN to LIN[w]", "SE[w]"},
		{"changes", step, true, 5, []string{"CONST"}, "change CONST", "CP("},
	} {
		s := growingSettings("collapsed")
		s.Growth.Change, s.Growth.Leaves, s.Starts, s.EvaluateEvery = c.change, c.leaves, 1, .5
		tr := trainerOn(t, 1, nil, c.data, s, c.from...)
		steps, ids := map[string]bool{}, map[string]bool{}
		note := func(e *Evaluation) {
			for _, k := range e.Entered {
				steps[k.Step], ids[k.Expr.ID()] = true, true
			}
		}
		for range 4 {
			note(next(t, tr))
		}
		dev := onCPU(1)
		defer dev.Close()
		again, err := Resume(t.Context(), dev, c.data, candidates(t, c.from...), []string{"x", "w"}[:c.data.Dim], s, filed(tr.Checkpoint()))
		if err != nil {
			t.Fatal(err)
		}
		for !tr.Done() {
			e, same := next(t, tr), next(t, again)
			if note(e); !reflect.DeepEqual(bare(e), bare(same)) || !reflect.DeepEqual(e.Entered, same.Entered) {
				t.Fatalf("%s: evaluation %d is another one of a run that is taken up again", c.what, e.Index)
			}
		}
		if f := tr.last.Front; f == nil || !f.Over || !steps[c.step] {
			t.Errorf("%s: the front is %+v, steps %v", c.what, f, slices.Sorted(maps.Keys(steps)))
		}
		if !strings.Contains(tr.leader, c.leads) {
			t.Errorf("%s: %s leads", c.what, tr.leader)
		}
		for id := range ids {
			if strings.Contains(id, "CONST[") {
				t.Errorf("%s: %s is a constant of one column", c.what, id)
			}
		}
	}
}

// partlyGrowing is what lets a space grow on some of its rows first.
func partlyGrowing() (Settings, Training) {
	s := growingSettings("collapsed")
	s.Inducing, s.FirstInducing, s.AllRows, s.Starts, s.Growth.Rows, s.EvaluateEvery = 0, 4, 56, 1, 30, 0.2
	data := fastSeries()
	for i, x := range data.X { // enough of it to show in some of the rows
		data.Y[i] += 4 * math.Sin(9*x)
		if i > 42 { // which do not show all
			data.Y[i] += 3 * x
		}
	}
	return s, data
}

// Of more rows than few, where few inducing inputs show too little, a space grows on some of them first, all as inducing inputs
// in the end, then on all; who comes late then is searched on some. Priors are of all rows. An evaluation that was abandoned or
// read back makes no difference, nor does another number of lanes. Where few inducing inputs show all it is as without.
func TestSpaceGrowsOnSomeRowsFirst(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	t.Parallel()
	s, data := partlyGrowing()
	tr, cut := trainerOn(t, 1, nil, data, s, growingFrom...), trainerOn(t, 2, nil, data, s, growingFrom...)
	atOnce := s
	atOnce.Growth.Rows = 0
	whole := trainerOn(t, 1, nil, data, atOnce, growingFrom...)
	prior, floor := tr.kernels[0].prior, tr.floor
	if floor != whole.floor || !reflect.DeepEqual(prior, whole.kernels[0].prior) {
		t.Errorf("priors of %+v, of all rows they are %+v", prior, whole.kernels[0].prior)
	}
	apart := 0
	tr.crew = crewFunc(func(ctx context.Context, p *Phase) error {
		o := p.order
		if o.Part != nil {
			apart++
			if o.Rows != 70 || o.Part.N != 30 || slices.ContainsFunc(p.tasks, func(k task) bool { return k.Last != nil }) {
				t.Errorf("evaluation %d of %d rows searches on %d of them", o.Number, o.Rows, o.Part.N)
			}
		}
		return lanes{}.Each(ctx, p)
	})
	seen, some, said := 0, 0, ""
	for !tr.Done() {
		e := next(t, tr)
		switch {
		case e.RowsSeen < seen || e.Proportion != float64(e.RowsSeen)/70:
			t.Errorf("evaluation %d has seen %d rows, %v, after %d", e.Index, e.RowsSeen, e.Proportion, seen)
		case e.Front != nil && e.Front.Rows > 0:
			if some++; e.Front.Rows != 42 || e.RowsSeen != 42 || e.Inducing != 42 { // which it had seen
				t.Errorf("evaluation %d of %d rows: %d inducing inputs, %+v", e.Index, e.RowsSeen, e.Inducing, e.Front)
			}
		case some > 0 && (e.RowsSeen != 70 || e.Inducing != 70):
			t.Errorf("evaluation %d of %d rows: %d inducing inputs", e.Index, e.RowsSeen, e.Inducing)
		}
		for _, n := range e.Notices {
			said += n.Text + "\n"
		}
		seen = e.RowsSeen
		abandon(t, cut)
		cut = resumedGrowing(t, cut, s)
		if got := next(t, cut); !reflect.DeepEqual(bare(got), bare(e)) {
			t.Fatalf("evaluation %d: another one%s", e.Index, firstDifference([]Evaluation{bare(got)}, []Evaluation{bare(e)}))
		}
	}
	if seen != 70 || some < 2 || apart == 0 || !tr.expansion.over {
		t.Errorf("%d rows seen, %d evaluations of some, %d searches on some: %+v", seen, some, apart, tr.expansion)
	}
	if !strings.Contains(said, "growing on 42 of 70 rows first") || !strings.Contains(said, "of 42 rows the space of kernels has grown") {
		t.Errorf("it said\n%s", said)
	}
	if tr.floor != floor || !reflect.DeepEqual(tr.kernels[0].model.prior.prec, prior.prec) && tr.kernels[0].id == whole.kernels[0].id {
		t.Error("other priors in the end")
	}
	if a, b := cut.Checkpoint(), tr.Checkpoint(); !reflect.DeepEqual(a, b) {
		t.Error("read back all the time it ends in another way")
	}
	slow := trainingSeries(1, 70)
	for i, x := range slow.X {
		slow.Y[i] -= math.Sin(2 * x)
	}
	s.Growth.Leaves, atOnce.Growth.Leaves = 2, 2
	got, want := train(t, trainerOn(t, 1, nil, slow, s, growingFrom...)), train(t, trainerOn(t, 1, nil, slow, atOnce, growingFrom...))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("what few inducing inputs show takes another course%s", firstDifference(got, want))
	}
}

// A space that is told to grow no more while it grows on some of the rows takes the others in next, and so does one that rows
// come to: what comes then is all there is.
func TestWhatGrowsOnSomeRowsEndsWithAll(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	s, data := partlyGrowing()
	s.Growth.Leaves = 2
	for name, order := range map[string]func(tr *Trainer) error{
		"no more":  func(tr *Trainer) error { return tr.Reoptimize(Change{Grow: GrowOff}) },
		"more":     func(tr *Trainer) error { return tr.Grow(75) },
		"by order": func(tr *Trainer) error { return tr.Reoptimize(Change{Inducing: 60}) }, // more than there are rows
	} {
		d, all := data, 70
		if name == "more" {
			more := trainingSeries(3, 5)
			d.X, d.Y = slices.Concat(d.X, more.X), slices.Concat(d.Y, more.Y)
			d.First, d.Begin, all = 70, 70, 75
		}
		tr := trainerOn(t, 1, nil, d, s, growingFrom...)
		for tr.apart == 0 && !tr.Done() {
			next(t, tr)
		}
		seen := tr.last.RowsSeen
		if err := order(tr); err != nil || tr.apart == 0 || seen >= 70 {
			t.Fatalf("%s, %d rows seen: %d, %v", name, seen, tr.apart, err)
		}
		twin := resumedGrowing(t, tr, s)
		for e := range 20 {
			if tr.Done() {
				break
			}
			last := next(t, tr)
			if name == "no more" && last.RowsSeen != all || last.RowsSeen < seen || e == 19 {
				t.Fatalf("%s: evaluation %d has seen %d rows of %d", name, last.Index, last.RowsSeen, all)
			}
		}
		if tr.last.RowsSeen != all || tr.apart != 0 || name == "by order" && tr.m != 60 {
			t.Errorf("%s: it ends with %d rows and %d inducing inputs", name, tr.last.RowsSeen, tr.m)
		}
		train(t, twin)
		if a, b := twin.Checkpoint(), tr.Checkpoint(); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: taken up in between it ends in another way", name)
		}
	}
}

// On some rows first it grows where there are more than few, no more than PromisedRows, and all may be inducing inputs.
func TestWhichRowsASpaceGrowsOnFirst(t *testing.T) {
	s := DefaultSettings()
	s.Growth.On = true
	for _, c := range []struct {
		what string
		rows int
		edit func(*Settings)
		on   int
	}{
		{"few", 768, nil, 768},
		{"more", 769, nil, 512},
		{"the most", PromisedRows, nil, 512},
		{"many", PromisedRows + 1, nil, PromisedRows + 1},
		{"all at once", 1500, func(s *Settings) { s.Growth.Rows = 0 }, 1500},
		{"by order", 1500, func(s *Settings) { s.Inducing = 100 }, 1500},
		{"fewer", 1500, func(s *Settings) { s.MostInducing = 1000 }, 1500},
		{"not growing", 1500, func(s *Settings) { s.Growth.On = false }, 1500},
		{"in batches", 1500, func(s *Settings) { s.Optimizer = "adam" }, 1500},
		{"few are many", 1500, func(s *Settings) { s.AllRows = 2000 }, 1500},
	} {
		s := s
		if c.edit != nil {
			c.edit(&s)
		}
		if got := s.GrowRows(c.rows); got != c.on {
			t.Errorf("%s: %d of %d rows, want %d", c.what, got, c.rows, c.on)
		}
	}
}

// That a stated kernel has more leaves than kernels are to have is said once, of the beginning or of an order.
func TestLeavesBelowAStatedKernelAreSaid(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		s := growingSettings("collapsed")
		s.Growth.On, s.Growth.Leaves, s.Starts = on, 2, 1
		tr := trainerOn(t, 1, nil, trainingSeries(1, 40), s, "SE", "SE*LIN*LIN")
		first := next(t, tr)
		if !on {
			if err := tr.Reoptimize(Change{Grow: GrowOn}); err != nil {
				t.Fatal(err)
			}
		}
		second := next(t, tr)
		said := []int{0, 0}
		for i, e := range []*Evaluation{first, second} {
			for _, n := range e.Notices {
				if strings.Contains(n.Text, "kernels.grow_leaves = 2 is less than a stated kernel has: kernels have up to 3") {
					said[i]++
				}
			}
		}
		if want := map[bool][]int{true: {1, 0}, false: {0, 1}}[on]; !slices.Equal(said, want) {
			t.Errorf("from the beginning %v: said %v times", on, said)
		}
	}
}

// Kernels that come with another number of inducing inputs, while data arrive, may begin where a relative ends.
func TestLateKernelsBeginAtRelatives(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	t.Parallel()
	s := growingSettings("collapsed")
	s.Inducing, s.FirstInducing, s.Growth.Live, s.Starts, s.EvaluateEvery = 0, 4, 12, 1, 0.15
	var from []string
	for s.Seed = 1; s.Seed <= 4; s.Seed++ { // few come at a time
		tr := trainerOn(t, 2, nil, fastSeries(), s, growingFrom...)
		for range 4 {
			next(t, tr)
		}
		tr.expansion.blurred = true
		e := next(t, tr)
		if e.Inducing != 8 || e.Proportion >= 1 || len(e.Entered) == 0 {
			t.Fatalf("M = %d, %v of the rows, %d kernels come", e.Inducing, e.Proportion, len(e.Entered))
		}
		for _, k := range e.Entered {
			at := slices.IndexFunc(e.Kernels, func(r KernelResult) bool { return r.ID == k.Expr.ID() })
			from = append(from, e.Kernels[at].Source)
		}
	}
	if !slices.ContainsFunc(from, func(s string) bool { _, err := kernelspace.Parse(s); return err == nil }) { // a relative's name
		t.Errorf("they begin at %q", from)
	}
}
