package compare

import (
	"path/filepath"
	"testing"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/inside/disktest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// come is how far a comparison has come.
type come struct {
	runs []string // that were made
	over bool
}

// Whenever the power fails, a comparison goes on; the runs that were made are in their
// places, what is in the place of a run has come to its end, and once it is over its
// tables are what they were.
func TestPowerFailsWhileComparing(t *testing.T) {
	thorough.Unraced(t)
	set := []string{"compare.methods=vbks,bo", "compare.runs=1", "compare.budget=2", "data.support=8", "data.outputs=24", "data.test=4",
		"kernels.expressions=SE,LIN,PER", "sparse.inducing=4", "schedule.steps=1"}
	base := t.TempDir()
	disk, place := disktest.New(t, base), "c"
	dir := filepath.Join(base, place)
	runs := func(dir string) (all []string) {
		for _, pattern := range []string{"vbks/*", "kernels/*/*"} {
			found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
			must.OK(t, err)
			for _, path := range found {
				if filepath.Base(path)[0] == '.' {
					continue // in the making
				}
				name, _ := filepath.Rel(dir, path)
				all = append(all, name)
			}
		}
		return all
	}
	c := configtest.Compared(t, set...)
	c.Disk = disk.Files()
	_, _, err := compareIn(t.Context(), t, c, dir, func(string) { disk.Mark(come{runs(dir), false}) })
	must.OK(t, err)
	disk.Mark(come{runs(dir), true})
	disk.MustBeAll()
	want := tablesOf(t, dir)
	every, judged := 60, 0
	draws := 1_000 / thorough.OneIn(t, 10, "losses of power")
	states := disk.Draw(draws, 1, func(t *testing.T, folder string, left disktest.State, marks []any) {
		var so come
		if len(marks) > 0 {
			so = marks[len(marks)-1].(come)
		}
		dir := filepath.Join(folder, place)
		for _, run := range so.runs {
			if !rundir.IsRun(filepath.Join(dir, run)) {
				t.Errorf("%s was made", run)
			}
		}
		for _, run := range runs(dir) {
			var s record.Standing
			if err := record.Each(t.Context(), filepath.Join(dir, run), s.Apply); err != nil || !s.Ended {
				t.Errorf("%s is in its place and %s: %v", run, s.State, err)
			}
		}
		if so.over && tablesOf(t, dir) != want {
			t.Error("it is over, and its tables are others")
		}
		if judged++; judged%every == 0 {
			_, _, err := compareIn(t.Context(), t, configtest.Compared(t, set...), dir, nil)
			must.OK(t, err)
		} else if m, err := Begin(t.Context(), configtest.Compared(t, set...), dir, Options{Say: func(string) {}}); err != nil {
			t.Error(err)
		} else {
			must.OK(t, m.Close())
		}
	})
	t.Logf("%d losses of power, %d states", draws, states)
}
