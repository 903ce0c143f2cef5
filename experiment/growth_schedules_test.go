package experiment_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks"
)

// Growing runs that are paused, pruned, restored, told to grow or not to, at any moment, and
// killed in between: what the log says was ordered, ordered again of a run that nothing
// happens to, gives the same bytes, and no row is lost. KESTREL_LONG=1 makes 300 schedules.
func TestGrowingSchedules(t *testing.T) {
	thorough.Unraced(t)
	schedules := 5
	if os.Getenv("KESTREL_LONG") == "1" {
		schedules = 300
	}
	var sum tally
	for seed := range uint64(schedules) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			(&schedule{T: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 24)), sum: &sum}).play()
		})
	}
	t.Logf("%d schedules: %+v", schedules, sum)
	if all := sum.Killed + sum.Paused + sum.Pruned + sum.Restored + sum.Grow; all < schedules ||
		schedules > 100 && min(sum.Killed, sum.Paused, sum.Pruned, sum.Restored, sum.Grow, sum.Held) < schedules/20 {
		t.Errorf("%+v: the test says little", sum)
	}
}

// tally counts what has happened in the runs.
type tally struct{ Killed, Paused, Pruned, Restored, Grow, Came, Held int }

// schedule is what happens to a run.
type schedule struct {
	*testing.T
	seed uint64
	rng  *rand.Rand
	sum  *tally

	mu     sync.Mutex
	run    *experiment.Run
	events int
	last   int                           // evaluation, in this life
	made   int                           // evaluations that had been made where it was cut
	do     map[int]func(*experiment.Run) // what happens behind so many events
	kill   int                           // behind so many a copy is taken, which goes on; 0: none
	copied string
	at     int // evaluation then
	orders sync.WaitGroup
	cuts   []string
}

func (s *schedule) play() {
	base := s.TempDir()
	var held []string // a third grow on some of their rows first
	if s.seed%3 == 0 {
		held = []string{"sparse.inducing=auto", "sparse.first_inducing=4", "sparse.compare_all=50", "kernels.grow_rows=20",
			"data.outputs=80", "data.kernel=PER", "data.params=[1, 1, 0.5]", "data.noise=0.01", "schedule.evaluate_every=0.2"}
	}
	c := configtest.Small(s.T, append(held, growing(
		fmt.Sprintf("kernels.grow_live=%d", 4+s.rng.IntN(5)), fmt.Sprintf("kernels.grow=%v", s.rng.IntN(4) > 0),
		fmt.Sprintf("device.lanes=%d", 1+s.rng.IntN(2)), fmt.Sprintf("seed=%d", s.rng.IntN(1000)), "schedule.refine=0",
		"schedule.checkpoint="+[]string{"0", "0.02", "3600"}[s.rng.IntN(3)],
		"optimise.optimizer="+[]string{"collapsed", "collapsed", "natural"}[s.rng.IntN(3)])...)...)
	dir := filepath.Join(base, "0")
	run, err := experiment.Begin(s.Context(), c, dir, s.recorder(&dir))
	must.OK(s.T, err)
	for life := 1; ; life++ {
		s.plan(run, life)
		_, err = run.Run.Drive(s.Context(), record.Course{})
		must.OK(s.T, err)
		s.mu.Lock()
		s.do = nil
		s.mu.Unlock()
		s.orders.Wait()
		runtest.Await(s.T, run.Run)
		must.OK(s.T, run.Close())
		s.mu.Lock()
		from := s.copied
		s.made, s.last = max(s.made, s.at), 0
		s.copied, s.kill = "", 0
		s.mu.Unlock()
		if from == "" {
			break
		}
		dir = filepath.Join(base, fmt.Sprint(life))
		runtest.CopyRun(s.T, from, dir)
		run, err = experiment.Resume(s.Context(), dir, experiment.ResumeOptions{}, s.recorder(&dir))
		if errors.Is(err, rundir.ErrNoCheckpoint) {
			run, err = experiment.Resume(s.Context(), dir, experiment.ResumeOptions{FromStart: true}, s.recorder(&dir))
		}
		if err != nil && strings.Contains(err.Error(), "has finished") {
			break // that was its end
		}
		must.OK(s.T, err)
		s.cuts = append(s.cuts, from)
		s.sum.Killed++
	}
	again := filepath.Join(base, "again")
	runtest.CopyRun(s.T, dir, again)
	_, err = runtest.TakeUp(s.T, again, experiment.ResumeOptions{FromStart: true})
	must.OK(s.T, err)
	runtest.SameResults(s.T, "ordered again", again, dir, dir)
	for _, cut := range s.cuts {
		runtest.SameResults(s.T, "cut at "+filepath.Base(cut), dir, dir, cut)
	}
	events, err := recordtest.Read(dir)
	must.OK(s.T, err)
	on := false
	for i := range events {
		s.sum.Came += len(events[i].Entered)
		on = on || events[i].Evaluation != nil && events[i].Evaluation.Front != nil && events[i].Evaluation.Front.Rows > 0
	}
	if on {
		s.sum.Held++
	}
}

