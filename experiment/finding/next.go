package finding

import (
	"fmt"
	"strconv"

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

// does is a command with what it does.
func (r *reading) does(command, what string) string {
	r.command = command
	return command + " " + what
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
			return "kestrel resume " + r.run + " (or R) for the other " + percent(1-r.Evaluation.Proportion) + " of the data"
		}
		if r.Evaluation.Index < r.Evaluation.Planned {
			return "kestrel resume " + r.run + " (or R) for the last evaluations"
		}
	}
	task, reference, best, scored := r.Beside()
	series := r.Start.Data.Series != nil
	m := r.Averaged()
	predict := "kestrel predict " + r.run
	ahead := predict + " --horizon " + r.horizon(task)
	again := "re-optimise (kestrel resume " + r.run + ", then r)"
	unsure := len(r.equal) > 0 || r.posterior() < surely
	switch more := r.inducing(); {
	case r.farOut():
		return r.does("kestrel run "+r.config+" --set kernels.likelihood=auto", "looks for rows that are far out, and counts them for little")
	case r.nothing && (len(r.open) == 0 || more == 0):
		return "another column or more rows; the mean is as good a prediction"
	case flagged(r.leader, vbks.NotTheTruth):
		return "more rows, or another seed"
	case flagged(r.leader, vbks.NoiseAtFloor):
		return "look for rows that repeat; noise that is known can be stated (hyperparameters)"
	case scored && (reference.Worse || best.More > muchWorse):
		if task == record.TaskForecast && series {
			return r.does(ahead+" --method "+best.Method, "forecasts with "+best.Label+", which did better here")
		}
		return "more rows or columns, or other kernels: " + best.Label + " did better here"
	case flagged(r.leader, vbks.StillMoving) && !r.restless(): // else it is known what it is good for as it is
		return again + " with more steps"
	case m != nil && m.Intervals() == record.TooNarrow:
		return "look in the fit (3) where the rows leave the band; other kernels, or a transform of the target"
	case len(r.open) > 0 && more > 0:
		return fmt.Sprintf("%s the first %s with %d inducing inputs", again, numeral(r.last), more)
	case r.once():
		return "rows over two of its periods, or a bound on the period (hyperparameters)"
	case r.Start.Data.Test == 0:
		return r.does("kestrel run "+r.config+" --set data.test=0.1", "holds rows out to learn its error")
	case series && unsure:
		return r.does(ahead, r.averages())
	case series:
		return r.does(ahead, "forecasts beyond the end")
	case unsure:
		return r.does(predict+" --data new.csv", r.averages()+r.newTable())
	}
	return r.does(predict+" --data new.csv", "predicts at other rows"+r.newTable())
}

// averages says over what predictions are averaged: never over those alone that cannot be
// told apart, or share the belief, since weights are not the belief.
func (r *reading) averages() string {
	if r.left > mostly {
		return fmt.Sprintf("averages over kernels, each with its weight; a run with sparse.inducing=%d compares those left out, too",
			r.Evaluation.Inducing)
	}
	if n := len(r.equal); n > 0 {
		return "averages over kernels, the " + numeral(n+1) + " that cannot be told apart among them; more rows may tell them apart"
	}
	return "averages over kernels, each with its weight; more rows may tell which is best"
}

// newTable says which columns a table of other rows needs, where there are several.
func (r *reading) newTable() string {
	inputs := r.Start.Inputs()
	if len(inputs) < 2 {
		return ""
	}
	return "; new.csv with the columns " + record.InputNames(inputs)
}

// mostAhead is how many steps are forecast at most unless more are asked for.
const mostAhead = 1000

// horizons are lengths of time that people ask for, as predict takes them, in days.
var horizons = []struct {
	text string
	days float64
}{{"1h", 1. / 24}, {"6h", 0.25}, {"12h", 0.5}, {"1d", 1}, {"2d", 2}, {"1w", 7}, {"2w", 14}, {"1mo", 365.25 / 12}, {"3mo", 365.25 / 4},
	{"6mo", 365.25 / 2}, {"1y", 365.25}, {"2y", 2 * 365.25}, {"5y", 5 * 365.25}}

const (
	fewAhead  = 2   // steps are too few for a length of time
	ratherFar = 1.2 // times what the run was scored on is no farther
)

// horizon is how far a forecast is worth it: for about as long as the run was scored on, or a
// tenth of what it has learned from; in steps where their length is not known.
func (r *reading) horizon(task string) string {
	steps := r.Start.Data.Train / 10
	if task == record.TaskForecast {
		steps = r.Start.Data.Test
	}
	steps = min(max(1, steps), mostAhead)
	text := strconv.Itoa(steps)
	inputs := r.Start.Inputs()
	if len(inputs) == 0 {
		return text
	}
	c := &inputs[0]
	_, second, ok := record.TimeScale(c)
	if !ok || !(c.Spacing > 0) {
		return text
	}
	step := c.Spacing * second / 86400
	for _, h := range horizons {
		if h.days >= fewAhead*step && h.days <= ratherFar*float64(steps)*step {
			text = h.text
		}
	}
	return text
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
