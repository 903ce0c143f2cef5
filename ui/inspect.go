package ui

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/format"
)

// inspector answers what a run has learned; an inspect.Inspector is one.
type inspector interface {
	Evaluation() int
	Inputs() []prepare.ColumnInfo
	Curve(ctx context.Context, q inspect.FitQuery) (*inspect.Curve, error)
	Points(column, most int) (*inspect.PointSet, error)
	Fitted(ctx context.Context, column int, kernel string, most int) (*inspect.Fitted, error)
	Residuals(ctx context.Context, kernel string, most int) (*inspect.Residuals, error)
	Components(ctx context.Context, id string, q inspect.FitQuery) ([]inspect.ComponentCurve, error)
	Covariance(id string, column, points int, whole bool) (*inspect.CovarianceCurve, error)
	PriorDraws(id string, column, points, draws int, whole bool) (*inspect.PriorDraws, error)
	Similarity(ctx context.Context, top int) (*inspect.Similarity, error)
	Forecast(ctx context.Context, ids []string) ([]float64, error)
	Close() error
}

// answer is the last answer to a question of a view; it stays until there is a
// newer one.
type answer struct {
	value      any
	topic      string // what the value is about
	evaluation int    // that the value was given as of
	err        error  // of the last asking, whatever the value

	key   string             // topic and details asked last
	about *record.Evaluation // asked last
	asked int                // when, counted in questions
}

// known returns what an answer holds about a topic; false if it holds
// nothing about that.
func known[T any](a *answer, topic string) (value T, ok bool) {
	if a.topic != topic {
		return value, false
	}
	value, ok = a.value.(T)
	return value, ok
}

// inquiry is a question of a view: about a topic, such as a kernel, an old
// answer about another is of no use; a detail, such as a zoom, is of less weight.
type inquiry struct {
	to     *answer
	topic  string
	detail string
	f      func(ctx context.Context, i inspector) (any, error)
}

func (q *inquiry) key() string { return q.topic + "\x00" + q.detail }

// inspection asks an inspector, one question at a time, outside the screen's
// goroutine. There is a new inspector for every evaluation that is asked about.
type inspection struct {
	open func(ctx context.Context) (inspector, error) // nil: of the bench's run

	// Of the screen's goroutine.
	busy   bool
	doing  *answer   // of the question under way
	key    string    // of that question
	begun  time.Time // of that question
	cut    context.CancelFunc
	count  int       // questions
	rest   time.Time // before this nothing is asked only because of a newer evaluation
	waking bool      // a message at the end of the rest is on its way
	late   lateness

	// Of the question under way.
	mu     sync.Mutex
	now    inspector
	about  *record.Evaluation
	closed bool
}

// lateness is how often an inspector was older than the evaluation asked about:
// of another process's run, the event comes before the checkpoint.
type lateness struct {
	about *record.Evaluation
	times int
}

const (
	mostLate = 20          // times
	lateRest = time.Second // between them
	mostRest = 10 * time.Second
)

var errInspectionClosed = errors.New("the run has been closed")

// take returns an inspector that knows an evaluation; the mutex is held.
func (i *inspection) take(ctx context.Context, about *record.Evaluation,
	open func(context.Context) (inspector, error)) (inspector, error) {
	if i.closed {
		return nil, errInspectionClosed
	}
	if i.now != nil && (i.about == about && i.now.Evaluation() >= about.Index) {
		return i.now, nil
	}
	next, err := open(ctx)
	if err != nil {
		return nil, err
	}
	if i.now != nil {
		_ = i.now.Close() // it has only been read from
	}
	i.now, i.about = next, about
	return next, nil
}

// close ends the inspection after the question under way, which the end of the
// bench's context cuts short.
func (i *inspection) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	if i.now != nil {
		_ = i.now.Close() // it has only been read from
		i.now = nil
	}
}

// answerMsg is the answer to an inquiry, or, without one, the end of a rest.
type answerMsg struct {
	of         *bench
	to         *answer
	key        string
	topic      string
	about      *record.Evaluation
	value      any
	err        error
	evaluation int
	took       time.Duration
}

// openInspector makes an inspector of the bench's run.
func (b *bench) openInspector(ctx context.Context) (inspector, error) {
	if b.session != nil {
		i, err := b.session.Run.Inspect(ctx)
		if err != nil {
			return nil, err // not an interface that holds a nil pointer
		}
		return i, nil
	}
	var i *inspect.Inspector
	var err error
	if last, ok := b.inspect.now.(*inspect.Inspector); ok { // the data need not be read again
		i, err = last.Reload(ctx)
	} else {
		i, err = inspect.Open(ctx, b.path)
	}
	if err != nil {
		return nil, err
	}
	return i, nil
}

