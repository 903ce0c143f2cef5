package compare

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strconv"
	"strings"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/known"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/kernelspace"
)

// kernelsDir holds the runs of one kernel alone.
const kernelsDir = "kernels"

// finishedRun is what a comparison reads off the event log of a run that has
// come to its end.
type finishedRun struct {
	Kernels int    // in the space
	Leader  string // id, "" if there was no evaluation
	ELBO    float64
	Params  int // free hyperparameters of the leader, the noise included
	Rows    int // training rows seen
	Seconds float64
	Metrics []record.Metric // of all methods
	Failure string          // why the run failed
}

// of returns the metrics of a method.
func (r *finishedRun) of(method string) (out []record.Metric) {
	for _, x := range r.Metrics {
		if x.Method == method {
			out = append(out, x)
		}
	}
	return out
}

// readFinished reads a run that has been put in its place.
func readFinished(path string) (*finishedRun, error) {
	r := &finishedRun{}
	var s record.Standing
	err := record.Each(context.Background(), path, func(e *record.Event) {
		s.Apply(e)
		r.Metrics = append(r.Metrics, e.Metrics...)
	})
	if err != nil && !errors.Is(err, record.ErrNoEvents) {
		return nil, err
	}
	r.Seconds = float64(s.Seconds)
	if s.State == record.Failed {
		r.Failure = s.Reason
	}
	if s.Start != nil {
		r.Kernels = len(s.Start.Kernels)
	}
	if e := s.Evaluation; e != nil {
		r.Rows = e.RowsSeen
		if l := e.Leader(); l != nil {
			r.Leader, r.ELBO, r.Params = l.ID, float64(l.Fit.ELBO), freeParams(s.Start, l.ID)
		}
	}
	return r, nil
}

// freeParams counts the hyperparameters of a kernel that are optimised.
func freeParams(s *record.Start, id string) (n int) {
	if s == nil {
		return 0
	}
	for i := range s.Kernels {
		if s.Kernels[i].ID != id {
			continue
		}
		for _, p := range s.Kernels[i].Params {
			if !p.Fixed && p.Stated != kernelspace.Fixed.String() {
				n++
			}
		}
	}
	return n
}

// wholeSpace makes the run of a method over the whole space.
func (m *Comparing) wholeSpace(ctx context.Context, method string, run int, c config.Config) (*finishedRun, error) {
	path := m.place(method, c.Settings.Seed)
	r, err := m.run(ctx, c, path, func() record.Recorder {
		m.options.Say(fmt.Sprintf("%s, run %d, seed %d", method, run, c.Settings.Seed))
		if m.options.Recorder == nil {
			return nil
		}
		return m.options.Recorder()
	})
	if err == nil && r.Failure != "" {
		err = fmt.Errorf("the run failed: %s; what was done is in %s, remove it to try again", r.Failure, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s, seed %d: %w", method, c.Settings.Seed, err)
	}
	return r, nil
}

// single trains one kernel alone, with the settings of the comparison and a
// seed, unless that has been done. It has no relatives whose solutions it could
// start from, which VBKS's kernels have.
func (m *Comparing) single(ctx context.Context, id string, seed uint64) (*finishedRun, error) {
	c := m.seeded(seed)
	if m.maker.Crew != nil { // as many are trained at once as there are cores
		c.Device.Cores = 1
	}
	c.Kernels = config.KernelSpace{Expressions: []string{id}}
	e, err := kernelspace.Parse(id)
	if err == nil {
		c.Stated, err = known.Within(c.Stated, e, m.inputs)
	}
	if err != nil {
		return nil, err
	}
	trained := false
	r, err := m.run(ctx, c, filepath.Join(m.place(kernelsDir, seed), kernelFolder(id)), func() record.Recorder {
		trained = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("kernel %s, seed %d: %w", id, seed, err)
	}
	if trained {
		line := fmt.Sprintf("  seed %d: trained %s in %.3g s", seed, id, r.Seconds)
		if r.Failure != "" {
			line += "; failed: " + r.Failure
		} else {
			line += fmt.Sprintf(", local ELBO %.6g", r.ELBO)
		}
		m.options.Say(line)
	}
	return r, nil
}

// kernelFolder names the folder of a kernel: its expression as far as file
// systems allow it, and a checksum that tells alike ones apart.
func kernelFolder(id string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == '*':
			return 'x'
		case r == '+' || config.FileName.MatchString(string(r)):
			return r
		}
		return '_'
	}, id)
	h := fnv.New32a()
	h.Write([]byte(id)) // never fails
	return fmt.Sprintf("%.60s-%08x", name, h.Sum32())
}

// run makes a run where it is not in its place, and reads it. begin is called before
// and returns who is told about it.
func (m *Comparing) run(ctx context.Context, c config.Config, path string, begin func() record.Recorder) (*finishedRun, error) {
	if err := m.dir.CheckPlace(series.Partial(path)); err != nil {
		return nil, err
	}
	for made := m.making[path]; made != nil; made = m.making[path] { // for another step
		m.mu.Unlock()
		<-made
		m.mu.Lock()
	}
	if !rundir.IsRun(path) && !m.looking {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		var recorders record.Recorders
		if r := begin(); r != nil {
			recorders = append(recorders, r)
		}
		if err := m.make(ctx, c, path, recorders); err != nil {
			return nil, err
		}
	}
	return m.finished(path)
}

// make makes a run; meanwhile other steps go on.
func (m *Comparing) make(ctx context.Context, c config.Config, path string, recorders record.Recorders) error {
	made := make(chan struct{})
	m.making[path] = made
	m.mu.Unlock()
	err := guard.Do(func() error { return m.maker.Make(ctx, c, record.Course{}, path, recorders) })
	m.mu.Lock()
	delete(m.making, path)
	close(made)
	return err
}

// finished reads a run that is in its place, once. The error is errMissing if it
// is not there.
func (m *Comparing) finished(path string) (*finishedRun, error) {
	if r, ok := m.known[path]; ok {
		return r, nil
	}
	if err := m.dir.CheckPlace(path); err != nil {
		return nil, err
	}
	if !rundir.IsRun(path) {
		return nil, fmt.Errorf("run %q %w", path, errMissing)
	}
	r, err := readFinished(path)
	if err == nil {
		m.known[path] = r
	}
	return r, err
}

// searchFile is where the course of a search is written down, in the directory of the
// comparison.
func (m *Comparing) searchFile(method string, seed uint64) string {
	return filepath.Join(method, strconv.FormatUint(seed, 10), "search.csv")
}
