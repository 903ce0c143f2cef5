package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/vbks"
)

// defaultCapacity is the number of points that a History keeps of each series: several
// to a column of the widest terminal. 144 kernels that stay then take at most some 15 MB.
const defaultCapacity = 2048

// History is the compact memory of one run, made from its events in order: how
// it stands, what has been said, and the series to be drawn. Beyond Capacity
// points neighbours are merged, so that it stays bounded; the least and
// greatest value are kept. The zero value is ready for use. It is not safe for
// concurrent use; the exported fields are to be read only.
type History struct {
	Capacity int // points of a series, at least 4; 0: 2048. Not to be changed once there are some.

	record.Standing

	ruler    ruler
	timeline timeline
	ids      []string
	places   map[string]int // of the kernels in ids
	kernels  []*kernelTracks
	methods  []*methodTracks
	lines    journal
	marks    []Mark
}

// Mark is a point on the axes at which something was done to the run.
type Mark struct {
	Moment
	Kind MarkKind
	Auto bool   // an evaluation did it by itself
	Text string // "pruned 141", "paused"
}

// MarkKind says what was done.
type MarkKind string

// The kinds of marks.
const (
	MarkPaused      MarkKind = "paused"
	MarkResumed     MarkKind = "resumed"
	MarkStopped     MarkKind = "stopped"
	MarkFailed      MarkKind = "failed"
	MarkPruned      MarkKind = "pruned"
	MarkRestored    MarkKind = "restored"
	MarkReoptimised MarkKind = "re-optimised"
	MarkGrown       MarkKind = "more rows"
	MarkInducing    MarkKind = "inducing" // inputs are more from this evaluation on
)

// KernelState is what has become of a kernel.
type KernelState struct {
	Status vbks.Status // "" before the first evaluation
	Reason string
	Since  int // evaluation at which it was first seen so
}

// kernelTracks holds the series of a kernel.
type kernelTracks struct {
	state                       KernelState
	posterior, bayes, gap, rank track[float32]
	elbo                        track[float64]
	status                      statusTrack
}

// methodTracks holds the series of a method of prediction.
type methodTracks struct {
	name     string
	timeline timeline
	values   [4]track[float64] // from QuantityRMSE on
}

// statusCode is a vbks.Status in a byte.
type statusCode uint8

var statuses = [...]vbks.Status{"", vbks.Live, vbks.Pruned, vbks.Failed}

func encodeStatus(s vbks.Status) statusCode {
	return statusCode(max(0, slices.Index(statuses[:], s)))
}

// mostMarks bounds the marks.
const mostMarks = 1000

func (h *History) capacity() int {
	if h.Capacity == 0 {
		return defaultCapacity
	}
	return max(4, h.Capacity)
}

// Apply takes an event in. It keeps what e points to, which must not change
// any more. An event that lacks what its type promises is passed over.
func (h *History) Apply(e *record.Event) {
	if e.Type == record.EventAnew {
		*h = History{Capacity: h.Capacity}
		h.lines.add(LogLine{Time: e.Time, Level: LevelNotice, Type: record.EventNotice, Text: e.Notice})
		return
	}
	before, rungs := h.Evaluation, len(h.Inducing)
	h.Standing.Apply(e)
	if e.Missing() != "" {
		return
	}
	switch e.Type {
	case record.EventStarted:
		for _, k := range e.Start.Kernels {
			h.place(k.ID)
		}
		h.say(e, LevelState)
	case record.EventEntered:
		for i := range e.Entered {
			h.place(e.Entered[i].Kernel.ID)
		}
		h.say(e, LevelNotice)
	case record.EventLeft:
		h.say(e, LevelNotice)
	case record.EventState:
		level := LevelState
		switch {
		case e.State.To == record.Paused:
			h.mark(MarkPaused)
		case e.State.To == record.Stopped:
			h.mark(MarkStopped)
		case e.State.To == record.Running && e.State.From == record.Paused:
			h.mark(MarkResumed)
		case e.State.To == record.Failed:
			h.mark(MarkFailed)
			level = LevelError
		}
		h.say(e, level)
	case record.EventNotice:
		level := LevelNotice
		if _, known := h.places[e.Kernel]; known {
			level = LevelError
		}
		h.say(e, level)
	case record.EventEvaluation, record.EventPruned, record.EventRestored:
		auto := h.take(e, before)
		switch {
		case e.Type == record.EventPruned:
			h.markKernels(MarkPruned, len(e.Kernels), false)
		case e.Type == record.EventRestored:
			h.markKernels(MarkRestored, len(e.Kernels), false)
		case auto > 0:
			h.markKernels(MarkPruned, auto, true)
		}
		if e.Type == record.EventEvaluation && len(h.Inducing) > rungs {
			h.add(Mark{Kind: MarkInducing, Auto: true, Text: fmt.Sprintf("M = %d", h.Inducing[rungs])})
		}
		h.say(e, LevelEvaluation)
	case record.EventMetrics:
		for i := range e.Metrics {
			h.score(&e.Metrics[i])
		}
		h.say(e, LevelEvaluation)
	case record.EventReoptimised:
		h.mark(MarkReoptimised)
		h.say(e, LevelState)
	case record.EventData:
		if more := e.Start.Data.Train - e.Before.Train; more > 0 {
			h.rescale(float64(e.Before.Train) / float64(e.Start.Data.Train))
			h.add(Mark{Kind: MarkGrown, Text: words.Count(more, "more row")})
		}
		h.say(e, LevelState)
	case record.EventWorkerJoined, record.EventWorkerLost:
		h.say(e, LevelState)
	case record.EventResumed:
		h.mark(MarkResumed)
		h.say(e, LevelState)
	}
}

