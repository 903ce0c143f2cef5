package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/npz/npztest"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks"
)

// answers asks an inspector everything.
func answers(t *testing.T, i *inspect.Inspector) []any {
	t.Helper()
	ctx := t.Context()
	out := []any{i.Evaluation(), i.Inputs(), i.Target()}
	add := func(a any, err error) {
		t.Helper()
		must.OK(t, err)
		out = append(out, a)
	}
	id := i.Trainer().Last().Kernels[i.Trainer().Last().Leader()].ID
	q := inspect.FitQuery{Points: 20}
	add(i.Curve(ctx, q))
	add(i.Curve(ctx, inspect.FitQuery{Points: 9, Kernel: id, Low: 1, High: 3, Level: 0.5, Column: len(i.Inputs()) - 1}))
	add(i.Points(0, 30))
	add(i.Residuals(ctx, "", 10))
	add(i.Components(ctx, id, q))
	add(i.Covariance(id, 0, 15, false))
	add(i.PriorDraws(id, 0, 12, 3, false))
	add(i.Similarity(ctx, 2))
	return out
}

// An inspector of a live run and one of its directory give the same answers to
// the last bit, also after a pruning.
func TestInspectorsAgree(t *testing.T) {
	thorough.Unraced(t)
	path := configtest.PlaneFile(t)
	for _, set := range [][]string{
		{"optimise.optimizer=collapsed"},
		{"optimise.optimizer=natural", "optimise.hyperparameters=diagonal", "data.standardise_y=none"},
	} {
		_, r, dir := runtest.Finished(t, configtest.Plane(t, path, set...))
		for _, what := range []string{"finished", "pruned"} {
			live := runtest.Inspect(t, r)
			if got := r.Snapshot().Evaluation.Index; live.Evaluation() != got {
				t.Errorf("%v: evaluation %d, the run is at %d", set, live.Evaluation(), got)
			}
			opened, err := inspect.Open(t.Context(), dir)
			must.OK(t, err)
			a, b := answers(t, live), answers(t, opened)
			for k := range a {
				if !reflect.DeepEqual(a[k], b[k]) {
					t.Errorf("%v, %s: answer %d is %+v live, %+v from the directory", set, what, k, a[k], b[k])
				}
			}
			again, err := opened.Reload(t.Context())
			must.OK(t, err)
			if !reflect.DeepEqual(b, answers(t, again)) {
				t.Errorf("%v, %s: reloaded, other answers", set, what)
			}
			must.OK(t, again.Close())
			if _, err := live.Reload(t.Context()); err == nil {
				t.Error("a live run has been reloaded")
			}
			if !reflect.DeepEqual(a, answers(t, live)) {
				t.Errorf("%v, %s: asked again, other answers", set, what)
			}
			must.OK(t, opened.Close())
			if what == "finished" {
				must.OK(t, r.Prune(r.Snapshot().Evaluation.Below(2)))
				runtest.Await(t, r)
			}
		}
	}
}

// The curve is the trainer's own prediction on the line, scaled back.
func TestCurveIsThePrediction(t *testing.T) {
	j, r, _ := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t), "predict.top=2", "predict.weights=bayes"))
	i := runtest.Inspect(t, r)
	in := i.Inputs()
	if len(in) != 2 || in[0].Name != "hour" || i.Target().Name != "level" {
		t.Fatalf("columns %+v %+v", in, i.Target())
	}
	c, err := i.Curve(t.Context(), inspect.FitQuery{Column: 1, Points: 11, Held: []float64{6, -1}, Level: 0.8})
	must.OK(t, err)
	low, high := math.Inf(1), math.Inf(-1)
	for row := range j.Data.N() {
		low, high = min(low, j.Data.Row(row)[1]), max(high, j.Data.Row(row)[1])
	}
	if want := low - 0.05*(high-low); math.Abs(c.X[0]-want) > 1e-9*want || len(c.X) != 11 {
		t.Errorf("the curve begins at %v, the data at %v", c.X[0], low)
	}
	var points []float64
	for _, x := range c.X {
		points = append(points, 6, x)
	}
	p, err := j.Trainer.Predict(t.Context(), j.Scaler.Inputs(points), vbks.PredictOptions{Top: 2, Weights: "bayes"})
	must.OK(t, err)
	if !reflect.DeepEqual(c.IDs, p.IDs) || !reflect.DeepEqual(c.Weights, p.Weights) {
		t.Errorf("averaged %v, not %v", c.IDs, p.IDs)
	}
	for row := range c.X {
		var mean float64
		for k, w := range p.Weights {
			mean += w * p.Mean[k][row]
		}
		if want := j.Scaler.YShift + j.Scaler.YScale*mean; math.Abs(c.Mean[row]-want) > 1e-9 {
			t.Errorf("mean %v at %v, want %v", c.Mean[row], c.X[row], want)
		}
		// The bands are quantiles: F at them is the level's tail.
		for _, b := range []struct {
			at, prob float64
			ofY      bool
		}{{c.Lower[row], 0.1, true}, {c.Upper[row], 0.9, true}, {c.LowerF[row], 0.1, false}, {c.UpperF[row], 0.9, false}} {
			if f := p.CDF(row, j.Scaler.Target(b.at), b.ofY); math.Abs(f-b.prob) > 1e-6 {
				t.Errorf("at %v: F = %v, want %v", c.X[row], f, b.prob)
			}
		}
	}
	for _, q := range []inspect.FitQuery{{Column: 2}, {Column: -1}, {Low: 2, High: 1}, {Points: 1}, {Points: 1e6}, {Level: 1},
		{Held: []float64{1}}, {Kernel: "nosuch"}} {
		if _, err := i.Curve(t.Context(), q); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: error %v", q, err)
		}
	}
}

