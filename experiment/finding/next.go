package finding

import (
	"fmt"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// next says what to do: the key of the workbench, or the command.
func (r *reading) next() string {
	if text := r.advice(); text != "" {
		return "Next: " + text + "."
	}
	return ""
}

func (r *reading) advice() string {
	switch r.State {
	case record.Paused:
		return "space goes on with the run"
	case record.Ready, record.Running, record.Stopping:
		if !r.whole() {
			return "wait for the other " + percent(1-r.Evaluation.Proportion) + " of the data"
		}
		return "wait for the last evaluations"
	case record.Finished:
	default: // stopped, failed or crashed
		if !r.whole() {
			return "R, or kestrel resume, for the other " + percent(1-r.Evaluation.Proportion) + " of the data"
		}
		if r.Evaluation.Index < r.Evaluation.Planned {
			return "R, or kestrel resume, for the last evaluations"
		}
	}
	_, reference, best, scored := r.Beside()
	series := r.Start.Data.Series != nil
	m := r.Averaged()
	unsure := len(r.equal) > 0 || r.posterior() < surely
	switch more := r.inducing(); {
	case r.nothing && (len(r.open) == 0 || more == 0):
		return "another column or more rows; the mean is as good a prediction"
	case flagged(r.leader, vbks.NotTheTruth):
		return "more rows, or another seed"
	case flagged(r.leader, vbks.NoiseAtFloor):
		return "look for rows that repeat; noise that is known can be stated (hyperparameters)"
	case scored && reference.Worse:
		return "predict with " + best.Label + " instead, or give it other kernels"
	case flagged(r.leader, vbks.StillMoving):
		return "re-optimise (r) with more steps"
	case m != nil && m.Intervals() == "too narrow":
		return "look in the fit (3) where the rows leave the band; other kernels, or a transform of the target"
	case len(r.open) > 0 && more > 0:
		return fmt.Sprintf("re-optimise (r) the first %s with %d inducing inputs", numeral(r.last), more)
	case r.once():
		return "rows over two of its periods, or a bound on the period (hyperparameters)"
	case r.Start.Data.Test == 0:
		return "hold out rows (data.test) to learn its error"
	case unsure && series:
		return "kestrel predict --horizon, which averages over them; more rows may tell them apart"
	case unsure:
		return "kestrel predict --data, which averages over them; more rows may tell them apart"
	case series:
		return "kestrel predict --horizon forecasts beyond the end"
	}
	return "kestrel predict --data predicts at other rows"
}

// inducing is the number of inducing inputs that should be tried, 0 where there can be
// no more of use.
func (r *reading) inducing() int {
	if len(r.Inducing) == 0 {
		return 0
	}
	now, rows := r.Inducing[len(r.Inducing)-1], r.Start.Data.Train
	if now >= rows {
		return 0
	}
	return min(2*now, rows)
}
