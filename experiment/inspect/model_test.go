package inspect_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/modelfile"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// modelOf opens the model file of a run.
func modelOf(t *testing.T, path string) *inspect.Predictor {
	t.Helper()
	p, err := inspect.OpenModel(path)
	must.OK(t, err)
	t.Cleanup(func() { p.Close() })
	return p
}

// written is all that a predictor writes for a table.
func written(t *testing.T, p *inspect.Predictor, path string, q inspect.PredictQuery) string {
	t.Helper()
	var a, b bytes.Buffer
	_, err := p.Write(t.Context(), opened(t, p, path), q, &a, &b)
	must.OK(t, err)
	return a.String() + b.String()
}

// The model file of a run predicts what the run predicts, byte for byte: by every
// optimiser, averaged over hyperparameters or not, with any weights, the best kernel
// alone, components, a transformed target with its median, scores, calibrated, with inputs
// made of time and holidays, beyond the end of a series. It still does where the run's data
// are gone, and the run then takes it by itself.
func TestModelPredictsAsTheRun(t *testing.T) {
	thorough.Unraced(t)
	plane := configtest.PlaneFile(t)
	grown, _ := growing(t, math.Log)
	points := tableFile(t, "level,height,hour\n310,2010,3\n,1800,25\n290,2500,-1\n")
	months := tableFile(t, "month,sold\n3,2\n130,11\n")
	feasts := tableFile(t, "2024-03-29\n2024-04-01,Easter Monday\n")
	var hourly strings.Builder
	hourly.WriteString("at,load\n")
	for i := range 96 {
		at := time.Date(2024, 3, 29, i, 0, 0, 0, time.UTC)
		fmt.Fprintf(&hourly, "%s,%v\n", at.Format("02.01.2006 15:04+00:00"), math.Sin(float64(i)/24*2*math.Pi)+0.1*float64(i%5))
	}
	loads := tableFile(t, hourly.String())
	times := tableFile(t, "load,at\n1.5,01.04.2024 05:30+00:00\n,02.04.2024 00:00+00:00\n")
	var dense strings.Builder
	dense.WriteString("at,load\n")
	for i := range 600 {
		at := time.Date(2024, 3, 29, 0, 15*i, 0, 0, time.UTC)
		if i%7 != 3 && i/20 != 9 {
			fmt.Fprintf(&dense, "%s,%v\n", at.Format("02.01.2006 15:04+00:00"), math.Sin(float64(i)/96*2*math.Pi)+0.1*float64(i%5))
		}
	}
	quarters := tableFile(t, dense.String())
	within := tableFile(t, "at\n31.03.2024 00:45+00:00\n31.03.2024 01:10+00:00\n"+
		"30.03.2024 22:15+00:00\n01.04.2024 20:00+00:00\n20.04.2024 20:00+00:00\n")
	for _, c := range []struct {
		table, points string
		set           []string
	}{
		{plane, points, append([]string{"predict.top=2"}, configtest.Integrated...)},
		{plane, points, []string{"predict.theta=mode", "predict.weights=bayes", "data.standardise_x=scale", "kernels.ard=true"}},
		{plane, points, []string{"optimise.optimizer=natural", "optimise.hyperparameters=diagonal"}},
		{plane, points, []string{"optimise.optimizer=adam", "data.standardise_y=none"}},
		{grown, months, []string{"kernels.expressions=SE,PER+LIN,CP(SE,LIN)", "data.transform=log", "data.test=24"}},
		{plane, points, []string{"predict.weights=loo", "predict.top=3"}},
		{grown, months, []string{"kernels.expressions=SE,PER+LIN,CP(SE,LIN)", "data.test=24", "data.transform=log", "predict.calibrate=auto",
			"kernels.mean=linear", "optimise.fix.PER.period=12", "optimise.bound.SE.lengthscale=[20,40]"}},
		{loads, times, []string{"kernels.expressions=SE[at]+LIN[hour],PER[hour]+SE[holiday],RW[at]", "data.calendar=weekday,hour",
			"data.holidays=" + feasts, "data.zone=Europe/Zurich", "predict.weights=loo", "predict.calibrate=auto"}},
		{quarters, within, []string{"kernels.expressions=SE[at]+PER[hour]", "data.calendar=hour", "data.zone=Europe/Zurich",
			"predict.local=neighbours", "sparse.inducing=20"}},
		{plane, points, []string{"data.split_by=random", "predict.local=neighbours"}},
	} {
		_, _, dir := runtest.Finished(t, configtest.Plane(t, c.table, c.set...))
		run, m := predictor(t, dir), modelOf(t, filepath.Join(dir, record.ModelFile))
		q := run.DefaultQuery()
		if got := m.DefaultQuery(); fmt.Sprint(got) != fmt.Sprint(q) {
			t.Errorf("%v: asks %+v, the run %+v", c.set, got, q)
		}
		q.Components = true
		single, bayes, loo := q, q, q
		single.Method = "vbks-s"
		bayes.Weights, bayes.JSON = "bayes", true
		loo.Weights = "loo"
		all := []inspect.PredictQuery{q, single, bayes}
		if run.Check(&loo) == nil { // else rows cannot be left out
			all = append(all, loo)
		}
		for _, q := range all {
			if got, want := written(t, m, c.points, q), written(t, run, c.points, q); got != want {
				t.Errorf("%v %+v:\n%s\nof the run\n%s", c.set, q, got, want)
			}
		}
		want := written(t, run, c.points, q)
		median := strings.Contains(want, ",median,")
		if _, has := run.Transformed(); median != has || !has && slices.Contains(c.set, "data.transform=log") {
			t.Errorf("%v: a column median: %v", c.set, median)
		}
		if c.table != plane {
			h, err := datasets.ParseHorizon("30")
			must.OK(t, err)
			var ahead [2]bytes.Buffer
			for i, p := range []*inspect.Predictor{run, m} {
				at, err := p.Beyond(h)
				must.OK(t, err)
				done, err := p.Write(t.Context(), at, loo, &ahead[i], io.Discard)
				must.OK(t, err)
				if has := slices.Contains(c.set, "predict.calibrate=auto"); (done.Calibration != nil) != has {
					t.Errorf("%v: calibrated: %+v", c.set, done.Calibration)
				}
			}
			if got, want := ahead[1].String(), ahead[0].String(); got != want || strings.Count(got, "\n") != 31 {
				t.Errorf("%v: goes on with\n%s\nthe run with\n%s", c.set, got, want)
			}
		}
		must.OK(t, os.Rename(c.table, c.table+".away"))
		gone := predictor(t, dir)
		if got := written(t, gone, c.points, q); got != want || !strings.Contains(gone.Note(), "not found") {
			t.Errorf("%v: without the data %q:\n%s\nof the run\n%s", c.set, gone.Note(), got, want)
		}
		if _, err := gone.Refit(t.Context(), q); err == nil || !strings.Contains(err.Error(), "--refit") {
			t.Errorf("fitted again without data: %v", err)
		}
		must.OK(t, os.Remove(filepath.Join(dir, record.ModelFile)))
		if _, err := inspect.OpenPredictor(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "not found") {
			t.Errorf("neither data nor a model: %v", err)
		}
		must.OK(t, os.Rename(c.table+".away", c.table))
	}
}

