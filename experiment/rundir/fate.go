package rundir

import (
	"cmp"

	"example.com/kestrel/experiment/record"
)

// Crashed is the fate of a run whose process was gone before the run was at
// rest. No run writes it down; it is what others find.
const Crashed record.State = "crashed"

// Fate is how a run stands in one word, for all who show, list or take up runs:
// the state last written down, unless the run is not at rest and nobody writes it
// any more. Then it has crashed, whether it was running, paused or stopping, or
// had not come to that. Where the owner is not known, as of runs of older
// versions, of copies without the state folder and on file systems without
// locks, the state written down stands: of a run that goes on nobody is to hear
// that it has crashed.
func Fate(s *record.Standing, o Owner) record.State {
	state := cmp.Or(s.State, record.Ready)
	if !state.Settled() && o.Known && !o.Alive {
		return Crashed
	}
	return state
}
