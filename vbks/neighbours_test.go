package vbks

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks/mixture"
)

// quarters is a daily pattern with corners on a rough level, in a shuffled stream of rows,
// every ninth left out, and those rows.
func quarters(n int) (rows, out Training) {
	rng := rand.New(rand.NewPCG(11, uint64(n)))
	level, x, y := 0.0, make([]float64, n), make([]float64, n)
	for i := range n {
		level = 0.98*level + 0.1*rng.NormFloat64()
		x[i], y[i] = 4*float64(i)/float64(n)-2, level+math.Abs(float64(i%24)-7)/8+0.05*rng.NormFloat64()
	}
	rows = Training{Dim: 1, Seasons: []float64{24 * 4 / float64(n)}}
	out = Training{Dim: 1}
	for _, i := range rng.Perm(n) {
		to := &rows
		if i%9 == 4 {
			to = &out
		}
		to.X, to.Y = append(to.X, x[i]), append(to.Y, y[i])
	}
	return rows, out
}

func denseSettings(local string) Settings {
	s := quickSettings("collapsed")
	s.EvaluateEvery, s.PredictTheta, s.Local, s.Inducing, s.Starts = 1, "mode", local, 10, 1
	return s
}

// Of many rows and few inducing inputs neighbours predict those among the known, for the
// average alone; rows beyond the ends are the kernels', which know nothing of it.
func TestNeighboursPredictDenseRows(t *testing.T) {
	thorough.Unraced(t)
	rows, out := quarters(2700)
	plain := trainerOn(t, 1, nil, rows, denseSettings("none"), "SE", "LIN")
	next(t, plain)
	tr := trainerOn(t, 2, nil, rows, denseSettings("auto"), "SE", "LIN")
	e := next(t, tr)
	if last := e.Notices[len(e.Notices)-1].Text; !strings.Contains(last, "predicted from their neighbours") {
		t.Fatalf("told %q", last)
	}
	at := append(slices.Clone(out.X), -2.5, 2.01)
	predict := func(tr *Trainer, o PredictOptions) (mean, sd []float64) {
		p, err := tr.Predict(t.Context(), at, o)
		must.OK(t, err)
		for row := range at {
			m, v := p.Moments(row, true)
			mean, sd = append(mean, m), append(sd, math.Sqrt(v))
		}
		return mean, sd
	}
	mean, sd := predict(tr, PredictOptions{})
	before, beforeSD := predict(plain, PredictOptions{})
	in, square, was := 0.0, 0.0, 0.0
	for row, y := range out.Y {
		square += (y - mean[row]) * (y - mean[row])
		was += (y - before[row]) * (y - before[row])
		if math.Abs(y-mean[row]) < 1.96*sd[row] {
			in++
		}
	}
	// What a row differs by from the mean of its neighbours in a walk of steps .1 is .07, with noise .05 on top.
	n := float64(len(out.Y))
	if rmse := math.Sqrt(square / n); rmse > 0.13 || !(math.Sqrt(was/n) > 0.3) || in/n < 0.9 || in/n > 0.99 {
		t.Errorf("RMSE %.3f, of the kernels %.3f, coverage %.3f", rmse, math.Sqrt(was/n), in/n)
	}
	for row := len(out.Y); row < len(at); row++ {
		if mean[row] != before[row] || sd[row] != beforeSD[row] {
			t.Errorf("beyond the ends, at %v: %v ± %v, of the kernels %v ± %v", at[row], mean[row], sd[row], before[row], beforeSD[row])
		}
	}
	leader := PredictOptions{IDs: []string{e.Kernels[e.Leader()].ID}}
	a, b := predict(tr, leader)
	c, d := predict(plain, leader)
	if !slices.Equal(a, c) || !slices.Equal(b, d) {
		t.Error("the leader alone predicts otherwise")
	}
	dev := onCPU(1)
	t.Cleanup(func() { dev.Close() })
	twin, err := tr.Twin(dev)
	must.OK(t, err)
	if a, b := predict(twin, PredictOptions{}); !slices.Equal(a, mean) || !slices.Equal(b, sd) {
		t.Error("a twin predicts otherwise")
	}
	f, err := tr.Freeze(t.Context(), FreezeOptions{MostFactors: MostFactors})
	must.OK(t, err)
	if f.Local == nil || len(f.Local.Model.X) != len(rows.Y) {
		t.Error("no rows are kept")
	}
	_, err = tr.Freeze(t.Context(), FreezeOptions{MostFactors: 4000})
	if err == nil || !strings.Contains(err.Error(), "keeps all 2400 rows") {
		t.Errorf("more rows than there is room for: %v", err)
	}
	if p, err := refitted(t, tr, 1, out).Local(t.Context()); p != nil || err != nil {
		t.Errorf("other rows have neighbours: %v, %v", p, err)
	}
}

// Where kernels are as good, or there are few rows, nobody else predicts.
func TestNeighboursAreNotNeeded(t *testing.T) {
	for _, n := range []int{1000, 2500} {
		tr := trainerOn(t, 1, nil, white(n, func(float64) float64 { return 1 }), denseSettings("auto"), "CONST")
		next(t, tr)
		if p, err := tr.Local(t.Context()); p != nil || err != nil {
			t.Errorf("%d rows of noise: within %v, %v", n, p.Within, err)
		}
	}
}

