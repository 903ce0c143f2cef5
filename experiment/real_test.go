package experiment_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/files/filestest"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// The same seed gives the same posterior.csv with one worker and with two, and
// another seed does not.
func TestWorkersDoNotMatter(t *testing.T) {
	for _, optimizer := range []string{"collapsed", "natural"} {
		var texts [3][]byte
		for i, set := range [][]string{{"device.lanes=1"}, {"device.lanes=2"}, {"device.lanes=2", "seed=2"}} {
			dir := filepath.Join(t.TempDir(), "run")
			set = append(set, "optimise.optimizer="+optimizer)
			_, s := runtest.In(t, configtest.Small(t, append(set, configtest.Integrated...)...), dir)
			if s.State != record.Finished {
				t.Fatalf("%s: %s", s.State, s.Reason)
			}
			var err error
			texts[i], err = os.ReadFile(filepath.Join(dir, "posterior.csv"))
			must.OK(t, err)
		}
		if !bytes.Equal(texts[0], texts[1]) {
			t.Errorf("%s: one and two workers differ:\n%s\n%s", optimizer, texts[0], texts[1])
		}
		if bytes.Equal(texts[0], texts[2]) {
			t.Errorf("%s: two seeds agree", optimizer)
		}
	}
}

// Stopping in the middle of an evaluation leaves whole files that end with the
// evaluation before.
func TestStopInTheMiddle(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	j, err := prepare.Prepare(t.Context(), configtest.Small(t, "schedule.steps=100000", "optimise.optimizer=natural"))
	must.OK(t, err)
	defer j.Close()
	d, err := rundir.Create(inside.Disk{}, dir)
	must.OK(t, err)
	r := experiment.NewRun(j, rundir.NewSaver(d, 0))
	must.OK(t, r.Start())
	must.OK(t, r.Pause())
	must.OK(t, r.Resume())
	must.OK(t, r.Stop("enough"))
	if s := runtest.Await(t, r); s.State != record.Stopped {
		t.Errorf("%s: %s", s.State, s.Reason)
	}
	must.OK(t, r.Close())
	must.OK(t, d.Close())
	if rows := filestest.ReadCSV(t, filepath.Join(dir, "posterior.csv")); len(rows) != 1 {
		t.Errorf("an evaluation of 100000 steps was not abandoned: %d rows", len(rows))
	}
	events, err := recordtest.Read(dir)
	must.OK(t, err)
	if s := historytest.Summarise(events); s.State != record.Stopped || s.Reason != "enough" {
		t.Errorf("%+v", s)
	}
}

// A stop between evaluations, told by the recorder, keeps those made.
func TestStopKeepsWhatIsMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	_, s := runtest.In(t, configtest.Small(t, "schedule.budget=1"), dir)
	full := filepath.Join(t.TempDir(), "full")
	_, _ = runtest.In(t, configtest.Small(t), full)
	part, err := os.ReadFile(filepath.Join(dir, "posterior.csv"))
	must.OK(t, err)
	whole, err := os.ReadFile(filepath.Join(full, "posterior.csv"))
	must.OK(t, err)
	if s.Evaluation.Index != 1 || !bytes.HasPrefix(whole, part) || len(whole) <= len(part) {
		t.Error("the run cut short differs from the beginning of the whole one")
	}
}

// The resolved config that a run writes down repeats the run.
func TestResolvedConfigRepeatsTheRun(t *testing.T) {
	first, second := filepath.Join(t.TempDir(), "1"), filepath.Join(t.TempDir(), "2")
	runtest.In(t, configtest.Small(t), first)
	c, err := config.Load(filepath.Join(first, "config.toml"), nil)
	must.OK(t, err)
	runtest.In(t, c, second)
	for _, name := range []string{"posterior.csv", "kernels.csv", "config.toml"} {
		a, err := os.ReadFile(filepath.Join(first, name))
		must.OK(t, err)
		b, err := os.ReadFile(filepath.Join(second, name))
		must.OK(t, err)
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs", name)
		}
	}
}

