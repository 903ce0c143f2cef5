package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
)

// fakeInspector answers with values that follow from the question. Where fail
// is set it answers nothing else.
type fakeInspector struct {
	evaluation int
	inputs     []prepare.ColumnInfo
	test       bool
	fail       error
	closed     int
	period     float64            // of which a few are shown
	queries    []inspect.FitQuery // of Curve
}

func (f *fakeInspector) Evaluation() int              { return f.evaluation }
func (f *fakeInspector) Inputs() []prepare.ColumnInfo { return f.inputs }
func (f *fakeInspector) Close() error                 { f.closed++; return nil }

func (f *fakeInspector) Curve(_ context.Context, q inspect.FitQuery) (*inspect.Curve, error) {
	f.queries = append(f.queries, q)
	c := &inspect.Curve{Evaluation: f.evaluation, IDs: []string{"SE", "LIN"}, Weights: []float64{.7, .3}}
	for i := range q.Points {
		x := q.Low + (q.High-q.Low)*float64(i)/float64(q.Points-1)
		c.X, c.Mean = append(c.X, x), append(c.Mean, x)
		c.Lower, c.Upper = append(c.Lower, x-2), append(c.Upper, x+2)
		c.LowerF, c.UpperF = append(c.LowerF, x-1), append(c.UpperF, x+1)
	}
	return c, f.fail
}

func (f *fakeInspector) Points(int, int) (*inspect.PointSet, error) {
	p := &inspect.PointSet{Seen: 3, Unseen: 1, Tests: 1,
		X: []float64{-5, 0, 5, 7, 1}, Y: []float64{-5, 1, 4, 7, 2},
		Kind: []inspect.PointKind{inspect.PointSeen, inspect.PointSeen, inspect.PointSeen, inspect.PointUnseen,
			inspect.PointTest}}
	return p, f.fail
}

// Fitted has a row for each of Points: what is believed there is its place, and its
// target is 1 more.
func (f *fakeInspector) Fitted(_ context.Context, column int, _ string, _ int) (*inspect.Fitted, error) {
	out := &inspect.Fitted{Curve: inspect.Curve{Evaluation: f.evaluation, IDs: []string{"SE", "LIN"}, Weights: []float64{.7, .3}}}
	in := f.inputs[column]
	for i := range 21 {
		x := in.Low + (in.High-in.Low)*float64(i)/20
		out.X, out.Mean, out.Y = append(out.X, x), append(out.Mean, x), append(out.Y, x+1)
		out.Lower, out.Upper = append(out.Lower, x-2), append(out.Upper, x+2)
		out.LowerF, out.UpperF = append(out.LowerF, x-1), append(out.UpperF, x+1)
		out.Kind = append(out.Kind, inspect.PointKind(i%2)*inspect.PointTest)
	}
	return out, f.fail
}

func (f *fakeInspector) Residuals(context.Context, string, int) (*inspect.Residuals, error) {
	r := &inspect.Residuals{Evaluation: f.evaluation, Test: f.test, Of: 4, Inputs: len(f.inputs), RMSE: .25, Coverage95: .75}
	for i := range 4 {
		for range f.inputs {
			r.X = append(r.X, float64(i))
		}
		r.Standardised = append(r.Standardised, float64(i)-6)
	}
	r.Y, r.Mean, r.SD = make([]float64, 4), make([]float64, 4), make([]float64, 4)
	return r, f.fail
}

func (f *fakeInspector) Components(_ context.Context, id string, q inspect.FitQuery) ([]inspect.ComponentCurve, error) {
	x, y, lo, hi := []float64{-1, 0, 1}, []float64{0, 1, 0}, []float64{-1, 0, -1}, []float64{1, 2, 1}
	return []inspect.ComponentCurve{
		{ID: "SE", Name: "SE", X: x, Mean: y, Lower: lo, Upper: hi}, {ID: "LIN", Name: "LIN", X: x, Mean: x, Lower: lo, Upper: hi},
		{Name: inspect.DataMean, X: x, Mean: []float64{3, 3, 3}, Lower: y, Upper: y},
	}, f.fail
}

