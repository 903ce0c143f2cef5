package experiment

import (
	"context"

	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
)

// Complete makes the run of a job up to its end, in memory. One that fails by itself
// has come to its end, as the recorder is told, but if by a mistake of the program, that is the error, a
// *guard.PanicError: there is no log to find its stack in. One that ctx ends has not: the error is
// then ctx's cause. The job stays open.
func Complete(ctx context.Context, job *prepare.Job, rec record.Recorder) error {
	run := NewRun(job, rec)
	err := run.Start()
	if err == nil {
		_, err = run.Wait(ctx)
	}
	if e := run.Close(); err == nil { // stops a run that is still going
		err = e
	}
	if err == nil && run.mistake != nil {
		err = run.mistake
	}
	return err
}