// A model of all rows continues a series as the run does when it has learned from them;
// one without rows has none of them, and is near.
func TestModelOptions(t *testing.T) {
	thorough.Unraced(t)
	grown, _ := growing(t, math.Log)
	_, _, dir := runtest.Finished(t, configtest.Plane(t, grown, "kernels.expressions=SE,PER+LIN", "data.test=24", "sparse.inducing=96",
		"data.transform=log"))
	start, err := record.ReadStart(t.Context(), dir)
	must.OK(t, err)
	saved := func(p *inspect.Predictor, o inspect.ModelOptions) (path string, m *modelfile.Model) {
		m, err := p.Model(t.Context(), start, o)
		must.OK(t, err)
		var b bytes.Buffer
		must.OK(t, m.Write(&b))
		path = filepath.Join(t.TempDir(), "m")
		must.OK(t, os.WriteFile(path, b.Bytes(), 0o644))
		return path, m
	}
	run := predictor(t, dir)
	_, m := saved(run, inspect.ModelOptions{WithoutRows: true})
	if m.Inducing() != 48 || m.About.HasRows || m.Frozen.Y != nil || m.Holds() != "the file holds no training rows" {
		t.Errorf("%d inducing inputs, rows %v: %s", m.Inducing(), m.About.HasRows, m.Holds())
	}
	d, err := run.ModelDifference(t.Context(), m)
	must.OK(t, err)
	if !(d.Mean > 0 && d.Mean < 0.5 && d.SD > 0 && d.SD < 0.5) {
		t.Errorf("without rows %+v away", d)
	}
	q := run.DefaultQuery()
	_, err = run.Refit(t.Context(), q)
	must.OK(t, err)
	path, m := saved(run, inspect.ModelOptions{MostFactors: 1 << 20})
	if m.About.Data.Learned != 120 || m.About.Data.HeldOut {
		t.Errorf("learned from %+v", m.About.Data)
	}
	h, err := datasets.ParseHorizon("7")
	must.OK(t, err)
	ahead := func(p *inspect.Predictor) string {
		at, err := p.Beyond(h)
		must.OK(t, err)
		var b bytes.Buffer
		_, err = p.Write(t.Context(), at, q, &b, nil)
		must.OK(t, err)
		return b.String()
	}
	if got, want := ahead(modelOf(t, path)), ahead(run); got != want {
		t.Errorf("goes on with\n%s\nthe run with\n%s", got, want)
	}
}

