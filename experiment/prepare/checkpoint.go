package prepare

import (
	"fmt"
	"io"
	"time"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/npz"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/vbks"
)

// probedNumbers is how many numbers are written to nowhere to find out what the rest of a
// checkpoint takes: 8 MiB.
const probedNumbers = 1 << 20

// checkpointBytes is how large the matrices of a run's largest checkpoint are.
func checkpointBytes(c *config.Config, kernels, rows int) (int64, error) {
	effort, err := c.Settings.Effort(rows)
	if err != nil || effort.Exact() {
		return 0, err
	}
	w := &workload{config: c, effort: effort, kernels: kernels, rows: rows}
	if c.Settings.Growth.On {
		w.kernels = max(w.kernels, c.Settings.Growth.Live)
	}
	w.climb(&c.Settings)
	most := 0
	w.eachRung(func(m, kernels int) { most = max(most, 8*m*(m+1)/2*w.effort.Carried()*kernels) })
	return int64(most), nil
}

// checkpointNotice says what checkpoints of a run will cost where they are large; "" where not.
func checkpointNotice(c *config.Config, kernels, rows int) (string, error) {
	bytes, err := checkpointBytes(c, kernels, rows)
	if err != nil || bytes < rundir.LargeCheckpoint {
		return "", err
	}
	began := time.Now()
	probe := map[string]vbks.Tensor{"probe": {Shape: []int{probedNumbers}, Data: make([]float64, probedNumbers)}}
	if err := npz.WriteHashed(io.Discard, probe); err != nil {
		return "", err
	}
	core := time.Duration(float64(time.Since(began)) * float64(bytes) / (8 * probedNumbers))
	when := fmt.Sprintf("at most every %g s and at stops", rundir.PauseBetween.Seconds())
	switch pause := rundir.PauseOf(c.Checkpoint); {
	case pause == 0:
		when = "after each evaluation, which waits for it"
	case pause > 0:
		when = fmt.Sprintf("at most every %g s and at stops", pause.Seconds())
	}
	if c.Checkpoint != 0 {
		when = "beside the work, " + when
	}
	return fmt.Sprintf("a checkpoint takes up to %s, %s of a core and what the disk takes: it is written %s (schedule.checkpoint)",
		words.Megabytes(bytes), words.ShortDuration(core), when), nil
}
