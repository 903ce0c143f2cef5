package rundir

import (
	"crypto/sha256"
	"strings"

	"kestrel/experiment/npz"
	"kestrel/experiment/record"
	"kestrel/vbks"
)

// Rest says which event of a log a checkpoint rests on.
type Rest struct {
	Before, After record.Place // the log without it and with it
	What          record.EventType
	Kernels       []string // of a pruning or restoring
}

// Arrays of a checkpoint that are not the trainer's:
//
//	log           bytes of the event log before and after the event it rests on,
//	              the event's place in restTypes
//	log/sha256    of the log before and after the event
//	log/kernels   text: the ids of the kernels that were pruned or restored
//	schedule      most evaluations (0: as planned), end of the time budget in seconds
const (
	logArray      = "log"
	logSums       = "log/sha256"
	logKernels    = "log/kernels"
	ScheduleArray = "schedule"
)

// restTypes are the events that a checkpoint can rest on.
func restTypes() []record.EventType {
	return []record.EventType{record.EventEvaluation, record.EventPruned, record.EventRestored}
}

// put adds what rests to a checkpoint.
func (r *Rest) put(arrays map[string]vbks.Tensor) {
	what := -1.0
	for i, t := range restTypes() {
		if t == r.What {
			what = float64(i)
		}
	}
	arrays[logArray] = vbks.Tensor{Shape: []int{3}, Data: []float64{float64(r.Before.Bytes), float64(r.After.Bytes), what}}
	sums := npz.Bytes(append(r.Before.Sum[:], r.After.Sum[:]...))
	sums.Shape = []int{2, sha256.Size}
	arrays[logSums] = sums
	if len(r.Kernels) > 0 {
		arrays[logKernels] = npz.Bytes([]byte(strings.Join(r.Kernels, "\n")))
	}
}