// rescale makes shares of the rows that there were those of all that there are, unless
// all have been used already: what comes then follows behind them.
func (h *History) rescale(by float64) {
	if h.ruler.full > 0 {
		return
	}
	h.ruler.step *= by
	h.ruler.at *= by
	h.ruler.seen *= by
	lines := []*timeline{&h.timeline}
	for _, m := range h.methods {
		lines = append(lines, &m.timeline)
	}
	for _, l := range lines {
		for i := range l.moments {
			l.moments[i].Data *= by
			l.moments[i].Proportion *= by
		}
	}
	for i := range h.marks {
		h.marks[i].Data *= by
		h.marks[i].Proportion *= by
	}
}

func (h *History) say(e *record.Event, level Level) {
	h.lines.add(LogLine{Time: e.Time, Seconds: float64(e.Seconds), Level: level, Type: e.Type, Text: record.Describe(e)})
}

// mark marks something that its kind says all of.
func (h *History) mark(kind MarkKind) { h.add(Mark{Kind: kind, Text: string(kind)}) }

// markKernels marks what was done to so many kernels.
func (h *History) markKernels(kind MarkKind, n int, auto bool) {
	m := Mark{Kind: kind, Auto: auto, Text: fmt.Sprintf("%s %d", kind, n)}
	if auto {
		m.Text += byItself
	}
	h.add(m)
}

// byItself ends the text of a mark of what an evaluation did.
const byItself = " by itself"

func (h *History) add(m Mark) {
	if n := len(h.timeline.moments); n > 0 {
		m.Moment = h.timeline.moments[n-1]
	}
	m.Seconds = float64(h.Seconds)
	if len(h.marks) == mostMarks {
		h.marks = slices.Delete(h.marks, 0, 1)
	}
	h.marks = append(h.marks, m)
}

// place returns where a kernel is, and makes room for one not seen before.
func (h *History) place(id string) int {
	if k, ok := h.places[id]; ok {
		return k
	}
	if h.places == nil {
		h.places = map[string]int{}
	}
	h.kernels = append(h.kernels, &kernelTracks{})
	h.places[id] = len(h.ids)
	h.ids = append(h.ids, id)
	return len(h.ids) - 1
}

// take appends an evaluation, or what an order made of the last one, at the same
// place of the axes, and returns how many kernels were pruned by the evaluation
// itself. before is the evaluation before.
func (h *History) take(e *record.Event, before *record.Evaluation) (auto int) {
	ev := e.Evaluation
	// All kernels have a place before their tracks grow together.
	for i := range ev.Kernels {
		h.at(ev, i)
	}
	revised := before != nil && before.Index == ev.Index
	if !revised || e.Type != record.EventEvaluation { // what was believed before an order stays to be seen
		h.grow(ev, float64(e.Seconds), revised)
	}
	leader := ev.Leader()
	for i := range ev.Kernels {
		k := &ev.Kernels[i]
		t := h.kernels[h.at(ev, i)]
		if t.state.Status != k.Status || t.state.Reason != k.Reason {
			if k.Status == vbks.Pruned && t.state.Status == vbks.Live && e.Type == record.EventEvaluation {
				auto++
			}
			t.state = KernelState{Status: k.Status, Reason: k.Reason, Since: ev.Index}
		}
		t.set(len(h.timeline.moments)-1, k, leader)
	}
	return auto
}

