package history

import (
	"math"
	"slices"
	"strings"

	"example.com/kestrel/experiment/chart"
)

// Weights of marks: what changes the kernels or the optimiser stands over how
// the run stands, and that over a rest.
const (
	restWeight = iota
	stateWeight
	orderWeight
)

func (m *Mark) weight() int {
	switch m.Kind {
	case MarkPaused, MarkResumed:
		return restWeight
	case MarkStopped, MarkFailed:
		return stateWeight
	}
	return orderWeight
}

// samePlace is how near marks are that stand as one, as a part of the axis.
const samePlace = 1e-3

// MarksOn gathers the marks that stand at one place of an axis, in the order of
// the axis. Only the heaviest of a place are named: who pauses in order to prune
// sees "pruned 19".
func (h *History) MarksOn(a Axis) []chart.AxisMark {
	marks := slices.Clone(h.marks)
	slices.SortStableFunc(marks, func(p, q Mark) int {
		switch x, y := p.On(a), q.On(a); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	last := 0.0
	if n := len(h.timeline.moments); n > 0 {
		last = math.Abs(h.timeline.moments[n-1].On(a))
	}
	var out []chart.AxisMark
	for from := 0; from < len(marks); {
		x, to := marks[from].On(a), from+1
		for to < len(marks) && marks[to].On(a)-x <= samePlace*last {
			to++
		}
		m := chart.AxisMark{X: x}
		for _, one := range marks[from:to] {
			m.Weight = max(m.Weight, one.weight())
		}
		var texts []string
		short := ""
		for _, one := range marks[from:to] {
			if one.weight() == m.Weight && !slices.Contains(texts, one.Text) {
				if texts = append(texts, one.Text); len(texts) == 1 {
					short = one.short()
				}
			}
		}
		if m.Weight == restWeight {
			texts = texts[:1] // "paused" says that it went on
		}
		if len(texts) > 1 {
			short += " …"
		}
		m.Text = strings.Join(texts, ", ")
		if short != m.Text {
			m.Short = short
		}
		out = append(out, m)
		from = to
	}
	return out
}

// short says it in fewer letters.
func (m *Mark) short() string {
	if m.Kind == MarkReoptimised {
		return "re-opt."
	}
	if m.Auto {
		return strings.TrimSuffix(m.Text, byItself)
	}
	return m.Text
}
