package inspect_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/npz/npztest"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks"
)

// predictor opens a run's directory.
func predictor(t *testing.T, dir string) *inspect.Predictor {
	t.Helper()
	p, err := inspect.OpenPredictor(t.Context(), dir)
	must.OK(t, err)
	t.Cleanup(func() { p.Close() })
	return p
}

// tableFile writes a table of text.
func tableFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new.csv")
	must.OK(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// opened opens a table of points until the test's end.
func opened(t *testing.T, p *inspect.Predictor, path string) *datasets.PointReader {
	t.Helper()
	points, err := p.OpenPoints(t.Context(), path)
	must.OK(t, err)
	t.Cleanup(func() { points.Close() })
	return points
}

// predicted is the tables that a predictor writes for a file.
func predicted(t *testing.T, p *inspect.Predictor, path string, q inspect.PredictQuery) (table, parts [][]string, done *inspect.Predicted) {
	t.Helper()
	points := opened(t, p, path)
	var a, b bytes.Buffer
	done, err := p.Write(t.Context(), points, q, &a, &b)
	must.OK(t, err)
	if table, err = csv.NewReader(&a).ReadAll(); err != nil {
		t.Fatal(err)
	}
	if q.Components {
		if parts, err = csv.NewReader(&b).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	return table, parts, done
}

// columnOf returns a column of numbers of a table with a header.
func columnOf(t *testing.T, table [][]string, name string) []float64 {
	t.Helper()
	at := slices.Index(table[0], name)
	if at < 0 {
		t.Fatalf("no column %s in %v", name, table[0])
	}
	var out []float64
	for _, row := range table[1:] {
		v, err := strconv.ParseFloat(row[at], 64)
		must.OK(t, err)
		out = append(out, v)
	}
	return out
}

func within(a, b, relative float64) bool { return math.Abs(a-b) <= relative*math.Abs(b) }

// ownTestRows writes a run's own test rows as a table, its columns in another
// order and one more between them.
func ownTestRows(t *testing.T, j *prepare.Job) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("level,remark,height,hour\n")
	for _, r := range j.Data.Test {
		x := j.Data.Row(int(r))
		fmt.Fprintf(&b, "%v,some text,%v,%v\n", j.Data.Y[r], x[1], x[0])
	}
	return tableFile(t, b.String())
}

// What is predicted from the files of a run is what the run itself predicted:
// the metrics that it wrote down for its test rows come out again, from the
// accuracy that is told and from the numbers in the table.
func TestPredictionsAreTheRunsOwn(t *testing.T) {
	path := configtest.PlaneFile(t)
	for _, set := range [][]string{
		{"optimise.optimizer=collapsed", "predict.top=2"},
		{"optimise.optimizer=natural", "optimise.hyperparameters=diagonal", "predict.weights=bayes"},
		{"optimise.optimizer=adam", "data.standardise_y=scale"},
	} {
		j, _, dir := runtest.Finished(t, configtest.Plane(t, path, set...))
		events, err := recordtest.Read(dir)
		must.OK(t, err)
		rows := ownTestRows(t, j)
		p := predictor(t, dir)
		for _, m := range historytest.Summarise(events).Metrics {
			q := p.DefaultQuery()
			q.Method, q.Quantiles = m.Method, []float64{0.025, 0.975}
			table, _, done := predicted(t, p, rows, q)
			a := done.Accuracy
			if a.Rows != m.TestRows || done.Rows != m.TestRows || len(done.IDs) != m.Kernels || done.Evaluation != m.Evaluation {
				t.Errorf("%v %s: %+v, the run measured %+v", set, m.Method, done, m)
			}
			if !within(a.RMSE, float64(m.RMSE), 1e-12) || !within(a.MAE, float64(m.MAE), 1e-12) || !within(a.NLPD, float64(m.NLPD), 1e-12) ||
				!within(a.CRPS, float64(m.CRPS), 1e-12) || !within(a.Interval, float64(m.Interval), 1e-12) ||
				a.Coverage[2] != float64(m.Coverage95) {
				t.Errorf("%v %s: %+v, the run measured %+v", set, m.Method, a, m)
			}
			mean, y := columnOf(t, table, "mean"), columnOf(t, table, "level")
			lower, upper := columnOf(t, table, "y_q0.025"), columnOf(t, table, "y_q0.975")
			squares, inside, interval := 0.0, 0, 0.0
			for i := range y {
				squares += (y[i] - mean[i]) * (y[i] - mean[i])
				interval += upper[i] - lower[i] + 40*(max(0, lower[i]-y[i])+max(0, y[i]-upper[i]))
				if y[i] >= lower[i] && y[i] <= upper[i] {
					inside++
				}
			}
			n := float64(len(y))
			if !within(interval/n, float64(m.Interval), 1e-9) {
				t.Errorf("%v %s: in the table the interval score is %v, the run measured %+v", set, m.Method, interval/n, m)
			}
			if !within(math.Sqrt(squares/n), float64(m.RMSE), 1e-12) || float64(inside)/n != float64(m.Coverage95) {
				t.Errorf("%v %s: in the table RMSE %v and coverage %v, the run measured %+v", set, m.Method, math.Sqrt(squares/n), float64(inside)/n, m)
			}
		}
	}
}

// naive is what a run's files say of one kernel, for dense arithmetic that
// shares nothing with a device.
type naive struct {
	i          *inspect.Inspector
	id         string
	place      int
	z, x       [][]float64
	y          []float64
	arrays     map[string]vbks.Tensor
	kzz        *mat.SymDense // with jitter
	kzx        *mat.Dense
	kxx        []float64 // diagonal
	noise      float64
	cholesky   mat.Cholesky
	projection *mat.Dense // L⁻¹k(Z,X)
}

func newNaive(t *testing.T, i *inspect.Inspector, place int, arrays map[string]vbks.Tensor) *naive {
	t.Helper()
	n := &naive{i: i, place: place, id: i.Trainer().Last().Kernels[place].ID, arrays: arrays}
	p, theta, noise, err := i.Trainer().Solution(n.id)
	must.OK(t, err)
	n.noise = noise
	dim := i.OfData().Dim
	n.z = slices.Collect(slices.Chunk(arrays["z"].Data, dim))
	rows := i.Seen()
	n.x = slices.Collect(slices.Chunk(i.OfScaler().X(i.OfData(), rows), dim))
	n.y = i.OfScaler().Y(i.OfData(), rows)
	m := len(n.z)
	factor := arrays[fmt.Sprintf("kernel/%d/status", place)].Data[1]
	kzz := p.Matrix(theta, n.z, nil)
	trace := 0.0
	for a := range kzz {
		trace += kzz[a][a]
	}
	n.kzz = mat.NewSymDense(m, nil)
	for a := range kzz {
		for b := range a + 1 {
			v := kzz[a][b]
			if a == b {
				v += i.OfSettings().Jitter.Relative * factor * trace / float64(m)
			}
			n.kzz.SetSym(a, b, v)
		}
	}
	n.kzx = mat.NewDense(m, len(n.x), nil)
	for a, row := range p.Matrix(theta, n.z, n.x) {
		n.kzx.SetRow(a, row)
	}
	for _, x := range n.x {
		n.kxx = append(n.kxx, p.Eval(theta, x, x, true))
	}
	if !n.cholesky.Factorize(n.kzz) {
		t.Fatalf("%s: k(Z,Z) is not positive definite", n.id)
	}
	var l mat.TriDense
	n.cholesky.LTo(&l)
	n.projection = new(mat.Dense)
	must.OK(t, n.projection.Solve(&l, n.kzx))
	return n
}

// collapsed is Titsias' bound, on the n x n matrix:
//
//	log N(y; 0, Q + σ_n² I) − tr(k(X,X) − Q)/2σ_n²,  Q = k(X,Z) k(Z,Z)⁻¹ k(Z,X)
func (n *naive) collapsed(t *testing.T) float64 {
	t.Helper()
	rows := len(n.y)
	var q mat.SymDense
	q.SymOuterK(1, n.projection.T())
	missing := 0.0
	for a := range rows {
		missing += n.kxx[a] - q.At(a, a)
		q.SetSym(a, a, q.At(a, a)+n.noise)
	}
	var c mat.Cholesky
	if !c.Factorize(&q) {
		t.Fatal("Q + σ_n² I is not positive definite")
	}
	y, solved := mat.NewVecDense(rows, n.y), new(mat.VecDense)
	must.OK(t, c.SolveVecTo(solved, y))
	return -0.5*(mat.Dot(y, solved)+c.LogDet()+float64(rows)*math.Log(2*math.Pi)) - missing/(2*n.noise)
}

// uncollapsed is the design's local ELBO with q(v) = N(Λ⁻¹h, Λ⁻¹) as it was
// saved by the optimiser "natural", of Λ the lower triangle, on all rows.
func (n *naive) uncollapsed(t *testing.T) float64 {
	t.Helper()
	m := len(n.z)
	get := func(part string) []float64 { return n.arrays[fmt.Sprintf("kernel/%d/%s", n.place, part)].Data }
	lambda := mat.NewSymDense(m, nil)
	for a := range m {
		for b := range a + 1 {
			lambda.SetSym(a, b, get("chol")[a*(a+1)/2+b])
		}
	}
	var c mat.Cholesky
	if !c.Factorize(lambda) {
		t.Fatal("Λ is not positive definite")
	}
	mean := new(mat.VecDense)
	must.OK(t, c.SolveVecTo(mean, mat.NewVecDense(m, get("mean"))))
	s := new(mat.SymDense)
	must.OK(t, c.InverseTo(s))
	sum := 0.0
	for b, y := range n.y {
		a := n.projection.ColView(b)
		v := n.kxx[b] - mat.Dot(a, a) + mat.Inner(a, s, a)
		r := y - mat.Dot(a, mean)
		sum += -0.5*math.Log(2*math.Pi*n.noise) - (r*r+v)/(2*n.noise)
	}
	kl := 0.5 * (mat.Trace(s) + mat.Dot(mean, mean) - float64(m) + c.LogDet())
	return sum - kl
}

// The model that is read back has the objective that the run had: every
// kernel's local ELBO, computed anew from the checkpoint and the data by the
// formulas, is the one in the event log.
func TestLoadedModelHasTheRunsObjective(t *testing.T) {
	path := configtest.PlaneFile(t)
	for optimizer, objective := range map[string]func(*naive, *testing.T) float64{
		"collapsed": (*naive).collapsed, "natural": (*naive).uncollapsed,
	} {
		_, _, dir := runtest.Finished(t, configtest.Plane(t, path, "optimise.optimizer="+optimizer, "optimise.theta_prior=false",
			"optimise.noise_floor=0.01", "sparse.jitter=1e-4",
			"schedule.elbo_rows=0", "kernels.expressions=SE[hour]+LIN[height],PER[hour]*SE[height],RQ,SE"))
		events, err := recordtest.Read(dir)
		must.OK(t, err)
		arrays, err := npztest.Load(t, filepath.Join(dir, record.StateDir, record.CheckpointFile))
		must.OK(t, err)
		i := predictor(t, dir).Lane()
		for place, k := range historytest.Summarise(events).Evaluation.Kernels {
			got := objective(newNaive(t, i, place, arrays), t)
			if !within(got, float64(k.Fit.ELBO), 1e-12) {
				t.Errorf("%s, %s: local ELBO %v, the run had %v: off by %.2g", optimizer, k.ID, got, k.Fit.ELBO, got/float64(k.Fit.ELBO)-1)
			}
		}
	}
}

// The components of a kernel add up to its mean, and the kernels' means by
// their weights to the mean.
func TestPredictedComponentsAddUp(t *testing.T) {
	thorough.Unraced(t)
	for _, shift := range []string{"full", "scale"} {
		set := append([]string{"data.standardise_y=" + shift}, configtest.Integrated...)
		_, _, dir := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t), set...))
		p := predictor(t, dir)
		q := p.DefaultQuery()
		q.Components, q.Weights = true, "bayes"
		table, parts, done := predicted(t, p, tableFile(t, "height,hour\n2000,3\nNA,4\n2300,20\n"), q)
		if len(table) != 3 || table[2][0] != "3" || done.Accuracy.Rows != 0 {
			t.Fatalf("%v %+v", table, done)
		}
		means := map[string]float64{}
		for _, r := range parts[1:] {
			w, err := strconv.ParseFloat(r[2], 64)
			must.OK(t, err)
			m, err := strconv.ParseFloat(r[5], 64)
			must.OK(t, err)
			means[r[0]] += w * m
			if constant := r[4] == inspect.DataMean; constant && r[6] != "0" {
				t.Errorf("the data's mean is uncertain: %v", r)
			}
		}
		for k, mean := range columnOf(t, table, "mean") {
			if got := means[table[k+1][0]]; !within(got, mean, 1e-9) {
				t.Errorf("%s: components add up to %v, the mean is %v", shift, got, mean)
			}
		}
		if got := strings.Contains(fmt.Sprint(parts), inspect.DataMean); got != (shift == "full") {
			t.Errorf("%s: %v", shift, parts)
		}
	}
}