// at returns the place of a kernel of an evaluation, as a rule the same.
func (h *History) at(ev *record.Evaluation, i int) int {
	if id := ev.Kernels[i].ID; i >= len(h.ids) || h.ids[i] != id {
		return h.place(id)
	}
	return i
}

// grow begins a new point of all kernels' series: of an evaluation, or of what
// an order made of the last one.
func (h *History) grow(ev *record.Evaluation, seconds float64, revised bool) {
	if len(h.timeline.moments) >= h.capacity() {
		ends := h.timeline.groups()
		for _, t := range h.kernels {
			t.merge(ends)
		}
	}
	merged := 1
	if revised {
		merged = 0
	}
	h.timeline.moments = append(h.timeline.moments, Moment{
		First: ev.Index, Index: ev.Index, Merged: merged, Rows: ev.RowsSeen, Proportion: ev.Proportion, Data: h.ruler.data(ev), Seconds: seconds,
	})
}

// score appends a metric to its method's series; one of the same evaluation is
// replaced.
func (h *History) score(m *record.Metric) {
	k := slices.IndexFunc(h.methods, func(t *methodTracks) bool { return t.name == m.Method })
	if k < 0 {
		k = len(h.methods)
		h.methods = append(h.methods, &methodTracks{name: m.Method})
	}
	t := h.methods[k]
	n := len(t.timeline.moments)
	if n == 0 || t.timeline.moments[n-1].Index != m.Evaluation {
		if n >= h.capacity() {
			ends := t.timeline.groups()
			for i := range t.values {
				t.values[i].merge(ends)
			}
		}
		at := Moment{First: m.Evaluation, Index: m.Evaluation, Merged: 1, Proportion: m.Proportion, Data: m.Proportion,
			Seconds: float64(m.Seconds)}
		if n := len(h.timeline.moments); n > 0 && h.timeline.moments[n-1].Index == m.Evaluation {
			at.Rows, at.Data = h.timeline.moments[n-1].Rows, h.timeline.moments[n-1].Data
		}
		t.timeline.moments = append(t.timeline.moments, at)
	}
	for i, v := range [...]files.Number{m.RMSE, m.MAE, m.NLPD, m.Coverage95} {
		t.values[i].set(len(t.timeline.moments)-1, float64(v))
	}
}

func (t *kernelTracks) merge(ends []int) {
	for _, q := range []*track[float32]{&t.posterior, &t.bayes, &t.gap, &t.rank} {
		q.merge(ends)
	}
	t.elbo.merge(ends)
	t.status.merge(ends)
}

// set writes a kernel's numbers into point at, the last; one that is not live has
// none, or, left out, its share of the belief.
func (t *kernelTracks) set(at int, k *record.Kernel, leader *record.Kernel) {
	nan := math.NaN()
	posterior, bayes, elbo, gap, rank := nan, nan, nan, nan, nan
	if f := k.Fit; f != nil {
		posterior, bayes, elbo, rank = float64(f.Posterior), float64(f.Bayes), float64(f.ELBO), float64(f.Rank)
		if leader != nil {
			gap = f.Gap(leader.Fit)
		}
	}
	if s := k.Left; s != nil {
		posterior, bayes = float64(s.Posterior), float64(s.Bayes)
	}
	t.posterior.set(at, posterior)
	t.bayes.set(at, bayes)
	t.elbo.set(at, elbo)
	t.gap.set(at, gap)
	t.rank.set(at, rank)
	t.status.set(at, encodeStatus(k.Status))
}

// IDs lists the kernels in the order of the space.
func (h *History) IDs() []string { return h.ids }

// Index returns the place of a kernel, −1 if it is unknown.
func (h *History) Index(id string) int {
	if k, ok := h.places[id]; ok {
		return k
	}
	return -1
}

// Kernel returns what has become of kernel k.
func (h *History) Kernel(k int) KernelState { return h.kernels[k].state }

// StatusAt returns the status of kernel k at point i of its series, "" where
// it was not in the space.
func (h *History) StatusAt(k, i int) vbks.Status { return statuses[h.kernels[k].status.at(i)] }

