package experiment_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// camera is a Directory that keeps a copy of its files as a kill would leave
// them: before and after each event and each checkpoint.
type camera struct {
	*rundir.Directory
	t     *testing.T
	shots string // folder of the copies
	count int
	tell  func(e *record.Event) // nil, or told after the copy

	mu     sync.Mutex // held while files are copied, and while a checkpoint is written
	events sync.Mutex // held while an event is written, and, by checkpoints beside that, while files are copied
}

func (c *camera) shoot() {
	c.count++
	runtest.CopyRun(c.t, c.Path, filepath.Join(c.shots, fmt.Sprintf("%03d", c.count)))
}

func (c *camera) Record(e *record.Event) error {
	c.events.Lock()
	err := c.Directory.Record(e)
	c.events.Unlock()
	c.mu.Lock()
	c.shoot()
	c.mu.Unlock()
	if c.tell != nil {
		c.tell(e)
	}
	return err
}

func (c *camera) Save(ready map[string]vbks.Tensor) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.Directory.Save(ready)
	c.events.Lock()
	defer c.events.Unlock()
	c.shoot()
	return err
}

// filmed makes a run in a folder of its own with a copy of every moment. steer
// may give orders: it is told the numbers of the evaluations, and 0 at the end.
func filmed(t *testing.T, c config.Config, course record.Course, steer func(*experiment.Run, int) error) (dir, shots string) {
	t.Helper()
	base := t.TempDir()
	dir, shots = filepath.Join(base, "run"), filepath.Join(base, "shots")
	j, err := prepare.Prepare(t.Context(), c)
	must.OK(t, err)
	defer j.Close()
	d, err := rundir.Create(inside.Disk{}, dir)
	must.OK(t, err)
	film := &camera{Directory: d, t: t, shots: shots}
	saver := rundir.NewSaver(film, rundir.PauseOf(c.Checkpoint))
	r := experiment.NewRun(j, saver)
	var orders sync.WaitGroup
	if steer != nil {
		film.tell = func(e *record.Event) {
			if e.Type != record.EventEvaluation {
				return
			}
			at := e.Evaluation.Index
			orders.Go(func() { // the run waits for its recorder
				if err := steer(r, at); err != nil {
					t.Error(err)
				}
			})
		}
	}
	_, err = r.Drive(t.Context(), course)
	must.OK(t, err)
	if steer != nil {
		must.OK(t, steer(r, 0))
	}
	runtest.Await(t, r)
	orders.Wait()
	runtest.Await(t, r)
	must.OK(t, r.Close())
	must.OK(t, saver.Close())
	must.OK(t, d.Close())
	return dir, shots
}

// resumeAll resumes a run from each of its moments, and from each with a torn
// last line, and compares the ends. Moments before an order was written down
// are left out, and of the others all but each so manieth.
func resumeAll(t *testing.T, dir, shots string, every int) {
	t.Helper()
	moments, err := os.ReadDir(shots)
	must.OK(t, err)
	all := orders(t, dir)
	moments = slices.DeleteFunc(moments, func(m os.DirEntry) bool { return orders(t, filepath.Join(shots, m.Name())) < all })
	resumed, tried := 0, 0
	for i := 0; i < len(moments); i += every {
		m := moments[i]
		tried++
		for _, torn := range []bool{false, true} {
			if torn && tried%4 != 2 {
				continue
			}
			what := fmt.Sprintf("moment %s, torn %v", m.Name(), torn)
			run := filepath.Join(t.TempDir(), "run")
			runtest.CopyRun(t, filepath.Join(shots, m.Name()), run)
			if torn { // and another line begun
				tear(t, run)
			}
			end, err := runtest.TakeUp(t, run, experiment.ResumeOptions{})
			if err != nil && strings.Contains(err.Error(), "has finished") {
				runtest.SameResults(t, what+", which is the end", run, dir, dir)
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			resumed++
			if end.State != record.Finished {
				t.Errorf("%s: ended %s: %s", what, end.State, end.Reason)
			}
			runtest.SameResults(t, what, run, dir, filepath.Join(shots, m.Name()))
			events, err := recordtest.Read(run)
			must.OK(t, err)
			evaluations := 0
			for k := range events {
				if k > 0 && events[k].Seconds < events[k-1].Seconds {
					t.Errorf("%s: the clock goes back from %v s to %v s", what, events[k-1].Seconds, events[k].Seconds)
				}
				if events[k].Type == record.EventEvaluation {
					if evaluations++; events[k].Evaluation.Index != evaluations {
						t.Errorf("%s: evaluation %d comes as number %d", what, events[k].Evaluation.Index, evaluations)
					}
				}
			}
			if tried%4 != 2 {
				continue
			}
			if _, err := runtest.TakeUp(t, run, experiment.ResumeOptions{}); err == nil || !strings.Contains(err.Error(), "has finished") {
				t.Errorf("%s: resumed after its end: %v", what, err)
			}
		}
	}
	if resumed < tried/2 {
		t.Errorf("%d of %d moments were resumed: the test says little", resumed, tried)
	}
}

// mustLag fails the test if no checkpoint among the moments of a run is two evaluations behind its log.
func mustLag(t *testing.T, shots string) {
	t.Helper()
	moments, err := os.ReadDir(shots)
	must.OK(t, err)
	lag := 0
	for _, m := range moments {
		dir := filepath.Join(shots, m.Name())
		var s record.Standing
		must.OK(t, record.Each(t.Context(), dir, s.Apply))
		lag = max(lag, s.Made-evaluations(t, dir))
	}
	if lag < 2 {
		t.Errorf("checkpoints are %d evaluations behind at most", lag)
	}
}

// byEvaluation are events that come with every evaluation.
var byEvaluation = []record.EventType{record.EventEvaluation, record.EventEntered, record.EventLeft}

// orders counts the orders by the user in a run's log.
func orders(t *testing.T, run string) int {
	t.Helper()
	events, err := recordtest.Read(run)
	must.OK(t, err)
	n := 0
	for i := range events {
		if e := &events[i]; e.Redone() && !slices.Contains(byEvaluation, e.Type) && !e.ByItself {
			n++
		}
	}
	return n
}

// tear appends half a line to a run's event log.
func tear(t *testing.T, run string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(run, record.EventsFile), os.O_APPEND|os.O_WRONLY, 0)
	must.OK(t, err)
	_, err = f.WriteString(`{"v":1,"type":"evaluation","time":"2026-`)
	must.OK(t, err)
	must.OK(t, f.Close())
}