// Many rows, in several batches and on several lanes, are what few are, in
// order; the accuracy is that of all.
func TestBatchesComeInOrder(t *testing.T) {
	_, _, dir := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t), "kernels.expressions=SE[hour]+LIN[height],LIN",
		"sparse.inducing=4"))
	p := predictor(t, dir)
	const n = inspect.MostBatch + 700
	var b strings.Builder
	b.WriteString("hour,height,level\n")
	for k := range n {
		fmt.Fprintf(&b, "%v,%d,%d\n", float64(k%2400)/100, 1500+k%1000, 320+k%3)
	}
	q := p.DefaultQuery()
	q.Quantiles, q.Method = nil, config.MethodSingle
	table, _, done := predicted(t, p, tableFile(t, b.String()), q)
	if len(table) != n+1 || done.Rows != n || done.Accuracy.Rows != n {
		t.Fatal(len(table), done)
	}
	mean, y := columnOf(t, table, "mean"), columnOf(t, table, "level")
	squares := 0.0
	for k := range n {
		squares += (y[k] - mean[k]) * (y[k] - mean[k])
		if table[k+1][0] != strconv.Itoa(k+1) {
			t.Fatalf("row %d is %v", k+1, table[k+1])
		}
	}
	if want := math.Sqrt(squares / n); !within(done.Accuracy.RMSE, want, 1e-10) {
		t.Errorf("RMSE %v, want %v", done.Accuracy.RMSE, want)
	}
	last := table[n]
	few, _, _ := predicted(t, p, tableFile(t, "hour,height\n"+last[1]+","+last[2]+"\n"), q)
	if got, want := columnOf(t, few, "mean")[0], mean[n-1]; !within(got, want, 1e-12) {
		t.Errorf("alone the mean is %v, among many %v", got, want)
	}
}

