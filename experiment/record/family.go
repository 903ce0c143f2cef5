package record

import (
	"cmp"
	"math"
	"slices"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/vbks"
)

// Ancestor is a step of the way on which a kernel has come.
type Ancestor struct {
	ID         string       `json:"id"`
	Step       string       `json:"step,omitempty"`       // from the one before; "": the run began with it
	Evaluation int          `json:"evaluation,omitempty"` // the first that it took part in
	Nats       files.Number `json:"nats"`                 // by which its log evidence is above the one before, when both were last compared
}

// Gave writes what a step gave, as in "+12.3" or "−0.50"; "" where that is not known, or there is no step.
func (a *Ancestor) Gave() string {
	switch v := float64(a.Nats); {
	case a.Step == "":
		return ""
	case v >= 0:
		return "+" + words.Nats(v)
	case v < 0:
		return "−" + words.Nats(-v)
	}
	return ""
}

// origin is where a kernel comes from.
type origin struct {
	parent string
	Ancestor
	compared int // evaluation that Nats is of
}

// Family is where the kernels come from that have come while the run went on. The zero
// value knows of none.
type Family struct {
	of   map[string]origin
	gone map[string]int // evaluation after which kernels have left, those that the run began with, too
	last []Entered      // who came last
	with int            // the evaluation with which that was
}

// enter takes in kernels that come with an evaluation. One that has gone and comes again, from
// what may be its own descendant, has the way on which it came first; began says that the run began with it.
func (f *Family) enter(entered []Entered, evaluation int, began func(id string) bool) {
	if f.of == nil {
		f.of = map[string]origin{}
	}
	f.last, f.with = entered, evaluation
	for i := range entered {
		e := &entered[i]
		delete(f.gone, e.Kernel.ID)
		if _, known := f.of[e.Kernel.ID]; known || began(e.Kernel.ID) ||
			slices.ContainsFunc(f.Way(e.Parent), func(a Ancestor) bool { return a.ID == e.Kernel.ID }) {
			continue
		}
		f.of[e.Kernel.ID] = e.origin(evaluation)
	}
}

// came reports whether a kernel has come while the run went on.
func (f *Family) came(id string) bool {
	_, some := f.of[id]
	return some
}

// origin is where a kernel comes from that has come with an evaluation.
func (e *Entered) origin(evaluation int) origin {
	return origin{parent: e.Parent, Ancestor: Ancestor{e.Kernel.ID, e.Step, evaluation, files.Number(math.NaN())}}
}

// leave takes in that kernels have gone after an evaluation.
func (f *Family) leave(ids []string, evaluation int) {
	if f.gone == nil {
		f.gone = map[string]int{}
	}
	for _, id := range ids {
		f.gone[id] = evaluation
	}
}

// compare takes in what kernels are worth beside those that they come from.
func (f *Family) compare(e *Evaluation) {
	if len(f.of) == 0 {
		return
	}
	worth := map[string]float64{}
	for i := range e.Kernels {
		if fit := e.Kernels[i].Fit; fit != nil {
			worth[e.Kernels[i].ID] = fit.Worth()
		}
	}
	for id, v := range worth {
		o, some := f.of[id]
		if from, both := worth[o.parent]; some && both {
			o.Nats, o.compared = files.Number(v-from), e.Index
			f.of[id] = o
		}
	}
}

// Way lists the kernels that led to one, the first that the run began with, the last itself.
func (f *Family) Way(id string) []Ancestor {
	var way []Ancestor
	for o, some := f.of[id]; some; o, some = f.of[id] {
		way = append(way, o.Ancestor)
		id = o.parent
	}
	way = append(way, Ancestor{ID: id})
	slices.Reverse(way)
	return way
}

// Text says which steps led to a kernel and what each gave, as in "SE, add PER +12.3, multiply LIN
// +4.50 nats"; "" of one that the run began with.
func (f *Family) Text(id string) string {
	way := f.Way(id)
	if len(way) == 1 {
		return ""
	}
	text := way[0].ID
	for _, a := range way[1:] {
		text += ", " + a.Step
		if gave := a.Gave(); gave != "" {
			text += " " + gave
		}
	}
	return text + " nats"
}

// Fortune is what has become of a kernel of a space that grows.
type Fortune string

// Fortunes beside those of vbks.Status.
const (
	Waits Fortune = "waits"    // it has come, and has not been compared yet
	Aside Fortune = "left out" // by "auto" inducing inputs, for now
	Left  Fortune = "left"     // to make room, or for being hopeless
)

// Relative is a kernel in a tree of its family.
type Relative struct {
	Ancestor
	Parent   string // "": the run began with it
	Compared int    // evaluation that Nats is of, 0: none
	Fortune  Fortune
	Left     int // evaluation after which it has gone, 0: it is there
	Rank     int // in the last evaluation, 0: it is not compared
}

// Generation is a kernel on the way to another one.
type Generation struct {
	Relative
	Others []Relative // its other children that were tried, the best first
}

// Grows reports whether the space grows, or has grown.
func (s *Standing) Grows() bool {
	return s.Start != nil && s.Start.Grows || s.Evaluation != nil && s.Evaluation.Front != nil || s.Family.with > 0
}

