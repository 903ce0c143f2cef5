package record

import (
	"cmp"
	"math"
	"slices"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
)

// Tasks that test rows set.
const (
	TaskForecast   = "forecast"   // they lie beyond the training rows
	TaskGaps       = "gaps"       // between those, of one input
	TaskRegression = "regression" // several inputs
)

// Baselines says how well the test rows are predicted without kernels.
type Baselines struct {
	Task     string       `json:"task"`
	Rows     int          `json:"rows"`               // scored: all test rows
	Season   int          `json:"season,omitempty"`   // steps; 1: none; 0: no series
	Scale    files.Number `json:"scale,omitempty"`    // by which MASE and MSIS divide, data units; 0: there is none
	Unscaled string       `json:"unscaled,omitempty"` // why there is none
	Methods  []Baseline   `json:"methods"`
}

// Baseline is a method of package baseline.
type Baseline struct {
	Method string         `json:"method"` // "theta"
	Label  string         `json:"label"`  // for people
	Reason string         `json:"reason,omitempty"`
	Note   string         `json:"note,omitempty"` // from what it has learned, if not from all training rows
	Score  *BaselineScore `json:"score,omitempty"`
}

// BaselineScore is as Metric has it, in data units; NaN what is not finite.
type BaselineScore struct {
	RMSE       files.Number  `json:"rmse"`
	MAE        files.Number  `json:"mae"`
	NLPD       files.Number  `json:"nlpd"`
	CRPS       files.Number  `json:"crps"`
	Interval   files.Number  `json:"interval_score"`
	Coverage50 files.Number  `json:"coverage50"`
	Coverage80 files.Number  `json:"coverage80"`
	Coverage95 files.Number  `json:"coverage95"`
	SMAPE      *files.Number `json:"smape,omitempty"`
}

// Compared is a method in the table of a run's scores.
type Compared struct {
	Metric
	Label string
	Note  string

	MASE, Percent, MSIS files.Number // NaN where not known
}

// Compare lists what has been scored: the last metrics, then the baselines that could
// be had.
func (s *Standing) Compare() []Compared {
	var b Baselines
	if s.Start != nil && s.Start.Baselines != nil {
		b = *s.Start.Baselines
	}
	var out []Compared
	add := func(m Metric, label, note string) {
		nan := files.Number(math.NaN())
		c := Compared{Metric: m, Label: label, Note: note, MASE: nan, Percent: nan, MSIS: nan}
		if b.Scale > 0 {
			c.MASE, c.MSIS = m.MAE/b.Scale, m.Interval/b.Scale
		}
		if m.SMAPE != nil {
			c.Percent = *m.SMAPE
		}
		out = append(out, c)
	}
	for _, m := range s.Metrics {
		add(m, config.MethodName(m.Method), "")
	}
	for _, m := range b.had() {
		add(m.metric(b.Rows), m.Label, m.Note)
	}
	return out
}

// had are the methods that have a score.
func (b *Baselines) had() []Baseline {
	return slices.DeleteFunc(slices.Clone(b.Methods), func(m Baseline) bool { return m.Score == nil })
}

func (m *Baseline) metric(rows int) Metric {
	s := m.Score
	return Metric{Method: m.Method, RMSE: s.RMSE, MAE: s.MAE, NLPD: s.NLPD, TestRows: rows, CRPS: s.CRPS, Interval: s.Interval,
		Coverage50: s.Coverage50, Coverage80: s.Coverage80, Coverage95: s.Coverage95, SMAPE: s.SMAPE}
}

// LeftOut says which baselines cannot be had and why, a line each.
func (s *Start) LeftOut() (lines []string) {
	if s == nil || s.Baselines == nil {
		return nil
	}
	for _, m := range s.Baselines.Methods {
		if m.Reason != "" {
			lines = append(lines, m.Label+": "+m.Reason)
		}
	}
	return lines
}

// Best is the baseline of the least value of a score, nil if none has a finite one.
func (b *Baselines) Best(of func(*BaselineScore) files.Number) *Baseline {
	if b == nil {
		return nil
	}
	had := slices.DeleteFunc(b.had(), func(m Baseline) bool { v := float64(of(m.Score)); return math.IsNaN(v) || math.IsInf(v, 0) })
	if len(had) == 0 {
		return nil
	}
	best := slices.MinFunc(had, func(a, b Baseline) int { return cmp.Compare(of(a.Score), of(b.Score)) })
	return &best
}
