package runtest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/must"
)

// Finished makes a run of a config to its end, in a directory.
func Finished(t *testing.T, c config.Config) (j *prepare.Job, r *experiment.Run, dir string) {
	t.Helper()
	j, err := prepare.Prepare(t.Context(), c)
	must.OK(t, err)
	dir = filepath.Join(t.TempDir(), "run")
	d, err := rundir.Create(inside.Disk{}, dir)
	must.OK(t, err)
	r = experiment.NewRun(j, rundir.NewSaver(d, 0))
	t.Cleanup(func() { r.Close(); d.Close(); j.Close() })
	must.OK(t, r.Start())
	if s := Await(t, r); s.State != record.Finished {
		t.Fatalf("%s: %s", s.State, s.Reason)
	}
	return j, r, dir
}

// Inspect returns an inspector of a run, closed at the end of the test.
func Inspect(t *testing.T, r *experiment.Run) *inspect.Inspector {
	t.Helper()
	i, err := r.Inspect(t.Context())
	must.OK(t, err)
	t.Cleanup(func() { i.Close() })
	return i
}

// Await waits for the end of a run.
func Await(t *testing.T, r *experiment.Run) experiment.Snapshot {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	s, err := r.Wait(ctx)
	must.OK(t, err)
	return s
}

// In makes a run of a config in a directory, up to its end.
func In(t *testing.T, c config.Config, dir string, extra ...record.Recorder) (*prepare.Job, experiment.Snapshot) {
	t.Helper()
	j, err := prepare.Prepare(t.Context(), c)
	must.OK(t, err)
	defer j.Close()
	d, err := rundir.Create(inside.Disk{}, dir)
	must.OK(t, err)
	r := experiment.NewRun(j, append(record.Recorders{rundir.NewSaver(d, 0)}, extra...))
	must.OK(t, r.Start())
	s := Await(t, r)
	must.OK(t, r.Close())
	must.OK(t, d.Close())
	return j, s
}
