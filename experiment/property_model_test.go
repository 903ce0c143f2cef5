package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// model is what a run should be, told by its orders and its events alone. Its
// rules are those of docs/architecture.md and of the doc comments; it shares no
// code with Run.
type model struct {
	ids     []string
	bad     string // the kernel that may fail
	kernels map[string]*modelKernel

	rows   int     // of training
	every  float64 // evaluate_every
	refine int
	extra  int // evaluations beyond those planned at first
	most   int // 0: as planned

	tests   int // test rows
	sampled int // of these scored at each evaluation
	budget  time.Duration

	state    record.State
	begun    bool
	made     int
	seen     int  // rows, at the last evaluation
	owed     bool // what was last known has not been scored
	inducing int  // inputs
	compared int  // inducing inputs of the last evaluation
	moved    bool // they were changed after the last evaluation: there is nothing to be scored
	full     bool // it has, on all test rows
	scoring  bool // a run at rest scores
	open     bool // a settled state still wants its event of the end
	late     bool // the time is up
	mayFail  bool // a fault has been laid
	drive    record.Course
	courseOn bool          // it prunes and goes on by itself
	byItself bool          // the last event was such an order
	elapsed  time.Duration // less pauses
	deadline time.Duration

	// Where orders come while work goes on, a pause or a stop may come between the
	// last step of a piece of work and its result: so many results may still come.
	slack, allowed int
}

type modelKernel struct {
	status vbks.Status
	rows   int // of the evaluation whose numbers it has, 0 if there is none
}

func (m *model) rowsAt(evaluation int) int {
	return min(m.rows, int(math.Ceil(float64(evaluation)*m.every*float64(m.rows)-1e-9)))
}

// inAll is the number of evaluations of the trainer, planned that of the run.
func (m *model) inAll() int { return int(math.Ceil(1/m.every-1e-9)) + m.refine + m.extra }

func (m *model) planned() int {
	if m.most > 0 {
		return min(m.most, m.inAll())
	}
	return m.inAll()
}

func (m *model) current(id string) bool {
	k := m.kernels[id]
	return k.status == vbks.Live && k.rows > 0 && k.rows == m.seen
}

// refusal returns what the refusal of an order says; "" for one that is carried
// out.
func (m *model) refusal(kind string, ids []string) string {
	switch kind {
	case orderStart, orderPause, orderResume:
		from := map[string]record.State{orderStart: record.Ready, orderPause: record.Running, orderResume: record.Paused}[kind]
		if m.state == from {
			return ""
		}
		return fmt.Sprintf("the run is %s and cannot be %s", m.state, map[string]string{orderStart: "started", orderPause: "paused",
			orderResume: "resumed"}[kind])
	case orderStop:
		return ""
	}
	switch {
	case m.state == record.Failed:
		return "the run has failed"
	case m.made == 0:
		return "no evaluation yet"
	case kind == orderReoptimise:
		return ""
	}
	from := vbks.Live
	if kind == orderRestore {
		from = vbks.Pruned
	}
	left := map[string]bool{}
	for _, id := range m.ids {
		left[id] = m.current(id)
	}
	for i, id := range ids {
		k, again := m.kernels[id], slices.Contains(ids[:i], id)
		if k != nil && kind == orderRestore && k.rows != m.seen && (again || k.status == vbks.Live) {
			continue // restored already, it waits for the next evaluation
		}
		if k == nil || k.status != from || again {
			return id
		}
		left[id] = kind == orderRestore && m.kernels[id].rows == m.seen
	}
	for _, is := range left {
		if is {
			return ""
		}
	}
	return "kernel"
}

// own lists the events that an order that is carried out begins with, notices
// apart.
func (m *model) own(kind string) []string {
	switch kind {
	case orderStart:
		return []string{string(record.EventStarted), "running"}
	case orderPause:
		return []string{"paused"}
	case orderResume:
		return []string{"running"}
	case orderStop:
		if m.state.Settled() {
			return nil
		}
		return []string{"stopping", "stopped", string(record.EventFinished)}
	case orderPrune:
		return []string{string(record.EventPruned)}
	case orderRestore:
		return []string{string(record.EventRestored)}
	case orderReoptimise:
		if m.state == record.Running {
			return []string{string(record.EventReoptimised)}
		}
		return []string{string(record.EventReoptimised), "running"}
	}
	return nil
}

// label is what own calls an event.
func label(e *record.Event) string {
	if e.Type == record.EventState {
		return string(e.State.To)
	}
	return string(e.Type)
}

var transitions = map[record.State][]record.State{
	record.Ready:    {record.Running, record.Stopping},
	record.Running:  {record.Paused, record.Stopping, record.Finished, record.Failed},
	record.Paused:   {record.Running, record.Stopping, record.Failed},
	record.Stopping: {record.Stopped, record.Failed}, // what is abandoned may just fail
	record.Stopped:  {record.Running, record.Failed}, // its scoring may fail
	record.Finished: {record.Running, record.Failed},
	record.Failed:   {},
}