// Series returns a quantity of kernel k; one that kernels do not have is empty.
func (h *History) Series(k int, q Quantity) Series {
	s := Series{Moments: h.timeline.moments}
	switch t := h.kernels[k]; q {
	case QuantityPosterior:
		s.narrow = &t.posterior
	case QuantityBayes:
		s.narrow = &t.bayes
	case QuantityGap:
		s.narrow = &t.gap
	case QuantityRank:
		s.narrow = &t.rank
	case QuantityELBO:
		s.wide = &t.elbo
	default:
		return Series{}
	}
	return s
}

// LastRank returns the rank that kernel k had last up to point at of its series,
// up to the last point if at is negative; 0 if it never had one.
func (h *History) LastRank(k, at int) int {
	s := h.Series(k, QuantityRank)
	if at < 0 {
		at = s.Len() - 1
	}
	for ; at >= 0; at-- {
		if v := s.Last(at); !math.IsNaN(v) {
			return int(v)
		}
	}
	return 0
}

// Methods returns the number of methods of prediction that have been scored.
func (h *History) Methods() int { return len(h.methods) }

// Method returns the name of method m.
func (h *History) Method(m int) string { return h.methods[m].name }

// MethodSeries returns a quantity of method m; one that methods do not have is
// empty.
func (h *History) MethodSeries(m int, q Quantity) Series {
	t := h.methods[m]
	i := int(q) - int(QuantityRMSE)
	if i < 0 || i >= len(t.values) {
		return Series{}
	}
	return Series{Moments: t.timeline.moments, wide: &t.values[i]}
}

// Moments returns where the points of the kernels' series stand.
func (h *History) Moments() []Moment { return h.timeline.moments }

// Marks lists what was done to the run, oldest first.
func (h *History) Marks() []Mark { return h.marks }

// Lines lists what was said, oldest first: the last 2,000 lines. Dropped is
// the number of those before.
func (h *History) Lines() (lines []LogLine, dropped int) { return h.lines.lines() }

// Label writes a coordinate for the scale of an axis: "38 %" and, once all data
// are used, "+3" for the third evaluation after the first such; "1m20s"; "12".
func (h *History) Label(a Axis, x float64) string { return h.ruler.label(a, x) }

// Step is what an evaluation adds on the data axis, 0 before the first.
func (h *History) Step() float64 { return h.ruler.step }

// Labeller returns Label for an axis, without the history.
func (h *History) Labeller(a Axis) func(x float64) string {
	r := h.ruler
	return func(x float64) string { return r.label(a, x) }
}

// Rate returns the average time of an evaluation, 0 before the first.
func (h *History) Rate() time.Duration {
	if h.Evaluation == nil {
		return 0
	}
	return record.Pace(float64(h.Worked), h.Made)
}

// TargetUnit is " (MWh)", or "" if the unit is not known.
func (h *History) TargetUnit() string {
	if h.Start == nil || h.Start.Data == nil {
		return ""
	}
	for _, c := range h.Start.Data.Columns {
		if c.Role == "target" && c.Unit != "" {
			return " (" + c.Unit + ")"
		}
	}
	return ""
}

// Ranked lists the kernels by rank, those without one behind, by their last one;
// those that never had one in the order of the space.
func (h *History) Ranked() []int {
	rank := make([]int, len(h.ids))
	order := make([]int, len(h.ids))
	for k := range order {
		order[k], rank[k] = k, math.MaxInt
	}
	if h.Evaluation != nil {
		for i := range h.Evaluation.Kernels {
			if k := &h.Evaluation.Kernels[i]; k.Fit != nil {
				if at := h.Index(k.ID); at >= 0 {
					rank[at] = k.Fit.Rank
				}
			}
		}
	}
	before := make([]int, len(h.ids))
	for k := range before {
		if before[k] = math.MaxInt; rank[k] == math.MaxInt {
			before[k] = cmp.Or(h.LastRank(k, -1), math.MaxInt)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(before[a], before[b]))
	})
	return order
}

// Name returns what kernel k is called for reading.
func (h *History) Name(k int) string {
	if h.Start != nil {
		for i := range h.Start.Kernels {
			if s := &h.Start.Kernels[i]; s.ID == h.ids[k] && s.Name != "" {
				return s.Name
			}
		}
	}
	return h.ids[k]
}