// Who predicts is what the last evaluation has found, whether the run was resumed or not,
// also where kernels have been pruned behind it that were as good.
func TestNeighboursAreDecidedOnce(t *testing.T) {
	rows := white(2500, func(x float64) float64 { return 0.3 })
	for i, x := range rows.X {
		rows.Y[i] += math.Sin(2 * x)
	}
	s := denseSettings("auto")
	tr := trainerOn(t, 1, nil, rows, s, "SE", "CONST")
	next(t, tr)
	_, err := tr.Prune([]string{"SE"})
	must.OK(t, err)
	p, err := tr.Predict(t.Context(), rows.X[:50], PredictOptions{})
	must.OK(t, err)
	dev := onCPU(1)
	t.Cleanup(func() { dev.Close() })
	b, err := Resume(t.Context(), dev, rows, candidates(t, "SE", "CONST"), []string{"x"}, s, tr.Checkpoint())
	must.OK(t, err)
	q, err := b.Predict(t.Context(), rows.X[:50], PredictOptions{})
	must.OK(t, err)
	if tr.local != nil || b.local != nil {
		t.Errorf("neighbours predict: %v, resumed %v", tr.local != nil, b.local != nil)
	}
	for i := range p.Mean[0] {
		m, v := p.Moments(i, true)
		m2, v2 := q.Moments(i, true)
		if m != m2 || v != v2 {
			t.Fatalf("row %d: %v %v, resumed %v %v", i, m, v, m2, v2)
		}
	}
}

// Where neighbours are asked for and there are none to speak of, the kernels predict, and that is
// told: what a run has learned is not lost for it.
func TestTooFewForNeighbours(t *testing.T) {
	tr := trainerOn(t, 1, nil, white(200, func(float64) float64 { return 1 }), denseSettings("neighbours"), "CONST")
	e := next(t, tr)
	if !slices.ContainsFunc(e.Notices, func(n Notice) bool {
		return n.Text == "predict.local: the kernels predict all rows: 200 rows are too few for neighbours; it takes 300"
	}) {
		t.Errorf("told %v", e.Notices)
	}
	if _, err := tr.Predict(t.Context(), []float64{0}, PredictOptions{}); err != nil {
		t.Error(err)
	}
}

// A table of many rows and few inducing inputs: its rows are predicted from those they are most like where
// they are asked for among the others, and only then; rows far from all are the kernels'; what is
// kept of it predicts the same.
func TestNeighboursPredictRowsOfATable(t *testing.T) {
	thorough.Unraced(t)
	rng := rand.New(rand.NewPCG(12, 1))
	var rows, out Training
	rows.Dim, out.Dim = 2, 2
	for i := range 2300 {
		a, c := 4*rng.Float64()-2, float64(rng.IntN(2))
		to := &rows
		if i%23 == 4 {
			to = &out
		}
		to.X, to.Y = append(to.X, a, c), append(to.Y, (1+c)*math.Sin(9*a)+c+0.1*rng.NormFloat64())
	}
	plain := trainerOn(t, 1, nil, rows, denseSettings("auto"), "SE", "LIN")
	next(t, plain)
	if p, err := plain.Local(t.Context()); p != nil || err != nil {
		t.Errorf("rows that are not asked for among the others have neighbours: %v, %v", p, err)
	}
	rows.Alike = []bool{false, true}
	tr := trainerOn(t, 1, nil, rows, denseSettings("auto"), "SE", "LIN")
	e := next(t, tr)
	if last := e.Notices[len(e.Notices)-1].Text; !strings.Contains(last, "the 120 that they are most like") {
		t.Fatalf("told %q", last)
	}
	at := append(slices.Clone(out.X), 40, 0)
	predict := func(by interface {
		Predict(ctx context.Context, x []float64, o PredictOptions) (*mixture.Prediction, error)
	}) (mean, sd []float64) {
		got, err := by.Predict(t.Context(), at, PredictOptions{})
		must.OK(t, err)
		for row := range len(at) / 2 {
			m, v := got.Moments(row, true)
			mean, sd = append(mean, m), append(sd, math.Sqrt(v))
		}
		return mean, sd
	}
	mean, sd := predict(tr)
	before, beforeSD := predict(plain)
	square, was := 0.0, 0.0
	for row, y := range out.Y {
		square += (y - mean[row]) * (y - mean[row]) / 100
		was += (y - before[row]) * (y - before[row]) / 100
	}
	// Noise of .1, of which ten inducing inputs resolve no sine.
	if rmse := math.Sqrt(square); rmse > 0.14 || !(math.Sqrt(was) > 0.3) {
		t.Errorf("RMSE %.3f, of the kernels %.3f", rmse, math.Sqrt(was))
	}
	if last := len(mean) - 1; mean[last] != before[last] || sd[last] != beforeSD[last] {
		t.Errorf("far from all rows: %v ± %v, of the kernels %v ± %v", mean[last], sd[last], before[last], beforeSD[last])
	}
	f, err := tr.Freeze(t.Context(), FreezeOptions{MostFactors: MostFactors})
	must.OK(t, err)
	must.OK(t, f.Check())
	if a, b := predict(thawed(t, f)); !slices.Equal(a, mean) || !slices.Equal(b, sd) {
		t.Error("what is kept predicts otherwise")
	}
}
