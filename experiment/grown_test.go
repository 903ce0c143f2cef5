package experiment_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// wavy is a table of n rows of a wave, the same first ones for every n. Row 7 has no target.
func wavy(n int) string {
	rng := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range n {
		x := float64(i) / 20
		y := fmt.Sprint(math.Sin(2*x) + 0.2*x + 0.2*rng.NormFloat64())
		if i == 7 {
			y = ""
		}
		fmt.Fprintf(&b, "%v,%s\n", x, y)
	}
	return b.String()
}

// wavyConfig is a config of a small run on a table.
func wavyConfig(t *testing.T, path string, set ...string) config.Config {
	t.Helper()
	var overrides []config.Override
	for _, s := range append([]string{
		"kernels.expressions=SE,PER+LIN,LIN", "sparse.inducing=16", "optimise.starts=2", "optimise.evidence=mode", "posterior.errors=ignore",
		"schedule.steps=20", "schedule.evaluate_every=0.5", "schedule.refine=1", "data.time=no", "optimise.theta_prior=false",
	}, set...) {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		overrides = append(overrides, o)
	}
	c, err := config.ForTable(path, "y", overrides)
	must.OK(t, err)
	return c
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	must.OK(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// A run that has finished on 300 rows takes 100 behind them in: it has seen all, with the
// scaling and the held-out rows of before. Its local ELBOs are Titsias' bound by dense
// matrices of all rows, at its hyperparameters and inducing inputs, and the best one is
// that of a run on all rows from its beginning, to within a nat. What reads a run reads
// this one.
func TestResumeWithMoreRows(t *testing.T) {
	thorough.Unraced(t)
	base := t.TempDir()
	path, dir := write(t, filepath.Join(base, "wave.csv"), wavy(300)), filepath.Join(base, "run")
	runtest.In(t, wavyConfig(t, path), dir)
	old, err := history.Read(t.Context(), dir, 0)
	must.OK(t, err)
	write(t, path, wavy(400)) // in its place
	_, err = runtest.TakeUp(t, dir, experiment.ResumeOptions{Data: path})
	must.OK(t, err)
	now, err := history.Read(t.Context(), dir, 0)
	must.OK(t, err)
	e, was, is := now.Evaluation, old.Start.Data, now.Start.Data
	if e.RowsSeen != is.Train || is.Train != was.Train+100 || is.Test != was.Test || e.Index <= old.Evaluation.Index || e.Proportion != 1 ||
		now.State != record.Finished || is.RowsRead != 400 {
		t.Errorf("%d of %d rows seen after %d evaluations, before %d of %d after %d; %s", e.RowsSeen, is.Train, e.Index, old.Evaluation.RowsSeen,
			was.Train, old.Evaluation.Index, now.State)
	}
	for i := range was.Columns {
		if was.Columns[i].Shift != is.Columns[i].Shift || was.Columns[i].Scale != is.Columns[i].Scale {
			t.Errorf("column %s is scaled otherwise", was.Columns[i].Name)
		}
	}
	for k := range now.Start.Kernels {
		if got, want := naiveBound(t, dir, now.Start.Kernels[k].ID), float64(e.Kernels[k].Fit.ELBO); math.Abs(got-want) > 1e-3 {
			t.Errorf("%s: local ELBO %v, by dense matrices %v", e.Kernels[k].ID, want, got)
		}
	}
	_, anew := runtest.In(t, wavyConfig(t, path, "data.first_rows=300"), filepath.Join(base, "anew"))
	if got, want := e.Leader().Fit.ELBO, anew.Evaluation.Leader().Fit.ELBO; anew.Evaluation.RowsSeen != e.RowsSeen || got < want-1 {
		t.Errorf("the best local ELBO is %v, from the beginning with all %d rows %v", got, anew.Evaluation.RowsSeen, want)
	}
	// Shares of the rows then known; on the axes they never go back.
	moments := now.Moments()
	if !slices.IsSortedFunc(moments, func(a, b history.Moment) int { return int(math.Copysign(1, a.Data-b.Data)) }) {
		t.Errorf("%+v", moments)
	}
	tables := filepath.Join(base, "tables")
	must.OK(t, rundir.Export(dir, tables))
	runtest.SameResults(t, "exported", tables, dir, dir)
	text, err := os.ReadFile(filepath.Join(dir, record.ConfigFile))
	if err != nil || !strings.Contains(string(text), "\nfirst_rows = 300") || !strings.Contains(string(text), is.SHA256) {
		t.Errorf("%v: %s", err, text)
	}
	for _, want := range []string{"100 training rows behind the 269", "stay those of the first 300 rows"} {
		if log, err := os.ReadFile(filepath.Join(dir, record.LogFile)); err != nil || !strings.Contains(string(log), want) {
			t.Errorf("%v: no %q in\n%s", err, want, log)
		}
	}
	if _, err := runtest.TakeUp(t, dir, experiment.ResumeOptions{Data: path}); err == nil ||
		!strings.Contains(err.Error(), "has no rows for training behind those") {
		t.Error(err)
	}
}

// naiveBound is Titsias' bound of a kernel of a run, by dense matrices.
func naiveBound(t *testing.T, dir, id string) float64 {
	t.Helper()
	of, err := inspect.OpenSolved(t.Context(), dir, "", 100)
	must.OK(t, err)
	k := of.Kernels[slices.IndexFunc(of.Kernels, func(k inspect.SolvedKernel) bool { return k.Program.ID == id })]
	n, m := len(of.Y), len(of.Z)
	eval := func(a, b float64, same bool) float64 {
		return k.Program.Eval(k.Theta, []float64{a}, []float64{b}, same)
	}
	kzz, kzx := mat.NewSymDense(m, nil), mat.NewDense(m, n, nil)
	trace := 0.0
	for i := range m {
		trace += eval(of.Z[i], of.Z[i], true)
	}
	for i := range m {
		for j := i; j < m; j++ {
			kzz.SetSym(i, j, eval(of.Z[i], of.Z[j], i == j))
		}
		kzz.SetSym(i, i, kzz.At(i, i)+of.Jitter.Relative*trace/float64(m))
		for j := range n {
			kzx.Set(i, j, eval(of.Z[i], of.X[j], false))
		}
	}
	var l mat.Cholesky
	l.Factorize(kzz)
	var solved, q mat.Dense
	must.OK(t, l.SolveTo(&solved, kzx))
	q.Mul(kzx.T(), &solved)
	cov, excess := mat.NewSymDense(n, nil), 0.0
	for i := range n {
		for j := i; j < n; j++ {
			cov.SetSym(i, j, q.At(i, j))
		}
		cov.SetSym(i, i, q.At(i, i)+k.Noise)
		excess += eval(of.X[i], of.X[i], true) - q.At(i, i)
	}
	l.Factorize(cov)
	y, w := mat.NewVecDense(n, of.Y), mat.VecDense{}
	must.OK(t, l.SolveVecTo(&w, y))
	return -0.5*(mat.Dot(y, &w)+l.LogDet()+float64(n)*math.Log(2*math.Pi)) - excess/(2*k.Noise)
}

// Killed at any moment of taking rows in, twice over, a run ends as the one that was not;
// begun again it takes them in after the same evaluations.
func TestMoreRowsAfterKills(t *testing.T) {
	thorough.Unraced(t)
	share := thorough.OneIn(t, 2, "moments")
	for _, x := range []struct {
		name  string
		every int
		set   []string
	}{
		{"collapsed", 7, []string{"sparse.inducing=auto", "sparse.first_inducing=8", "sparse.most_inducing=16"}},
		{"natural", 9, []string{"optimise.optimizer=natural", "schedule.batch=16"}},
		{"adam", 11, []string{"optimise.optimizer=adam", "schedule.batch=16", "schedule.budget=3"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			base := t.TempDir()
			path := filepath.Join(base, "wave.csv")
			c := wavyConfig(t, path, append([]string{"schedule.steps=5", "optimise.starts=1"}, x.set...)...)
			dir, shots := filepath.Join(base, "run"), filepath.Join(base, "shots")
			write(t, path, wavy(60))
			runtest.In(t, c, dir)
			var before string // a run as it was
			count, last := 0, 0
			shoot := record.RecorderFunc(func(*record.Event) error {
				count++
				runtest.CopyRun(t, dir, filepath.Join(shots, fmt.Sprintf("%03d", count)))
				return nil
			})
			for _, rows := range []int{75, 90} {
				if before = filepath.Join(base, fmt.Sprint(rows)); rows == 90 {
					runtest.CopyRun(t, dir, before)
					last = count
				}
				write(t, path, wavy(rows))
				_, err := runtest.TakeUp(t, dir, experiment.ResumeOptions{Data: path}, shoot)
				must.OK(t, err)
			}
			var numbers []int
			events, err := recordtest.Read(dir)
			must.OK(t, err)
			for i := range events {
				if e := &events[i]; e.Type == record.EventEvaluation {
					numbers = append(numbers, e.Evaluation.RowsSeen)
				}
			}
			if n := len(numbers); numbers[n-1] != 83 || !slices.IsSorted(numbers) {
				t.Fatalf("rows seen %v", numbers)
			}
			for shot := last + 1; shot < count; shot += x.every * share {
				what := fmt.Sprintf("moment %d of %d", shot, count)
				run := filepath.Join(t.TempDir(), "run")
				runtest.CopyRun(t, filepath.Join(shots, fmt.Sprintf("%03d", shot)), run)
				if i, err := inspect.Open(t.Context(), run); err == nil { // in between, too
					must.OK(t, i.Close())
				} else if !strings.Contains(err.Error(), "its sha256 is") { // it was to be given this table
					t.Errorf("%s: %v", what, err)
				}
				_, err := runtest.TakeUp(t, run, experiment.ResumeOptions{Data: path})
				if err != nil && !strings.Contains(err.Error(), "has finished") {
					t.Errorf("%s: %v", what, err)
					continue
				}
				runtest.SameResults(t, what, run, dir, before)
			}
			// Killed while it took rows in, and more have come since.
			run := filepath.Join(t.TempDir(), "run")
			runtest.CopyRun(t, filepath.Join(shots, fmt.Sprintf("%03d", last/2)), run)
			end, err := runtest.TakeUp(t, run, experiment.ResumeOptions{Data: path})
			if must.OK(t, err); end.Evaluation.RowsSeen != 83 {
				t.Errorf("%d rows seen", end.Evaluation.RowsSeen)
			}
			run = filepath.Join(t.TempDir(), "run")
			runtest.CopyRun(t, dir, run)
			_, err = runtest.TakeUp(t, run, experiment.ResumeOptions{FromStart: true})
			must.OK(t, err)
			runtest.SameResults(t, "begun again", run, dir, before)
		})
	}
}

// What cannot be added is refused in a line that says which row and which line of the
// file, and leaves the run as it was; the same rows elsewhere, or in another format, are
// the run's.
func TestMoreRowsAreRefused(t *testing.T) {
	base := t.TempDir()
	path, dir := write(t, filepath.Join(base, "wave.csv"), wavy(60)), filepath.Join(base, "run")
	runtest.In(t, wavyConfig(t, path, "schedule.steps=3"), dir)
	lines := strings.SplitAfter(wavy(80), "\n")
	with := func(change func(l []string) []string) string { return strings.Join(change(slices.Clone(lines)), "") }
	before := listing(t, dir)
	for what, x := range map[string]struct{ text, want string }{
		"changed": {with(func(l []string) []string { l[31] = "1.5,99\n"; return l }), "row 31 (line 32) is of new.csv not what the run has read"},
		"inserted": {with(func(l []string) []string { return slices.Insert(l, 5, "\n", "0.21,1\n") }),
			"row 5 (line 7) is of new.csv not what the run has read"},
		"removed":       {with(func(l []string) []string { return slices.Delete(l, 20, 21) }), "row 20 (line 21) is"},
		"filled in":     {with(func(l []string) []string { l[8] = "0.35,1\n"; return l }), "row 8 (line 9) is"},
		"shorter":       {wavy(40), "new.csv: has 40 rows; the first 60 are needed (data.first_rows), and those from row 41 on are missing"},
		"other columns": {strings.Replace(wavy(80), "x,y", "t,y", 1), "new.csv has the inputs and the target t, y, the run has read x, y"},
		"no number":     {wavy(80) + "5,five\n", `new.csv: line 82, column 2 ("y"): "five" is not a number`},
		"no more":       {wavy(60) + "5,\n", "has finished (all planned evaluations are done) and needs no resuming: "},
		"the same":      {wavy(60), "has finished (all planned evaluations are done) and needs no resuming: "},
	} {
		table := write(t, filepath.Join(base, "new.csv"), x.text)
		_, err := runtest.TakeUp(t, dir, experiment.ResumeOptions{Data: table})
		if err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %s", what, err, x.want)
		}
		if now := listing(t, dir); !slices.Equal(now, before) {
			t.Errorf("%s: the run has changed", what)
		}
	}
	if _, err := runtest.TakeUp(t, dir, experiment.ResumeOptions{Data: filepath.Join(base, "none.csv")}); err == nil ||
		!strings.Contains(err.Error(), "not found") {
		t.Error(err)
	}
	// One that has not finished says what to do about a table that has grown.
	stopped := filepath.Join(base, "stopped")
	s, err := experiment.Begin(t.Context(), wavyConfig(t, path), stopped)
	must.OK(t, err)
	must.OK(t, s.Run.Start())
	must.OK(t, s.Run.Stop("enough"))
	must.OK(t, s.Close())
	write(t, path, wavy(61))
	if _, err := runtest.TakeUp(t, stopped, experiment.ResumeOptions{}); err == nil ||
		!strings.Contains(err.Error(), "--data "+path+" takes them in") {
		t.Error(err)
	}
	// Lines of JSON of the same rows, and more.
	var b strings.Builder
	for _, line := range lines[1 : len(lines)-1] {
		x, y, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ",")
		if y == "" {
			y = "null"
		}
		fmt.Fprintf(&b, "{\"x\": %s, \"y\": %s}\n", x, y)
	}
	_, err = runtest.TakeUp(t, dir, experiment.ResumeOptions{Data: write(t, filepath.Join(base, "new.jsonl"), b.String())})
	must.OK(t, err)
	h, err := history.Read(t.Context(), dir, 0)
	must.OK(t, err)
	if h.Evaluation.RowsSeen != h.Start.Data.Train || h.Start.Data.Train != 60-1-6+20 {
		t.Errorf("%d rows seen of %d", h.Evaluation.RowsSeen, h.Start.Data.Train)
	}
}
