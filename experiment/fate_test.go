package experiment

import "testing"

// A run has crashed if it is not at rest and its process is known to be gone.
func TestFate(t *testing.T) {
	alive, gone := Owner{Known: true, Alive: true}, Owner{Known: true}
	for state, want := range map[State][3]State{ // owner alive, gone, not known
		"":       {Ready, Crashed, Ready},
		Ready:    {Ready, Crashed, Ready},
		Running:  {Running, Crashed, Running},
		Paused:   {Paused, Crashed, Paused},
		Stopping: {Stopping, Crashed, Stopping},
		Stopped:  {Stopped, Stopped, Stopped},
		Finished: {Finished, Finished, Finished},
		Failed:   {Failed, Failed, Failed},
	} {
		for i, o := range []Owner{alive, gone, {}} {
			if got := Fate(&Standing{State: state}, o); got != want[i] {
				t.Errorf("%q with %+v: %s, want %s", state, o, got, want[i])
			}
		}
	}
}