// apply takes an event in and says what is wrong with it. ordered tells those
// that an order was answered by from those that come by themselves.
func (m *model) apply(e *record.Event, ordered bool) error {
	byItself := m.byItself
	m.byItself = e.ByItself
	switch {
	case m.open != (e.Type == record.EventFinished):
		return fmt.Errorf("%s: the end of a run is one event, right after its last state", label(e))
	case m.state == record.Failed && e.Type != record.EventFinished:
		return fmt.Errorf("%s after the run has failed", label(e))
	case !m.begun && e.Type != record.EventStarted && m.state == record.Ready && label(e) != string(record.Stopping):
		return fmt.Errorf("%s before the run began", label(e))
	case e.ByItself && (!m.courseOn || m.state != record.Finished && m.slack == 0):
		return fmt.Errorf("%s by itself while %s", label(e), m.state)
	}
	switch e.Type {
	case record.EventStarted:
		if m.begun {
			return fmt.Errorf("begun twice")
		}
		m.begun, m.inducing = true, e.Start.Inducing
	case record.EventState:
		return m.enter(e.State, ordered || byItself)
	case record.EventFinished:
		m.open = false
		if e.State.To != m.state {
			return fmt.Errorf("the end says %s, the run is %s", e.State.To, m.state)
		}
	case record.EventEvaluation:
		return m.evaluated(e)
	case record.EventMetrics:
		return m.measured(e)
	case record.EventPruned, record.EventRestored:
		if !ordered && !e.ByItself {
			return fmt.Errorf("%s without an order", label(e))
		}
		return m.revised(e)
	case record.EventReoptimised:
		if !ordered && !e.ByItself {
			return fmt.Errorf("re-optimised without an order")
		}
		m.moved, m.inducing = m.moved || e.Inducing != m.inducing, e.Inducing
		m.scoring, m.late, m.deadline = false, false, m.elapsed+m.budget
		before := m.inAll()
		if e.Change.Rounds > 0 {
			m.extra += e.Change.Rounds
		} else {
			m.extra += max(0, max(1, m.refine)-(before-m.made))
		}
		if m.most > 0 {
			m.most = max(m.most, m.made+max(e.Change.Rounds, m.inAll()-before))
		}
	}
	return nil
}

func (m *model) enter(c *record.StateChange, ordered bool) error {
	switch {
	case c.From != m.state || !slices.Contains(transitions[m.state], c.To):
		return fmt.Errorf("from %s to %s while %s", c.From, c.To, m.state)
	case c.Reason == "":
		return fmt.Errorf("%s without a reason", c.To)
	case !ordered && c.To != record.Finished && c.To != record.Failed:
		return fmt.Errorf("%s without an order", c.To)
	case c.To == record.Finished && m.made < m.planned() && !m.late:
		return fmt.Errorf("finished after %d of %d evaluations", m.made, m.planned())
	case c.To == record.Finished && !m.moved && (m.owed || m.sampled < m.tests && !m.full):
		return fmt.Errorf("finished without scores of evaluation %d", m.made)
	case c.To == record.Failed && !m.mayFail && (!m.late || m.made > 0):
		return fmt.Errorf("failed without a fault: %s", c.Reason)
	}
	m.state, m.open = c.To, c.To.Settled()
	m.courseOn = m.courseOn && c.To != record.Stopped && c.To != record.Failed
	if c.From != record.Paused || c.To != record.Stopping {
		m.allowed = 0
	}
	if c.To == record.Paused || c.From == record.Running && c.To == record.Stopping {
		m.allowed = m.slack
	}
	if c.To == record.Failed {
		m.scoring = false
	}
	return nil
}

// comes reports whether the result of a piece of work may come now.
func (m *model) comes() bool {
	if (m.state == record.Paused || m.state == record.Stopping) && m.allowed > 0 {
		m.allowed--
		return true
	}
	return m.state == record.Running
}

func (m *model) evaluated(e *record.Event) error {
	switch v := e.Evaluation; {
	case !m.comes():
		return fmt.Errorf("evaluation %d while %s", v.Index, m.state)
	case v.Index != m.made+1:
		return fmt.Errorf("evaluation %d after %d", v.Index, m.made)
	case m.owed && !m.moved:
		return fmt.Errorf("evaluation %d before evaluation %d was scored", v.Index, m.made)
	case m.late || m.made >= m.planned():
		return fmt.Errorf("evaluation %d of %d, late %v", v.Index, m.planned(), m.late)
	}
	m.made, m.owed, m.moved, m.full = m.made+1, true, false, false
	m.seen = m.rowsAt(m.made)
	for i, id := range m.ids {
		k := m.kernels[id]
		if m.compared != m.inducing && k.status == vbks.Pruned {
			k.rows = 0 // of other inducing inputs: it cannot be compared any more
		}
		if k.status == vbks.Live {
			k.rows = m.seen
			if id == m.bad && e.Evaluation.Kernels[i].Status == vbks.Failed {
				k.status = vbks.Failed
			}
		}
	}
	m.compared = m.inducing
	return m.check(e.Evaluation)
}