// About 95 % of fresh noisy data lie in the band: within four standard
// deviations of the binomial distribution.
func TestBandsCover(t *testing.T) {
	thorough.Unraced(t)
	const fresh = 600
	j, r, _ := runtest.Finished(t, configtest.Small(t, "data.outputs=150", fmt.Sprintf("data.test=%d", fresh),
		"kernels.expressions=(PER+RQ)*LIN,PER*LIN",
		"data.noise=0.3", "sparse.inducing=30", "optimise.starts=3", "schedule.steps=30"))
	i := runtest.Inspect(t, r)
	c, err := i.Curve(t.Context(), inspect.FitQuery{Points: 2000})
	must.OK(t, err)
	inside := 0
	for _, row := range j.Data.Test {
		k := min(len(c.X)-2, max(0, slices.IndexFunc(c.X, func(x float64) bool { return x > j.Data.X[row] })-1))
		u := (j.Data.X[row] - c.X[k]) / (c.X[k+1] - c.X[k])
		at := func(v []float64) float64 { return (1-u)*v[k] + u*v[k+1] }
		if y := j.Data.Y[row]; y >= at(c.Lower) && y <= at(c.Upper) {
			inside++
		}
	}
	if d := math.Abs(float64(inside) - 0.95*fresh); d > 4*math.Sqrt(0.95*0.05*fresh) {
		t.Errorf("%d of %d in the band of 95 %%", inside, fresh)
	}
	res, err := i.Residuals(t.Context(), "", 0)
	must.OK(t, err)
	inside = 0
	var square float64
	for k, z := range res.Standardised {
		if math.Abs(z) < 1.959964 {
			inside++
		}
		square += (res.Y[k] - res.Mean[k]) * (res.Y[k] - res.Mean[k]) / fresh
	}
	if d := math.Abs(float64(inside) - 0.95*fresh); d > 4*math.Sqrt(0.95*0.05*fresh) || !res.Test || res.Of != fresh {
		t.Errorf("%d of %d residuals within two standard deviations, of %+v", inside, fresh, res.Of)
	}
	if m := r.Snapshot().Metrics[0]; math.Abs(res.RMSE-float64(m.RMSE)) > 1e-9*res.RMSE || math.Abs(res.NLPD-float64(m.NLPD)) > 1e-9 ||
		res.Coverage95 != float64(m.Coverage95) || math.Abs(res.RMSE-math.Sqrt(square)) > 1e-9*res.RMSE {
		t.Errorf("RMSE %v, NLPD %v; the run measured %+v", res.RMSE, res.NLPD, m)
	}
	// Without test rows: those seen.
	_, r, _ = runtest.Finished(t, configtest.Small(t, "data.test=0", "schedule.budget=1"))
	if res, err = runtest.Inspect(t, r).Residuals(t.Context(), "SE", 7); err != nil || res.Test || res.Of != 30 || len(res.Y) != 7 {
		t.Errorf("%+v %v", res, err)
	}
}

