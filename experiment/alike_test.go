package experiment_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
)

// telling is a table of one input: n rows whose numbers are whole multiples of 1/1024,
// so that sums of them, and shifts and scales by powers of two, are exact.
func telling(n int) (x, y []float64) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range n {
		v := 0.75*float64(i) + float64(i*i%7)/16
		x = append(x, v)
		y = append(y, math.Round(1024*(3+math.Sin(v)+0.1*v+0.1*rng.NormFloat64()))/1024)
	}
	return x, y
}

// told is what a run says of a table.
type told struct {
	kernels map[string]*record.Kernel
	leader  string
	metrics map[string]record.Metric
}

// tell makes a run of a table of two columns, of which the last eight rows are held out.
func tell(t *testing.T, header string, x, y []float64, set ...string) *told {
	t.Helper()
	text := header + "\n"
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for i := range x {
		text += number(x[i]) + "," + number(y[i]) + "\n"
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	must.OK(t, os.WriteFile(path, []byte(text), 0o644))
	var overrides []config.Override
	for _, s := range append([]string{"kernels.expressions=SE,PER*LIN", "sparse.inducing=64", "optimise.starts=1", "schedule.steps=4",
		"schedule.evaluate_every=1", "schedule.refine=0", "data.test=8", "data.split_by=rows", "data.time=no", "data.transform=none"}, set...) {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		overrides = append(overrides, o)
	}
	c, err := config.ForTable(path, "", overrides)
	must.OK(t, err)
	_, end := runtest.In(t, c, filepath.Join(t.TempDir(), "run"))
	if end.State != record.Finished {
		t.Fatalf("%s: %s", end.State, end.Reason)
	}
	out := &told{kernels: map[string]*record.Kernel{}, leader: end.Evaluation.Leader().ID, metrics: map[string]record.Metric{}}
	for i := range end.Evaluation.Kernels {
		out.kernels[end.Evaluation.Kernels[i].ID] = &end.Evaluation.Kernels[i]
	}
	for _, m := range end.Metrics {
		out.metrics[m.Method] = m
	}
	return out
}

// same compares what is believed of all kernels; elbo and share are how far local ELBOs
// (nats) and probabilities may be apart.
func (a *told) same(t *testing.T, what string, b *told, elbo, share float64) {
	t.Helper()
	if a.leader != b.leader || len(a.kernels) != len(b.kernels) {
		t.Errorf("%s: %s leads %d kernels, before %s led %d", what, b.leader, len(b.kernels), a.leader, len(a.kernels))
	}
	for id, k := range a.kernels {
		x, y := k.Fit, b.kernels[id].Fit
		for name, v := range map[string][3]float64{"local ELBO": {float64(x.ELBO), float64(y.ELBO), elbo},
			"posterior": {float64(x.Posterior), float64(y.Posterior), share}, "Bayes": {float64(x.Bayes), float64(y.Bayes), share}} {
			if !(math.Abs(v[0]-v[1]) <= v[2]) {
				t.Errorf("%s: %s of %s is %v, was %v", what, name, id, v[1], v[0])
			}
		}
	}
}

// scaled compares scores, whose targets have been multiplied by a number.
func (a *told) scaled(t *testing.T, what string, b *told, by float64) {
	t.Helper()
	for name, m := range a.metrics {
		n := b.metrics[name]
		if n.RMSE != m.RMSE*files.Number(by) || n.MAE != m.MAE*files.Number(by) || n.CRPS != m.CRPS*files.Number(by) ||
			n.Interval != m.Interval*files.Number(by) || n.Coverage95 != m.Coverage95 || n.Coverage50 != m.Coverage50 {
			t.Errorf("%s: the scores are %+v, were %+v", what, n, m)
		}
		if d := float64(n.NLPD-m.NLPD) - math.Log(by); !(math.Abs(d) < 1e-12) {
			t.Errorf("%s: nlpd %v, was %v", what, n.NLPD, m.NLPD)
		}
	}
}

// Answers do not depend on units, names of columns or the order of kernels. Numbers, shifts
// and powers of two are chosen so that standardisation is exact: all that is computed is
// the same to the last bit, and so are the answers but for sums over kernels, which
// another order rounds otherwise (some 1e-16 of shares that are at most 1, through a
// Newton step: 1e-9). NLPD alone is shifted by log scale, which rounds.
func TestAnswersWithoutUnits(t *testing.T) {
	x, y := telling(24)
	was := tell(t, "x,y", x, y)
	renamed := tell(t, "=load (kW),Größe", x, y)
	was.same(t, "renamed", renamed, 0, 0)
	was.scaled(t, "renamed", renamed, 1)
	turned := tell(t, "x,y", x, y, "kernels.expressions=PER*LIN,SE")
	was.same(t, "other order of kernels", turned, 0, 1e-9)
	for i := range x {
		x[i], y[i] = x[i]/4+64, y[i]*8-128
	}
	other := tell(t, "x,y", x, y)
	was.same(t, "other units", other, 0, 0)
	was.scaled(t, "other units", other, 8)
	for i, by := range []files.Number{64, 0.25, 64} { // variance, length scale, noise
		if a, b := was.kernels["SE"].Fit.Params[i], other.kernels["SE"].Fit.Params[i]; b != a*by {
			t.Errorf("parameter %d of SE is %v, was %v, times %v", i, b, a, by)
		}
	}
}

// The order of rows decides nothing where all are seen at once and each is an inducing
// input. Sums are rounded otherwise, which an ascent carries on until it comes to the
// optimum: there the bound is flat, and after these iterations 1e-7 nats were between
// the two. Allowed are 1e-4, of probabilities of a few kernels as much.
func TestAnswersWithoutAnOrderOfRows(t *testing.T) {
	x, y := telling(24)
	set := []string{"schedule.steps=40", "optimise.evidence=mode"}
	was := tell(t, "x,y", x, y, set...)
	rand.New(rand.NewPCG(7, 8)).Shuffle(16, func(i, j int) { x[i], x[j], y[i], y[j] = x[j], x[i], y[j], y[i] })
	was.same(t, "shuffled", tell(t, "x,y", x, y, set...), 1e-4, 1e-4)
}

// A transformed target is one whose logarithms stand in the table: the same to the last
// bit. Densities are those of y, with log y more for each row to nlpd (sums of eight
// numbers of size 1: 1e-12); quantiles are mapped, so that intervals hold the same rows.
func TestAnswersOfATransformedTarget(t *testing.T) {
	x, y := telling(24)
	was := tell(t, "x,y", x, y, "data.transform=log", "optimise.evidence=mode")
	sum := 0.0
	for i := range y {
		if y[i] = math.Log(y[i]); i >= 16 {
			sum += y[i] / 8
		}
	}
	logs := tell(t, "x,y", x, y, "optimise.evidence=mode")
	was.same(t, "logarithms", logs, 0, 0)
	for name, m := range was.metrics {
		n := logs.metrics[name]
		if m.Coverage95 != n.Coverage95 || m.Coverage50 != n.Coverage50 || !(math.Abs(float64(m.NLPD-n.NLPD)-sum) < 1e-12) {
			t.Errorf("the scores of logarithms are %+v, of what is transformed %+v", n, m)
		}
	}
}
