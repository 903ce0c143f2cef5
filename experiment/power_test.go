package experiment_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/inside/disktest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks"
)

// kept is what a run has promised to keep.
type kept struct {
	evaluations int // that need not be made again
	orders      int // by the user
	over        bool
}

// keeper writes down in a disk's journal what a run promises. It is told after the run's
// directory.
type keeper struct {
	disk *disktest.Disk
	now  kept
	made int
	late bool // evaluations are promised where the run rests
}

func (k *keeper) Record(e *record.Event) error {
	if e.Type == record.EventEvaluation {
		k.made = e.Evaluation.Index
	}
	if e.State != nil && e.State.To.Settled() {
		k.now.evaluations = max(k.now.evaluations, k.made)
	}
	k.disk.Mark(k.now)
	return nil
}

func (k *keeper) Checkpoint(map[string]vbks.Tensor) error {
	if !k.late {
		k.now.evaluations = max(k.now.evaluations, k.made)
	}
	k.disk.Mark(k.now)
	return nil
}

// quick is a config of a run that takes no time.
func quick(t *testing.T, more ...string) config.Config {
	return configtest.Small(t, append([]string{"data.support=8", "data.outputs=24", "data.test=4", "kernels.expressions=SE,LIN,PER",
		"sparse.inducing=4", "schedule.steps=2"}, more...)...)
}

// onDisk lets a run come to its end on a disk that forgets, gives it orders then, and
// lets it come to its end again.
func onDisk(
	t *testing.T, disk *disktest.Disk, k *keeper, s *experiment.Session, course record.Course, orders ...func(*experiment.Run) error,
) {
	t.Helper()
	_, err := s.Run.Drive(t.Context(), course)
	must.OK(t, err)
	for _, order := range orders {
		must.OK(t, order(s.Run))
		k.now.orders++
		disk.Mark(k.now)
		runtest.Await(t, s.Run)
	}
	must.OK(t, s.Close())
	k.now.over = true
	disk.Mark(k.now)
	disk.MustBeAll()
}

// ordered makes a run on a disk that forgets, with orders after its end.
func ordered(t *testing.T, more ...string) (disk *disktest.Disk, run string) {
	t.Helper()
	base := t.TempDir()
	disk, run = disktest.New(t, base), filepath.Join(base, "run")
	c := quick(t, more...)
	c.Disk = disk.Files()
	k := &keeper{disk: disk, late: c.Checkpoint > 0}
	s, err := experiment.Begin(t.Context(), c, run, k)
	must.OK(t, err)
	onDisk(t, disk, k, s, record.Course{PruneTop: 2, ThenRefine: 1},
		func(r *experiment.Run) error { return r.Reoptimize(vbks.Change{Steps: 3, Rounds: 2}) },
		func(r *experiment.Run) error { return r.Restore(pruned(r)) })
	return disk, run
}

