package experiment

import (
	"kestrel/experiment/rundir"
	"kestrel/vbks"
)

// learn returns what the trainer has learned, with what the run adds.
func (r *Run) learn() map[string]vbks.Tensor {
	arrays := r.trainer.Checkpoint()
	arrays[rundir.ScheduleArray] = vbks.Tensor{Shape: []int{2}, Data: []float64{float64(r.most), r.deadline.Seconds()}}
	return arrays
}