// Joint draws and covariances of a run and of its model are equal, byte for byte, agree
// with the table of marginals, and are refused for more points than that is done for.
func TestJointTables(t *testing.T) {
	plane := configtest.PlaneFile(t)
	_, _, dir := runtest.Finished(t, configtest.Plane(t, plane, "predict.weights=tempered", "predict.calibrate=auto"))
	points := tableFile(t, "level,height,hour\n310,2010,3\n,1800,25\n290,2500,-1\n")
	tables := func(p *inspect.Predictor) (all [3]string) {
		held, err := p.Hold(t.Context(), opened(t, p, points))
		must.OK(t, err)
		var out [3]bytes.Buffer
		_, err = p.Write(t.Context(), held, p.DefaultQuery(), &out[0], nil)
		must.OK(t, err)
		must.OK(t, p.WriteJoint(t.Context(), held, p.DefaultQuery(), inspect.JointQuery{Samples: 4000, Seed: 3, Covariance: true},
			[]io.Writer{&out[1], &out[2]}))
		for i := range out {
			all[i] = out[i].String()
		}
		return all
	}
	run := tables(predictor(t, dir))
	if model := tables(modelOf(t, filepath.Join(dir, record.ModelFile))); model != run {
		t.Error("the model's tables are not the run's")
	}
	parse := func(text string) [][]string {
		table, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		must.OK(t, err)
		return table
	}
	marginal, draws, covariance := parse(run[0]), parse(run[1]), parse(run[2])
	mean, sdF, sdY := columnOf(t, marginal, "mean"), columnOf(t, marginal, "sd_f"), columnOf(t, marginal, "sd_y")
	if len(marginal) != 4 || marginal[0][3] != "level" || len(draws) != 4 || len(draws[1]) != 3+4000 || len(covariance) != 4 {
		t.Fatalf("%d, %d and %d rows", len(marginal), len(draws), len(covariance))
	}
	for k := range mean {
		if v := columnOf(t, covariance, covariance[0][k+1])[k]; !within(v, sdF[k]*sdF[k], 1e-9) {
			t.Errorf("point %d: variance %v, marginally %v", k, v, sdF[k]*sdF[k])
		}
		sum := 0.0
		for _, cell := range draws[k+1][3:] {
			v, err := strconv.ParseFloat(cell, 64)
			must.OK(t, err)
			sum += v / 4000
		}
		if math.Abs(sum-mean[k]) > 5*sdY[k]/math.Sqrt(4000) {
			t.Errorf("point %d: the draws' mean is %v, marginally %v ± %v", k, sum, mean[k], sdY[k])
		}
	}
	p := predictor(t, dir)
	if _, err := p.Hold(t.Context(), opened(t, p, tableFile(t, "height,hour\n"+strings.Repeat("1,2\n", 2001)))); err == nil {
		t.Error("too many points are held")
	}
}