// inquire asks the first of the questions that has no answer of the last
// evaluation, the one longest without; nil if none has to be asked, or another
// is under way: a view calls it again after every message.
func (b *bench) inquire(qs ...inquiry) tea.Cmd {
	i, about := &b.inspect, b.hist.Evaluation
	if about == nil {
		return nil
	}
	var next *inquiry
	urgent, wanted := false, false // the user has asked for something else; what is computed
	for n := range qs {
		q := &qs[n]
		wanted = wanted || i.busy && q.to == i.doing && q.key() == i.key
		changed := q.to.key != q.key()
		if !changed && q.to.about == about {
			continue
		}
		if next == nil || changed && !urgent || changed == urgent && q.to.asked < next.to.asked {
			next, urgent = q, changed
		}
	}
	switch {
	case next == nil:
		return nil
	case i.busy:
		if urgent && !wanted { // nobody looks at it any more
			i.cut()
		}
		return nil
	}
	if wait := i.rest.Sub(b.app.opts.now()); wait > 0 && !urgent {
		if i.waking {
			return nil
		}
		i.waking = true
		return tea.Tick(wait, func(time.Time) tea.Msg { return answerMsg{of: b} })
	}
	i.busy, i.doing, i.key, i.begun = true, next.to, next.key(), b.app.opts.now()
	i.count++
	next.to.asked = i.count
	return b.question(next, about)
}

// question is the command that answers an inquiry.
func (b *bench) question(q *inquiry, about *record.Evaluation) tea.Cmd {
	msg := answerMsg{of: b, to: q.to, key: q.key(), topic: q.topic, about: about}
	open, f := b.inspect.open, q.f
	if open == nil {
		open = b.openInspector
	}
	ctx, cut := context.WithCancel(b.ctx)
	b.inspect.cut = cut
	return func() tea.Msg {
		defer cut()
		i := &b.inspect
		i.mu.Lock()
		defer i.mu.Unlock()
		begin := time.Now()
		in, err := i.take(b.ctx, about, open)
		if err == nil {
			msg.evaluation = in.Evaluation()
			msg.value, err = guarded(func() (any, error) { return f(ctx, in) })
		}
		msg.err, msg.took = err, time.Since(begin)
		return msg
	}
}

// guarded makes an error of a panic: what a view would like to know must not end
// a run.
func guarded(f func() (any, error)) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			value, err = nil, fmt.Errorf("this could not be computed: %v", p)
		}
	}()
	return f()
}

// answered takes an answer in, and reports whether it is one to this bench.
func (b *bench) answered(msg answerMsg) bool {
	if msg.of != b {
		return false
	}
	i := &b.inspect
	if msg.to == nil {
		i.waking = false
		return false
	}
	i.busy = false
	now := b.app.opts.now()
	if !b.settled() {
		// A run goes on beside: it gets two thirds of the time.
		i.rest = now.Add(min(2*msg.took, mostRest))
	} else {
		i.rest = now
	}
	a := msg.to
	a.key, a.about, a.err = msg.key, msg.about, msg.err
	if msg.err != nil {
		if errors.Is(msg.err, context.Canceled) || errors.Is(msg.err, errInspectionClosed) {
			a.key, a.about, a.err = "", nil, nil // to be asked again, if anybody looks
		}
		return true
	}
	a.value, a.topic, a.evaluation = msg.value, msg.topic, msg.evaluation
	if msg.evaluation < msg.about.Index {
		if i.late.about != msg.about {
			i.late = lateness{about: msg.about}
		}
		if i.late.times++; i.late.times < mostLate {
			a.about = nil // to be asked again
			i.rest = now.Add(lateRest)
		}
	}
	return true
}

// longAnswer is after what time it is told how long an answer has taken so far.
const longAnswer = 2 * time.Second

// answerNote says in a few words how an answer about a topic stands; bad if it
// is the error of asking.
func (b *bench) answerNote(a *answer, topic string) (text string, bad bool) {
	e := b.hist.Evaluation
	switch {
	case a.err != nil:
		return a.err.Error(), true
	case e == nil:
		return "no evaluation yet", false
	case a.value == nil || a.topic != topic:
		if i := &b.inspect; i.busy && i.doing == a {
			if t := b.app.opts.now().Sub(i.begun); t >= longAnswer {
				return "computing … " + format.Clock(t), false
			}
		}
		return "computing …", false
	case a.evaluation != e.Index:
		return fmt.Sprintf("as of evaluation %d", a.evaluation), false
	}
	return "", false
}
