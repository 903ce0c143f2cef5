package inspect_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
)

// monthly is a table of months, at the end of each, that rise and swing.
func monthly(t *testing.T, months int) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("month,sold\n")
	for i := range months {
		end := time.Date(2015, time.Month(2+i), 0, 0, 0, 0, 0, time.UTC)
		fmt.Fprintf(&b, "%s,%.2f\n", end.Format(time.DateOnly), 50+0.3*float64(i)+8*math.Sin(float64(i)*math.Pi/6)+math.Mod(float64(i)*0.618, 1))
	}
	path := filepath.Join(t.TempDir(), "sales.csv")
	must.OK(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

// forecast is the table of what is predicted up to a horizon.
func forecast(t *testing.T, p *inspect.Predictor, horizon string, q inspect.PredictQuery) [][]string {
	t.Helper()
	h, err := datasets.ParseHorizon(horizon)
	must.OK(t, err)
	points, err := p.Beyond(h)
	must.OK(t, err)
	var out bytes.Buffer
	_, err = p.Write(t.Context(), points, q, &out, nil)
	must.OK(t, err)
	table, err := csv.NewReader(&out).ReadAll()
	must.OK(t, err)
	return table
}

// Forecasts after a refit are those of an exact Gaussian process on all rows, the
// held-out ones too, at the hyperparameters that the refit has arrived at; without it
// they are of the training rows. In the units of the data, at the ends of months.
func TestForecastsLearnFromAllRows(t *testing.T) {
	_, _, dir := runtest.Finished(t, tableConfig(t, monthly(t, 40), "kernels.expressions=PER+LIN", "sparse.inducing=36", "optimise.starts=2",
		"schedule.evaluate_every=1", "schedule.refine=0", "data.test=4", "predict.theta=mode", "sparse.jitter=1e-12"))
	p := predictor(t, dir)
	q := p.DefaultQuery()
	d, s := p.Lane().OfData(), p.Lane().OfScaler()
	exact := func(rows []int32, x float64) (mean, sdF, sdY float64) {
		tr := p.Lane().Trainer()
		program, theta, noise, err := tr.Solution(tr.Last().Kernels[0].ID)
		must.OK(t, err)
		at := slices.Collect(slices.Chunk(s.X(d, rows), 1))
		k := mat.NewSymDense(len(rows), nil)
		for i, row := range program.Matrix(theta, at, nil) {
			for j := range i + 1 {
				k.SetSym(i, j, row[j])
			}
			k.SetSym(i, i, row[i]+noise)
		}
		var c mat.Cholesky
		if !c.Factorize(k) {
			t.Fatal("not positive definite")
		}
		point := [][]float64{s.Inputs([]float64{x})}
		cross := mat.NewVecDense(len(rows), program.Matrix(theta, point, at)[0])
		var w mat.VecDense
		must.OK(t, c.SolveVecTo(&w, cross))
		variance := program.Eval(theta, point[0], point[0], true) - mat.Dot(&w, cross)
		return s.Value(mat.Dot(&w, mat.NewVecDense(len(rows), s.Y(d, rows)))), s.SD(math.Sqrt(variance)), s.SD(math.Sqrt(variance + noise))
	}
	check := func(rows []int32) {
		t.Helper()
		table := forecast(t, p, "18", q)
		mean, sdF, sdY := columnOf(t, table, "mean"), columnOf(t, table, "sd_f"), columnOf(t, table, "sd_y")
		for i, row := range table[1:] {
			end := time.Date(2015, time.Month(2+40+i), 0, 0, 0, 0, 0, time.UTC)
			if row[0] != fmt.Sprint(i+1) || row[1] != end.Format("2006-01-02") {
				t.Errorf("row %d: %v", i+1, row)
			}
			m, f, y := exact(rows, end.Sub(d.Inputs[0].Origin).Seconds())
			if math.Abs(mean[i]-m) > 1e-3*y || !within(sdF[i], f, 1e-2) || !within(sdY[i], y, 1e-3) {
				t.Errorf("%s: %v ± %v and %v, exact %v ± %v and %v", row[1], mean[i], sdF[i], sdY[i], m, f, y)
			}
		}
	}
	if len(d.Train) != 36 {
		t.Fatal(len(d.Train))
	}
	check(d.Train)
	done, err := p.Refit(t.Context(), q)
	must.OK(t, err)
	if done == nil || *done != (inspect.Refitted{Rows: 40, HeldOut: 4}) {
		t.Fatalf("%+v", done)
	}
	check(slices.Concat(d.Train, d.Test))
	if again, err := p.Refit(t.Context(), q); err != nil || again == nil || *again != *done {
		t.Error(again, err)
	}
	// Several batches, on lanes of their own, are one.
	far, near := forecast(t, p, "2600", q), forecast(t, p, "18", q)
	if len(far) != 2601 {
		t.Fatal(len(far))
	}
	for i, m := range columnOf(t, near, "mean") {
		if !within(columnOf(t, far[:19], "mean")[i], m, 1e-9) {
			t.Errorf("step %d: %v, and %v of 18 steps", i+1, far[i+1], near[i+1])
		}
	}
}

// Held-out rows that the transform does not take are left out; without any that are
// held out there is nothing to do.
func TestRefitRows(t *testing.T) {
	path := monthly(t, 30)
	text, err := os.ReadFile(path)
	must.OK(t, err)
	must.OK(t, os.WriteFile(path, append(text, "2017-07-31,-1\n2017-08-31,60\n"...), 0o600))
	for _, c := range []struct {
		held string
		want *inspect.Refitted
	}{{"3", &inspect.Refitted{Rows: 31, HeldOut: 2, Left: 1}}, {"2", &inspect.Refitted{Rows: 31, HeldOut: 1, Left: 1}}} {
		_, _, dir := runtest.Finished(t, tableConfig(t, path, "kernels.expressions=SE,LIN", "optimise.starts=1", "schedule.steps=4",
			"schedule.evaluate_every=1", "schedule.refine=0", "data.transform=log", "data.test="+c.held))
		p := predictor(t, dir)
		q := p.DefaultQuery()
		q.Method = config.MethodSingle
		got, err := p.Refit(t.Context(), q)
		must.OK(t, err)
		if got == nil || *got != *c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
		if table := forecast(t, p, "3mo", q); table[1][1] != "2017-09-30" || len(table) != 4 {
			t.Error(table)
		}
	}
	_, _, dir := runtest.Finished(t, tableConfig(t, monthly(t, 20), "kernels.expressions=SE", "optimise.starts=1", "schedule.steps=4",
		"schedule.evaluate_every=1", "schedule.refine=0", "data.test=0"))
	p := predictor(t, dir)
	if got, err := p.Refit(t.Context(), p.DefaultQuery()); got != nil || err != nil {
		t.Error(got, err)
	}
}