func (f *fakeInspector) Covariance(string, int, int, bool) (*inspect.CovarianceCurve, error) {
	return &inspect.CovarianceCurve{Stationary: true, Lag: []float64{0, 1, 2}, Value: []float64{4, 2, 1}, Period: f.period}, f.fail
}

func (f *fakeInspector) PriorDraws(string, int, int, int, bool) (*inspect.PriorDraws, error) {
	return &inspect.PriorDraws{X: []float64{0, 1, 2}, Draws: [][]float64{{0, 1, 0}, {1, 0, -1}}, Period: f.period}, f.fail
}

func (f *fakeInspector) Forecast(context.Context, []string) ([]float64, error) {
	return nil, errors.New("not asked here")
}

func (f *fakeInspector) Similarity(_ context.Context, top int) (*inspect.Similarity, error) {
	return &inspect.Similarity{IDs: []string{"SE", "LIN", "PER"}, Rows: 20, Test: f.test,
		Belief: [][]float64{{1, .5, -.25}, {.5, 1, 0}, {-.25, 0, 1}}, Means: [][]float64{{1, .9, .8}, {.9, 1, .7}, {.8, .7, 1}}}, f.fail
}

// oneInput is the input of the invented runs.
func oneInput() []prepare.ColumnInfo {
	return []prepare.ColumnInfo{{Column: datasets.Column{Name: "x"}, Low: -10, High: 10}}
}

// faked gives a bench inspectors that know its last evaluation, and returns
// all that were opened.
func faked(b *bench) *[]*fakeInspector {
	var all []*fakeInspector
	b.inspect.open = func(context.Context) (inspector, error) {
		f := &fakeInspector{evaluation: b.hist.Evaluation.Index, inputs: oneInput(), test: true}
		all = append(all, f)
		return f, nil
	}
	return &all
}

// askAll lets a view ask until it has no question left.
func askAll(t testing.TB, b *bench) {
	t.Helper()
	for range 100 {
		cmd := b.refresh()
		if cmd == nil {
			return
		}
		b.message(cmd())
	}
	t.Fatal("a view does not stop asking")
}

// asks makes an inquiry that answers with a text.
func asks(to *answer, topic, detail, text string) inquiry {
	return inquiry{to: to, topic: topic, detail: detail, f: func(_ context.Context, i inspector) (any, error) {
		return fmt.Sprintf("%s at %d", text, i.Evaluation()), nil
	}}
}

func textOf(a *answer, topic string) string {
	s, _ := known[string](a, topic)
	return s
}

// answerTo runs the command of a question.
func answerTo(t testing.TB, b *bench, cmd tea.Cmd) {
	t.Helper()
	if cmd == nil {
		t.Fatal("nothing is asked")
	}
	msg, ok := cmd().(answerMsg)
	if !ok {
		t.Fatal("the command is no question")
	}
	b.message(msg)
}

func TestOneQuestionAtATime(t *testing.T) {
	b := testApp(t, 80, 24, settle(demoEvents(t, "K12", 3), record.Finished, "done")).bench
	inspectors := faked(b)
	var one, two answer
	qs := []inquiry{asks(&one, "a", "", "one"), asks(&two, "b", "", "two")}
	first := b.inquire(qs...)
	if first == nil || b.inquire(qs...) != nil {
		t.Fatal("want one question under way")
	}
	answerTo(t, b, first)
	if textOf(&one, "a") != "one at 3" || textOf(&two, "b") != "" {
		t.Fatalf("after the first: %q, %q", textOf(&one, "a"), textOf(&two, "b"))
	}
	answerTo(t, b, b.inquire(qs...))
	if textOf(&two, "b") != "two at 3" {
		t.Fatalf("after the second: %q", textOf(&two, "b"))
	}
	if b.inquire(qs...) != nil {
		t.Error("asked although all is known")
	}
	if textOf(&one, "other") != "" {
		t.Error("an answer serves for another topic")
	}
	if n := len(*inspectors); n != 1 {
		t.Errorf("%d inspectors for one evaluation", n)
	}
}