// pruned are the kernels that a run has pruned.
func pruned(r *experiment.Run) (ids []string) {
	for _, k := range r.Snapshot().Evaluation.Kernels {
		if k.Status == vbks.Pruned {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

// takenUp resumes what is left of a run after a loss of power. It must end as the run
// that nothing happened to, want, if it has all its orders, and have those that were
// promised. Where nothing was promised it may be that it has not begun.
func takenUp(t *testing.T, dir, want string, said kept) {
	t.Helper()
	learned, tables := evaluations(t, dir), dir
	if learned < said.evaluations {
		t.Errorf("of %d evaluations %d are there", said.evaluations, learned)
	}
	end, err := runtest.TakeUp(t, dir, experiment.ResumeOptions{})
	unbegun := said == (kept{}) && err != nil && (strings.Contains(err.Error(), "ended before it began") ||
		strings.Contains(err.Error(), "has no "+record.EventsFile) || strings.Contains(err.Error(), "does not exist"))
	switch {
	case unbegun:
		return
	case errors.Is(err, experiment.ErrComplete):
		events, err := recordtest.Read(dir)
		must.OK(t, err)
		if n := len(events); events[n-1].Type != record.EventFinished && !said.over {
			// Its kernels were pruned or restored after its end: what was made of the log since
			// may not be on the disk, but can be made again.
			to := filepath.Join(t.TempDir(), "export")
			must.OK(t, rundir.Export(dir, to))
			tables = to
		}
	case err != nil:
		t.Error(err)
		return
	case end.State != record.Finished:
		t.Errorf("it ended %s: %s", end.State, end.Reason)
	case said.over:
		t.Error("it was over and went on")
	}
	if has := orders(t, dir); has < said.orders {
		t.Errorf("of %d orders %d are there", said.orders, has)
	} else if has == orders(t, want) {
		runtest.SameResults(t, dir, tables, want, tables)
	}
}

// evaluations is how many the checkpoint of a run has.
func evaluations(t *testing.T, dir string) int {
	t.Helper()
	arrays, err := rundir.Learned(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	must.OK(t, err)
	return int(arrays["run"].Data[0])
}

// last is the last promise.
func last(marks []any) (k kept) {
	if len(marks) > 0 {
		k = marks[len(marks)-1].(kept)
	}
	return k
}

// Whenever the power fails, a run is resumed from an evaluation not before the last one
// that it has saved, with all orders that it has taken, and ends as the run that nothing
// happened to; also if the power fails again while it is resumed.
func TestPowerFailsAndTheRunIsResumed(t *testing.T) {
	thorough.Unraced(t)
	disk, want := ordered(t)
	n := 400 / thorough.OneIn(t, 40, "losses of power")
	judge := func(t *testing.T, folder string, _ disktest.State, marks []any) {
		takenUp(t, filepath.Join(folder, "run"), want, last(marks))
	}
	t.Logf("%d losses of power, %d states", n, disk.Draw(n, 1, judge))
	for i, mark := range disk.Marks() {
		at := mark.(kept)
		if at.orders != 1 || at == disk.Marks()[i-1].(kept) { // right behind the order
			continue
		}
		base := t.TempDir()
		disk.Seen(i).Write(t, base)
		again := disktest.New(t, base)
		again.Mark(at)
		k := &keeper{disk: again, now: at}
		s, err := experiment.Resume(t.Context(), filepath.Join(base, "run"), experiment.ResumeOptions{Disk: again.Files()}, k)
		must.OK(t, err)
		onDisk(t, again, k, s, s.Course, func(r *experiment.Run) error { return r.Restore(pruned(r)) })
		for event := range 3 { // killed again behind the first events, which are before the order is given again
			base := t.TempDir()
			again.Seen(1+event).Write(t, base)
			takenUp(t, filepath.Join(base, "run"), want, at)
		}
		t.Logf("killed with %+v and taken up again: %d losses of power, %d states", at, n, again.Draw(n, 2, judge))
		return
	}
	t.Error("there is no moment behind the order")
}

// So it is with checkpoints that are written beside the work, of which some are left out: what was
// promised are orders, and all once the run rests.
func TestPowerFailsBesideACheckpoint(t *testing.T) {
	disk, want := ordered(t, "schedule.checkpoint=3600", "schedule.evaluate_every=0.25")
	n := 400 / thorough.OneIn(t, 40, "losses of power")
	t.Logf("%d losses of power, %d states", n, disk.Draw(n, 4, func(t *testing.T, folder string, _ disktest.State, marks []any) {
		takenUp(t, filepath.Join(folder, "run"), want, last(marks))
	}))
}

// Whenever the power fails while a run is begun again from its start, all that it had is
// in its place or in the folder that it is moved to.
func TestPowerFailsWhileARunIsBegunAgain(t *testing.T) {
	thorough.Unraced(t)
	_, want := ordered(t)
	base := t.TempDir()
	run := filepath.Join(base, "run")
	runtest.CopyRun(t, want, run)
	disk := disktest.New(t, base)
	s, err := experiment.Resume(t.Context(), run, experiment.ResumeOptions{FromStart: true, Disk: disk.Files()})
	must.OK(t, err)
	disk.Mark(kept{})
	_, err = s.Run.Drive(t.Context(), s.Course)
	must.OK(t, err)
	must.OK(t, s.Close())
	disk.MustBeAll()
	old := map[string][]byte{}
	for _, name := range slices.Concat(rundir.TableFiles(), []string{record.LogFile, record.ModelFile, record.ConfigFile, record.EventsFile,
		record.StateDir + "/" + record.CheckpointFile}) {
		old[name], err = os.ReadFile(filepath.Join(want, filepath.FromSlash(name)))
		must.OK(t, err)
	}
	n := 10_000 / thorough.OneIn(t, 50, "losses of power")
	t.Logf("%d losses of power, %d states", n, disk.Draw(n, 3, func(t *testing.T, _ string, left disktest.State, marks []any) {
		aside := ""
		for name := range left {
			if strings.HasPrefix(name, "run/before-") && strings.HasSuffix(name, "/"+record.EventsFile) {
				aside = strings.TrimSuffix(name, record.EventsFile)
			}
		}
		if aside == "" && len(marks) > 0 {
			t.Error("it goes on, and what was there is not aside")
		}
		for name, text := range old {
			here, moved := bytes.Equal(left["run/"+name], text), bytes.Equal(left[aside+name], text)
			for at := range left { // in a folder without the log, yet
				here = here || strings.HasPrefix(at, "run/before-") && strings.HasSuffix(at, "/"+name) && bytes.Equal(left[at], text)
			}
			if aside != "" && !moved {
				t.Errorf("the log was moved to %s, and %s is not there", aside, name)
			} else if aside == "" && !here {
				t.Errorf("%s is nowhere", name)
			}
		}
	}))
}