// endlessPoints are so many points, and looks at how many are under way.
type endlessPoints struct {
	rows, given int
	written     *lineCounter
	ahead       int // the most that had been given when more was asked for, and not been written
	err         error
}

func (e *endlessPoints) HasTarget() bool { return true }

func (e *endlessPoints) Next(_ context.Context, most int) (*datasets.Points, error) {
	e.ahead = max(e.ahead, e.given-int(e.written.lines.Load()))
	n := min(most, e.rows-e.given)
	if n == 0 {
		return nil, e.err
	}
	p := &datasets.Points{Dim: 2}
	for range n {
		p.X = append(p.X, float64(e.given%24), float64(1500+e.given%1000))
		p.Y = append(p.Y, 320)
		p.Rows = append(p.Rows, int32(e.given))
		e.given++
	}
	return p, nil
}

// lineCounter counts lines.
type lineCounter struct{ lines atomic.Int64 }

func (l *lineCounter) Write(p []byte) (int, error) {
	l.lines.Add(int64(bytes.Count(p, []byte("\n"))))
	return len(p), nil
}

// However many points there are, only a few batches of them are held at a time:
// one for each core that is waiting to be written or predicted, and those at
// hand. An error of the points comes after what came before them.
func TestPointsAreReadAsTheyAreWritten(t *testing.T) {
	thorough.Unraced(t)
	_, _, dir := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t), "kernels.expressions=LIN", "sparse.inducing=4"))
	p := predictor(t, dir)
	q := p.DefaultQuery()
	q.Quantiles = nil
	batch := inspect.BatchRows(1)
	for _, end := range []error{io.EOF, errors.New("the disk is gone")} {
		out := &lineCounter{}
		points := &endlessPoints{rows: (runtime.GOMAXPROCS(0)+6)*batch + 5, written: out, err: end}
		done, err := p.Write(t.Context(), points, q, out, nil)
		if end == io.EOF && (err != nil || done.Rows != points.rows) || end != io.EOF && err != end {
			t.Errorf("%+v, %v", done, err)
		}
		if got := int(out.lines.Load()); got != points.rows+1 {
			t.Errorf("%d lines for %d points", got, points.rows)
		}
		if most := (runtime.GOMAXPROCS(0) + 2) * batch; points.ahead > most {
			t.Errorf("%d points are held at a time, more than %d", points.ahead, most)
		}
	}
}