func TestStaleAnswersStayAndAreReplaced(t *testing.T) {
	events := demoEvents(t, "K12", 4)
	a := testApp(t, 80, 24, events[:len(events)-2]) // three evaluations
	b := a.bench
	clock := demoTime
	a.opts.now = func() time.Time { return clock }
	inspectors := faked(b)
	var got answer
	q := asks(&got, "a", "", "value")
	answerTo(t, b, b.inquire(q))
	if note, bad := b.answerNote(&got, "a"); note != "" || bad {
		t.Errorf("a fresh answer is marked %q", note)
	}
	for i := range events[len(events)-2:] {
		b.apply(&events[len(events)-2+i])
	}
	if note, bad := b.answerNote(&got, "a"); note != "as of evaluation 3" || bad || textOf(&got, "a") != "value at 3" {
		t.Errorf("a stale answer is %q, marked %q", textOf(&got, "a"), note)
	}
	clock = clock.Add(time.Minute) // whatever the rest
	answerTo(t, b, b.inquire(q))
	if note, _ := b.answerNote(&got, "a"); note != "" || textOf(&got, "a") != "value at 4" {
		t.Errorf("the new answer is %q, marked %q", textOf(&got, "a"), note)
	}
	if n := len(*inspectors); n != 2 || (*inspectors)[0].closed != 1 || (*inspectors)[1].closed != 0 {
		t.Errorf("%d inspectors; want the first closed, the second open", n)
	}
	b.cancel()
	b.inspect.close()
	if (*inspectors)[1].closed != 1 {
		t.Error("the last inspector is left open")
	}
	if msg := b.question(&q, b.hist.Evaluation)().(answerMsg); !errors.Is(msg.err, errInspectionClosed) {
		t.Errorf("a question after the end: %v", msg.err)
	}
}

func TestARunIsLeftTimeBetweenQuestions(t *testing.T) {
	events := demoEvents(t, "K12", 4)
	a := testApp(t, 80, 24, events[:len(events)-2])
	b := a.bench
	clock := demoTime
	a.opts.now = func() time.Time { return clock }
	faked(b)
	var got answer
	msg := b.inquire(asks(&got, "a", "", "value"))().(answerMsg)
	msg.took = 2 * time.Second
	b.message(msg)
	b.apply(&events[len(events)-2])
	if cmd := b.inquire(asks(&got, "a", "", "value")); cmd == nil || b.inspect.busy {
		t.Fatal("want a rest of twice the time, and its end on the way")
	}
	if b.inquire(asks(&got, "a", "", "value")) != nil {
		t.Error("two ends of one rest")
	}
	// What the user asks for does not wait.
	answerTo(t, b, b.inquire(asks(&got, "a", "zoomed", "zoomed")))
	if textOf(&got, "a") != "zoomed at 4" {
		t.Errorf("got %q", textOf(&got, "a"))
	}
	clock = clock.Add(5 * time.Second)
	b.message(answerMsg{of: b})
	answerTo(t, b, b.inquire(asks(&got, "a", "", "value")))
}

func TestTheQuestionLongestWithoutAnswerComesFirst(t *testing.T) {
	events := demoEvents(t, "K12", 6)
	a := testApp(t, 80, 24, events[:4]) // one evaluation
	b := a.bench
	clock := demoTime
	a.opts.now = func() time.Time { clock = clock.Add(time.Hour); return clock }
	faked(b)
	var one, two answer
	for i := 4; i < len(events); i += 2 {
		answerTo(t, b, b.inquire(asks(&one, "a", "", "one"), asks(&two, "b", "", "two")))
		b.apply(&events[i])
	}
	if one.evaluation < 4 || two.evaluation < 4 {
		t.Errorf("answers of evaluations %d and %d after five: one of them is left behind", one.evaluation, two.evaluation)
	}
}

func TestAFailedQuestionIsTold(t *testing.T) {
	b := testApp(t, 80, 24, settle(demoEvents(t, "K12", 3), record.Finished, "done")).bench
	faked(b)
	var got answer
	q := asks(&got, "a", "", "value")
	answerTo(t, b, b.inquire(q))
	for _, f := range []func(context.Context, inspector) (any, error){
		func(context.Context, inspector) (any, error) { return nil, errors.New("no room") },
		func(context.Context, inspector) (any, error) { panic("no room") },
	} {
		bad := inquiry{to: &got, topic: "a", detail: fmt.Sprintf("%p", f), f: f}
		answerTo(t, b, b.inquire(bad))
		if note, isBad := b.answerNote(&got, "a"); !isBad || !strings.Contains(note, "no room") {
			t.Errorf("the error is told as %q", note)
		}
		if textOf(&got, "a") != "value at 3" {
			t.Error("the old answer is gone")
		}
		if b.inquire(bad) != nil {
			t.Error("a failed question is asked again at once")
		}
	}
}