// What is believed at the rows is what their residuals are of, at every row in the
// order of the column; the share of test rows between its bounds is their coverage.
func TestFittedIsWhatResidualsAreOf(t *testing.T) {
	_, r, _ := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t)))
	i := runtest.Inspect(t, r)
	res, err := i.Residuals(t.Context(), "", 0)
	must.OK(t, err)
	for column := range 2 {
		f, err := i.Fitted(t.Context(), column, "", 0)
		must.OK(t, err)
		p, err := i.Points(column, 0)
		must.OK(t, err)
		if p.Alone || len(f.X) != p.Seen+p.Tests || !slices.IsSorted(f.X) {
			t.Fatalf("%d rows, want %d seen and %d of the test, in order; alone %v", len(f.X), p.Seen, p.Tests, p.Alone)
		}
		mean, within := map[float64]float64{}, 0
		for k, y := range f.Y {
			if f.Kind[k] != inspect.PointTest {
				continue
			}
			mean[y] = f.Mean[k]
			if y >= f.Lower[k] && y <= f.Upper[k] {
				within++
			}
			if !(f.Lower[k] <= f.LowerF[k] && f.LowerF[k] <= f.UpperF[k] && f.UpperF[k] <= f.Upper[k]) {
				t.Errorf("row %d: y %v to %v about f %v to %v", k, f.Lower[k], f.Upper[k], f.LowerF[k], f.UpperF[k])
			}
		}
		for k, y := range res.Y {
			if got, ok := mean[y]; !ok || math.Abs(got-res.Mean[k]) > 1e-9*math.Abs(got) {
				t.Errorf("column %d: %v is predicted, the residual is of %v", column, got, res.Mean[k])
			}
		}
		if got := float64(within) / float64(len(res.Y)); math.Abs(got-res.Coverage95) > 1e-9 {
			t.Errorf("%.3f of the test rows are between the bounds, coverage is %.3f", got, res.Coverage95)
		}
		if few, err := i.Fitted(t.Context(), column, "", 12); err != nil || len(few.X) > 13 || len(few.X) < 10 {
			t.Errorf("%d rows, want about 12: %v", len(few.X), err)
		}
	}
}

// Bands of a fan are nested, in the band of y, and begin where the fan does.
func TestFanIsNested(t *testing.T) {
	_, r, _ := runtest.Finished(t, configtest.Small(t))
	i := runtest.Inspect(t, r)
	c, err := i.Curve(t.Context(), inspect.FitQuery{Points: 40, Fan: []float64{0.8, 0.5}, Ahead: 1})
	must.OK(t, err)
	for k, x := range c.X {
		wide, narrow := c.Fan[0], c.Fan[1]
		if x < 1 {
			if !math.IsNaN(wide.Lower[k]) || !math.IsNaN(narrow.Upper[k]) {
				t.Errorf("the fan has begun at %v", x)
			}
		} else if !(c.Lower[k] <= wide.Lower[k] && wide.Lower[k] <= narrow.Lower[k] && narrow.Lower[k] <= narrow.Upper[k] &&
			narrow.Upper[k] <= wide.Upper[k] && wide.Upper[k] <= c.Upper[k]) {
			t.Errorf("at %v: %v to %v, %v to %v, %v to %v", x, c.Lower[k], c.Upper[k], wide.Lower[k], wide.Upper[k],
				narrow.Lower[k], narrow.Upper[k])
		}
	}
}

func TestComponentsAddUpToTheCurve(t *testing.T) {
	for _, shift := range []string{"full", "scale"} {
		_, r, _ := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t), "data.standardise_y="+shift))
		i := runtest.Inspect(t, r)
		const id = "LIN[height]+SE[hour]"
		for column := range 2 {
			q := inspect.FitQuery{Column: column, Points: 30, Kernel: id}
			c, err := i.Curve(t.Context(), q)
			must.OK(t, err)
			parts, err := i.Components(t.Context(), id, q)
			must.OK(t, err)
			if want := map[string]int{"full": 3, "scale": 2}[shift]; len(parts) != want {
				t.Fatalf("%s: %d components, want %d", shift, len(parts), want)
			}
			for row := range c.X {
				var sum float64
				for _, p := range parts {
					sum += p.Mean[row]
					if !(p.Lower[row] <= p.Mean[row] && p.Mean[row] <= p.Upper[row]) || p.X[row] != c.X[row] {
						t.Fatalf("%s at %v: %v to %v about %v", p.Name, p.X[row], p.Lower[row], p.Upper[row], p.Mean[row])
					}
				}
				if math.Abs(sum-c.Mean[row]) > 1e-8 {
					t.Fatalf("components add up to %v, not %v", sum, c.Mean[row])
				}
			}
			// The part of the other column does not change along this one.
			for _, p := range parts {
				if p.ID == []string{"LIN[height]", "SE[hour]"}[column] && slices.Max(p.Mean)-slices.Min(p.Mean) > 1e-9 {
					t.Errorf("%s varies along input %d", p.ID, column)
				}
				if p.Name == inspect.DataMean && p.Mean[0] != i.OfScaler().YShift {
					t.Errorf("the data's mean is %v", p.Mean[0])
				}
			}
		}
	}
}

