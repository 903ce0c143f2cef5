package study

import (
	"context"
	"errors"

	"example.com/kestrel/device"
	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks"
)

// made is a run that came to its end in memory.
type made struct {
	job         *prepare.Job
	evaluations []*record.Evaluation
	standing    record.Standing
}

// makeRun makes the run of a config in memory; rec may be nil. A run that fails by
// itself is made, one that ctx ends is not: the error is then ctx's cause.
func makeRun(ctx context.Context, c config.Config, rec record.Recorder) (*made, error) {
	job, err := prepareRun(ctx, c)
	if err != nil {
		return nil, err
	}
	return finishRun(ctx, job, rec)
}

// prepareRun is all of makeRun that reads files.
func prepareRun(ctx context.Context, c config.Config) (*prepare.Job, error) {
	job, err := prepare.Prepare(ctx, c)
	return job, ended(ctx, err)
}

// ended is the cause of a context that has ended, else the error.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// learn makes all evaluations of a trainer of a run's training rows, with kernels and settings of
// its own; guesses are vbks.Training's.
func learn(ctx context.Context, dev device.Device, sub *prepare.Subject, space []vbks.Candidate, s vbks.Settings,
	guesses map[string][]float64) (*vbks.Trainer, error) {
	rows := sub.Train
	rows.Guesses = guesses
	t, err := vbks.New(ctx, dev, rows, space, sub.Columns, s)
	for err == nil && !t.Done() {
		_, err = t.Next(ctx)
	}
	return t, ended(ctx, err)
}

// finishRun makes a run that is prepared, and gives its device back.
func finishRun(ctx context.Context, job *prepare.Job, rec record.Recorder) (*made, error) {
	defer job.Close()
	m := &made{job: job}
	recorders := record.Recorders{record.RecorderFunc(func(e *record.Event) error {
		m.standing.Apply(e)
		if e.Type == record.EventEvaluation {
			m.evaluations = append(m.evaluations, e.Evaluation)
		}
		return nil
	})}
	if rec != nil {
		recorders = append(recorders, rec)
	}
	err := experiment.Complete(ctx, job, recorders)
	var mistake *guard.PanicError
	if err != nil && !errors.As(err, &mistake) { // which has failed this run, and no other
		return nil, err
	}
	return m, nil
}

// failure is why a run failed, "" if it did not.
func (m *made) failure() string {
	if m.standing.State == record.Failed {
		return m.standing.Reason
	}
	return ""
}

// last is the last evaluation, nil if there is none.
func (m *made) last() *record.Evaluation {
	if len(m.evaluations) == 0 {
		return nil
	}
	return m.evaluations[len(m.evaluations)-1]
}

// lastFit is what was last known of the i-th kernel of the space, also of one that
// was left out since; nil if it never had a fit.
func (m *made) lastFit(i int) *record.Fit {
	for j := len(m.evaluations) - 1; j >= 0; j-- {
		if f := m.evaluations[j].Kernels[i].Fit; f != nil {
			return f
		}
	}
	return nil
}
