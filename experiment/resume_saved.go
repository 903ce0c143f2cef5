package experiment

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"time"

	"kestrel/vbks"
)

// logRest says which event of a log a checkpoint rests on.
type logRest struct {
	before, after logPlace // the log without it and with it
	what          EventType
	kernels       []string // of a pruning or restoring
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
	scheduleArray = "schedule"
)

// restTypes are the events that a checkpoint can rest on.
func restTypes() []EventType { return []EventType{EventEvaluation, EventPruned, EventRestored} }

// put adds what rests to a checkpoint.
func (r *logRest) put(arrays map[string]vbks.Tensor) {
	what := -1.0
	for i, t := range restTypes() {
		if t == r.what {
			what = float64(i)
		}
	}
	arrays[logArray] = vbks.Tensor{Shape: []int{3}, Data: []float64{float64(r.before.bytes), float64(r.after.bytes), what}}
	sums := bytesTensor(append(r.before.sum[:], r.after.sum[:]...))
	sums.Shape = []int{2, sha256.Size}
	arrays[logSums] = sums
	if len(r.kernels) > 0 {
		arrays[logKernels] = bytesTensor([]byte(strings.Join(r.kernels, "\n")))
	}
}

// learn returns what the trainer has learned, with what the run adds.
func (r *Run) learn() map[string]vbks.Tensor {
	arrays := r.trainer.Checkpoint()
	arrays[scheduleArray] = vbks.Tensor{Shape: []int{2}, Data: []float64{float64(r.most), r.deadline.Seconds()}}
	return arrays
}

// saved is a checkpoint that a run can be resumed with.
type saved struct {
	arrays   map[string]vbks.Tensor
	rest     logRest
	most     int
	deadline time.Duration
}

// learned returns the arrays, nil if there is no checkpoint.
func (s *saved) learned() map[string]vbks.Tensor {
	if s == nil {
		return nil
	}
	return s.arrays
}

// readSaved reads the checkpoint of a run, nil if there is none.
func readSaved(path string) (*saved, error) {
	arrays, err := loadCheckpoint(filepath.Join(path, stateDir, checkpoint))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &saved{arrays: arrays}
	if err := s.take(); err != nil {
		return nil, fmt.Errorf("its checkpoint %w", err)
	}
	return s, nil
}

// take reads the arrays that are not the trainer's.
func (s *saved) take() error {
	where, ok := s.arrays[logArray]
	if !ok {
		return errors.New("does not say which event it rests on; an older version of the program wrote it")
	}
	sums, whole := tensorBytes(s.arrays[logSums])
	schedule := s.arrays[scheduleArray].Data
	types := restTypes()
	const size = sha256.Size
	valid := func(v, most float64) bool { return v >= 0 && v <= most && v == math.Trunc(v) }
	if len(where.Data) != 3 || !whole || len(sums) != 2*size || len(schedule) != 2 ||
		!valid(where.Data[0], where.Data[1]) || !valid(where.Data[1], 1<<53) || !valid(where.Data[2], float64(len(types)-1)) ||
		!valid(schedule[0], math.MaxInt32) || math.IsNaN(schedule[1]) {
		return fmt.Errorf("is damaged: arrays %s, %s and %s do not fit", logArray, logSums, scheduleArray)
	}
	s.rest = logRest{
		before: logPlace{bytes: int64(where.Data[0]), sum: [size]byte(sums[:size])},
		after:  logPlace{bytes: int64(where.Data[1]), sum: [size]byte(sums[size:])},
		what:   types[int(where.Data[2])],
	}
	if t, ok := s.arrays[logKernels]; ok {
		text, whole := tensorBytes(t)
		if !whole {
			return fmt.Errorf("is damaged: array %s is no text", logKernels)
		}
		s.rest.kernels = strings.Split(string(text), "\n")
	}
	s.most = int(schedule[0])
	// A run whose time is up has no end of it any more.
	s.deadline = math.MaxInt64
	if ns := schedule[1] * float64(time.Second); ns < math.MaxInt64 {
		s.deadline = time.Duration(ns)
	}
	return nil
}
