package rundir

import (
	"testing"

	"example.com/kestrel/experiment/record"
)

// A run has crashed if it is not at rest and its process is known to be gone.
func TestFate(t *testing.T) {
	alive, gone := Owner{Known: true, Alive: true}, Owner{Known: true}
	for state, want := range map[record.State][3]record.State{ // owner alive, gone, not known
		"":              {record.Ready, Crashed, record.Ready},
		record.Ready:    {record.Ready, Crashed, record.Ready},
		record.Running:  {record.Running, Crashed, record.Running},
		record.Paused:   {record.Paused, Crashed, record.Paused},
		record.Stopping: {record.Stopping, Crashed, record.Stopping},
		record.Stopped:  {record.Stopped, record.Stopped, record.Stopped},
		record.Finished: {record.Finished, record.Finished, record.Finished},
		record.Failed:   {record.Failed, record.Failed, record.Failed},
	} {
		for i, o := range []Owner{alive, gone, {}} {
			if got := Fate(&record.Standing{State: state}, o); got != want[i] {
				t.Errorf("%q with %+v: %s, want %s", state, o, got, want[i])
			}
		}
	}
}