func (m *model) revised(e *record.Event) error {
	kind, to := orderPrune, vbks.Pruned
	if e.Type == record.EventRestored {
		kind, to = orderRestore, vbks.Live
	}
	if why := m.refusal(kind, e.Kernels); why != "" {
		return fmt.Errorf("%s %v, which cannot be (%s)", e.Type, e.Kernels, why)
	}
	for _, id := range e.Kernels {
		m.kernels[id].status = to
	}
	m.owed, m.full, m.scoring = true, false, m.state.Settled() && !m.moved
	return m.check(e.Evaluation)
}

func (m *model) measured(e *record.Event) error {
	for _, v := range e.Metrics {
		rows := v.TestRows
		last := m.made == m.planned() || m.late
		switch {
		case m.moved:
			return fmt.Errorf("scores of evaluation %d with other inducing inputs", v.Evaluation)
		case v.Evaluation != m.made:
			return fmt.Errorf("scores of evaluation %d after %d", v.Evaluation, m.made)
		case rows != m.sampled && rows != m.tests || m.state.Settled() && rows != m.tests:
			return fmt.Errorf("scores of %d rows while %s", rows, m.state)
		case !m.owed && (m.full || !last || rows != m.tests):
			return fmt.Errorf("scored twice")
		case m.state.Settled() && !m.scoring:
			return fmt.Errorf("scores while %s", m.state)
		}
		for _, x := range []files.Number{v.RMSE, v.MAE, v.NLPD, v.Coverage95, v.CRPS, v.Interval} {
			if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
				return fmt.Errorf("scores %+v", v)
			}
		}
	}
	if !m.state.Settled() && !m.comes() {
		return fmt.Errorf("scores while %s", m.state)
	}
	m.owed, m.full, m.scoring = false, e.Metrics[0].TestRows == m.tests, false
	return nil
}

// check compares what an evaluation says with what is known, and looks at its
// numbers.
func (m *model) check(e *record.Evaluation) error {
	if e.Index != m.made || e.RowsSeen != m.seen || e.Planned != m.planned() || len(e.Kernels) != len(m.ids) {
		return fmt.Errorf("evaluation %d of %d, %d rows, %d kernels; want %d of %d, %d rows, %d kernels",
			e.Index, e.Planned, e.RowsSeen, len(e.Kernels), m.made, m.planned(), m.seen, len(m.ids))
	}
	var sum, bayes float64
	var ranks []int
	finite := func(x ...files.Number) bool {
		return !slices.ContainsFunc(x, func(n files.Number) bool { return math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) })
	}
	for i, id := range m.ids {
		k, want := &e.Kernels[i], m.kernels[id].status
		if want == vbks.Live && !m.current(id) {
			want = vbks.Pruned // it waits for the next evaluation
		}
		if k.ID != id || k.Status != want || (k.Fit != nil) != m.current(id) || k.Fit == nil && k.Reason == "" {
			return fmt.Errorf("kernel %s is %s (%s), with numbers %v; want %s", k.ID, k.Status, k.Reason, k.Fit != nil, want)
		}
		if f := k.Fit; f != nil {
			if !finite(f.Posterior, f.Bayes, f.ELBO, f.SE) || !finite(f.Params...) || f.Posterior < 0 || f.Bayes < 0 || f.SE < 0 {
				return fmt.Errorf("kernel %s: %+v", id, f)
			}
			sum, bayes, ranks = sum+float64(f.Posterior), bayes+float64(f.Bayes), append(ranks, f.Rank)
		}
	}
	slices.Sort(ranks)
	for i, r := range ranks {
		if r != i+1 {
			return fmt.Errorf("ranks %v", ranks)
		}
	}
	if math.Abs(sum-1) > 1e-9 || math.Abs(bayes-1) > 1e-9 || !finite(e.Objective) {
		return fmt.Errorf("q* adds up to %v, Bayes to %v; total ELBO %v", sum, bayes, e.Objective)
	}
	return nil
}

// agrees compares a look at the run with the model.
func (m *model) agrees(s *Snapshot) error {
	var wrong []string
	if s.State != m.state {
		wrong = append(wrong, fmt.Sprintf("state %s, want %s", s.State, m.state))
	}
	if s.Elapsed != m.elapsed {
		wrong = append(wrong, fmt.Sprintf("%s less pauses, want %s", s.Elapsed, m.elapsed))
	}
	if s.Planned != m.planned() {
		wrong = append(wrong, fmt.Sprintf("%d evaluations planned, want %d", s.Planned, m.planned()))
	}
	if (s.Evaluation != nil) != (m.made > 0) {
		wrong = append(wrong, fmt.Sprintf("evaluation %v after %d", s.Evaluation, m.made))
	} else if s.Evaluation != nil {
		e := *s.Evaluation
		e.Planned = m.planned() // of the time when it was made
		if err := m.check(&e); err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	if wrong != nil {
		return fmt.Errorf("a look at the run: %s", strings.Join(wrong, "; "))
	}
	return nil
}

// rests reports whether the run is at rest, so that nobody waits for it.
func (m *model) rests() bool { return m.state.Settled() && !m.scoring }