func TestSimilarity(t *testing.T) {
	j, r, _ := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t)))
	s, err := runtest.Inspect(t, r).Similarity(t.Context(), 0)
	must.OK(t, err)
	e := r.Snapshot().Evaluation
	if len(s.IDs) != 3 || s.IDs[0] != e.Leader().ID || !s.Test || s.Rows != 20 {
		t.Fatalf("%+v", s)
	}
	tr := j.Trainer.(*vbks.Trainer)
	cov, ids := tr.Belief().Covariance(), tr.Belief().IDs
	p, err := tr.Predict(t.Context(), j.Scaler.X(j.Data, j.Data.Test), vbks.PredictOptions{IDs: ids})
	must.OK(t, err)
	for a, x := range s.IDs {
		for b, y := range s.IDs {
			i, j := slices.Index(ids, x), slices.Index(ids, y)
			if want := cov.At(i, j) / math.Sqrt(cov.At(i, i)*cov.At(j, j)); math.Abs(s.Belief[a][b]-want) > 1e-9 {
				t.Errorf("belief: %s and %s %v, want %v", x, y, s.Belief[a][b], want)
			}
			f, g := p.Mean[slices.Index(p.IDs, x)], p.Mean[slices.Index(p.IDs, y)]
			if want := pearson(f, g); math.Abs(s.Means[a][b]-want) > 1e-9 {
				t.Errorf("means: %s and %s %v, want %v", x, y, s.Means[a][b], want)
			}
		}
	}
}

func pearson(f, g []float64) float64 {
	var mf, mg, ff, gg, fg float64
	for i := range f {
		mf, mg = mf+f[i]/float64(len(f)), mg+g[i]/float64(len(f))
	}
	for i := range f {
		ff, gg, fg = ff+(f[i]-mf)*(f[i]-mf), gg+(g[i]-mg)*(g[i]-mg), fg+(f[i]-mf)*(g[i]-mg)
	}
	return fg / math.Sqrt(ff*gg)
}

// Thinning keeps the least and the greatest target of every kind and no more
// rows than asked for.
func TestPointsKeepTheSpikes(t *testing.T) {
	const n = 5000
	d := &datasets.Dataset{Dim: 1, X: make([]float64, n), Y: make([]float64, n), Inputs: []datasets.Column{{Name: "x"}}}
	rng := rand.New(rand.NewPCG(1, 2))
	for r := range n {
		d.X[r], d.Y[r] = rng.Float64(), rng.NormFloat64()
		if r < 4000 {
			d.Train = append(d.Train, int32(r))
		} else {
			d.Test = append(d.Test, int32(r))
		}
	}
	d.Y[17], d.Y[3999], d.Y[4500] = 1e3, -1e3, 2e3
	_, r, _ := runtest.Finished(t, configtest.Small(t))
	i := runtest.Inspect(t, r)
	i.Replace(d) // 60 rows have been seen
	for _, most := range []int{1, 6, 7, 100, 1001, n, 0} {
		p, err := i.Points(0, most)
		must.OK(t, err)
		if p.Seen != 60 || p.Unseen != 3940 || p.Tests != 1000 {
			t.Fatalf("%d seen, %d not, %d test rows", p.Seen, p.Unseen, p.Tests)
		}
		limit := max(most, 6)
		if most == 0 {
			limit = n
		}
		if len(p.X) > limit || len(p.X) != len(p.Y) || len(p.X) != len(p.Kind) || most == 0 && len(p.X) != n || most > 100 && len(p.X) < limit/2 {
			t.Errorf("%d points where %d were asked for", len(p.X), most)
		}
		at := func(y float64) inspect.PointKind { return p.Kind[slices.Index(p.Y, y)] }
		if at(1e3) != inspect.PointSeen || at(-1e3) != inspect.PointUnseen || at(2e3) != inspect.PointTest {
			t.Errorf("%d points: the spikes are of kinds %d, %d, %d", most, at(1e3), at(-1e3), at(2e3))
		}
		for k := 1; k < len(p.X); k++ {
			if p.Kind[k] < p.Kind[k-1] || p.Kind[k] == p.Kind[k-1] && p.X[k] < p.X[k-1] {
				t.Fatalf("%d points: out of order at %d", most, k)
			}
		}
	}
}

