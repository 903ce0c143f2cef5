package record

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/words"
)

// Verdict says in a line each what the averaged prediction is worth beside the
// baselines, by CRPS, and whether its intervals of 95 % hold as much as they should;
// none where that is not known.
func (s *Standing) Verdict() (lines []string) {
	m := s.Averaged()
	if m == nil {
		return nil
	}
	if s.Start != nil && s.Start.Baselines != nil {
		if text := s.Start.Baselines.against(m); text != "" {
			lines = append(lines, text)
		}
		if of := s.Start.NotScored(); of != "" {
			lines = append(lines, "the held-out rows lie between others: their scores are of gaps and say nothing of "+of)
		}
	}
	if text := coverageVerdict(m); text != "" {
		lines = append(lines, text)
	}
	return lines
}

// Averaged is the last score of the averaged prediction, nil if there is none.
func (s *Standing) Averaged() *Metric {
	at := slices.IndexFunc(s.Metrics, func(m Metric) bool { return m.Method == config.MethodAverage })
	if at < 0 {
		return nil
	}
	return &s.Metrics[at]
}

// Beside is how the averaged prediction is to a baseline, by CRPS.
type Beside struct {
	Than   string  // "31 % better than"
	Label  string  // of the baseline
	Method string  // its name
	Worse  bool    // by half a percent or more
	More   float64 // its CRPS above the baseline's, as a share of that
	Of     int     // baselines that were scored
}

// Beside compares the averaged prediction with what would be done without any thought
// and with the best baseline, which may be the same; ok is false where they were not
// scored on the same rows.
func (s *Standing) Beside() (task string, reference, best Beside, ok bool) {
	m := s.Averaged()
	if m == nil || s.Start == nil || s.Start.Baselines == nil {
		return "", Beside{}, Beside{}, false
	}
	b := s.Start.Baselines
	first, least := b.rivals(m)
	if first == nil {
		return "", Beside{}, Beside{}, false
	}
	of := func(r *Baseline) Beside {
		than, worse := beside(float64(m.CRPS), float64(r.Score.CRPS))
		return Beside{than, r.Label, r.Method, worse, float64(m.CRPS)/float64(r.Score.CRPS) - 1, len(b.had())}
	}
	return b.Task, of(first), of(least), true
}

// rivals are what a score is held against, nil if they were not scored on the same rows.
func (b *Baselines) rivals(m *Metric) (reference, best *Baseline) {
	reference, best = b.reference(), b.Best(func(s *BaselineScore) files.Number { return s.CRPS })
	if own := float64(m.CRPS); reference == nil || best == nil || m.TestRows != b.Rows || math.IsNaN(own) || math.IsInf(own, 0) {
		return nil, nil
	}
	return reference, best
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
	reference, best := b.rivals(m)
	if reference == nil {
		return ""
	}
	what, advice := "forecast", NoForecast
	switch b.Task {
	case TaskGaps:
		what, advice = "filling gaps between rows", "use that"
	case TaskRegression:
		what, advice = "regression", "use that"
	}
	rival := func(b *Baseline) Rival { return Rival{b.Label, float64(m.CRPS), float64(b.Score.CRPS)} }
	return fmt.Sprintf("%s (%s): %s", what, words.Count(m.TestRows, "row"), Worth(rival(reference), rival(best), len(b.had()), advice))
}

// Rival is a baseline that a CRPS is held against.
type Rival struct {
	Label      string
	Own, Other float64 // CRPS, and that of the baseline, on the same rows
}

// Worth says what a CRPS is worth beside what would be done without any thought and
// beside the best of so many baselines, and the advice, unless that is "", where it is
// worse than the first of these.
func Worth(reference, best Rival, baselines int, advice string) string {
	than, worse := beside(reference.Own, reference.Other)
	text := fmt.Sprintf("CRPS %s %s", than, reference.Label)
	if baselines > 1 && best.Label == reference.Label {
		text += fmt.Sprintf(", the best of %d baselines", baselines)
	} else if baselines > 1 {
		than, _ := beside(best.Own, best.Other)
		text += fmt.Sprintf(", %s the best of %d baselines (%s)", than, baselines, best.Label)
	}
	if worse && advice != "" {
		text += ": " + advice
	}
	return text
}

// NoForecast is the advice against forecasts.
const NoForecast = "do not forecast with this"

// beside says how a score is to another one of which less is better, up to "than" or
// "of", and whether it is worse by half a percent.
func beside(own, other float64) (text string, worse bool) {
	switch more := own/other - 1; {
	case own == other || math.Abs(more) < 0.005:
		return "equal to that of", false
	case other == 0:
		return "is not 0 as that of", true
	case math.IsNaN(more):
		return "cannot be compared with that of", false
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

// Of intervals that hold much, those of 80 % tell more: they are called wide where they
// hold more than most80 and where half as many independent rows would do so with a
// probability of less than rarely.
const (
	most80 = 0.90
	rarely = 0.025
)

// TooNarrow and TooWide are what Intervals says.
const (
	TooNarrow = "too narrow"
	TooWide   = "wider than they need be"
)

// wide reports whether the intervals of 80 % hold too many targets for chance.
func (m *Metric) wide() bool {
	share, n := float64(m.Coverage80), m.TestRows/2
	if !(share > most80) || m.TestRows < fewRows {
		return false
	}
	within := min(n, int(math.Floor(share*float64(n)+1e-9)))
	return mathext.RegIncBeta(float64(within), float64(n-within+1), 0.8) < rarely // P(at least so many)
}

const (
	unlikely = 0.001 // the chance below which it is no chance that intervals of 50 % hold so much
	// farWithin is the share of rows within intervals of 50 % up to which there are other reasons: a function that is
	// smoother in places, noise that differs. One row in twenty ten standard deviations off has them hold .89.
	farWithin = 0.65
)

// FarOut reports whether nearly all rows lie far within their intervals and a few beyond
// them, as where noise is taken for normal of which a few values are far out: those of
// 50 % hold more than half as many independent rows would but rarely, those of 95 % not all.
func (m *Metric) FarOut() bool {
	share, n := float64(m.Coverage50), m.TestRows/2
	if !(share > farWithin) || m.TestRows < fewRows || !(m.Coverage95 < 1) {
		return false
	}
	within := min(n, int(math.Floor(share*float64(n)+1e-9)))
	return mathext.RegIncBeta(float64(within), float64(n-within+1), 0.5) < unlikely // P(at least so many)
}

// Intervals says that the intervals are TooNarrow, those of 95 %, or TooWide, these or
// those of 80 %, "" where what they hold may be chance.
func (m *Metric) Intervals() string {
	share := float64(m.Coverage95)
	switch {
	case m.TestRows >= fewRows && share < leastFew, m.TestRows >= manyRows && share < leastMany:
		return TooNarrow
	case m.TestRows >= manyRows && share > mostMany, m.wide():
		return TooWide
	}
	return ""
}

// In80 is ", 100 % in those of 80 %" where that is what tells that intervals are wide.
func (m *Metric) In80() string {
	if !m.wide() {
		return ""
	}
	return fmt.Sprintf(", %.3g %% in those of 80 %%", 100*float64(m.Coverage80))
}

// coverageVerdict says that the intervals of 95 % hold too few or too many targets, ""
// where that may be chance.
func coverageVerdict(m *Metric) string {
	wrong := m.Intervals()
	if wrong == "" {
		return ""
	}
	return fmt.Sprintf("of the held-out rows %.3g %% lie within the intervals of 95 %%%s: they are %s", 100*float64(m.Coverage95),
		m.In80(), wrong)
}
