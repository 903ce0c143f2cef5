package experiment_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files/filestest"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/npz"
	"example.com/kestrel/experiment/npz/npztest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks"
)

// docs/format.md has the columns of the tables, in their order.
func TestFormatPageHasColumns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	d, err := rundir.Create(inside.Disk{}, dir)
	must.OK(t, err)
	must.OK(t, d.Close())
	for _, name := range rundir.TableFiles() {
		got, want := recordtest.PageNames(t, "### "+name), filestest.ReadCSV(t, filepath.Join(dir, name))[0]
		if !slices.Equal(got, want) {
			t.Errorf("docs/format.md has the columns %q of %s, it has %q", got, name, want)
		}
	}
}

// It has the arrays of a checkpoint, and none that no run writes.
func TestFormatPageHasArrays(t *testing.T) {
	thorough.Unraced(t)
	written := arrayNames{}
	for _, set := range [][]string{
		// Its only evaluation prunes, for a reason and with a notice.
		{"optimise.optimizer=collapsed", "schedule.evaluate_every=1", "schedule.refine=0",
			"posterior.auto_prune={below = 0.9, wait = 1, keep = 1}"},
		{"sparse.inducing=auto", "sparse.most_inducing=8", "sparse.most_seconds=1000", "optimise.evidence=laplace"},
		configtest.Integrated,
		// It leaves kernels out.
		{"sparse.inducing=auto", "sparse.compare_all=0",
			"data.outputs=75", "schedule.evaluate_every=1", "schedule.refine=0", "data.kernel=MATERN12",
			"data.params=[0.3, 1]", "data.noise=0.001", "kernels.expressions=SE,LIN,PER,LIN+SE,RQ,MATERN12"},
		// What it takes for noise is a function.
		{"sparse.inducing=auto", "sparse.first_inducing=4", "optimise.optimizer=collapsed", "data.outputs=200", "schedule.evaluate_every=1",
			"schedule.refine=0", "data.kernel=SE", "data.params=[1, 0.15]", "data.noise=0.1", "kernels.expressions=SE"},
		{"optimise.optimizer=adam", "optimise.hyperparameters=full", "schedule.batch=16", "schedule.elbo_rows=20"},
		{"optimise.optimizer=natural", "schedule.batch=16"},
		{"optimise.optimizer=collapsed", "optimise.hyperparameters=diagonal", "schedule.evaluate_every=1", "schedule.refine=0"},
		growing("schedule.evaluate_every=0.5", "schedule.refine=0"),
		// It grows on some of its rows first.
		growing("schedule.evaluate_every=0.2", "schedule.refine=0", "sparse.inducing=auto", "sparse.first_inducing=4", "sparse.compare_all=50",
			"kernels.grow_rows=20", "data.outputs=80", "data.kernel=PER", "data.params=[1, 1, 0.5]", "data.noise=0.01"),
		{"optimise.optimizer=natural", "sparse.inducing=auto", "sparse.first_inducing=4", "sparse.most_inducing=6", "posterior.errors=integrate",
			"schedule.evaluate_every=1", "schedule.refine=1", "predict.weights=tempered"},
		// Its leader has inducing inputs of its own.
		{"optimise.optimizer=natural", "data.outputs=2300", "sparse.inducing=5", "schedule.evaluate_every=1", "schedule.refine=0"},
		{"data.source=csv", "data.path=" + series(t), "data.test=4", "predict.calibrate=auto", "kernels.expressions=SE"},
		// Its rows have weights.
		{"data.source=csv", "data.path=" + rooms(t), "data.test=4", "data.noise_column=sd", "data.noise_by=room", "kernels.likelihood=student",
			"kernels.expressions=SE[x]", "schedule.evaluate_every=1", "schedule.refine=1"},
	} {
		runtest.In(t, configtest.Small(t, set...), filepath.Join(t.TempDir(), "run"), written)
	}
	// Rows that come later.
	dir, path := filepath.Join(t.TempDir(), "run"), write(t, filepath.Join(t.TempDir(), "wave.csv"), wavy(40))
	runtest.In(t, wavyConfig(t, path, "schedule.steps=2"), dir)
	write(t, path, wavy(45))
	_, err := runtest.TakeUp(t, dir, experiment.ResumeOptions{Data: path}, written)
	must.OK(t, err)
	// What a directory adds, of a pruning.
	dir = filepath.Join(t.TempDir(), "run")
	d, err := rundir.Create(inside.Disk{}, dir)
	must.OK(t, err)
	events := recordtest.Eventful()
	for i := range events {
		must.OK(t, d.Record(&events[i]))
		if events[i].Type == record.EventPruned {
			break
		}
	}
	must.OK(t, rundir.NewSaver(d, 0).Checkpoint(map[string]vbks.Tensor{}))
	must.OK(t, d.Close())
	arrays, err := npztest.Load(t, filepath.Join(dir, record.StateDir, record.CheckpointFile))
	must.OK(t, err)
	arrays[npz.HashArray] = vbks.Tensor{} // which Load takes out
	must.OK(t, written.Checkpoint(arrays))

	named := recordtest.PageNames(t, "## state/checkpoint.npz")
	for name := range written {
		if !slices.Contains(named, name) {
			t.Errorf("docs/format.md lacks the array %s", name)
		}
	}
	// A device must be lost between evaluations, a kernel fail, many rows have been compared on several numbers of
	// inducing inputs, or a space grow on a function that the first of these do not show, for these.
	rare := []string{"notices", "notices/kernels", "evaluation/notices/kernels", "again", "kernel/i/sampled", "growth/blurred", "growth/ended"}
	for _, name := range named {
		if !slices.Contains(rare, name) && !written[name] {
			t.Errorf("docs/format.md has an array %s that is not written", name)
		}
	}
}

// rooms writes a table with the noise's standard deviations and an input of two values.
func rooms(t *testing.T) string {
	t.Helper()
	text := "x,room,sd,y\n"
	for i := range 60 {
		text += fmt.Sprintf("%g,%d,%g,%g\n", float64(i*7%60), i%2, 1+float64(i%3), math.Sin(float64(i*7%60)/9)+0.3*math.Cos(float64(i*i)))
	}
	path := filepath.Join(t.TempDir(), "rooms.csv")
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// series writes a table of a series in time.
func series(t *testing.T) string {
	t.Helper()
	text := "day,y\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%d\n", i, i*i%7)
	}
	path := filepath.Join(t.TempDir(), "series.csv")
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// arrayNames gathers the names of arrays that are saved, those of a kernel as
// "kernel/i/…".
type arrayNames map[string]bool

var kernelArray = regexp.MustCompile(`^kernel/\d+/`)

// Record implements record.Recorder.
func (arrayNames) Record(*record.Event) error { return nil }

// Checkpoint implements record.Checkpointer.
func (a arrayNames) Checkpoint(arrays map[string]vbks.Tensor) error {
	for name := range arrays {
		a[kernelArray.ReplaceAllString(name, "kernel/i/")] = true
	}
	return nil
}