// Inspecting a run, paused or under way, from several goroutines, changes
// nothing of what it finds.
func TestInspectDoesNotDisturb(t *testing.T) {
	c := configtest.Small(t, "schedule.evaluate_every=0.1", "schedule.refine=2")
	_, calm, calmDir := runtest.Finished(t, c)
	j, err := prepare.Prepare(t.Context(), c)
	must.OK(t, err)
	defer j.Close()
	dir := filepath.Join(t.TempDir(), "run")
	d, err := rundir.Create(inside.Disk{}, dir)
	must.OK(t, err)
	reached := make(chan struct{})
	var once sync.Once
	r := experiment.NewRun(j, record.Recorders{rundir.NewSaver(d, 0), record.RecorderFunc(func(e *record.Event) error {
		if e.Type == record.EventEvaluation {
			once.Do(func() { close(reached) })
		}
		return nil
	})})
	if _, err := r.Inspect(t.Context()); !errors.Is(err, record.ErrNoResults) {
		t.Error(err)
	}
	must.OK(t, r.Start())
	<-reached
	paused := r.Pause() == nil
	i := runtest.Inspect(t, r)
	answers(t, i)
	if s := r.Snapshot(); paused {
		if s.State != record.Paused || s.Evaluation.Index != i.Evaluation() {
			t.Errorf("%s at evaluation %d, inspected %d", s.State, s.Evaluation.Index, i.Evaluation())
		}
		must.OK(t, r.Resume())
	} else {
		t.Logf("the run was over before it could be paused")
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !r.Snapshot().State.Settled() {
				one, err := r.Inspect(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				for _, x := range []*inspect.Inspector{one, i} {
					if _, err := x.Curve(context.Background(), inspect.FitQuery{Points: 5}); err != nil {
						t.Error(err)
					}
				}
				one.Close()
			}
		}()
	}
	runtest.Await(t, r)
	wg.Wait()
	must.OK(t, r.Close())
	must.OK(t, d.Close())
	if i.Evaluation() == calm.Snapshot().Evaluation.Index && paused {
		t.Error("the inspector has moved on")
	}
	a, err := os.ReadFile(filepath.Join(calmDir, record.PosteriorFile))
	must.OK(t, err)
	b, err := os.ReadFile(filepath.Join(dir, record.PosteriorFile))
	must.OK(t, err)
	if string(a) != string(b) {
		t.Error("the inspected run differs from the calm one")
	}
	must.OK(t, i.Close())
	if _, err := i.Curve(t.Context(), inspect.FitQuery{}); !errors.Is(err, inspect.ErrClosed) {
		t.Error(err)
	}
}

// A question whose context is over is not answered.
func TestInspectorIsCancelled(t *testing.T) {
	_, r, _ := runtest.Finished(t, configtest.Small(t))
	i := runtest.Inspect(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := i.Curve(ctx, inspect.FitQuery{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// One that waits for its turn, too.
	release := i.Hold()
	ctx, cancel = context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := i.Similarity(ctx, 0)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	release()
}

func TestOpenInspectorErrors(t *testing.T) {
	path := configtest.PlaneFile(t)
	_, _, dir := runtest.Finished(t, configtest.Plane(t, path))
	fails := func(what, dir, want string) {
		t.Helper()
		if _, err := inspect.Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", what, err, want)
		}
	}
	fails("no directory", filepath.Join(dir, "nosuch"), "is not the directory of a run")
	text, err := os.ReadFile(path)
	must.OK(t, err)
	must.OK(t, os.WriteFile(path, append(text, "1,2,3\n"...), 0o644))
	fails("changed data", dir, "the file has changed")
	must.OK(t, os.Remove(path))
	fails("missing data", dir, "not found")
	must.OK(t, os.WriteFile(path, text, 0o644))
	i, err := inspect.Open(t.Context(), dir)
	must.OK(t, err)
	must.OK(t, i.Close())
	file := filepath.Join(dir, record.StateDir, record.CheckpointFile)
	whole, err := os.ReadFile(file)
	must.OK(t, err)
	learned, err := rundir.Learned(dir)
	must.OK(t, err)
	learned["run"].Data[0] = 0
	must.OK(t, npztest.Save(t, file, learned))
	fails("one of no evaluation", dir, "its checkpoint has no evaluation, its events.jsonl has ")
	must.OK(t, os.WriteFile(file, whole[:len(whole)/2], 0o644))
	fails("half a checkpoint", dir, "is damaged")
	must.OK(t, npztest.Save(t, file, map[string]vbks.Tensor{"run": {Shape: []int{1}, Data: []float64{1}}}))
	fails("a checkpoint of another kind", dir, "array format is missing")
	must.OK(t, os.Remove(file))
	fails("no checkpoint", dir, "there is no evaluation yet")
}
