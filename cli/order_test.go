//go:build linux || darwin

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/steer"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// resting is a run that has come to its end, in a workbench that is still open.
type resting struct{ state record.State }

func (r *resting) Pause() error                  { return nil }
func (r *resting) Resume() error                 { return nil }
func (r *resting) Stop(string) error             { return nil } // as experiment.Run
func (r *resting) Prune([]string) error          { return nil }
func (r *resting) Restore([]string) error        { return nil }
func (r *resting) Reoptimize(vbks.Change) error  { return nil }
func (r *resting) Status() (steer.Status, error) { return steer.Status{State: r.state}, nil }

// A run that has finished is not said to have been stopped.
func TestStopAfterTheEnd(t *testing.T) {
	sockets(t)
	dir := filepath.Join(t.TempDir(), "run")
	must.OK(t, os.Mkdir(dir, 0o755))
	c, err := rundir.Claim(dir)
	must.OK(t, err)
	defer c.Close()
	s, err := steer.Listen(&resting{record.Finished}, dir)
	must.OK(t, err)
	defer s.Close()
	must.OK(t, c.Orders(s.Path, ""))
	now, err := (&orderFlags{}).give(dir, steer.Stop, nil)
	if err != nil || now.State != record.Finished {
		t.Errorf("%s, %v", now.State, err)
	}
}