// Time stamps go in and come out as such, also where the run's own begin at
// another instant, and a column of the data that is called as a result is not
// lost.
func TestPredictAtTimes(t *testing.T) {
	var b strings.Builder
	b.WriteString("when,mean\n")
	for day := range 40 {
		fmt.Fprintf(&b, "2024-01-%02d %02d:00,%v\n", 1+day/2, 12*(day%2), 10+day%2)
	}
	table := filepath.Join(t.TempDir(), "days.csv")
	must.OK(t, os.WriteFile(table, []byte(b.String()), 0o644))
	_, _, dir := runtest.Finished(t, tableConfig(t, table, "kernels.expressions=PER,SE", "sparse.inducing=10", "optimise.starts=3",
		"schedule.evaluate_every=1", "data.test=4"))
	p := predictor(t, dir)
	q := p.DefaultQuery()
	rows, _, done := predicted(t, p, tableFile(t, "mean,when\n10,2024-02-03T00:00:00Z\nNA,2024-02-03T13:00:00+01:00\n"), q)
	want := []string{"row", "when", "mean_data", "mean", "sd_f", "sd_y", "f_q0.05", "f_q0.5", "f_q0.95", "y_q0.05", "y_q0.5", "y_q0.95"}
	if !slices.Equal(rows[0], want) || rows[1][1] != "2024-02-03 00:00" || rows[2][1] != "2024-02-03 12:00" || rows[2][2] != "" {
		t.Errorf("%v", rows)
	}
	// Midnight has 10 and noon 11, two weeks beyond the data, too.
	if m := columnOf(t, rows, "mean"); math.Abs(m[0]-10) > 0.2 || math.Abs(m[1]-11) > 0.2 {
		t.Errorf("means %v", m)
	}
	if done.Accuracy.Rows != 1 || done.Accuracy.Missing != 1 {
		t.Errorf("%+v", done.Accuracy)
	}
	// The same as JSON.
	q.JSON, q.Quantiles = true, []float64{0.5}
	points := opened(t, p, tableFile(t, "mean,when\n10,2024-02-03\n,2024-02-04\n"))
	var out bytes.Buffer
	_, err := p.Write(t.Context(), points, q, &out, nil)
	must.OK(t, err)
	var objects []map[string]any
	must.OK(t, json.Unmarshal(out.Bytes(), &objects))
	if len(objects) != 2 || objects[0]["when"] != "2024-02-03 00:00" || objects[1]["mean_data"] != nil || objects[0]["row"] != 1.0 {
		t.Errorf("%v", objects)
	}
	if m, ok := objects[0]["mean"].(float64); !ok || strconv.FormatFloat(m, 'g', -1, 64) != rows[1][3] {
		t.Errorf("mean %v, as CSV %v", objects[0]["mean"], rows[1][3])
	}
	// Numbers where there were time stamps.
	if _, err := p.Write(t.Context(), opened(t, p, tableFile(t, "when\n1\n2\n")), q, &out, nil); err == nil ||
		!strings.Contains(err.Error(), "time stamps in the training data") {
		t.Error(err)
	}
}