// Tree is how a kernel has come, from the one that the run began with down to itself, with what else was tried of each on
// that way. Tried kernels are known with the step by which they came first; what comes of others is not in it.
func (s *Standing) Tree(id string) []Generation {
	tell, place := s.relatives(), map[string]int{}
	var tree []Generation
	for i, a := range s.Family.Way(id) {
		o, some := s.Family.of[a.ID]
		if !some {
			o.Ancestor = a
		}
		tree, place[a.ID] = append(tree, Generation{Relative: tell(&o)}), i
	}
	for id, o := range s.Family.of {
		at, related := place[o.parent]
		if _, onWay := place[id]; related && !onWay {
			tree[at].Others = append(tree[at].Others, tell(&o))
		}
	}
	for i := range tree {
		slices.SortFunc(tree[i].Others, better)
	}
	return tree
}

// Came lists who came last, the best first, each from the parent and by the step of then, and the evaluation with which
// that was, 0 where none has. What a step gave is told where it is the one by which the kernel came first.
func (s *Standing) Came() (all []Relative, evaluation int) {
	tell := s.relatives()
	for i := range s.Family.last {
		e := &s.Family.last[i]
		o := s.Family.of[e.Kernel.ID]
		if o.parent != e.Parent || o.Step != e.Step {
			o = e.origin(s.Family.with)
		}
		all = append(all, tell(&o))
	}
	slices.SortStableFunc(all, better)
	return all, s.Family.with
}

// better orders relatives by what their steps gave; those of which that is not known stand behind.
func better(a, b Relative) int {
	return cmp.Or(cmp.Compare(b.Nats, a.Nats), cmp.Compare(a.Evaluation, b.Evaluation), cmp.Compare(a.ID, b.ID))
}

// relatives is what tells of kernels how they stand now.
func (s *Standing) relatives() func(o *origin) Relative {
	now := map[string]*Kernel{}
	if s.Evaluation != nil {
		for i := range s.Evaluation.Kernels {
			now[s.Evaluation.Kernels[i].ID] = &s.Evaluation.Kernels[i]
		}
	}
	return func(o *origin) Relative {
		r := Relative{Ancestor: o.Ancestor, Parent: o.parent, Compared: o.compared, Left: s.Family.gone[o.ID]}
		switch k := now[o.ID]; {
		case r.Left > 0:
			r.Fortune = Left
		case k == nil:
			r.Fortune = Waits
		case k.Fit != nil:
			r.Fortune, r.Rank = Fortune(vbks.Live), k.Fit.Rank
		case k.Left != nil:
			r.Fortune = Aside
		case k.Status == vbks.Live:
			r.Fortune = Waits
		default:
			r.Fortune = Fortune(k.Status)
		}
		return r
	}
}

// Foremost lists the first of an evaluation as growth counts them, by evidence and prior: the leader, then the likeliest by
// Bayes' rule without the errors of local ELBOs.
func (e *Evaluation) Foremost(most int) []string {
	var all []*Kernel
	for i := range e.Kernels {
		if e.Kernels[i].Fit != nil {
			all = append(all, &e.Kernels[i])
		}
	}
	slices.SortFunc(all, func(a, b *Kernel) int {
		if first := a.Fit.Rank == 1; first != (b.Fit.Rank == 1) {
			return map[bool]int{true: -1, false: 1}[first]
		}
		return cmp.Or(cmp.Compare(b.Fit.Plain().Bayes, a.Fit.Plain().Bayes), cmp.Compare(b.Fit.Worth(), a.Fit.Worth()))
	})
	var ids []string
	for _, k := range all[:min(most, len(all))] {
		ids = append(ids, k.ID)
	}
	return ids
}

// CutGrowth is how the growth of a space ended before there was no more to try.
type CutGrowth struct {
	By      CutBy `json:"ended_by"`
	Waiting int   `json:"waiting"` // neighbours for which there was no room before the last evaluation in which it grew
}

// CutBy is what growth was cut short by.
type CutBy string

// What growth may be cut short by.
const (
	CutByOrder   CutBy = "order"
	CutByBudget  CutBy = "budget"  // of time or of evaluations
	CutByStop    CutBy = "stop"    // of the run
	CutByFailure CutBy = "failure" // of the run
)

// CutGrowth says by what growth was cut short, nil where it goes on, came to its end by itself, or never was.
func (s *Standing) CutGrowth() *CutGrowth {
	if s.front == nil || s.front.Over {
		return nil
	}
	by := map[State]CutBy{Finished: CutByBudget, Stopped: CutByStop, Failed: CutByFailure}[s.State]
	if s.ToldToGrow() == vbks.GrowOff {
		by = CutByOrder
	}
	if by == "" {
		return nil
	}
	return &CutGrowth{by, s.front.Waiting}
}

// ToldToGrow is what the last order about growth said, vbks.GrowOn or GrowOff, "" where there was none.
func (s *Standing) ToldToGrow() string {
	for _, o := range slices.Backward(s.Orders) {
		if o.Change != nil && o.Change.Grow != "" {
			return o.Change.Grow
		}
	}
	return ""
}

// Text is such as "ended by order; 119 neighbours wait".
func (c *CutGrowth) Text() string {
	text := map[CutBy]string{CutByOrder: "ended by order", CutByBudget: "ended by the budget",
		CutByStop: "not at its end when the run was stopped", CutByFailure: "not at its end when the run failed"}[c.By]
	switch c.Waiting {
	case 0:
		return text
	case 1:
		return text + "; 1 neighbour waits"
	}
	return text + "; " + words.Count(c.Waiting, "neighbour") + " wait"
}
