package rundir

import (
	"crypto/sha256"
	"math"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/npz"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
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
//	rows          of a table: rows read, rows that a mark is of
//	rows/marks    hashes that tell whether these are what they were
const (
	logArray      = "log"
	logSums       = "log/sha256"
	logKernels    = "log/kernels"
	ScheduleArray = "schedule"
	rowsArray     = "rows"
	marksArray    = "rows/marks"
)

// PutMarks adds what tells the rows of a table apart to a checkpoint.
func PutMarks(arrays map[string]vbks.Tensor, m *datasets.Marks) {
	if m == nil {
		return
	}
	arrays[rowsArray] = vbks.Tensor{Shape: []int{2}, Data: []float64{float64(m.Rows), float64(m.Block)}}
	arrays[marksArray] = vbks.Tensor{Shape: []int{len(m.Sums)}, Data: m.Sums}
}

// marks are those of a checkpoint, nil where it has none. ok is false if they are none.
func (s *Checkpoint) marks() (m *datasets.Marks, ok bool) {
	rows, sums := s.arrays[rowsArray].Data, s.arrays[marksArray].Data
	if rows == nil && sums == nil {
		return nil, true
	}
	whole := func(v float64) bool { return v >= 1 && v <= math.MaxInt32 && v == math.Trunc(v) }
	if len(rows) != 2 || !whole(rows[0]) || !whole(rows[1]) || len(sums) != (int(rows[0])-1)/int(rows[1])+1 {
		return nil, false
	}
	return &datasets.Marks{Rows: int(rows[0]), Block: int(rows[1]), Sums: sums}, true
}

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
