package ui

import (
	"fmt"
	"slices"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/words"
)

// series is what a run is compared by; empty where it has none.
func (v *compareView) series(h *history.History) history.Series {
	quantity := history.QuantityRMSE
	switch v.by {
	case compareNLPD:
		quantity = history.QuantityNLPD
	case compareCoverage:
		quantity = history.QuantityCoverage
	case compareLeader, compareKernel:
		id := v.b.chosen()
		if v.by == compareLeader {
			id = ""
			if h.Evaluation != nil && h.Evaluation.Leader() != nil {
				id = h.Evaluation.Leader().ID
			}
		}
		if k := h.Index(id); k >= 0 {
			return h.Series(k, history.QuantityPosterior)
		}
		return history.Series{}
	}
	for m := range h.Methods() {
		if h.Method(m) == config.MethodAverage {
			return h.MethodSeries(m, quantity)
		}
	}
	return history.Series{}
}

// runGroup is runs of one experiment that differ in their seeds only.
type runGroup struct {
	key   string // for its colour
	paths []string
}

// grouped divides the chosen runs that are there and on the data that are shown, in the
// order of choice.
func (v *compareView) grouped() (groups []runGroup) {
	shown := v.dataShown()
	for _, path := range v.chosen {
		h := v.hist(path)
		if h == nil || h.Start == nil || v.dataKey(h.Start) != shown {
			continue
		}
		key := path
		if !v.apart {
			key = h.Start.Experiment()
		}
		i := slices.IndexFunc(groups, func(g runGroup) bool { return g.key == key })
		if i < 0 {
			i = len(groups)
			groups = append(groups, runGroup{key: key})
		}
		groups[i].paths = append(groups[i].paths, path)
	}
	return groups
}

// polyline returns what a run is compared by, with the last value of each point.
func (v *compareView) polyline(h *history.History) polyline {
	s := v.series(h)
	var l polyline
	for i := range s.Len() {
		// A revision of the last evaluation may repeat a moment.
		if x := s.X(i, v.axis); len(l.x) == 0 || x > l.x[len(l.x)-1] {
			l.x, l.y = append(l.x, x), append(l.y, s.Last(i))
		}
	}
	return l
}

// seeds counts the different seeds of runs.
func (v *compareView) seeds(paths []string) int {
	seen := map[uint64]bool{}
	for _, p := range paths {
		seen[v.hist(p).Start.Seed] = true
	}
	return len(seen)
}

// summary is what is drawn of a group: its only run, or the mean of its runs,
// and then also mean ± sd.
type summary struct {
	label   string
	x, y    []float64
	lo, hi  []float64 // nil for one run
	missing []string  // runs without such values
}

// summarise returns false if no run of the group has values.
func (v *compareView) summarise(g runGroup) (s summary, ok bool) {
	s.label = v.label(g.paths[0])
	var lines []polyline
	for _, p := range g.paths {
		if l := v.polyline(v.hist(p)); len(l.x) > 0 {
			lines = append(lines, l)
		} else {
			s.missing = append(s.missing, v.label(p))
		}
	}
	switch len(lines) {
	case 0:
		return s, false
	case 1:
		s.x, s.y = lines[0].x, lines[0].y
		return s, true
	}
	var sd []float64
	s.x, s.y, sd = meanSD(lines, mostMeanPoints)
	for k, m := range s.y {
		s.lo, s.hi = append(s.lo, m-sd[k]), append(s.hi, m+sd[k])
	}
	s.label = fmt.Sprintf("%s, %d runs", v.hist(g.paths[0]).Start.Name, len(lines))
	if n := v.seeds(g.paths); n < len(lines) {
		s.label += " of " + words.Count(n, "seed")
	}
	return s, true
}
