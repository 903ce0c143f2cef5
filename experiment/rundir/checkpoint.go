package rundir

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/npz"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// Checkpoint is a checkpoint that a run can be resumed with.
type Checkpoint struct {
	arrays   map[string]vbks.Tensor
	Rest     Rest
	Most     int
	Deadline time.Duration
	Marks    *datasets.Marks // of the rows of the run's table; nil where that is not told
}

// Learned returns the arrays, nil if there is no checkpoint.
func (s *Checkpoint) Learned() map[string]vbks.Tensor {
	if s == nil {
		return nil
	}
	return s.arrays
}

// checkpointPath is its name in the directory of a run.
const checkpointPath = record.StateDir + "/" + record.CheckpointFile

// Learned reads the arrays of the checkpoint in a run's directory. The error is
// fs.ErrNotExist if there is none.
func Learned(path string) (map[string]vbks.Tensor, error) {
	d, err := inside.Open(path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err := record.CheckFiles(d); err != nil {
		return nil, err
	}
	return npz.Load(d, checkpointPath)
}

// ReadCheckpoint reads the checkpoint of a run, nil if there is none.
func ReadCheckpoint(d *inside.Dir) (*Checkpoint, error) {
	arrays, err := npz.Load(d, checkpointPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &Checkpoint{arrays: arrays}
	if err := s.take(); err != nil {
		return nil, fmt.Errorf("its checkpoint %w", err)
	}
	return s, nil
}

// take reads the arrays that are not the trainer's.
func (s *Checkpoint) take() error {
	where, ok := s.arrays[logArray]
	if !ok {
		return errors.New("does not say which event it rests on; an older version of the program wrote it")
	}
	sums, whole := npz.BytesOf(s.arrays[logSums])
	schedule := s.arrays[ScheduleArray].Data
	types := restTypes()
	const size = sha256.Size
	valid := func(v, most float64) bool { return v >= 0 && v <= most && v == math.Trunc(v) }
	if len(where.Data) != 3 || !whole || len(sums) != 2*size || len(schedule) != 2 ||
		!valid(where.Data[0], where.Data[1]) || !valid(where.Data[1], 1<<53) || !valid(where.Data[2], float64(len(types)-1)) ||
		!valid(schedule[0], math.MaxInt32) || math.IsNaN(schedule[1]) {
		return fmt.Errorf("is damaged: arrays %s, %s and %s do not fit", logArray, logSums, ScheduleArray)
	}
	s.Rest = Rest{
		Before: record.Place{Bytes: int64(where.Data[0]), Sum: [size]byte(sums[:size])},
		After:  record.Place{Bytes: int64(where.Data[1]), Sum: [size]byte(sums[size:])},
		What:   types[int(where.Data[2])],
	}
	if t, ok := s.arrays[logKernels]; ok {
		text, whole := npz.BytesOf(t)
		if !whole {
			return fmt.Errorf("is damaged: array %s is no text", logKernels)
		}
		s.Rest.Kernels = strings.Split(string(text), "\n")
	}
	var known bool
	if s.Marks, known = s.marks(); !known {
		return fmt.Errorf("is damaged: arrays %s and %s do not fit", rowsArray, marksArray)
	}
	s.Most = int(schedule[0])
	// A run whose time is up has no end of it any more.
	s.Deadline = math.MaxInt64
	if ns := schedule[1] * float64(time.Second); ns < math.MaxInt64 {
		s.Deadline = time.Duration(ns)
	}
	return nil
}