// Quantiles are those of the mixture: of y wider than of f, in order, and the
// median of one symmetric kernel its mean.
func TestPredictedQuantiles(t *testing.T) {
	_, _, dir := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t)))
	p := predictor(t, dir)
	q := p.DefaultQuery()
	q.Method, q.Quantiles = config.MethodSingle, []float64{0.158655253931457, 0.5, 0.841344746068543} // of one sd
	table, _, done := predicted(t, p, tableFile(t, "hour,height\n5,2000\n30,2000\n"), q)
	if len(done.IDs) != 1 || done.Weights[0] != 1 {
		t.Fatalf("%+v", done)
	}
	mean := columnOf(t, table, "mean")
	for _, of := range []string{"f", "y"} {
		sd := columnOf(t, table, "sd_"+of)
		low, median, high := columnOf(t, table, of+"_q0.158655253931457"), columnOf(t, table, of+"_q0.5"),
			columnOf(t, table, of+"_q0.841344746068543")
		for k := range mean {
			if !within(median[k], mean[k], 1e-9) || !within(high[k]-mean[k], sd[k], 1e-6) || !within(mean[k]-low[k], sd[k], 1e-6) {
				t.Errorf("%s: %v, %v, %v about %v ± %v", of, low[k], median[k], high[k], mean[k], sd[k])
			}
		}
	}
}

