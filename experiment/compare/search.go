package compare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strconv"
	"time"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
)

// searcher chooses which kernel to train next.
type searcher interface {
	// over reports whether there is nothing left to train.
	over(done []searchStep) bool
	// prepare loads what next will need. As in a run, that does not count as time.
	prepare(ctx context.Context, done []searchStep) error
	// next returns the id of a kernel that has not been trained yet; the search is
	// not over. It depends on nothing but what has been trained, in which order,
	// and the seed.
	next(ctx context.Context, done []searchStep) (id string, err error)
	// score says how good a kernel is; the greatest predicts.
	score(r *finishedRun) float64
}

// searchStep is a kernel that a search has chosen and had trained.
type searchStep struct {
	ID       string
	Choosing float64 // seconds that the choice took
	Run      *finishedRun
	Score    float64 // NaN if the kernel failed
}

// search lets a searcher choose kernels and trains them until the budget is used
// up. The choices are written down after each, so that a search goes on where it
// was stopped, with the seconds that choosing took at first.
func (m *Comparing) search(ctx context.Context, method string, run int, seed uint64, s searcher) error {
	file := m.searchFile(method, seed)
	chosen, err := m.readSearch(file) // before
	if err != nil {
		return err
	}
	m.dir.Owner.RemoveLeftovers(file) // of a process that was killed
	limit, kernels, err := m.budget(seed)
	if err != nil {
		return err
	}
	var steps []searchStep
	seconds := 0.0
	for len(steps) < kernels && seconds < limit && !s.over(steps) {
		n := len(steps)
		var step searchStep
		switch {
		case n < len(chosen):
			step = chosen[n]
		case m.looking:
			return errMissing
		default:
			if n == 0 {
				m.options.Say(fmt.Sprintf("%s, run %d, seed %d", method, run, seed))
			}
			if step, err = choose(ctx, s, steps, n > 0 && n == len(chosen)); err != nil {
				return fmt.Errorf("%s, seed %d: %w", method, seed, err)
			}
		}
		if step.Run, err = m.single(ctx, step.ID, seed); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		step.Score = math.NaN()
		if step.Run.Failure == "" {
			step.Score = s.score(step.Run)
		}
		steps = append(steps, step)
		seconds += step.Choosing + step.Run.Seconds
		if len(steps) > len(chosen) {
			if err := m.writeSearch(file, steps); err != nil {
				return err
			}
		}
	}
	metrics, kernel := searchMetrics(steps, limit)
	m.take(method, run, seed, kernel, len(steps), metrics)
	return nil
}

// choose lets a searcher choose the next kernel and takes the time. Where a search
// goes on, what its choices so far rest on is found out again first, which took
// its time then.
func choose(ctx context.Context, s searcher, done []searchStep, goesOn bool) (step searchStep, err error) {
	if err := s.prepare(ctx, done); err != nil {
		return step, err
	}
	if goesOn {
		if _, err := s.next(ctx, done[:len(done)-1]); err != nil {
			return step, err
		}
	}
	began := time.Now()
	step.ID, err = s.next(ctx, done)
	step.Choosing = time.Since(began).Seconds()
	return step, err
}

// budget returns how long a search with a seed may take, and how many kernels
// it may train.
func (m *Comparing) budget(seed uint64) (seconds float64, kernels int, err error) {
	b := m.Config.Compare.Budget
	switch {
	case b.Time > 0:
		return b.Time.Seconds(), math.MaxInt, nil
	case b.Kernels > 0:
		return math.Inf(1), b.Kernels, nil
	}
	r, err := m.finished(m.place(config.MethodAverage, seed))
	if err != nil {
		return 0, 0, fmt.Errorf("the budget of seed %d: %w", seed, err)
	}
	return r.Seconds, math.MaxInt, nil
}

// searchMetrics returns how well a search predicts in the course of time, up to
// a limit in seconds, and the kernel that does so in the end ("": none): while
// the first kernel is trained, that one; then the best that has been trained.
func searchMetrics(steps []searchStep, limit float64) (out []record.Metric, kernel string) {
	var best *searchStep
	seconds := 0.0
	for i := range steps {
		s := &steps[i]
		began := seconds + s.Choosing
		seconds = began + s.Run.Seconds
		if i == 0 {
			for _, x := range s.Run.of(config.MethodSingle) {
				if x.Evaluation, x.Seconds = 1, files.Number(began)+x.Seconds; float64(x.Seconds) <= limit {
					out, kernel = append(out, x), s.ID
				}
			}
		}
		if seconds > limit {
			break
		}
		if !math.IsNaN(s.Score) && (best == nil || s.Score > best.Score) {
			best = s
		}
		if best == nil || i == 0 {
			continue
		}
		if all := best.Run.of(config.MethodSingle); len(all) > 0 {
			x := all[len(all)-1]
			x.Evaluation, x.Seconds = i+1, files.Number(seconds)
			out, kernel = append(out, x), best.ID
		}
	}
	return out, kernel
}

// writeSearch writes down the course of a search.
func (m *Comparing) writeSearch(file string, steps []searchStep) error {
	rows := [][]string{{"step", "kernel_id", "choosing_seconds", "training_seconds", "local_elbo", "score"}}
	for i, s := range steps {
		row := []string{strconv.Itoa(i + 1), s.ID, files.FormatFloat(s.Choosing), files.FormatFloat(s.Run.Seconds), "", ""}
		if s.Run.Failure == "" {
			row[4], row[5] = files.FormatFloat(s.Run.ELBO), files.FormatFloat(s.Score)
		}
		rows = append(rows, row)
	}
	text, err := files.FormatRows(rows)
	if err != nil {
		return err
	}
	dir := filepath.Dir(file)
	if err := m.dir.Owner.MkdirAll(dir); err != nil {
		return files.Unwritable(m.dir.Owner.Join(dir), err)
	}
	if err := m.dir.Owner.ReplaceFile(file, text); err != nil {
		return files.Unwritable(m.dir.Owner.Join(dir), err)
	}
	return nil
}

// readSearch reads the choices back; a file that is not there has none.
func (m *Comparing) readSearch(file string) ([]searchStep, error) {
	t, err := files.ReadTableIn(m.dir.Owner.Dir, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var steps []searchStep
	for i := range t.Rows {
		steps = append(steps, searchStep{ID: t.Text(i, "kernel_id"), Choosing: t.Number(i, "choosing_seconds")})
	}
	if t.Err != nil {
		return nil, fmt.Errorf("%w; remove the file to search anew, trained kernels are kept", t.Err)
	}
	return steps, nil
}