// plan draws what happens behind which events of a life.
func (s *schedule) plan(run *experiment.Session, life int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run, s.events, s.at, s.do = run.Run, 0, 0, map[int]func(*experiment.Run){}
	if life < 4 && s.rng.IntN(3) > 0 {
		s.kill = 2 + s.rng.IntN(24)
	}
	for range 1 + s.rng.IntN(5) {
		which, k := s.rng.IntN(5), s.rng.IntN(3)
		s.do[1+s.rng.IntN(24)] = func(r *experiment.Run) { s.order(r, which, k) }
	}
}

// order gives one; a run that has ended, or where the order means nothing, refuses.
func (s *schedule) order(r *experiment.Run, which, k int) {
	e := r.Snapshot().Evaluation
	switch which {
	case 0:
		if r.Pause() == nil {
			s.count(&s.sum.Paused)
			r.Resume() // unless another order has, or has stopped it
		}
	case 1:
		if e != nil && len(e.Below(2+k)) > 0 && r.Prune(e.Below(2 + k)[:1]) == nil {
			s.count(&s.sum.Pruned)
		}
	case 2:
		if e == nil {
			return
		}
		var ids []string
		for i := range e.Kernels {
			if e.Kernels[i].Status == vbks.Pruned {
				ids = append(ids, e.Kernels[i].ID)
			}
		}
		if len(ids) > 0 && r.Restore(ids) == nil {
			s.count(&s.sum.Restored)
		}
	default:
		grow := []string{vbks.GrowOn, vbks.GrowOff, vbks.GrowOn}[k]
		if e != nil && r.Reoptimize(vbks.Change{Grow: grow, Rounds: k}) == nil {
			s.count(&s.sum.Grow)
		}
	}
}

func (s *schedule) count(n *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n++
}

// recorder sees the events of a life, behind the directory, which has written them.
func (s *schedule) recorder(dir *string) record.Recorder {
	return record.RecorderFunc(func(e *record.Event) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events++
		if e.Type == record.EventEvaluation {
			s.last = e.Evaluation.Index
		}
		if s.kill == s.events {
			s.copied, s.at = s.copy(*dir), s.last
		}
		// Where it had been further, another order would lead elsewhere.
		if do, run := s.do[s.events], s.run; do != nil && run != nil && s.last > s.made {
			s.orders.Go(func() { do(run) }) // the run waits for its recorder
		}
		return nil
	})
}

// copy is what a kill would leave: a checkpoint that is put in its place meanwhile may be there
// or not.
func (s *schedule) copy(dir string) string {
	to := dir + "-cut"
	for {
		err := os.CopyFS(to, os.DirFS(dir))
		if err == nil {
			return to
		}
		if !errors.Is(err, fs.ErrNotExist) {
			s.Error(err)
			return ""
		}
		must.OK(s.T, os.RemoveAll(to))
	}
}