func TestALateCheckpointIsWaitedFor(t *testing.T) {
	a := testApp(t, 80, 24, settle(demoEvents(t, "K12", 3), record.Finished, "done"))
	b := a.bench
	clock := demoTime
	a.opts.now = func() time.Time { return clock }
	knows := 2
	opened := 0
	b.inspect.open = func(context.Context) (inspector, error) {
		opened++
		return &fakeInspector{evaluation: knows}, nil
	}
	var got answer
	q := asks(&got, "a", "", "value")
	answerTo(t, b, b.inquire(q))
	if note, _ := b.answerNote(&got, "a"); note != "as of evaluation 2" {
		t.Errorf("marked %q", note)
	}
	if b.inquire(q); b.inspect.busy {
		t.Error("asked again without a pause")
	}
	knows = 3
	clock = clock.Add(time.Hour)
	answerTo(t, b, b.inquire(q))
	if textOf(&got, "a") != "value at 3" || opened != 2 {
		t.Errorf("%q after %d inspectors", textOf(&got, "a"), opened)
	}
	// One that never comes is not waited for for ever.
	knows = 2
	b.inspect.now, got = nil, answer{}
	for n := 0; ; n++ {
		clock = clock.Add(time.Hour)
		cmd := b.inquire(q)
		if cmd == nil {
			break
		}
		if n > 2*mostLate {
			t.Fatal("asked for ever")
		}
		answerTo(t, b, cmd)
	}
}

func TestNothingIsAskedBeforeAnEvaluation(t *testing.T) {
	b := testApp(t, 80, 24, demoEvents(t, "K12", 0)).bench
	var got answer
	if b.inquire(asks(&got, "a", "", "value")) != nil {
		t.Error("asked")
	}
	if note, bad := b.answerNote(&got, "a"); note != "no evaluation yet" || bad {
		t.Errorf("told as %q", note)
	}
}

// What nobody looks at any more is not waited for; of what takes long it is told how long.
func TestWhatNobodyLooksAtIsCutShort(t *testing.T) {
	a := testApp(t, 80, 24, settle(demoEvents(t, "K12", 3), record.Finished, "done"))
	b, clock := a.bench, demoTime
	a.opts.now = func() time.Time { return clock }
	faked(b)
	var long, short answer
	begun, asked := make(chan bool), 0
	q := inquiry{to: &long, topic: "a", f: func(ctx context.Context, _ inspector) (any, error) {
		if asked++; asked > 1 {
			return "the whole", nil
		}
		close(begun)
		<-ctx.Done()
		return "a part", ctx.Err()
	}}
	cmd, done := b.inquire(q), make(chan tea.Msg)
	go func() { done <- cmd() }()
	<-begun
	clock = clock.Add(75 * time.Second)
	if note, bad := b.answerNote(&long, "a"); note != "computing … 1:15" || bad {
		t.Errorf("it is told %q", note)
	}
	if b.inquire(q) != nil || b.inspect.cut == nil || !b.moving() {
		t.Error("what is looked at is asked again, or its time stands still")
	}
	other := asks(&short, "b", "", "short")
	if b.inquire(other) != nil {
		t.Error("two questions at a time")
	}
	b.message(<-done)
	if note, bad := b.answerNote(&long, "a"); note != "computing …" || bad {
		t.Errorf("of what was cut short it is told %q", note)
	}
	answerTo(t, b, b.inquire(other))
	answerTo(t, b, b.inquire(q))
	if textOf(&short, "b") != "short at 3" || textOf(&long, "a") != "the whole" {
		t.Errorf("answers %q and %q", textOf(&short, "b"), textOf(&long, "a"))
	}
}