func TestBadPredictions(t *testing.T) {
	_, _, dir := runtest.Finished(t, configtest.Plane(t, configtest.PlaneFile(t)))
	p := predictor(t, dir)
	for text, want := range map[string]string{
		"hour,level\n1,2\n":      `there is no column "height"`,
		"hour,height\nx,2\n":     `line 2, column 1 ("hour"): "x" is neither a number nor a time stamp`,
		"hour,height\nNA,2\n":    "no rows to predict at",
		"1,2,3,4\n":              "", // without a header the columns are found by their numbers
		"1\n":                    "2 inputs are needed",
		"Hour,height\n1,2\n":     `did you mean "Hour"?`,
		"\x00\x01binary,height":  "holds binary data",
		"hour,height\n1,2,3\n":   "3 fields where the first line has 2",
		"hour,height\n1,1e999\n": "too large",
	} {
		var out bytes.Buffer
		points, err := p.OpenPoints(t.Context(), tableFile(t, text))
		if err == nil {
			_, err = p.Write(t.Context(), points, p.DefaultQuery(), &out, nil)
			points.Close()
		}
		if err != nil && out.Len() > 0 {
			t.Errorf("%q: %q is written all the same", text, &out)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q: %v", text, err)
		}
	}
	points := opened(t, p, tableFile(t, "hour,height\n1,2\n"))
	for what, change := range map[string]func(*inspect.PredictQuery){
		"method":    func(q *inspect.PredictQuery) { q.Method = "mean" },
		"weights":   func(q *inspect.PredictQuery) { q.Weights = "even" },
		"top":       func(q *inspect.PredictQuery) { q.Top = -1 },
		"quantile":  func(q *inspect.PredictQuery) { q.Quantiles = []float64{0} },
		"twice":     func(q *inspect.PredictQuery) { q.Quantiles = []float64{0.5, 0.5} },
		"component": func(q *inspect.PredictQuery) { q.Components = true },
	} {
		q := p.DefaultQuery()
		change(&q)
		if _, err := p.Write(t.Context(), points, q, io.Discard, nil); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	// Where nothing can be written, that is said, and nothing hangs.
	if _, err := p.Write(t.Context(), points, p.DefaultQuery(), fullWriter{}, nil); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Error(err)
	}
	// A run before its first evaluation, and none at all.
	must.OK(t, os.Remove(filepath.Join(dir, record.StateDir, record.CheckpointFile)))
	if _, err := inspect.OpenPredictor(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "no evaluation yet") {
		t.Error(err)
	}
	if _, err := inspect.OpenPredictor(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "not the directory of a run") {
		t.Error(err)
	}
}

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, fmt.Errorf("no space left") }

// tableConfig is the config of a table with these keys set.
func tableConfig(t *testing.T, table string, keys ...string) config.Config {
	t.Helper()
	var set []config.Override
	for _, k := range keys {
		o, err := config.ParseOverride(k)
		must.OK(t, err)
		set = append(set, o)
	}
	c, err := config.ForTable(table, "", set)
	must.OK(t, err)
	return c
}
