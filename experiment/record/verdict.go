package record

import (
	"fmt"
	"math"
	"slices"

	"kestrel/experiment/config"
	"kestrel/experiment/files"
)

// Verdict says in a line each what the averaged prediction is worth beside the
// baselines, by CRPS, and whether its intervals of 95 % hold as much as they should;
// none where that is not known.
func (s *Standing) Verdict() (lines []string) {
	at := slices.IndexFunc(s.Metrics, func(m Metric) bool { return m.Method == config.MethodAverage })
	if at < 0 {
		return nil
	}
	m := &s.Metrics[at]
	if s.Start != nil && s.Start.Baselines != nil {
		if text := s.Start.Baselines.against(m); text != "" {
			lines = append(lines, text)
		}
	}
	if text := coverageVerdict(m); text != "" {
		lines = append(lines, text)
	}
	return lines
}

// reference is the method that is asked for first: what would be done without any
// thought.
func (b *Baselines) reference() *Baseline {
	names := map[string][]string{TaskForecast: {"snaive", "naive"}, TaskGaps: {"linear"}, TaskRegression: {"lsq", "mean"}}[b.Task]
	for _, name := range names {
		for i := range b.Methods {
			if m := &b.Methods[i]; m.Method == name && m.Score != nil {
				return m
			}
		}
	}
	return nil
}

// against compares a score with the reference and with the best baseline, "" if they
// were not scored on the same rows.
func (b *Baselines) against(m *Metric) string {
	reference, best := b.reference(), b.Best(func(s *BaselineScore) files.Number { return s.CRPS })
	if own := float64(m.CRPS); reference == nil || best == nil || m.TestRows != b.Rows || math.IsNaN(own) || math.IsInf(own, 0) {
		return ""
	}
	what, advice := "forecast", "do not forecast with this"
	switch b.Task {
	case TaskGaps:
		what, advice = "filling gaps", "use that"
	case TaskRegression:
		what, advice = "regression", "use that"
	}
	text, worse := beside(float64(m.CRPS), float64(reference.Score.CRPS))
	text = fmt.Sprintf("%s (%d rows): CRPS %s %s", what, m.TestRows, text, reference.Label)
	if n := len(b.had()); n > 1 && best.Method == reference.Method {
		text += fmt.Sprintf(", the best of %d baselines", n)
	} else if n > 1 {
		than, _ := beside(float64(m.CRPS), float64(best.Score.CRPS))
		text += fmt.Sprintf(", %s the best of %d baselines (%s)", than, n, best.Label)
	}
	if worse {
		text += ": " + advice
	}
	return text
}

// beside says how a score is to another one of which less is better, up to "than" or
// "of", and whether it is worse by half a percent.
func beside(own, other float64) (text string, worse bool) {
	switch more := own/other - 1; {
	case other == 0:
		return "is not 0 as that of", true
	case math.IsNaN(more):
		return "cannot be compared with that of", false
	case own == other || math.Abs(more) < 0.005:
		return "equal to that of", false
	case more > 2:
		return fmt.Sprintf("%.3g times that of", own/other), true
	case more > 0:
		return fmt.Sprintf("%.0f %% worse than", 100*more), true
	case more < -0.995:
		return "more than 99 % better than", false
	default:
		return fmt.Sprintf("%.0f %% better than", -100*more), false
	}
}

// Coverage of 95 % is called wrong beyond these: residuals of neighbouring rows are
// correlated, so that a share of n rows varies as one of far fewer. Below so many rows
// nothing is said of intervals that hold too much.
const (
	fewRows, manyRows   = 20, 100
	leastFew            = 0.85
	leastMany, mostMany = 0.90, 0.99
)

// coverageVerdict says that the intervals of 95 % hold too few or too many targets, ""
// where that may be chance.
func coverageVerdict(m *Metric) string {
	share, wrong := float64(m.Coverage95), ""
	switch {
	case m.TestRows >= fewRows && share < leastFew, m.TestRows >= manyRows && share < leastMany:
		wrong = "they are too narrow"
	case m.TestRows >= manyRows && share > mostMany:
		wrong = "they are too wide"
	default:
		return ""
	}
	return fmt.Sprintf("of the held-out rows %.3g %% lie within the intervals of 95 %%: %s", 100*share, wrong)
}
