package inspect_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/npz/npztest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// growing writes ten years of months that grow by shares, with scatter that does,
// and the same table of g(y).
func growing(t *testing.T, g func(float64) float64) (path, mapped string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 12))
	var a, b strings.Builder
	a.WriteString("month,sold\n")
	b.WriteString("month,sold\n")
	for i := range 120 {
		m := float64(i)
		y := math.Exp(0.02*m + 0.5*math.Sin(m/12*2*math.Pi) + 0.15*rng.NormFloat64())
		fmt.Fprintf(&a, "%v,%v\n", m, y)
		fmt.Fprintf(&b, "%v,%v\n", m, g(y))
	}
	return tableFile(t, a.String()), tableFile(t, b.String())
}

// A run of the logarithm is the run of a table of logarithms: the same
// hyperparameters, local ELBOs and q*, and the whole checkpoint but for the place in
// the log and what tells the rows of the table; its predictions are the other's mapped.
func TestRunOfTheLogarithm(t *testing.T) {
	thorough.Unraced(t)
	path, logs := growing(t, math.Log)
	set := []string{"kernels.expressions=SE,PER+LIN,PER*LIN", "data.split_by=x", "data.test=24"}
	j, r, dir := runtest.Finished(t, configtest.Plane(t, path, append(set, "data.transform=log")...))
	_, _, other := runtest.Finished(t, configtest.Plane(t, logs, set...))
	a, b := npzOf(t, dir), npzOf(t, other)
	if len(a) != len(b) {
		t.Errorf("%d arrays, %d", len(a), len(b))
	}
	for name, values := range b {
		if name != "rows/marks" && !strings.HasPrefix(name, "log") && !slices.Equal(a[name], values) {
			t.Errorf("%s: %v, of the table of logarithms %v", name, a[name], values)
		}
	}
	events, err := recordtest.Read(dir)
	must.OK(t, err)
	others, err := recordtest.Read(other)
	must.OK(t, err)
	mine, theirs := historytest.Summarise(events), historytest.Summarise(others)
	for k, fit := range mine.Evaluation.Kernels {
		if of := theirs.Evaluation.Kernels[k]; fit.Fit.ELBO != of.Fit.ELBO || fit.Fit.Posterior != of.Fit.Posterior ||
			!slices.Equal(fit.Fit.Params, of.Fit.Params) {
			t.Errorf("%s: %+v, of the table of logarithms %+v", fit.ID, fit.Fit, of.Fit)
		}
	}
	if target := mine.Start.Target(); target.Transform.Name != "log" || target.Shift != theirs.Start.Target().Shift {
		t.Errorf("%+v", target)
	}
	for _, k := range mine.Start.Kernels {
		if p := k.Params[len(k.Params)-1]; p.Unit != "(log y)²" {
			t.Errorf("%+v", p)
		}
	}

	// Predictions. Of one kernel, a lognormal: mean and sd by their formulas.
	p, q := predictor(t, dir), predictor(t, other)
	rows := tableFile(t, "month,sold\n3,1.2\n60,4\n140,NA\n200,-1\n")
	query := p.DefaultQuery()
	query.Method, query.Components = "vbks-s", true
	table, parts, done := predicted(t, p, rows, query)
	of, theirParts, _ := predicted(t, q, tableFile(t, "month\n3\n60\n140\n200\n"), query)
	for _, name := range []string{"f_q0.05", "f_q0.5", "f_q0.95", "y_q0.05", "y_q0.5", "y_q0.95"} {
		for row, v := range columnOf(t, of, name) {
			if got := columnOf(t, table, name)[row]; !within(got, math.Exp(v), 1e-12) || !(got > 0) {
				t.Errorf("%s at row %d: %v, want %v", name, row, got, math.Exp(v))
			}
		}
	}
	// The median is the point of the logarithm's; where there is none the mean is it.
	for row, v := range columnOf(t, of, "mean") {
		if got := columnOf(t, table, "median")[row]; !within(got, math.Exp(v), 1e-12) {
			t.Errorf("median at row %d: %v, want %v", row, got, math.Exp(v))
		}
	}
	if slices.Contains(of[0], "median") {
		t.Errorf("without a transform there is a column %q", of[0])
	}
	for _, sd := range []string{"sd_f", "sd_y"} {
		for row, s := range columnOf(t, of, sd) {
			mean := math.Exp(columnOf(t, of, "mean")[row] + s*s/2)
			if got := columnOf(t, table, sd)[row]; !within(got, mean*math.Sqrt(math.Expm1(s*s)), 1e-10) {
				t.Errorf("%s at row %d: %v", sd, row, got)
			}
			if got := columnOf(t, table, "mean")[row]; sd == "sd_y" && !within(got, mean, 1e-12) {
				t.Errorf("mean at row %d: %v, want %v", row, got, mean)
			}
		}
	}
	if fmt.Sprint(parts) != fmt.Sprint(theirParts) {
		t.Error("components are not those of the logarithm")
	}
	if a := done.Accuracy; a.Rows != 3 || a.Missing != 1 || !math.IsInf(a.NLPD, 1) || math.IsNaN(a.RMSE) {
		t.Errorf("%+v", a)
	}
	if of, ok := p.Transformed(); !ok || of != "log sold" {
		t.Errorf("%q", of)
	}

	// Scores of the test rows: −log N(log y) plus the mean of log y.
	level := 0.0
	for _, r := range j.Data.Test {
		level += math.Log(j.Data.Y[r]) / float64(len(j.Data.Test))
	}
	for k, m := range mine.Metrics {
		other := theirs.Metrics[k]
		if want := float64(other.NLPD) + level; !within(float64(m.NLPD), want, 1e-11) {
			t.Errorf("%s: nlpd %v, want %v", m.Method, m.NLPD, want)
		}
		if m.Coverage95 != other.Coverage95 || m.Coverage50 != other.Coverage50 {
			t.Errorf("%s: %+v, of the logarithms %+v", m.Method, m, other)
		}
	}

	// The curve is positive, and the mean above the median.
	i := runtest.Inspect(t, r)
	c, err := i.Curve(t.Context(), inspect.FitQuery{Low: 0, High: 400, Points: 80})
	must.OK(t, err)
	for row := range c.X {
		if !(c.Lower[row] > 0 && c.Lower[row] <= c.LowerF[row] && c.UpperF[row] <= c.Upper[row] && c.Mean[row] > c.Lower[row]) {
			t.Errorf("at %v: mean %v, f %v to %v, y %v to %v", c.X[row], c.Mean[row], c.LowerF[row], c.UpperF[row], c.Lower[row], c.Upper[row])
		}
	}
	res, err := i.Residuals(t.Context(), "", 0)
	must.OK(t, err)
	last := mine.Metrics[0]
	if !within(res.RMSE, float64(last.RMSE), 1e-12) || !within(res.NLPD, float64(last.NLPD), 1e-12) ||
		!within(res.MAE, float64(last.MAE), 1e-12) {
		t.Errorf("residuals %v, %v, %v; the run measured %+v", res.RMSE, res.MAE, res.NLPD, last)
	}
}