// kernels.csv is in data units: stretching x and y by known factors changes
// the parameters by theirs, and a centred LIN says where its centre is.
func TestParametersAreInDataUnits(t *testing.T) {
	write := func(fx, fy float64) string {
		var b strings.Builder
		b.WriteString("when,level\n")
		for i := range 40 {
			x := float64(i) * 0.25
			b.WriteString(files.FormatFloat(fx*x) + "," + files.FormatFloat(fy*(math.Sin(x)+0.25*x)) + "\n")
		}
		path := filepath.Join(t.TempDir(), "data.csv")
		must.OK(t, os.WriteFile(path, []byte(b.String()), 0o644))
		return path
	}
	values := func(path string) map[string]float64 {
		c, err := config.ForTable(path, "", []config.Override{
			{Key: "kernels.expressions", Value: "SE+LIN"}, {Key: "schedule.evaluate_every", Value: "1"}, {Key: "schedule.refine", Value: "0"},
			{Key: "sparse.inducing", Value: "10"}, {Key: "schedule.steps", Value: "8"}, {Key: "optimise.starts", Value: "1"},
		})
		must.OK(t, err)
		dir := filepath.Join(t.TempDir(), "run")
		runtest.In(t, c, dir)
		out := map[string]float64{}
		for _, row := range filestest.ReadCSV(t, filepath.Join(dir, "kernels.csv"))[1:] {
			var n files.Number
			must.OK(t, n.UnmarshalJSON([]byte(row[4])))
			out[row[2]+":"+row[3]] = float64(n)
		}
		return out
	}
	// Powers of two leave the standardised data bit for bit as they are.
	a, b := values(write(1, 1)), values(write(4, 8))
	for name, factor := range map[string]float64{
		"SE.variance:": 64, "SE.lengthscale:when": 4, "LIN.variance:": 64.0 / 16, "noise_variance:": 64, "LIN.centre:when": 4,
	} {
		x, ok := a[name]
		if !ok {
			name = strings.TrimSuffix(name, "when")
			x, ok = a[name]
		}
		if !ok || math.Abs(b[name]/x-factor) > 1e-9*factor {
			t.Errorf("%s: %v became %v, want %v times as much; all: %v", name, x, b[name], factor, a)
		}
	}
}

func TestPrepareChecksTheHash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.csv")
	must.OK(t, os.WriteFile(path, []byte("x,y\n1,2\n2,3\n3,5\n4,4\n"), 0o644))
	c, err := config.ForTable(path, "", []config.Override{{Key: "data.test", Value: "0"}})
	must.OK(t, err)
	j, err := prepare.Prepare(t.Context(), c)
	must.OK(t, err)
	j.Close()
	if len(j.Config.SHA256) != 64 {
		t.Errorf("sha256 = %q", j.Config.SHA256)
	}
	c.SHA256 = strings.Repeat("0", 64)
	if _, err := prepare.Prepare(t.Context(), c); err == nil || !strings.Contains(err.Error(), "the file has changed") {
		t.Error(err)
	}
}

// Orders given between evaluations of a real trainer.
func TestPruneRefineRestore(t *testing.T) {
	j, err := prepare.Prepare(t.Context(), configtest.Small(t))
	must.OK(t, err)
	defer j.Close()
	l := &recordtest.Log{}
	r := experiment.NewRun(j, l)
	must.OK(t, r.Start())
	s := runtest.Await(t, r)
	ids := s.Evaluation.Below(1)
	must.OK(t, r.Prune(ids))
	s = runtest.Await(t, r)
	if len(ids) != 2 || s.Evaluation.Leader().Fit.Posterior != 1 || s.Evaluation.Index != 3 {
		t.Errorf("pruned %v: %+v", ids, s.Evaluation.Leader())
	}
	must.OK(t, r.Reoptimize(vbks.Change{Rounds: 1}))
	if s = runtest.Await(t, r); s.State != record.Finished || s.Evaluation.Index != 4 {
		t.Errorf("%s %+v", s.State, s.Evaluation)
	}
	must.OK(t, r.Restore(ids))
	if s = runtest.Await(t, r); len(s.Evaluation.Below(1)) != 2 {
		t.Errorf("%+v", s.Evaluation)
	}
	if err := r.Prune([]string{"nosuch"}); err == nil || errors.Is(err, experiment.ErrRunClosed) {
		t.Error(err)
	}
	must.OK(t, r.Close())
}
