package vbks

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks/front"
)

// growingSettings let a small space grow.
func growingSettings(optimizer string) Settings {
	s := quickSettings(optimizer)
	s.Growth = Growth{On: true, Live: 6, Leaves: 3, Ratio: 0.5}
	return s
}

var growingFrom = []string{"SE", "LIN", "PER"}

// resumedGrowing is a trainer from the checkpoint of a growing one, with what that began with.
func resumedGrowing(t *testing.T, tr *Trainer, s Settings) *Trainer {
	t.Helper()
	dev := onCPU(1)
	t.Cleanup(func() { dev.Close() })
	out, err := Resume(context.Background(), dev, tr.all, candidates(t, growingFrom...), []string{"x"}, s, filed(tr.Checkpoint()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// abandon begins an evaluation and leaves it.
func abandon(t *testing.T, tr *Trainer) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tr.SetProgress(func(Progress) { cancel() })
	defer tr.SetProgress(nil)
	if _, err := tr.Next(ctx); err == nil {
		t.Error("an evaluation was not abandoned")
	}
}

// bare is an evaluation without what no checkpoint holds.
func bare(e *Evaluation) Evaluation {
	out := *e
	out.Entered, out.Left, out.Front = nil, nil, nil
	return out
}

// A space grows by neighbours of kernels that lead, never beyond what may be compared; kernels have
// numbers of all rows or none; in the end every neighbour of the leaders has been tried.
func TestSpaceGrows(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	s := growingSettings("collapsed")
	tr := trainerOn(t, 1, nil, trainingSeries(1, 90), s, growingFrom...)
	there := map[string]bool{"SE": true, "LIN": true, "PER": true}
	ever := map[string]bool{"SE": true, "LIN": true, "PER": true}
	said := ""
	for !tr.Done() {
		over := tr.expansion.over
		e := next(t, tr)
		if n := len(e.Kernels); n > s.Growth.Live || n != len(tr.kernels) {
			t.Fatalf("evaluation %d has %d kernels of at most %d", e.Index, n, s.Growth.Live)
		}
		for _, id := range e.Left {
			if !there[id] {
				t.Errorf("evaluation %d: %s left, but was not there", e.Index, id)
			}
			delete(there, id)
		}
		before := len(there)
		for i, k := range e.Entered {
			id := k.Expr.ID()
			if there[id] || e.Kernels[before+i].ID != id {
				t.Errorf("evaluation %d: %s entered, at place %d is %s", e.Index, id, before+i, e.Kernels[before+i].ID)
			}
			there[id], ever[id] = true, true
			if !there[k.Parent] {
				t.Errorf("evaluation %d: %s comes from %s, which is not there", e.Index, id, k.Parent)
			}
			if want := tr.expansion.grammar.LogPrior(k.Expr); k.LogPrior != want {
				t.Errorf("%s has the prior %v, want %v", id, k.LogPrior, want)
			}
		}
		sum := 0.0
		for i := range e.Kernels {
			r := &e.Kernels[i]
			if !there[r.ID] || r.Status == Live && (r.ELBORows != e.RowsSeen || r.Rank == 0) {
				t.Errorf("evaluation %d: %+v", e.Index, r)
			}
			sum += r.Posterior
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("evaluation %d: q* sums to %v", e.Index, sum)
		}
		for _, n := range e.Notices {
			if strings.Contains(n.Text, "grows no more") {
				said = n.Text
			}
		}
		if tr.expansion.over && !over && e.Index != tr.Planned() {
			t.Errorf("the space grows no more at evaluation %d of %d, which should conclude", e.Index, tr.Planned())
		}
	}
	if !tr.expansion.over || said == "" {
		t.Fatalf("the space has not come to its end: %+v", tr.expansion)
	}
	tried := func(id string) bool { _, left := tr.expansion.tried[id]; return left || there[id] }
	at := slices.IndexFunc(tr.kernels, func(k *kernel) bool { return k.id == tr.leader })
	to := tr.expansion.grammar.Neighbours(tr.kernels[at].expr)
	tr.expansion.promised = nil
	gains, _ := tr.promises(t.Context())
	gains(tr.kernels[at].expr, to[:1])
	gain := gains(tr.kernels[at].expr, to[1:])
	if _, kept := tr.expansion.promised[tr.leader].gains[to[0].Expr.ID()]; !kept {
		t.Error("what has been said of a neighbour is lost when another is asked for")
	}
	for _, n := range to {
		if id := n.Expr.ID(); !tried(id) && gain[id] >= -front.Lossy {
			t.Errorf("%s, a neighbour of the leader %s, has not been tried, though it promises %.1f nats", id, tr.leader, gain[id])
		}
	}
	if leader := tr.last.Kernels[tr.last.Leader()]; leader.ID != "PER+LIN" && leader.ID != "SE+LIN" && leader.ID != "LIN+SE" {
		t.Errorf("a sine on a line is %s", leader.ID)
	}
	if len(ever) < 15 {
		t.Errorf("%d kernels were tried", len(ever))
	}
	t.Log(said)
}

// A growing run is the same bit for bit whatever the lanes and batches, when it is taken up
// after any evaluation from a checkpoint, and when evaluations were abandoned in between.
func TestGrowthIsReproducible(t *testing.T) {
	thorough.Unraced(t)
	thorough.AnyInstructions(t)
	t.Parallel()
	data := trainingSeries(1, 60)
	for _, optimizer := range []string{"collapsed", "natural"} {
		s := growingSettings(optimizer)
		s.Growth.Leaves, s.Starts = 2, 1
		cut := trainerOn(t, 1, nil, data, s, growingFrom...)
		var want []Evaluation
		for !cut.Done() {
			want = append(want, *next(t, cut))
			if len(want)%2 == 0 {
				continue
			}
			again := resumedGrowing(t, cut, s)
			if a, b := bare(again.Last()), bare(cut.Last()); !reflect.DeepEqual(a, b) {
				t.Fatalf("%s: evaluation %d read back differs%s", optimizer, len(want), firstDifference([]Evaluation{a}, []Evaluation{b}))
			}
			if !again.Done() {
				abandon(t, again)
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
			got := train(t, trainerOn(t, other.lanes, other.wrap, data, s, growingFrom...))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: other evaluations%s", optimizer, other.what, firstDifference(got, want))
			}
		}
	}
}

// Growth is an order, too: a run that has come to its end goes on with it, and what it
// is told is part of what it has learned.
func TestGrowthByOrder(t *testing.T) {
	t.Parallel()
	s := growingSettings("collapsed")
	s.Growth.On, s.Growth.Leaves, s.Starts = false, 2, 1
	tr := trainerOn(t, 1, nil, trainingSeries(1, 60), s, growingFrom...)
	train(t, tr)
	if _, some := tr.Checkpoint()["growth"]; some {
		t.Error("a space that never grew has arrays about that")
	}
	if err := tr.Reoptimize(Change{Grow: GrowOn}); err != nil {
		t.Fatal(err)
	}
	if tr.Done() {
		t.Fatal("no evaluation follows")
	}
	next(t, tr)
	if len(tr.last.Entered) == 0 {
		t.Error("no kernel has entered")
	}
	tr = resumedGrowing(t, tr, s)
	if err := tr.Reoptimize(Change{Grow: GrowOff}); err != nil {
		t.Fatal(err)
	}
	for _, e := range train(t, tr) {
		if len(e.Entered)+len(e.Left) > 0 {
			t.Errorf("evaluation %d: kernels come and go", e.Index)
		}
	}
	adam := growingSettings("adam")
	dev := onCPU(1)
	defer dev.Close()
	if _, err := New(t.Context(), dev, trainingSeries(1, 60), candidates(t, "SE"), []string{"x"}, adam); err == nil ||
		!strings.Contains(err.Error(), `"adam"`) {
		t.Errorf("adam: %v", err)
	}
}

// Arrays that cannot be of a growing space are refused, by name.
func TestResumeRefusesGrowth(t *testing.T) {
	t.Parallel()
	s := growingSettings("collapsed")
	s.Starts = 1
	tr := trainerOn(t, 1, nil, trainingSeries(1, 40), s, growingFrom...)
	for range 4 {
		next(t, tr)
	}
	dev := onCPU(1)
	defer dev.Close()
	for name, spoil := range map[string]func(a map[string]Tensor){
		"growth/rows": func(a map[string]Tensor) { delete(a, "growth/rows") },
		"growth/passed": func(a map[string]Tensor) {
			a["growth/passed"], a["growth/passed/scores"] = Tensor{Data: textNumbers("LIN")}, Tensor{Data: []float64{1}}
		},
		"kernels": func(a map[string]Tensor) { a["kernels"] = Tensor{Data: textNumbers("SE\nLIN\nnonsense")} },
		"growth":  func(a map[string]Tensor) { a["growth"] = Tensor{Data: []float64{1}} },
	} {
		arrays := copied(t, tr.Checkpoint())
		spoil(arrays)
		if _, err := Resume(t.Context(), dev, tr.data, candidates(t, growingFrom...), []string{"x"}, s, arrays); err == nil ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A space that had come to its end grows again where the comparison right after that leaves neighbours of its leaders
// to try, and not later, nor where nothing is left.
func TestSpaceGrowsAgain(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	s := growingSettings("collapsed")
	s.Growth.Leaves, s.Starts, s.Steps, s.EvaluateEvery = 2, 1, 6, .5
	tr := trainerOn(t, 1, nil, trainingSeries(1, 60), s, growingFrom...)
	for tr.rows < tr.data.Rows() {
		next(t, tr)
	}
	if !tr.growing() || len(tr.front(nil, nil).Enter) == 0 {
		t.Fatalf("nothing is left to try: %+v", tr.expansion)
	}
	for _, c := range []struct {
		ended int
		want  bool
	}{{tr.evaluation - 1, true}, {tr.evaluation, false}, {tr.evaluation - 2, false}} {
		twin, e := *tr, Evaluation{Notices: []Notice{{Text: tr.endOfGrowth(2)}, {Text: "another"}}}
		twin.expansion.over, twin.expansion.ended = true, c.ended
		if err := twin.reopen(t.Context(), &e); err != nil {
			t.Fatal(err)
		}
		ended := slices.ContainsFunc(e.Notices, saysGrownUp) // which is not said where it goes on
		if twin.growing() != c.want || len(e.Notices) != 2 || ended == c.want {
			t.Errorf("ended after evaluation %d of %d: grows %v, %+v", c.ended, tr.evaluation, twin.growing(), e.Notices)
		}
	}
	train(t, tr)
	if twin := resumedGrowing(t, tr, s); twin.expansion.ended != tr.expansion.ended || twin.expansion.ended == 0 {
		t.Errorf("the space ended after evaluation %d, read back %d", tr.expansion.ended, twin.expansion.ended)
	}
	last := Evaluation{}
	tr.expansion.ended = tr.evaluation - 1
	if err := tr.reopen(t.Context(), &last); err != nil || tr.growing() || last.Notices != nil {
		t.Errorf("it grows without end: %+v", last.Notices)
	}
}

// A space whose first kernel is stated does not grow again for neighbours that promise too little to be tried.
func TestWhatPromisesNothingReopensNothing(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	s := growingSettings("collapsed")
	s.Growth.Stated, s.Starts, s.Steps, s.EvaluateEvery = .99, 1, 6, .5
	tr := trainerOn(t, 1, nil, trainingSeries(1, 60), s, "LIN+PER+SE", "LIN", "PER", "SE")
	for n := 0; n < 40 && (tr.growing() || tr.rows < tr.data.Rows()); n++ {
		next(t, tr)
	}
	if tr.leader != "PER+LIN+SE" || tr.growing() || tr.expansion.grammar.Preferred(tr.kernels[0].expr) < 5 {
		t.Fatalf("%s leads, it grows: %v", tr.leader, tr.growing())
	}
	twin, e := *tr, Evaluation{}
	twin.expansion.ended = tr.evaluation - 1
	if len(twin.front(nil, nil).Enter) == 0 {
		t.Fatal("it has no neighbours")
	}
	if err := twin.reopen(t.Context(), &e); err != nil || twin.growing() || e.Notices != nil {
		t.Errorf("it grows: %v, %+v, %v", twin.growing(), e.Notices, err)
	}
}

// Rows that come later let a space grow again that had come to its end, with "auto" inducing
// inputs, too; and what is known by then is a checkpoint's.
func TestRowsComeToAGrownSpace(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	s := growingSettings("collapsed")
	s.Growth.Leaves, s.Starts, s.Steps, s.EvaluateEvery = 2, 1, 6, .5
	s.Inducing, s.FirstInducing, s.MostInducing = 0, 8, 16
	tr := trainerOn(t, 1, nil, stream(50, 40), s, growingFrom...)
	before := train(t, tr)
	if !tr.expansion.over {
		t.Fatalf("after %d evaluations: %+v", len(before), tr.expansion)
	}
	if err := tr.Grow(50); err != nil {
		t.Fatal(err)
	}
	twin := resumedGrowing(t, tr, s)
	next(t, tr)
	if tr.expansion.over {
		t.Error("the space does not grow again")
	}
	after := train(t, tr)
	if last := after[len(after)-1]; last.RowsSeen != 50 || !tr.expansion.over {
		t.Errorf("%d rows seen, %+v", last.RowsSeen, tr.expansion)
	}
	train(t, twin)
	if a, b := twin.Checkpoint(), tr.Checkpoint(); !reflect.DeepEqual(a, b) {
		t.Error("taken up in between it ends in another way")
	}
}

// What is not known of the gap of a kernel that has come late, while data arrive, is what the
// gaps of those before it move by, however large its own is; with all rows nothing.
func TestLateKernelsHaveTheUsualDrift(t *testing.T) {
	t.Parallel()
	s := growingSettings("collapsed")
	s.EvaluateEvery, s.Growth.Live, s.Errors = 0.25, 10, "integrate"
	tr := trainerOn(t, 1, nil, trainingSeries(3, 80), s, growingFrom...)
	for tr.rows < 60 {
		next(t, tr)
	}
	members := tr.members()
	late := slices.IndexFunc(members, func(i int) bool { return len(tr.kernels[i].past) < 2 })
	if late < 0 {
		t.Fatal("no kernel is late")
	}
	k := tr.kernels[members[late]]
	most, e := 0.0, tr.errors(members)
	for j, a := range members {
		for b := range members {
			if old := min(len(tr.kernels[a].past), len(tr.kernels[members[b]].past)); old >= 2 {
				most = max(most, e.Drift(j, b))
			}
		}
	}
	was := e.Drift(late, 0)
	if k.elbo += 1000; tr.errors(members).Drift(late, 0) != was || was > most || was == 0 {
		t.Errorf("a late kernel drifts by %v, 1000 nats above by %v, the others at most by %v", was, tr.errors(members).Drift(late, 0), most)
	}
	k.elbo -= 1000
	for !tr.Done() && tr.rows < 80 {
		next(t, tr)
	}
	if _, known := tr.usualDrift(tr.members()); known {
		t.Error("of all rows there is a usual drift")
	}
}

// fastSeries is a line with a slow and a fast wave.
func fastSeries() Training {
	d := trainingSeries(1, 70)
	for i, x := range d.X {
		d.Y[i] += math.Sin(9 * x)
	}
	return d
}

// Where few inducing inputs show too little of the function a space goes on growing with more, up to what
// takes too long: its leader in the end is one whose evidence they see, kernels that had left for few come again, fewer
// are compared at a time, and an evaluation that was abandoned or read back makes no difference. Where they show all of it they stay.
func TestGrowthSharpens(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	t.Parallel()
	s := growingSettings("collapsed")
	s.Inducing, s.FirstInducing, s.Growth.Live, s.Starts = 0, 4, 12, 1
	fast, slow := fastSeries(), trainingSeries(1, 70)
	for i, x := range slow.X {
		slow.Y[i] -= math.Sin(2 * x)
	}
	for _, c := range []struct {
		name  string
		data  Training
		climb bool
	}{{"fast", fast, true}, {"slow", slow, false}} {
		cut := trainerOn(t, 1, nil, c.data, s, growingFrom...)
		whole := trainerOn(t, 2, nil, c.data, s, growingFrom...)
		climbed, returned, concluded := 0, 0, false
		gone := map[string]bool{}
		for !whole.Done() {
			growing, m := whole.growing(), whole.m
			e := next(t, whole)
			if !whole.growing() && growing { // the last of them
				concluded = true
			} else if concluded && e.Inducing == m {
				t.Errorf("%s: evaluation %d has %d inducing inputs, as the one before that concludes", c.name, e.Index, m)
			}
			if live := len(e.Kernels); e.Inducing > 4 && growing && whole.growing() && m == e.Inducing && live > max(leastLive, 12*4/e.Inducing) {
				t.Errorf("%s, evaluation %d: %d kernels with %d inducing inputs", c.name, e.Index, live, e.Inducing)
			}
			if growing && e.Inducing > m && m > 0 && e.Index > 1 {
				climbed++
			}
			for _, k := range e.Entered {
				if gone[k.Expr.ID()] {
					returned++
				}
			}
			for _, id := range e.Left {
				gone[id] = true
			}
			abandon(t, cut)
			cut = resumedGrowing(t, cut, s)
			if got := next(t, cut); !reflect.DeepEqual(bare(got), bare(e)) {
				t.Fatalf("%s, evaluation %d: another one%s", c.name, e.Index, firstDifference([]Evaluation{bare(got)}, []Evaluation{bare(e)}))
			}
		}
		if climbed > 0 != c.climb || c.climb && returned == 0 || !concluded {
			t.Errorf("%s: more inducing inputs %d times while the space grew, %d kernels came again; concluded %v",
				c.name, climbed, returned, concluded)
		}
		if leader := whole.last.Kernels[whole.last.Leader()]; c.climb && !strings.Contains(leader.ID, "PER") {
			t.Errorf("%s: %s leads", c.name, leader.ID)
		}
	}
}

// Of few rows a space grows with all of them as inducing inputs as soon as they are in use, though few show the leader well:
// its kernels, those that there were, too, are compared by log evidence, and an evaluation that was abandoned or read back
// makes no difference. Of more rows than few, by order of a number, or where less is allowed it does not.
func TestFewRowsGrowWhole(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	few := growingSettings("collapsed")
	few.Inducing, few.FirstInducing, few.AllRows, few.Starts, few.Growth.Leaves = 0, 12, 1024, 1, 2
	data := trainingSeries(1, 60)
	tr, cut := trainerOn(t, 1, nil, data, few, growingFrom...), trainerOn(t, 2, nil, data, few, growingFrom...)
	for grows := true; grows && !tr.Done(); grows = tr.growing() {
		e := next(t, tr)
		if whole := e.Proportion == 1; e.Index > 1 && whole != (e.Inducing == 60) || !whole && e.Inducing != 12 {
			t.Errorf("evaluation %d, %v of the rows: %d inducing inputs", e.Index, e.Proportion, e.Inducing)
		}
		for _, k := range e.Kernels {
			if e.Inducing == 60 && k.Status == Live && k.Evidence.Slack() > 1e-3 {
				t.Errorf("evaluation %d, %s: the bounds are %v nats apart", e.Index, k.ID, k.Evidence.Slack())
			}
		}
		abandon(t, cut)
		cut = resumedGrowing(t, cut, few)
		if got := next(t, cut); !reflect.DeepEqual(bare(got), bare(e)) {
			t.Fatalf("evaluation %d: another one%s", e.Index, firstDifference([]Evaluation{bare(got)}, []Evaluation{bare(e)}))
		}
	}
	for name, edit := range map[string]func(*Settings){
		"not few":   func(s *Settings) { s.AllRows = 59 },
		"by order":  func(s *Settings) { s.Inducing = 12 },
		"less room": func(s *Settings) { s.Room = 30 },
	} {
		s := few
		edit(&s)
		other := trainerOn(t, 1, nil, data, s, growingFrom...)
		for range 3 {
			if e := next(t, other); e.Inducing == 60 {
				t.Errorf("%s: %d inducing inputs in evaluation %d", name, e.Inducing, e.Index)
			}
		}
	}
}

// Rungs that a space climbs while it grows take none of the evaluations that are planned, nor add any: with all there is
// in the space from the beginning the last planned one, and no other, concludes, and the next is of another rung.
func TestRungsOfGrowthArePlanned(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	s := growingSettings("collapsed")
	s.Inducing, s.FirstInducing, s.Growth.Leaves, s.Starts, s.Refine = 0, 4, 1, 1, 2
	tr := trainerOn(t, 1, nil, fastSeries(), s, growingFrom...)
	var m []int
	for i := range 5 {
		m = append(m, next(t, tr).Inducing)
		tr.expansion.blurred = i < 2
	}
	if !slices.Equal(m, []int{4, 8, 16, 16, 16}) || !tr.expansion.over {
		t.Fatalf("inducing inputs %v, the space grows no more: %v", m, tr.expansion.over)
	}
	if tr.concluding(4) || !tr.concluding(5) {
		t.Errorf("evaluations 4 and 5 conclude: %v, %v", tr.concluding(4), tr.concluding(5))
	}
	if !tr.Done() && next(t, tr).Inducing == 16 {
		t.Error("the evaluation after the last planned one is of the same rung")
	}
}

// known counts the integrals that the next evaluation would know if nothing moved.
func known(t *testing.T, tr *Trainer) (n int) {
	t.Helper()
	r, err := tr.newRound(tr.evaluation + 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for i, k := range tr.kernels {
		if k.state != nil {
			r.outcomes[i].State, r.outcomes[i].ELBO = k.state, k.elbo
			if _, ok := r.integrated(i); ok {
				n++
			}
		}
	}
	return n
}

// While a space grows integrals are for kernels that may lead; in the evaluation that concludes those of all that may be
// the best are found anew, whatever was found before.
func TestGrowthIntegratesWhatMayLead(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	t.Parallel()
	s := growingSettings("collapsed")
	s.Evidence, s.Starts, s.Growth.Leaves = drawsEvidence, 1, 3
	tr := trainerOn(t, 2, nil, trainingSeries(1, 60), s, growingFrom...)
	worth := func(k *kernel) float64 { return k.worth()/s.EvidenceScale + k.logPrior }
	behind, rough := 0, 0
	for !tr.Done() {
		e := next(t, tr)
		if e.Proportion < 1 {
			continue
		}
		best, plain := math.Inf(-1), math.Inf(-1)
		for _, k := range tr.kernels {
			best, plain = math.Max(best, worth(k)), math.Max(plain, k.worth())
		}
		for _, k := range tr.kernels {
			integrated := len(k.modes) > 0
			switch entered := slices.ContainsFunc(e.Entered, func(n Entered) bool { return n.Expr.ID() == k.id }); {
			case tr.growing() && entered && worth(k) < best-closeNats-2: // volumes of the others may be two nats off
				behind++
				if integrated {
					t.Errorf("evaluation %d: %s, %.1f nats behind, is integrated", e.Index, k.id, best-worth(k))
				}
			case !tr.growing() && k.worth() > plain-IntegralNats+2 && !integrated:
				t.Errorf("in the end %s, %.1f nats behind, is not integrated", k.id, plain-k.worth())
			}
		}
		if tr.growing() {
			grown := *tr
			grown.expansion.over = true
			n, over := known(t, tr), known(t, &grown)
			if rough = max(rough, n); over > 0 {
				t.Errorf("evaluation %d: of %d integrals %d would be known once the space has grown", e.Index, n, over)
			}
		}
	}
	if behind == 0 || rough == 0 {
		t.Errorf("%d far behind, %d integrals known while it grew: the test says little", behind, rough)
	}
}