func npzOf(t *testing.T, dir string) map[string][]float64 {
	t.Helper()
	arrays, err := npztest.Load(t, filepath.Join(dir, record.StateDir, record.CheckpointFile))
	must.OK(t, err)
	out := map[string][]float64{}
	for name, a := range arrays {
		out[name] = a.Data
	}
	return out
}

// Box and Cox, and logit, go through a run and its directory; intervals stay where
// targets can be.
func TestRunsOfOtherTransforms(t *testing.T) {
	thorough.Unraced(t)
	path, shares := growing(t, func(y float64) float64 { return 100 * y / (3 + y) })
	for _, c := range []struct {
		path, set string
		most      float64
	}{
		{path, "data.transform=boxcox", math.Inf(1)},
		{shares, "data.transform_bounds=[0, 100]", 100},
	} {
		set := []string{"kernels.expressions=SE,PER+LIN", "data.split_by=x", "data.test=24", c.set}
		if c.most == 100 {
			set = append(set, "data.transform=logit")
		}
		_, _, dir := runtest.Finished(t, configtest.Plane(t, c.path, set...))
		events, err := recordtest.Read(dir)
		must.OK(t, err)
		s := historytest.Summarise(events)
		transform := s.Start.Target().Transform
		if c.most > 100 && math.Abs(transform.Lambda) > 0.3 {
			t.Errorf("λ = %v of targets that grow by shares", transform.Lambda)
		}
		for _, m := range s.Metrics {
			if v := float64(m.RMSE + m.MAE + m.NLPD + m.Coverage95); math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: %+v", c.set, m)
			}
		}
		p := predictor(t, dir)
		table, _, _ := predicted(t, p, tableFile(t, "month\n3\n119\n1000\n"), p.DefaultQuery())
		for _, name := range []string{"mean", "f_q0.05", "y_q0.05", "y_q0.5", "y_q0.95"} {
			for _, v := range columnOf(t, table, name) {
				if !(v >= 0 && v <= c.most) {
					t.Errorf("%s: %s is %v", c.set, name, v)
				}
			}
		}
	}
}
