package vbks

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	// firstRung is the number of inducing inputs that "auto" begins with; each further
	// rung has twice as many, for about a quarter of the kernels, so that rungs take
	// about equal time: their work per kernel grows with M².
	firstRung  = 64
	rungShare  = 0.25
	fewestLeft = 3
	// Rungs end where rows times M² reach rungWork, or at MostInducing.
	rungWork = 2e9
	// Within rungNats of the leader kernels stay, up to twice as many.
	rungNats = 10
	// A notice names so many kernels.
	fewNames = 6
	// A slack below settledNats decides nothing more.
	settledNats = 1
)

// autoInducing reports whether the number of inducing inputs is the program's to
// choose.
func (s Settings) autoInducing() bool { return s.Inducing == 0 }

// Rungs returns the numbers of inducing inputs that a run of n rows goes through:
// one, but where Inducing is 0 and the optimiser brings a new q(v) to its optimum in
// an evaluation. All kernels are compared with the first, and once
// all data are in use the best ones with more, up to Z = X where that is within
// reach, one evaluation each.
func (s Settings) Rungs(n int) []int {
	if !s.autoInducing() {
		return []int{min(s.Inducing, n)}
	}
	most := n
	if s.MostInducing > 0 {
		most = min(most, s.MostInducing)
	}
	out := []int{min(firstRung, most)}
	if e, err := s.Effort(n); err == nil && !e.Exact() && e.Ending(n, n, 1, out[0], true).Exact == 0 {
		return out // one evaluation does not bring q(v) of more to its optimum, and none tells bounds
	}
	for m := 2 * firstRung; out[len(out)-1] < most; m *= 2 {
		if 4*m > 3*most { // a rung of nearly as many
			m = most
		}
		if float64(n)*float64(m)*float64(m) > rungWork {
			break
		}
		out = append(out, m)
	}
	return out
}

// RungKernels returns about how many of so many kernels are compared on the next
// rung.
func RungKernels(live int) int {
	return min(live, max(fewestLeft, int(math.Ceil(rungShare*float64(live)))))
}

// base is the number of evaluations planned before the first rung is left.
func (t *Trainer) base() int {
	return int(math.Ceil(1/t.settings.EvaluateEvery-1e-9)) + t.settings.Refine
}

// concluding reports whether an evaluation is the last one planned on its rung.
func (t *Trainer) concluding(number int) bool { return number >= t.base()+t.extra }

// climb moves to the next rung where the evaluations of this one are done:
// kernels that are not among its finalists are pruned. It returns how to undo it.
func (t *Trainer) climb() (undo func() error, err error) {
	undo = func() error { return nil }
	if !t.settings.autoInducing() || t.told || t.rung+1 >= len(t.rungs) || t.evaluation < t.base()+t.extra+t.rung {
		return undo, nil
	}
	before := *t
	before.workers = nil // their memory is needed
	kernels := make([]kernel, len(t.kernels))
	for i, k := range t.kernels {
		kernels[i] = *k
	}
	t.setKernels(kernels)
	undo = func() error {
		*t = before
		if err := t.makeWorkers(); err != nil {
			return err
		}
		return t.prepareSearch()
	}
	m := t.rungs[t.rung+1]
	stay := t.finalists()
	var names []string
	for i, k := range t.kernels {
		switch {
		case !k.current(t.rows): // restored ones, which have not been compared yet, stay
		case stay[i]:
			names = append(names, k.id)
		default:
			k.status, k.reason = Pruned, fmt.Sprintf("left out at M = %d, where %d are compared", m, len(stay))
		}
	}
	text := fmt.Sprintf("evaluation %d compares %d of %d kernels with %d inducing inputs", t.evaluation+1, len(names), len(t.kernels), m)
	switch {
	case len(names) == 1:
		text = fmt.Sprintf("evaluation %d: %s with %d inducing inputs", t.evaluation+1, names[0], m)
	case len(names) <= fewNames:
		text += ": " + strings.Join(names, ", ")
	}
	t.notices = append(slices.Clone(t.notices), Notice{Text: text})
	t.rung++
	if err := t.reinduce(m); err != nil {
		return func() error { return nil }, joined(err, undo())
	}
	return undo, nil
}

func joined(a, b error) error {
	if b == nil {
		return a
	}
	return fmt.Errorf("%w; %w", a, b)
}

// finalists chooses the kernels of the next rung: the best quarter by what is sure
// of their evidence, then those that might still be as good, by the middle of
// their bounds, up to as many again. Few inducing inputs are worse for rough
// kernels than for smooth ones, so that the local ELBO alone would leave them out.
func (t *Trainer) finalists() map[int]bool {
	var live []int
	for i, k := range t.kernels {
		if k.current(t.rows) {
			live = append(live, i)
		}
	}
	sure := func(i int) float64 {
		if b := t.kernels[i].bounds; b != nil {
			return b.Lower
		}
		return t.kernels[i].elbo
	}
	middle := func(i int) float64 {
		if b := t.kernels[i].bounds; b != nil && t.rows <= exactProductRows {
			return b.Lower + b.Slack()/2
		}
		return sure(i)
	}
	by := func(value func(int) float64) []int {
		order := slices.Clone(live)
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
		return order
	}
	count := RungKernels(len(live))
	stay := map[int]bool{}
	order := by(sure)
	for _, i := range order[:count] {
		stay[i] = true
	}
	for _, i := range by(middle) {
		if len(stay) < 2*count && (middle(i) > sure(order[0]) || sure(order[0])-sure(i) < rungNats) {
			stay[i] = true
		}
	}
	return stay
}

// tell finds out, after the last evaluation of a rung, whether more inducing inputs
// could change anything, and says so on the last rung if they could. A kernel that
// is alone need not be compared: it climbs for its predictions, and what matters is
// how far its q(v) may be from the posterior, KL = log evidence − local ELBO.
func (t *Trainer) tell(e *Evaluation) {
	if !t.settings.autoInducing() || !t.concluding(e.Index) {
		return
	}
	var open []string
	live := 0
	slack, bounded := 0.0, true
	for i := range e.Kernels {
		k := &e.Kernels[i]
		if k.Status == Live {
			live++
		}
		switch {
		case k.Status != Live || k.Apart:
		case k.Evidence == nil:
			open, bounded = append(open, k.ID), false
		default:
			open, slack = append(open, k.ID), math.Max(slack, k.Evidence.Slack())
		}
	}
	// Where Z has fewer than were asked for it has every input that there is.
	if leader := &e.Kernels[e.Leader()]; live == 1 && bounded {
		slack = leader.Evidence.Upper - leader.ELBO
	}
	before, last := t.told, t.rung+1 == len(t.rungs)
	t.told = bounded && slack <= settledNats || t.m < t.rungs[t.rung]
	text := ""
	switch {
	case t.told && !before && !last:
		text = fmt.Sprintf("%d inducing inputs are enough: fewer evaluations are needed than planned", t.m)
	case !t.told && last && bounded && len(open) > 1:
		text = fmt.Sprintf("%d inducing inputs do not tell these %d kernels apart: %s", t.m, len(open),
			strings.Join(open[:min(fewNames, len(open))], ", "))
		if more := len(open) - fewNames; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	default:
		return
	}
	e.Notices = append(e.Notices, Notice{Text: text})
}
